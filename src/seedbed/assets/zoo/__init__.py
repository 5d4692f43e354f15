"""Pretrained weights as records: what each is, where it comes from, and how a network is built from it."""
