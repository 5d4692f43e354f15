"""Learning from a few labels: backbones, augmentation, algorithms, the trainer, and what comes after training."""
