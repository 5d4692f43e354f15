"""Questions to a project's desk: quick ones, slow ones, and those whose answer may come a little later."""

import json
import logging
import threading
from collections import OrderedDict
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from seedbed.assets.projects.projects import Project
from seedbed.base.errors import SeedbedError
from seedbed.base.ids import digest_of_bytes
from seedbed.flows.packing import packed
from seedbed.flows.standing import Standing
from seedbed.flows.usecases.grouping import Alike
from seedbed.runtime.desks.desks import Desks
from seedbed.runtime.desks.protocol import Answer

ROW = "seedbed.flows.desk.answers:ProjectDesk"
_QUICK, _SLOW = 20.0, 60.0  # seconds that a desk has
_AT_FIRST = 0.1  # seconds that are waited for a desk which is only starting
_REMEMBERED = 32  # answers
_AT_ONCE = 4
_log = logging.getLogger(__name__)

Question = Mapping[str, Any]


def question(ask: str, alike: Alike, standing: Standing, **more: Any) -> dict[str, Any]:
    """A question with what every answer needs: where the embeddings lie, and the labels as they are."""
    return {
        "ask": ask,
        "embeddings": str(alike.embeddings or ""),
        "images": str(alike.images or ""),
        "groups": str(alike.groups or ""),
        "labels": packed(standing.labels),
        "classes": len(standing.classes),
        **more,
    }


class Asking:
    """Asks the desks of projects. Each has two, so that what takes seconds holds up nobody who labels."""

    def __init__(self, desks: Desks) -> None:
        self._desks = desks
        self._threads = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="asking")
        self._lock = threading.Lock()
        self._answers: OrderedDict[str, Future[Answer]] = OrderedDict()

    def quick(self, project: Project, asked: Question) -> Answer:
        """An answer that a person waits for."""
        return self._desks.ask(project.id, asked, timeout=_QUICK)

    def slow(self, project: Project, asked: Question) -> Answer:
        """An answer that may take some seconds; the same question again is answered at once."""
        return self._begun(f"{project.id}/slow", asked, _SLOW).result()

    def soon(self, project: Project, asked: Question, *, within: float) -> Answer | None:
        """The answer if it comes within so many seconds; else None, and it is there for whoever asks again."""
        awake = project.id in self._desks.processes()
        begun = self._begun(project.id, asked, _SLOW)
        try:
            return begun.result(within if awake else min(within, _AT_FIRST))
        except TimeoutError:
            return None
        except SeedbedError as error:  # there is another way for whoever asks this
            _log.warning("A desk could not answer: %s", error)
            return None

    def close(self) -> None:
        """End the desks, and with them the questions."""
        self._desks.close()
        self._threads.shutdown(cancel_futures=True)

    def _begun(self, key: str, asked: Question, timeout: float) -> "Future[Answer]":
        name = digest_of_bytes(f"{key}\n{json.dumps(asked, sort_keys=True)}".encode())
        with self._lock:
            known = self._answers.get(name)
            if known is None or (known.done() and known.exception() is not None):
                known = self._answers[name] = self._threads.submit(self._desks.ask, key, asked, timeout=timeout)
            self._answers.move_to_end(name)
            while len(self._answers) > _REMEMBERED:
                self._answers.popitem(last=False)
            return known
