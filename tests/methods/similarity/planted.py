"""Outcomes of starts whose law is known."""

import math

import numpy as np

from seedbed.methods.similarity.evidence import Evidence, Outcome


def outcomes(targets, sources=6, *, noise=0.1, power=0.8, worth=-2.0, lift=0.1, seed=0):
    """Some starts on each target: log(epoch ratio) = lift + power log(ratio) + worth (knn score) + noise."""
    draws = np.random.default_rng(seed)
    made = []
    for target in range(targets):
        for source in range(sources):
            ratio, knn = math.exp(draws.normal(0, 0.35)), draws.normal(0, 0.1)
            scores = {"knn": knn, "log-evidence": 0.5 * knn + draws.normal(0, 0.05), "h-score": draws.normal(0, 0.5)}
            images = {"source_images": int(draws.integers(500, 9000)), "target_images": int(draws.integers(500, 9000))}
            evidence = Evidence(f"target-{target}", f"source-{source}", ratio, scores, **images)
            law = lift + power * math.log(ratio) + worth * knn + draws.normal(0, noise)
            made.append(Outcome(evidence, math.exp(law), architecture="efficientnet_lite0"))
    return made
