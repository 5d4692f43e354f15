"""Names of networks are known without loading timm, and they are those that it knows."""

from timm.models import get_deprecated_models, list_models

from seedbed.flows.timm_names import timm_names


def test_the_names_are_those_of_the_timm_that_is_installed() -> None:
    assert timm_names() == {*list_models(), *get_deprecated_models()}
