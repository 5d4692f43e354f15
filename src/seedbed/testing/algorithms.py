"""What every Algorithm must satisfy, ours and a stranger's: call `check_algorithm` with a way to make one."""

from collections.abc import Callable

import torch
from safetensors.torch import load, save
from torch import Tensor, nn

from seedbed.methods.learn.algorithm import Algorithm, Batch, Outcome
from seedbed.methods.learn.draws import Key

Maker = Callable[[int], Algorithm]  # a number of classes to an algorithm

_CLASSES, _LABELLED, _UNLABELLED, _SIDE = 3, 4, 6, 4


def check_algorithm(make: Maker) -> None:
    """Every check, one after another."""
    for check in CHECKS:
        check(make)


def check_loss_is_a_finite_scalar(make: Maker) -> None:
    """The loss is one finite number, and so is everything that is logged."""
    outcome = _run(make, steps=3)[-1]
    assert outcome.loss.shape == (), f"the loss has shape {tuple(outcome.loss.shape)}, not ()"
    for name, value in {"loss": outcome.loss, **outcome.metrics}.items():
        assert value.numel() == 1 and bool(torch.isfinite(value).all()), f"{name} is {value}"
    logged = [name for name, value in outcome.metrics.items() if value.requires_grad]
    assert not logged, f"{logged} are logged with their gradient"


def check_gradients_reach_the_model(make: Maker) -> None:
    """Every parameter of the model gets a finite gradient."""
    model, batch = _model(), _batch(make(_CLASSES), step=0)
    make(_CLASSES).loss(model, batch).loss.backward()  # type: ignore[no-untyped-call]
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None and bool(torch.isfinite(parameter.grad).all()), f"no gradient at {name}"


def check_targets_carry_no_gradient(make: Maker) -> None:
    """No gradient flows into the teacher, nor into a weak view that serves a strong one as its target."""
    algorithm, teacher = make(_CLASSES), _model(seed=1)
    batch = _batch(algorithm, step=0, teacher=teacher)
    for view in batch.views:
        view.requires_grad_()
    algorithm.loss(_sure(_model()), batch).loss.backward()  # type: ignore[no-untyped-call]
    assert all(parameter.grad is None for parameter in teacher.parameters()), "the teacher is trained"
    if "strong" in algorithm.views:
        weak = [view for name, view in zip(algorithm.views, batch.views, strict=True) if name == "weak"]
        assert all(view.grad is None or not view.grad.any() for view in weak), "a gradient flows through a target"


def check_state_brings_it_back(make: Maker) -> None:
    """An algorithm that is stopped, written to bytes and loaded goes on exactly as one that was not."""
    whole, first, second = make(_CLASSES), make(_CLASSES), make(_CLASSES)
    expected = [_step(whole, step) for step in range(6)][-1]
    for step in range(3):
        _step(first, step)
    second.load_state(load(save({name: value.contiguous() for name, value in first.state().items()})))
    found = [_step(second, step) for step in range(3, 6)][-1]
    assert torch.equal(expected, found), f"the loss is {found} after loading, {expected} without"
    for name, value in whole.state().items():
        assert torch.equal(value, second.state()[name]), f"state '{name}' differs after loading"


def check_global_generator_is_untouched(make: Maker) -> None:
    """The algorithm draws nothing from torch's global generator, and its loss does not depend on it."""
    torch.manual_seed(1)
    before = torch.get_rng_state()
    one = _step(make(_CLASSES), 0)
    assert torch.equal(before, torch.get_rng_state()), "torch's global generator was used"
    torch.manual_seed(2)
    assert torch.equal(one, _step(make(_CLASSES), 0)), "the loss depends on torch's global generator"


def check_labels_alone_are_enough(make: Maker) -> None:
    """A batch without unlabelled images has a finite loss that trains the model."""
    model, algorithm = _model(), make(_CLASSES)
    loss = algorithm.loss(model, _batch(algorithm, step=0, unlabelled=0)).loss
    loss.backward()  # type: ignore[no-untyped-call]
    assert bool(torch.isfinite(loss)), f"the loss is {loss} without unlabelled images"
    assert any(parameter.grad is not None and bool(parameter.grad.any()) for parameter in model.parameters())


CHECKS: tuple[Callable[[Maker], None], ...] = (
    check_loss_is_a_finite_scalar,
    check_gradients_reach_the_model,
    check_targets_carry_no_gradient,
    check_state_brings_it_back,
    check_global_generator_is_untouched,
    check_labels_alone_are_enough,
)


def _run(make: Maker, steps: int) -> list[Outcome]:
    algorithm = make(_CLASSES)
    return [algorithm.loss(_model(), _batch(algorithm, step=step)) for step in range(steps)]


def _step(algorithm: Algorithm, step: int) -> Tensor:
    return algorithm.loss(_model(), _batch(algorithm, step=step)).loss.detach()


def _model(seed: int = 0) -> nn.Sequential:
    """A small network with weights of its own, made without the global generator."""
    empty: nn.Linear = nn.utils.skip_init(nn.Linear, 3 * _SIDE * _SIDE, _CLASSES)  # type: ignore[no-untyped-call]
    network = nn.Sequential(nn.Flatten(), empty)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator))
    return network


def _sure(network: nn.Sequential) -> nn.Sequential:
    """The same network, sure enough of itself to pass any threshold."""
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.mul_(20)
    return network


def _batch(
    algorithm: Algorithm, *, step: int, unlabelled: int = _UNLABELLED, teacher: nn.Module | None = None
) -> Batch:
    generator = torch.Generator().manual_seed(step)
    shape = (3, _SIDE, _SIDE)
    return Batch(
        labelled=torch.randn((_LABELLED, *shape), generator=generator),
        labels=torch.arange(_LABELLED) % _CLASSES,
        views=tuple(torch.randn((unlabelled, *shape), generator=generator) for _ in algorithm.views),
        key=Key(0, step, torch.arange(unlabelled)),
        teacher=teacher or _sure(_model(seed=1)),
    )
