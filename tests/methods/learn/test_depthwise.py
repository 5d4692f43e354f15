"""Our kernels for depthwise convolutions give what torch gives; without a GPU, they run in Triton's interpreter."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from seedbed.methods.learn.depthwise import operator
from seedbed.methods.learn.depthwise.operator import suits, usable
from tests.methods.learn.depthwise_facts import CASES, MORE_CASES, SHARED_CASES, by_torch

CPU = torch.device("cpu")
REASON = "torch comes without Triton here, in which these kernels are written"
Facts = dict[str, Any]


def found(folder: Path, which: str) -> Facts:
    """What the kernels do in a process that interprets them."""
    pytest.importorskip("triton", reason=REASON)
    command = [sys.executable, "-m", "tests.methods.learn.depthwise_facts", str(folder / "facts.json"), which]
    ended = subprocess.run(command, env={**os.environ, "TRITON_INTERPRET": "1"}, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr[-3000:]
    facts: Facts = json.loads((folder / "facts.json").read_text())
    return facts


@pytest.fixture(scope="module")
def facts(tmp_path_factory: pytest.TempPathFactory) -> Facts:
    """In one process for all tests."""
    return found(tmp_path_factory.mktemp("depthwise"), "quick")


@pytest.fixture(scope="module")
def more_facts(tmp_path_factory: pytest.TempPathFactory) -> Facts:
    """What takes longer to find."""
    return found(tmp_path_factory.mktemp("depthwise"), "slow")


@pytest.mark.parametrize("case", CASES, ids=str)
def test_results_and_all_gradients_are_those_of_torch_in_double_precision(facts, case):
    assert max(facts["differences"][str(case)]) < 1e-5


@pytest.mark.parametrize("case", SHARED_CASES, ids=str)
def test_a_program_adds_up_all_strips_that_are_its_own(facts, case):
    assert max(facts["shared"][str(case)]) < 1e-5


@pytest.mark.slow
@pytest.mark.parametrize("case", MORE_CASES, ids=str)
def test_so_are_those_of_other_shapes(more_facts, case):
    assert max(more_facts["differences"][str(case)]) < 2e-5


def test_half_precision_is_off_by_no_more_than_the_last_rounding(facts):
    assert max(facts["halves"]) <= 1


def test_what_is_no_number_stays_so_and_hides_in_no_activation(facts):
    ours, theirs = facts["no_numbers"]["results"]
    assert ours == theirs == [9]
    torch.testing.assert_close(*map(torch.tensor, facts["no_numbers"]["gradients"]))


def test_torch_finds_nothing_wrong_with_the_operator(facts):
    assert len(facts["checked"]) == 6 and set(facts["checked"].values()) == {"SUCCESS"}


def test_a_folded_network_uses_the_kernels_where_they_fit_and_learns_the_same(facts):
    assert facts["usable"] and facts["folded"]["norms"] == 6
    trained, asked, in_double = facts["folded"]["calls"]
    assert (trained, asked, in_double) == (2, 2, 0), "SiLU is not ours, and double precision is not"
    assert max(facts["folded"]["differences"]) < 1e-5


def test_layers_that_do_not_fit_go_the_way_they_went(facts):
    assert len(facts["unfit"]) > 8 and set(map(tuple, facts["unfit"].values())) == {(0, True)}


@pytest.mark.slow
def test_a_network_with_the_kernels_compiles_in_one_piece(more_facts):
    assert more_facts["compiled"] < 1e-5


def test_kernels_count_elements_in_32_bits_and_take_no_more():
    few, many = (torch.empty(1, device="meta").expand(2, 2**15, 2**14, number) for number in (1, 2))
    assert suits(few) and not suits(many)
    assert not suits(few.to(torch.float64))


def test_a_cpu_has_no_use_for_them():
    assert not usable(CPU)


WRONG: dict[str, Callable[..., bool]] = {
    "for a side of 5": lambda images, weight, **_: weight.shape[-1] == 5,
    "in bfloat16": lambda images, weight, **_: images.dtype == torch.bfloat16,
    "by strides of 2": lambda images, weight, stride, **_: stride == 2,
    "where it is padded as TensorFlow does": lambda images, weight, same, **_: same,
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("wrong", ["nowhere", *WRONG])
@pytest.mark.parametrize("by", [0.1, torch.nan])
def test_kernels_that_are_wrong_anywhere_are_not_used(wrong, by, monkeypatch):
    def kernels(images, weight, bias, **how):
        right = by_torch(images.float(), weight, bias, **how).to(images.dtype)
        return right * (1 + by) if wrong in WRONG and WRONG[wrong](images, weight, **how) else right

    monkeypatch.setenv("TRITON_INTERPRET", "1")
    monkeypatch.setattr(operator, "depthwise", kernels)
    assert usable.__wrapped__(CPU) == (wrong == "nowhere")


@pytest.mark.slow
@pytest.mark.parametrize("side", [3, 5])
def test_every_kernel_compiles_for_a_gpu(side, tmp_path, monkeypatch):
    pytest.importorskip("triton", reason=REASON)
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    from seedbed.methods.learn.depthwise import halve, walk  # noqa: PLC0415

    for backwards in (False, True):
        compile_for_gpu(walk._walk_kernel, SIDE=side, BACKWARDS=backwards)
    compile_for_gpu(walk._weights_kernel, SIDE=side)
    for above in (side // 2, side // 2 - 1):
        for kernel in (halve._forward, halve._to_images, halve._column_of_weights):
            compile_for_gpu(kernel, SIDE=side, ABOVE=above, LEFT=side // 2)


def compile_for_gpu(kernel: Any, **constants: int) -> None:
    """For an H100 or H200, with images in bfloat16; the compiler needs no GPU."""
    from triton import compile as compiled  # noqa: PLC0415
    from triton.backends.compiler import GPUTarget  # noqa: PLC0415
    from triton.compiler import ASTSource  # noqa: PLC0415

    from seedbed.methods.learn.depthwise.reads import OPTIONS, SIZES  # noqa: PLC0415

    kinds = dict.fromkeys((*SIZES, "channels"), "i32") | dict.fromkeys(("weight", "bias", "partial"), "*fp32")
    constants |= {name: value for name, value in OPTIONS.items() if name in kernel.arg_names}
    options = {name: value for name, value in OPTIONS.items() if name not in kernel.arg_names}
    signature = {name: "constexpr" if name in constants else kinds.get(name, "*bf16") for name in kernel.arg_names}
    source = ASTSource(fn=kernel, signature=signature, constexprs=constants)
    assert compiled(source, target=GPUTarget("cuda", 90, 32), options=options).asm["cubin"]
