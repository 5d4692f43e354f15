"""The platform: every part of one home, put together. Imports no torch: that lives in worker processes."""

import contextlib
import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Self

from seedbed.assets.access.audit import Audit
from seedbed.assets.access.users import Users as KeptUsers
from seedbed.assets.db.engine import Database
from seedbed.assets.projects.projects import Projects as KeptProjects
from seedbed.assets.store.home import open_home
from seedbed.assets.store.store import Store
from seedbed.assets.zoo.cache import WeightCache, default_folder
from seedbed.base.clock import Clock, SystemClock
from seedbed.base.settings import Settings
from seedbed.flows.check import SpecChecker
from seedbed.flows.gallery import Galleries
from seedbed.flows.jobfile import load_job_file
from seedbed.flows.launcher import StepLauncher
from seedbed.flows.listing import listing
from seedbed.flows.outside import Roots
from seedbed.flows.usecases.asking import ROW, Asking
from seedbed.flows.usecases.backup import Backup
from seedbed.flows.usecases.bundles import Bundles
from seedbed.flows.usecases.by_itself import ByItself
from seedbed.flows.usecases.cards import Cards
from seedbed.flows.usecases.contexts import Contexts
from seedbed.flows.usecases.datasets import DataSets
from seedbed.flows.usecases.doctor import Check, examine
from seedbed.flows.usecases.feed import Feed
from seedbed.flows.usecases.followers import Cleaner, Follower, ProjectFollower
from seedbed.flows.usecases.grouping import Grouper, Groupings
from seedbed.flows.usecases.jobs import Jobs
from seedbed.flows.usecases.labelling import Labelling
from seedbed.flows.usecases.left_behind import LeftBehind
from seedbed.flows.usecases.models import Models
from seedbed.flows.usecases.notices import Notices, channels
from seedbed.flows.usecases.presence import Presence
from seedbed.flows.usecases.projects import Projects
from seedbed.flows.usecases.results import Results
from seedbed.flows.usecases.similarities import Similarities
from seedbed.flows.usecases.starts import Starts
from seedbed.flows.usecases.trainings import Trainings
from seedbed.flows.usecases.uploads import Uploads
from seedbed.flows.usecases.users import Users
from seedbed.flows.usecases.ways import Ways
from seedbed.flows.usecases.zoo import Zoo
from seedbed.flows.usecases.zookeeper import Holder, Learner
from seedbed.runtime.desks.desks import Desks
from seedbed.runtime.executors.local import LocalExecutor
from seedbed.runtime.jobs.collector import Collector
from seedbed.runtime.jobs.folders import JobFolders
from seedbed.runtime.jobs.lease import Lease
from seedbed.runtime.jobs.policies import POLICIES
from seedbed.runtime.jobs.queue import Queue
from seedbed.runtime.jobs.records import Job
from seedbed.runtime.jobs.reruns import Reruns
from seedbed.runtime.jobs.scheduler import Scheduler
from seedbed.runtime.jobs.spec import JobSpec

_log = logging.getLogger(__name__)
_LOOK = 0.5
_LOOK_WHILE_WAITED_FOR = 0.1  # where somebody waits for this process to end
_PAUSE = 5.0  # seconds after something went wrong
_HOUR = 3600.0


