"""What every Algorithm must satisfy, ours and a stranger's: call `check_algorithm` with a way to make one."""

import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import torch
from safetensors.torch import load, save
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode

from seedbed.methods.learn.algorithm import Algorithm, Batch, Outcome, Views
from seedbed.methods.learn.draws import Key
from seedbed.methods.learn.group import Group, own_slice
from seedbed.methods.learn.task import Task, borders_of

Maker = Callable[[Task], Algorithm]  # a task to an algorithm

_CLASSES, _LABELLED, _UNLABELLED, _SIDE, _IMAGES = 3, 4, 6, 4, 20
_TASK = Task(classes=_CLASSES, images=_IMAGES)
_META = torch.device("meta")
_LITERAL = torch.ops.aten.lift_fresh.default  # what torch.tensor([...]) does
_BRINGING = (_LITERAL, torch.ops.aten._to_copy.default, torch.ops.aten.copy_.default)
_ROUND = 4  # steps in which every unlabelled image has been seen
_RANKS, _PATIENCE = 2, 20.0  # seconds that a rank waits for the other


def check_algorithm(make: Maker) -> None:
    """Every check, one after another."""
    for check in CHECKS:
        check(make)


def check_loss_is_a_finite_scalar(make: Maker) -> None:
    """The loss is one finite number, and so is everything that is logged."""
    algorithm = make(_TASK)
    outcome = [_outcome(algorithm, step) for step in range(3)][-1]
    assert outcome.loss.shape == (), f"the loss has shape {tuple(outcome.loss.shape)}, not ()"
    for name, value in {"loss": outcome.loss, **outcome.metrics}.items():
        assert value.numel() == 1 and bool(torch.isfinite(value).all()), f"{name} is {value}"
    logged = [name for name, value in outcome.metrics.items() if value.requires_grad]
    assert not logged, f"{logged} are logged with their gradient"


def check_gradients_reach_the_model(make: Maker) -> None:
    """Every parameter of the model gets a finite gradient."""
    algorithm, model = make(_TASK), _model()
    algorithm.loss(model, _batch(algorithm, step=0)).loss.backward()  # type: ignore[no-untyped-call]
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None and bool(torch.isfinite(parameter.grad).all()), f"no gradient at {name}"


def check_targets_carry_no_gradient(make: Maker) -> None:
    """No gradient flows into the teacher, nor into a weak view that serves a strong one as its target."""
    algorithm, teacher = make(_TASK), _model(seed=1)
    batch = _batch(algorithm, step=0, teacher=teacher)
    for view in batch.unlabelled:
        view.requires_grad_()
    algorithm.loss(_sure(_model()), batch).loss.backward()  # type: ignore[no-untyped-call]
    assert all(parameter.grad is None for parameter in teacher.parameters()), "the teacher is trained"
    names = algorithm.views.unlabelled
    if "strong" in names:
        weak = [view for name, view in zip(names, batch.unlabelled, strict=True) if name == "weak"]
        assert all(view.grad is None or not view.grad.any() for view in weak), "a gradient flows through a target"


def check_state_brings_it_back(make: Maker) -> None:
    """An algorithm that is stopped, written to bytes and loaded goes on exactly as one that was not."""
    whole, first, second = make(_TASK), make(_TASK), make(_TASK)
    expected = [_outcome(whole, step).loss for step in range(6)][-1]
    for step in range(3):
        _outcome(first, step)
    second.load_state(load(save({name: value.contiguous() for name, value in first.state().items()})))
    found = [_outcome(second, step).loss for step in range(3, 6)][-1]
    assert torch.equal(expected, found), f"the loss is {found} after loading, {expected} without"
    for name, value in whole.state().items():
        assert torch.equal(value, second.state()[name]), f"state '{name}' differs after loading"


def check_state_is_changed_in_place(make: Maker) -> None:
    """Steps and loading write into the tensors that were there from the beginning: a recorded step knows no others."""
    algorithm = make(_TASK)
    before = {name: value.data_ptr() for name, value in algorithm.state().items()}
    for step in range(2):
        _outcome(algorithm, step)
    algorithm.load_state({name: value.clone() for name, value in algorithm.state().items()})
    after = {name: value.data_ptr() for name, value in algorithm.state().items()}
    moved = [name for name in before if after.get(name) != before[name]]
    assert not moved and set(after) == set(before), f"{moved or set(after) ^ set(before)} are not changed in place"


