"""Both sides of the comparison train the same network in the same way."""

from contextlib import closing
from dataclasses import replace

import pytest
from benchmarks.peers.players import compare
from benchmarks.ssl_speed import CPU, GPU, Case, images_of, job_of, ours

from seedbed.assets.zoo.builder import build_backbone


@pytest.mark.parametrize(("case", "parameters", "tokens"), [(CPU, 5_392_714, 257), (GPU, 21_608_074, 37)])
def test_our_network_has_the_parameters_and_tokens_of_semilearns(case: Case, parameters: int, tokens: int):
    network = build_backbone(case.start, 10, weights="none", size=case.size).network
    assert sum(parameter.numel() for parameter in network.parameters()) == parameters
    assert network.get_parameter("pos_embed").shape[1] == tokens


@pytest.mark.slow
def test_our_trainer_takes_its_turns():
    case = replace(CPU, start="test_resnet", labelled=2, unlabelled=2, images=40, warm=1, turn=2, turns=2)
    with images_of(case) as images, closing(ours()) as player:
        laps = compare({"ours": (player, job_of(case, "freematch", images))}, **case.pace)
    assert laps["ours"].steps_per_s > 0
    assert laps["ours"].cpu_s_per_step > 0
