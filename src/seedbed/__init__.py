"""Seedbed: a few labelled images in, a served and watched model out, at the lowest cost."""

__version__ = "0.1.0"