class Platform:
    """One open home. Safe to use from any thread; close it in the end (or use it as a context manager)."""

    def __init__(self, settings: Settings, database: Database, clock: Clock | None = None) -> None:
        self.settings = settings
        self.database = database
        self.clock = clock or SystemClock()
        self.store = Store(database, settings.home, clock=self.clock)
        self.events = self.store.events
        self.queue = Queue(database, self.events, self.clock)
        self.executor = LocalExecutor(
            cpus=settings.cpus, memory=settings.memory, gpus=settings.gpus, log_limit=settings.log_limit
        )
        self.audit = Audit(database, self.clock)
        self.feed = Feed(self.events)
        self.backup = Backup(self.store, self.audit)
        self._kept_projects = KeptProjects(database, self.events, self.clock)
        self._roots = Roots(settings)
        self._galleries = Galleries(self.store)
        self._with_people()
        self._with_data()
        self._with_zoo()
        self._with_trainings()
        self._with_labelling()

    def _with_people(self) -> None:
        kept = KeptUsers(self.database, self.events, self.clock, session_hours=self.settings.session_hours)
        self.users = Users(kept, self._kept_projects, self.audit)
        self.projects = Projects(self._kept_projects, self.store, self.audit, self.queue)

    def _with_data(self) -> None:
        """Bundles, and the jobs that make them."""
        self.contexts = Contexts(self.store, self.audit)
        self._uploads = Uploads(self.settings.home / "uploads", self.queue)
        folders = JobFolders(self.settings.home / "jobs")
        self.bundles = Bundles(
            self.store,
            self._kept_projects,
            self.contexts,
            self._roots,
            self.audit,
            self._uploads,
            LeftBehind(folders, self.queue),
            gc_grace=self.settings.gc_grace_hours * _HOUR,
        )
        fixed = {"ingest": {"pixel_limit": self.settings.image_pixel_limit}}
        checker = SpecChecker(self.store, self.queue, self._kept_projects, self._roots, self.executor.nodes, fixed)
        self.jobs = Jobs(self.queue, checker, self.executor, self.audit, Reruns(self.queue, folders), self.clock)
        self.data = DataSets(self.bundles, self.jobs, self.store, self._kept_projects, self._galleries)

    def _with_zoo(self) -> None:
        """Weights to start from, and which data sets are alike."""
        place = self.settings.weight_cache
        folder = Path(place).expanduser() if place else default_folder(self.settings.home)
        self.weight_cache = WeightCache(folder, self.settings.weight_slots)
        self._cards = Cards(self.store)
        self._starts = Starts(self.store, self.queue, self._cards, self.weight_cache, baseline=self.settings.baseline)
        self.zoo = Zoo(
            self.store,
            self.bundles,
            self.jobs,
            self.projects,
            self._cards,
            self._starts,
            self.weight_cache,
            self._roots,
            self.audit,
        )
        self.similarities = Similarities(self.store, self.bundles, self.jobs)

    def _with_trainings(self) -> None:
        self.models = Models(
            self.bundles,
            self.jobs,
            self.projects,
            self.store,
            self._roots,
            self._starts,
            nodes=self.executor.nodes,
            pixel_limit=self.settings.image_pixel_limit,
        )
        self.trainings = Trainings(self.jobs, self.models, self.projects, self.queue, self.store, self.clock)
        self.results = Results(self.projects, self.store)

    def _with_labelling(self) -> None:
        """Groups of alike images, labels, and the way of a project from one to the other."""
        self._groupings = Groupings(
            self.store,
            self.queue,
            self.jobs,
            self._kept_projects,
            self._galleries,
            self.audit,
            nodes=self.executor.nodes,
        )
        self.labelling = Labelling(
            self.projects,
            self._kept_projects,
            self.store,
            self._galleries,
            self._groupings,
            self.trainings,
            Asking(_desks(self.settings)),
            Presence(self.clock),
            acting=self.users.acting_for,
            pixel_limit=self.settings.image_pixel_limit,
        )
        self.ways = Ways(self.bundles, self.jobs, self.labelling, self.trainings, self.results)

    @classmethod
    def open(cls, settings: Settings, clock: Clock | None = None) -> Self:
        """Open the home of the settings: made if absent, migrated if old, refused if newer."""
        return cls(settings, open_home(settings.home, settings.database_url), clock)

    def close(self) -> None:
        """End the desks and close the database; running attempts go on."""
        self.labelling.close()
        self.database.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def doctor(self) -> list[Check]:
        """What is missing or unsafe."""
        return examine(self.settings)

    def kinds(self) -> dict[str, dict[str, str]]:
        """For `seedbed list <kind>`: kind of thing -> name -> one line, from the registries."""
        return listing()

    def load_job_file(self, path: Path) -> list[JobSpec]:
        """The jobs of a YAML file, not yet submitted."""
        return load_job_file(path)

    def scheduler(self) -> Scheduler:
        """A scheduler over this home's queue; of several in several processes one acts at a time."""
        lease = Lease(self.database, self.clock)
        folders = JobFolders(self.settings.home / "jobs")
        collector = Collector(self.queue, self.store, folders, lease)
        launcher = StepLauncher(self.store, self.queue, self.weight_cache.environment())
        policy = POLICIES.get(self.settings.policy)()
        return Scheduler(self.queue, self.executor, policy, launcher, collector, lease)

    def serve_scheduler(self, stop: threading.Event, *, look: float = _LOOK, resident: bool = True) -> None:
        """Schedule, collect and follow events until told to stop; waits while another process does.

        `look`: seconds after which followers look again without news, and hear that they should stop. `resident`: it
        stays, as a server does, so that it may also begin work that nobody waits for.
        """
        followers = [*self._followers(), *(self._resident_followers() if resident else ())]
        follower = threading.Thread(target=self._follow, args=(stop, look, followers), name="followers", daemon=True)
        follower.start()
        self.scheduler().run(stop)
        follower.join()

    def run_until_done(
        self, job_ids: Sequence[str], on_change: Callable[[list[Job]], None] | None = None, *, poll: float = 0.5
    ) -> list[Job]:
        """Schedule in this process until these jobs have ended; `on_change` sees them whenever something moved."""
        with self._scheduling():
            before: list[Job] = []
            while True:
                cursor = self.events.last()
                jobs = [self.queue.get(job_id) for job_id in job_ids]
                if on_change and jobs != before:
                    on_change(jobs)
                if all(job.state.ended for job in jobs):
                    break
                before = jobs
                self.events.wait(cursor, poll, kinds=("job.",))
        self.catch_up()
        return jobs

    def catch_up(self) -> None:
        """Deal with what follows from events so far: for processes that end right after their jobs."""
        for follower in self._followers():
            follower.follow()

    @contextlib.contextmanager
    def _scheduling(self) -> Iterator[None]:
        stop = threading.Event()
        serve = partial(self.serve_scheduler, stop, look=_LOOK_WHILE_WAITED_FOR, resident=False)
        thread = threading.Thread(target=serve, name="scheduler", daemon=True)
        thread.start()
        try:
            yield
        finally:
            stop.set()
            thread.join()

    def _followers(self) -> list[Follower]:
        told = Notices(
            self.events,
            self.queue,
            channels(self.settings, self.users.mail_of),
            self.clock,
            public_url=self.settings.public_url,
        )
        cleaner = Cleaner(self.events, self.queue, JobFolders(self.settings.home / "jobs"), self._uploads)
        projects = ProjectFollower(self.events, self.queue, self._kept_projects, self.store)
        by_itself = ByItself(self.events, self._kept_projects, self.trainings, self.users.acting_for)
        learner = Learner(self.events, self.queue, self.store, self._starts)
        holder = Holder(self.events, self.queue, self.store, self._cards, self._starts, self.weight_cache)
        return [projects, cleaner, told, by_itself, learner, holder]

    def _resident_followers(self) -> list[Follower]:
        return [Grouper(self.events, self._kept_projects, self._groupings, self.users.acting_for)]

    def _follow(self, stop: threading.Event, look: float, followers: Sequence[Follower]) -> None:
        while not stop.is_set():
            try:
                cursor = self.events.last()
                well = [_went_well(follower) for follower in followers]
                if all(well):
                    self.events.wait(cursor, look, kinds=("job.", "bundle.deleted"))
                else:
                    stop.wait(_PAUSE)
            except Exception:  # the database is away: the thread must be there when it comes back
                _log.exception("The events could not be followed; it is tried again.")
                stop.wait(_PAUSE)


def _desks(settings: Settings) -> Desks:
    """Desks that leave most of the machine to jobs, and its GPUs altogether."""
    # one thread: a head that one fits in 0.2 s took two of them 8 s, waiting for each other on a busy machine
    threads = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    environment = {**threads, "OMP_WAIT_POLICY": "PASSIVE", "CUDA_VISIBLE_DEVICES": ""}
    return Desks(ROW, idle=settings.desk_idle_minutes * 60, most=settings.desks, environment=environment)


def _went_well(follower: Follower) -> bool:
    """Let one follow the events; its trouble is not the others', and it finds its events again."""
    try:
        follower.follow()
    except Exception:
        _log.exception("%s failed; it is tried again.", type(follower).__name__)
        return False
    return True
