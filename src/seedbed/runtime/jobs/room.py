"""Walking a queue over the room that the nodes have: what FIFO-like policies share.

The rules of the walk, for jobs in the order in which they stand:

- A job that fits into what is free starts, on the node that it fills best.
- A job for which room is coming (somebody there is stopping) is promised that room: nothing behind it takes it, and
  nobody else is asked to stop for it.
- A job that must wait for room holds every node that it could run on: nothing behind it starts there, so that a large
  job is not passed for ever by small ones. Nodes that it could never run on stay open to the jobs behind it.
- A job that no node could ever hold is told so, and holds nothing.
"""

from collections.abc import Callable, Iterable, Sequence

from seedbed.base.resources import Resources, show_size
from seedbed.runtime.executors.protocol import Node
from seedbed.runtime.jobs.policy import Decision, Placement, Running, Waiting


class Room:
    """What one node has free, what is coming free, and what of it is promised."""

    def __init__(self, node: Node) -> None:
        self.node = node
        self.free = node.capacity
        self.later = node.capacity  # what is free or coming free, and not promised to anyone
        self.jobs: list[Running] = []
        self.stopping: list[Running] = []
        self.held = False

    @property
    def now(self) -> Resources:
        """What can be given away now without breaking a promise."""
        free, later = self.free, self.later
        return Resources(min(free.cpus, later.cpus), min(free.memory, later.memory), min(free.gpus, later.gpus))

    def add(self, job: Running) -> None:
        """Count a job that runs here."""
        self.free = self.free - job.demand
        if job.stopping:
            self.stopping.append(job)
        else:
            self.later = self.later - job.demand
            self.jobs.append(job)

    def take(self, demand: Resources) -> None:
        """Give room to a job that starts."""
        self.free = self.free - demand
        self.later = self.later - demand

    def promise(self, demand: Resources) -> None:
        """Keep room for a job until it is free."""
        self.later = self.later - demand

    def empty(self, job: Running) -> None:
        """Count on the room of a job that is being asked to stop."""
        self.jobs.remove(job)
        self.stopping.append(job)
        self.later = self.later + job.demand


_Amounts = tuple[float, int, int]
MakeRoom = Callable[[Waiting, Sequence[Room]], tuple[Room, list[Running]] | None]
"""Which node is emptied of which jobs for a newcomer, if any; the walk then asks those to stop."""


def walk(
    order: Iterable[Waiting],
    running: Sequence[Running],
    nodes: Sequence[Node],
    make_room: MakeRoom = lambda job, rooms: None,
) -> Decision:
    """Decide on waiting jobs in the order given."""
    return _Walk(running, nodes, make_room).over(order)


