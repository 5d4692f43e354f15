"""How far apart two classes are: the Wasserstein distance between their images, squared."""

from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import accumulate, product

import torch
from torch import Tensor

from seedbed.methods.similarity.threads import one_thread
from seedbed.methods.similarity.transport import exact

_GRAIN = 16  # ranks are rounded up to multiples of this, so that many pairs of classes have blocks of one shape


def exact_distances(squared: Tensor, rows: Sequence[slice], columns: Sequence[slice]) -> Tensor:
    """By transport between the images of each pair of classes, from the squared distances between all images."""
    squared = squared.cpu()
    with ThreadPoolExecutor(2) as pool:  # the solvers work without the interpreter's lock
        found = list(pool.map(lambda pair: exact(squared[pair]), product(rows, columns)))
    return torch.tensor(found).view(len(rows), len(columns))


def fidelities(ours: Sequence[Tensor], theirs: Sequence[Tensor]) -> Tensor:
    """The trace of the square root of the product of two classes' covariances, for each pair of classes.

    Classes come as factors F (rank x dimensions) of their covariances F^T F. That trace is then ||A B^T||_*, the sum of
    the singular values of a small matrix: no covariance is formed, whatever the dimension. A GPU multiplies, and leaves
    those to the CPU: many small matrices are little work each.
    """
    rows, columns = _spans(ours), _spans(theirs)
    together = torch.cat(list(ours)) @ torch.cat(list(theirs)).T
    products = together.cpu()
    shapes: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
    for i, row in enumerate(rows):
        for j, column in enumerate(columns):
            shapes[_padded(row), _padded(column)].append((i, j))
    found = products.new_zeros(len(rows), len(columns))
    for shape, pairs in shapes.items():
        blocks = products.new_zeros(len(pairs), *shape)  # rows and columns of zeros change no singular value
        for block, (i, j) in zip(blocks, pairs, strict=True):
            part = products[rows[i], columns[j]]
            block[: part.shape[0], : part.shape[1]] = part
        with one_thread():
            norms = torch.linalg.svdvals(blocks).sum(1)
        found[*torch.tensor(pairs).T] = norms
    return found.to(together.device)


def gaussian_distances(centres: Tensor, variances: tuple[Tensor, Tensor], fidelity: Tensor) -> Tensor:
    """By a Gaussian around each class (Bures-Wasserstein): squared distances of means, total variances, fidelities."""
    ours, theirs = variances
    return (centres + ours[:, None] + theirs - 2 * fidelity).clamp_min(0)


def _spans(factors: Sequence[Tensor]) -> list[slice]:
    ends = list(accumulate(len(factor) for factor in factors))
    return [slice(start, end) for start, end in zip([0, *ends], ends, strict=False)]


def _padded(span: slice) -> int:
    return -(-int(span.stop - span.start) // _GRAIN) * _GRAIN
