"""Recipes: ready flows that a person can start by name. A row here makes one known."""

from seedbed.base.registry import Registry
from seedbed.flows.recipes.recipe import Recipe

RECIPES: Registry[Recipe] = Registry(
    "recipe",
    {
        "few-labels": "seedbed.flows.recipes.few_labels:FEW_LABELS",
        "demo": "seedbed.flows.recipes.demo:DEMO",
    },
)
