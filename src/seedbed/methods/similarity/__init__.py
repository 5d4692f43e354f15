"""How far apart two data sets are, which weights to start from, and how long training from them takes."""