class _Walk:
    def __init__(self, running: Sequence[Running], nodes: Sequence[Node], make_room: MakeRoom) -> None:
        self.rooms = {node.name: Room(node) for node in nodes}
        for job in running:
            if job.node in self.rooms:  # a node that is gone gives nothing and takes nothing
                self.rooms[job.node].add(job)
        self.make_room = make_room
        self.decision = Decision()
        self.ahead = 0  # jobs passed that still wait
        # by amounts, which are several times faster to look up than Resources, and this is done for every job
        self.open: dict[_Amounts, list[Room]] = {}
        self.never: dict[_Amounts, str] = {}

    def over(self, order: Iterable[Waiting]) -> Decision:
        reasons = self.decision.reasons
        for job in order:
            demand = job.demand
            amounts = (demand.cpus, demand.memory, demand.gpus)
            rooms = self._open_to(demand, amounts)
            if rooms is None:
                reasons[job.id] = self.never[amounts]
                continue
            reason = self._place(job, rooms) if rooms else self._behind()
            if reason:
                reasons[job.id] = reason
                self.ahead += 1
        return self.decision

    def _open_to(self, demand: Resources, amounts: "_Amounts") -> list[Room] | None:
        """The nodes that are large enough and not held; None when none is large enough."""
        rooms = self.open.get(amounts)
        if rooms is None:
            if amounts in self.never:
                return None
            rooms = [room for room in self.rooms.values() if demand.fits_in(room.node.capacity)]
            if not rooms:
                self.never[amounts] = too_large(demand, [room.node.capacity for room in self.rooms.values()])
                return None
            self.open[amounts] = rooms
        if rooms and any(room.held for room in rooms):
            rooms = self.open[amounts] = [room for room in rooms if not room.held]
        return rooms

    def _place(self, job: Waiting, rooms: list[Room]) -> str:
        """Start the job, or say why it waits."""
        coming = [room for room in rooms if job.demand.fits_in(room.later)]
        if fitting := [room for room in coming if job.demand.fits_in(room.free)]:
            room = min(fitting, key=_emptiness)
            room.take(job.demand)
            self.decision.start.append(Placement(job.id, room.node.name))
            return ""
        if coming:
            room = min(coming, key=lambda room: max(stopping.grace for stopping in room.stopping))
            return self._promise(job, room)
        if made := self.make_room(job, rooms):
            room, victims = made
            for victim in victims:
                room.empty(victim)
                self.decision.preempt.append(victim.id)
            return self._promise(job, room)
        for room in rooms:
            room.held = True
        return self._behind() if self.ahead and _kept(job, rooms) else too_little(job.demand, rooms)

    def _promise(self, job: Waiting, room: Room) -> str:
        room.promise(job.demand)
        ids = " and ".join(stopping.id for stopping in room.stopping)
        verb = "stops" if len(room.stopping) == 1 else "stop"
        return f"Room is being made: {ids} {verb} within {max(s.grace for s in room.stopping):g} s"

    def _behind(self) -> str:
        return f"Behind {self.ahead} job{'s' if self.ahead != 1 else ''}"


def _emptiness(room: Room) -> tuple[int, float, int, str]:
    return room.free.gpus, room.free.cpus, room.free.memory, room.node.name


def _kept(job: Waiting, rooms: Sequence[Room]) -> bool:
    """Whether it would fit, were it not for what is promised to jobs ahead of it."""
    return any(job.demand.fits_in(room.free) for room in rooms)


def too_large(demand: Resources, capacities: Sequence[Resources]) -> str:
    """Why no machine here could ever hold a demand."""
    for capacity in capacities:
        if missing := _missing(demand, capacity):
            each_alone = [part for part in missing if all(part in _missing(demand, other) for other in capacities)]
            wanted = _join(_show(demand, part) for part in each_alone or missing)
            pronoun = "it" if wanted.startswith("1 ") or not _plural(demand, each_alone or missing) else "them"
            return f"Needs {wanted}, no machine here has {pronoun}"
    return "No machine is here to run it"


def too_little(demand: Resources, rooms: Sequence[Room]) -> str:
    """Why a demand must wait: what is missing on the node that is nearest to holding it."""
    nearest = min(rooms, key=lambda room: (len(_missing(demand, room.now)), -room.now.gpus, -room.now.cpus))
    room = nearest.now
    missing = _missing(demand, room)
    wanted = _join(_show(demand, part) for part in missing)
    free = _join(_show(room, part, unit=len(missing) > 1) for part in missing)
    verb = "is" if len(missing) == 1 and not _plural(room, missing) else "are"
    where = "" if len(rooms) == 1 else " on one machine"
    return f"Needs {wanted}, {free} {verb} free{where}"


def _missing(demand: Resources, room: Resources) -> list[str]:
    parts = {"cpus": demand.cpus > room.cpus + 1e-9, "memory": demand.memory > room.memory}
    return [part for part, short in {**parts, "gpus": demand.gpus > room.gpus}.items() if short]


def _show(amount: Resources, part: str, *, unit: bool = True) -> str:
    if part == "memory":
        return show_size(max(0, amount.memory)) + (" of memory" if unit else "")
    count = max(0.0, round(float(getattr(amount, part)), 2))
    return f"{count:g}" + (f" {part if count != 1 else part[:-1]}" if unit else "")


def _plural(amount: Resources, parts: Sequence[str]) -> bool:
    return len(parts) > 1 or (parts[0] != "memory" and getattr(amount, parts[0]) != 1)


def _join(words: Iterable[str]) -> str:
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last
