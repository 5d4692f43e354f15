"""How data sets are looked at to be compared: all alike, whatever size a training sees their images at."""

from collections.abc import Iterable

from seedbed.assets.store.bundle import Bundle
from seedbed.assets.store.lineage import Node
from seedbed.assets.store.store import Store
from seedbed.base.names import in_a_name
from seedbed.flows.kinds.data import Decoded
from seedbed.flows.kinds.zoo import Signature
from seedbed.flows.steps.embed import CARD, SIZE
from seedbed.flows.steps.signature import SHARPEST
from seedbed.runtime.jobs.spec import JobSpec

SPACE = f"{CARD}@{SIZE}"  # distances in another one are of another scale


class Looks:
    """Finds what there is of a data set to compare it by, and says which jobs make what is missing."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def pixels(self, data: Bundle, base: str = "") -> tuple[str, tuple[JobSpec, ...]]:
        """A data set's images in pixels that are large enough, or the job that decodes them so; its name begins so."""
        found = [self._store.get(node.uuid) for node in self._made_of(data, 1, Decoded.kind)]
        fine = sorted((one for one in found if is_fine(one)), key=side_of)
        if fine:
            return fine[0].uuid, ()
        name = f"{base or in_a_name(data.name)}.look.decode"
        return f"job:{name}/decoded", (JobSpec("decode", {"size": SHARPEST}, {"data": data.uuid}, name=name),)

    def signature(self, data: Bundle, base: str = "") -> tuple[str, tuple[JobSpec, ...]]:
        """The newest signature of a data set by the classes that it came with, or the jobs that make one."""
        for node in self._made_of(data, 2, Signature.kind):
            bundle = self._store.get(node.uuid)
            if of_own_classes(bundle) and space_of(bundle) == SPACE:
                return node.uuid, ()
        pixels, decoding = self.pixels(data, base)
        name = f"{base or in_a_name(data.name)}.look.signature"
        signing = JobSpec("signature", {"name": data.name}, {"decoded": pixels}, name=name)
        return f"job:{name}/signature", (*decoding, signing)

    def without_classes(self, data: Bundle) -> str:
        """Why a data set that came without classes cannot be compared by these."""
        labels = "" if self._made_of(data, 2, Signature.kind) else ", and no labels of it were compared yet"
        return f"'{data.name}' came without classes{labels}."

    def _made_of(self, data: Bundle, depth: int, kind: str) -> list[Node]:
        """What of a kind was made of it and is still there, for all who may see the data set; the newest first."""
        nodes = self._store.lineage(data.uuid, depth=depth, direction="down").nodes.values()
        seen = ("", data.project)
        found = [node for node in nodes if node.kind == kind and not node.gone and node.project in seen]
        return sorted(found, key=lambda node: -node.created)


def once(specs: Iterable[JobSpec]) -> tuple[JobSpec, ...]:
    """Each job once, by its name: a data set may be compared with itself."""
    return tuple({spec.name: spec for spec in specs}.values())


def is_fine(decoded: Bundle) -> bool:
    """Whether images that were decoded so can be compared with those of any other data set."""
    return side_of(decoded) >= SHARPEST


def side_of(decoded: Bundle) -> int:
    """The side in pixels that images were decoded to; 0: unknown."""
    sizes = decoded.arrays["size"].items if "size" in decoded.arrays else ()
    return int(str(sizes[0])) if sizes else 0


def of_own_classes(signature: Bundle) -> bool:
    """Whether a signature is of the classes that its data set came with, and not of some labels."""
    return all(name != "labels" for name, _ in signature.lineage.inputs)


def space_of(signature: Bundle) -> str:
    """In what a signature can be compared with others."""
    spaces = signature.arrays["space"].items if "space" in signature.arrays else ()
    return str(spaces[0]) if spaces else ""