def check_step_can_be_recorded(make: Maker) -> None:
    """It runs where tensors have a shape but no values, and keeps its state on the task's device.

    So nothing is copied to the host or from it, and no branch depends on a value.
    """
    algorithm = make(replace(_TASK, device=_META))
    astray = [name for name, value in algorithm.state().items() if value.device != _META]
    assert not astray, f"state {astray} is not on the task's device"
    model = _model().to(_META)
    try:
        for step in range(2):
            batch = _without_values(_batch(algorithm, step=step))
            with _NothingFromHost():  # type: ignore[no-untyped-call]
                algorithm.loss(model, batch).loss.backward()  # type: ignore[no-untyped-call]
    except RuntimeError as error:
        raise AssertionError(f"a value of a tensor was looked at: {error}") from error


def check_seed_and_step_may_be_tensors(make: Maker) -> None:
    """The number of the step as a tensor, and the seed beside it, give what they give as plain numbers."""
    for names in (("step",), ("seed", "step")):
        one, other = make(_TASK), make(_TASK)
        for step in range(2):
            batch = _batch(other, step=step)
            key, labelled_key = _in_tensors(batch.key, names), _in_tensors(batch.labelled_key, names)
            given_tensors = replace(batch, key=key, labelled_key=labelled_key)
            found, expected = other.loss(_model(), given_tensors).loss, _outcome(one, step).loss
            where = f"where a key's {' and '.join(names)} came as tensors"
            assert torch.equal(found, expected), f"the loss is {found} {where}, {expected} where not"


def check_ranks_do_what_one_does(make: Maker) -> None:
    """Two ranks with half of the batch each: the mean of their gradients, and their state, are those of the whole."""
    alone, ranks = make(_TASK), [make(_TASK) for _ in range(_RANKS)]
    for step in range(4):
        whole = _batch(alone, step=step)
        expected = _gradient(alone, whole)
        found = torch.stack(_in_ranks(partial(_gradient_of_share, ranks, whole)))
        apart = float((found.mean(dim=0) - expected).abs().max() / expected.abs().max().clamp_min(1e-6))
        assert apart < 1e-4, f"at step {step} the gradient of {_RANKS} ranks differs by {apart:.2g} of the largest"
        for rank in ranks:
            for name, value in alone.state().items():
                same = torch.allclose(value, rank.state()[name], rtol=1e-5, atol=1e-7)
                assert same, f"state '{name}' differs between one rank and {_RANKS}"


def check_weighted_and_ordered_classes_count(make: Maker) -> None:
    """Weights of classes, and answers that are nearly right, change the loss and leave it finite."""
    plain = _outcome(make(_TASK), 0).loss
    weights, borders = torch.tensor([0.5, 1.0, 3.0]), borders_of([0.0, 1.0, 2.0], weight=0.5)
    for name, task in {
        "weights": replace(_TASK, weights=weights),
        "borders": replace(_TASK, borders=borders),
    }.items():
        loss = _outcome(make(task), 0).loss
        assert bool(torch.isfinite(loss)), f"the loss is {loss} with the task's {name}"
        assert not torch.equal(loss, plain), f"the task's {name} change nothing"


def check_global_generator_is_untouched(make: Maker) -> None:
    """The algorithm draws nothing from torch's global generator, and its loss does not depend on it."""
    torch.manual_seed(1)
    before = torch.get_rng_state()
    one = _outcome(make(_TASK), 0).loss
    assert torch.equal(before, torch.get_rng_state()), "torch's global generator was used"
    torch.manual_seed(2)
    assert torch.equal(one, _outcome(make(_TASK), 0).loss), "the loss depends on torch's global generator"


def check_labels_alone_are_enough(make: Maker) -> None:
    """A batch without unlabelled images has a finite loss that trains the model, and leaves finite statistics."""
    for spares in (False, True):
        model, algorithm = _model(), make(_TASK)
        loss = algorithm.loss(model, replace(_batch(algorithm, step=0, unlabelled=0), spares=spares)).loss
        loss.backward()  # type: ignore[no-untyped-call]
        assert bool(torch.isfinite(loss)), f"the loss is {loss} without unlabelled images"
        assert any(parameter.grad is not None and bool(parameter.grad.any()) for parameter in model.parameters())
        for name, value in algorithm.state().items():
            assert bool(torch.isfinite(value).all()), f"state '{name}' is {value} without unlabelled images"


def check_sparing_changes_nothing(make: Maker) -> None:
    """Where images that do not count may be left out, the gradient and the state are what they are without that.

    Thresholds that rise with what was learnt are high by then, and of blank images nobody is sure.
    """
    plain, sparing = make(_TASK), make(_TASK)
    for step in range(_ROUND):
        plain.loss(_certain(), _batch(plain, step=step, teacher=_certain()))
    sparing.load_state(plain.state())
    for step, sure in enumerate((_UNLABELLED, _UNLABELLED // 2, 1, 0), start=_ROUND):
        batch = _sure_of(sure, _batch(plain, step=step, teacher=_unbiased(seed=1)), plain.views)
        expected = _gradient(plain, batch, _unbiased())
        found = _gradient(sparing, replace(batch, spares=True), _unbiased())
        apart = float((found - expected).abs().max() / expected.abs().max().clamp_min(1e-6))
        assert apart < 1e-4, f"where images are spared, step {step}'s gradient is {apart:.2g} of the largest off"
    for name, value in plain.state().items():
        assert torch.allclose(value, sparing.state()[name]), f"state '{name}' differs where images are spared"


CHECKS: tuple[Callable[[Maker], None], ...] = (
    check_loss_is_a_finite_scalar,
    check_gradients_reach_the_model,
    check_targets_carry_no_gradient,
    check_state_brings_it_back,
    check_state_is_changed_in_place,
    check_step_can_be_recorded,
    check_seed_and_step_may_be_tensors,
    check_ranks_do_what_one_does,
    check_weighted_and_ordered_classes_count,
    check_global_generator_is_untouched,
    check_labels_alone_are_enough,
    check_sparing_changes_nothing,
)


class _NothingFromHost(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Refuses operations that bring numbers from the host; plain numbers as arguments are fine."""

    def __torch_dispatch__(  # type: ignore[no-untyped-def]
        self, operation, types, args=(), kwargs=None
    ) -> Any:
        result = operation(*args, **(kwargs or {}))
        if isinstance(result, Tensor) and result.device == _META:
            home = [value for value in args if isinstance(value, Tensor) and value.device != _META]
            brought = operation in _BRINGING and (home or operation is _LITERAL)
            assert not brought and not any(value.ndim for value in home), f"{operation} brings numbers from the host"
        return result


class _Board:
    """Where the ranks of one process put what the others are to see."""

    def __init__(self) -> None:
        self.places: list[Tensor] = [torch.empty(0)] * _RANKS
        self.barrier = threading.Barrier(_RANKS, timeout=_PATIENCE)

    def all_of(self, rank: int, value: Tensor) -> list[Tensor]:
        self.places[rank] = value.detach()
        self.barrier.wait()
        seen = list(self.places)
        self.barrier.wait()  # nobody writes again before all have read
        return seen


@dataclass(frozen=True)
class _InThreads:
    """A Group whose ranks are threads."""

    board: _Board
    rank: int
    ranks: int = _RANKS

    def mean(self, value: Tensor) -> Tensor:
        mean = torch.stack(self.board.all_of(self.rank, value)).mean(dim=0)
        return value + (mean - value).detach()

    def gather(self, value: Tensor) -> Tensor:
        return torch.cat(self.board.all_of(self.rank, value))

    def align(self, tensors: Iterable[Tensor]) -> None:
        for tensor in tensors:
            tensor.detach().copy_(self.board.all_of(self.rank, tensor.clone())[0])

    def wrap(self, network: nn.Module) -> nn.Module:
        return network


def _in_ranks(work: Callable[[Group], Tensor]) -> list[Tensor]:
    """What the ranks give, in their order; a rank that fails takes the others with it."""
    board = _Board()

    def guarded(rank: int) -> Tensor:
        try:
            return work(_InThreads(board, rank))
        except BaseException:
            board.barrier.abort()
            raise

    with ThreadPoolExecutor(_RANKS) as threads:
        tasks = [threads.submit(guarded, rank) for rank in range(_RANKS)]
    failures = [error for error in (task.exception() for task in tasks) if error]
    for error in sorted(failures, key=lambda error: isinstance(error, threading.BrokenBarrierError)):
        raise AssertionError(f"the ranks do not call the group alike: {error!r}") from error
    return [task.result() for task in tasks]


def _share(whole: Batch, group: Group) -> Batch:
    """A rank's slice of a global batch."""
    return replace(
        whole,
        labelled=tuple(own_slice(view, group) for view in whole.labelled),
        labels=own_slice(whole.labels, group),
        unlabelled=tuple(own_slice(view, group) for view in whole.unlabelled),
        labelled_key=whole.labelled_key.of(own_slice(whole.labelled_key.images, group)),
        key=whole.key.of(own_slice(whole.key.images, group)),
        group=group,
    )


def _gradient_of_share(algorithms: Sequence[Algorithm], whole: Batch, group: Group) -> Tensor:
    return _gradient(algorithms[group.rank], _share(whole, group))


def _gradient(algorithm: Algorithm, batch: Batch, model: nn.Module | None = None) -> Tensor:
    model = model or _model()
    algorithm.loss(model, batch).loss.backward()  # type: ignore[no-untyped-call]
    gradients = [parameter.grad for parameter in model.parameters()]
    return torch.cat([gradient.flatten() for gradient in gradients if gradient is not None])


def _outcome(algorithm: Algorithm, step: int) -> Outcome:
    return algorithm.loss(_model(), _batch(algorithm, step=step))


def _model(seed: int = 0) -> nn.Sequential:
    """A small network with weights of its own, made without the global generator."""
    empty: nn.Linear = nn.utils.skip_init(nn.Linear, 3 * _SIDE * _SIDE, _CLASSES)  # type: ignore[no-untyped-call]
    network = nn.Sequential(nn.Flatten(), empty)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator) / 4)
    return network


def _sure(network: nn.Sequential) -> nn.Sequential:
    """The same network, sure enough of itself to pass any threshold."""
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.mul_(100)
    return network


def _unbiased(seed: int = 0) -> nn.Sequential:
    """A network that says of a blank image that it may be of any class."""
    network = _model(seed)
    nn.init.zeros_(network.get_parameter("1.bias"))
    return network


def _certain() -> nn.Sequential:
    """A network that is sure of every image, and that it is of the first class."""
    network = _unbiased()
    with torch.no_grad():
        network.get_parameter("1.weight").zero_()
        network.get_parameter("1.bias")[0] = 100
    return network


def _sure_of(count: int, batch: Batch, views: Views) -> Batch:
    """The same batch, whose weak views leave no doubt in the last so many images, and are blank in the others."""
    times = 1e4 * (torch.arange(_UNLABELLED) >= _UNLABELLED - count).view(-1, 1, 1, 1)
    kinds = zip(views.unlabelled, batch.unlabelled, strict=True)
    told = [view * times if name == "weak" else view for name, view in kinds]
    return replace(batch, unlabelled=tuple(told))


def _batch(
    algorithm: Algorithm, *, step: int, unlabelled: int = _UNLABELLED, teacher: nn.Module | None = None
) -> Batch:
    """The whole batch of a step; its images come round again after a few steps."""
    generator = torch.Generator().manual_seed(step)

    def images(count: int) -> Tensor:
        return torch.randn((count, 3, _SIDE, _SIDE), generator=generator)

    return Batch(
        labelled=tuple(images(_LABELLED) for _ in algorithm.views.labelled),
        labels=torch.arange(_LABELLED) % _CLASSES,
        unlabelled=tuple(images(unlabelled) for _ in algorithm.views.unlabelled),
        labelled_key=Key(0, step, torch.arange(_LABELLED)),
        key=Key(0, step, (torch.arange(unlabelled) + step * _UNLABELLED) % _IMAGES),
        teacher=teacher or _sure(_model(seed=1)),
        progress=torch.tensor(step / 10),
    )


def _in_tensors(key: Key, names: Iterable[str]) -> Key:
    return replace(key, **{name: torch.tensor(getattr(key, name)) for name in names})


def _without_values(batch: Batch) -> Batch:
    """A batch of the same shapes; even the seed and the number of the step are unknown."""

    def key(known: Key) -> Key:
        unknown = torch.tensor(0, device=_META)
        return Key(unknown, unknown, known.images.to(_META))

    return replace(
        batch,
        labelled=tuple(view.to(_META) for view in batch.labelled),
        labels=batch.labels.to(_META),
        unlabelled=tuple(view.to(_META) for view in batch.unlabelled),
        labelled_key=key(batch.labelled_key),
        key=key(batch.key),
        teacher=_model(seed=1).to(_META),
        progress=batch.progress.to(_META),
    )
