"""Threads that do tasks side by side. Results, errors and messages come in the order of the tasks."""

from __future__ import annotations

import logging
import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import copy_context
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import Any, Generic, Self, TypeVar

from pairhmm.engine.device_pool import Stopped
from pairhmm.errors import PairhmmError

log = logging.getLogger(__name__)

Task = TypeVar("Task")
Item = TypeVar("Item")

_PENDING = 3  # unfinished tasks for each thread, which bound the results in memory
_PATIENCE = 10.0  # seconds that a thread gets to come to the end of what it computes, when no more is wanted
_FORK_SECONDS = 1.0  # after which one who waits for a result looks whether the threads are still there
_LOGGER = "pairhmm"

Begin = Callable[[], Callable[[Task], Iterator[Item]]]
"""Called in each thread: gives the function that makes the results of a task there, one by one."""


@dataclass(slots=True)
class _Slot(Generic[Task]):
    """A task with what came of it: `results` ends with None."""

    task: Task | None
    results: SimpleQueue[tuple[Any] | None] = field(default_factory=SimpleQueue)
    messages: list[logging.LogRecord] = field(default_factory=list)
    error: BaseException | None = None


class TaskThreads(Generic[Task, Item]):
    """Threads for tasks; a context manager that ends them.

    The system may start fewer than `count`, which a warning says; without any, the caller's thread does the tasks.

    `stop`: is set when no more results are wanted. What the tasks wait for has to end then.
    """

    def __init__(self, begin: Begin[Task, Item], count: int, stop: threading.Event) -> None:
        self._begin, self._stop, self._owner = begin, stop, os.getpid()
        self._tasks: SimpleQueue[_Slot[Task] | None] = SimpleQueue()
        # Daemons: Python would wait for others before it closes generators (`pairhmm.process`). They belong to the run
        # of the caller (`pairhmm.files.destinations`).
        self._threads = [
            threading.Thread(target=copy_context().run, args=(self._serve,), name="pairhmm tasks", daemon=True)
            for _ in range(count)
        ]
        self._logged: set[tuple[str, int, str]] = set()

    def __enter__(self) -> Self:
        _hold_messages_back()
        count, started = len(self._threads), 0
        try:
            for thread in self._threads:
                thread.start()
                started += 1
        except RuntimeError:
            # The system refused to start a thread (a limit on processes or memory).
            log.warning("%d of %d threads could be started: fewer do the work (ulimit -u)", started, count)
        del self._threads[started:]
        return self

    def __exit__(self, *unused: object) -> None:
        if os.getpid() != self._owner:
            return  # a fork, which has no threads
        self._stop.set()
        for _ in self._threads:
            self._tasks.put(None)
        for thread in self._threads:
            # The collector of unused objects may close a run in any thread.
            if thread is not threading.current_thread():
                thread.join(_PATIENCE)

    def results(self, tasks: Iterable[Task]) -> Iterator[Item]:
        """The results of all tasks, in their order. Errors are raised in the place of the results."""
        if not self._threads:
            work = self._begin()
            for task in tasks:
                yield from work(task)
            return
        waiting = self._slots(tasks)
        begun: deque[_Slot[Task]] = deque()
        while True:
            for slot in waiting:
                begun.append(slot)
                if len(begun) == _PENDING * len(self._threads):
                    break
            if not begun:
                return
            yield from self._results(begun.popleft())

    def _slots(self, tasks: Iterable[Task]) -> Iterator[_Slot[Task]]:
        """A slot for each task, which the threads get. An error of their source is the last one's."""
        try:
            for task in tasks:
                slot = _Slot[Task](task)
                self._tasks.put(slot)
                yield slot
        except Exception as error:
            last = _Slot[Task](None, error=error)
            last.results.put(None)
            yield last

    def _results(self, slot: _Slot[Task]) -> Iterator[Item]:
        while (result := self._next(slot.results)) is not None:
            yield result[0]
        self._log(slot.messages)
        if slot.error is not None:
            raise slot.error

    def _next(self, results: SimpleQueue[tuple[Any] | None]) -> tuple[Any] | None:
        while os.getpid() == self._owner:
            with suppress(Empty):
                return results.get(timeout=_FORK_SECONDS)
        raise PairhmmError("a fork of a process can't go on with its runs")

    def _log(self, messages: Iterable[logging.LogRecord]) -> None:
        """Log the messages of a task; those of several tasks once."""
        for record in messages:
            message = record.name, record.levelno, record.getMessage()
            if record.levelno < logging.INFO or message not in self._logged:
                self._logged.add(message)
                logging.getLogger(record.name).handle(record)

    def _serve(self) -> None:
        work: Callable[[Task], Iterator[Item]] | None = None
        while (slot := self._tasks.get()) is not None and not self._stop.is_set():
            with _messages_to(slot.messages):
                try:
                    work = work or self._begin()
                    assert slot.task is not None
                    for result in checked(work(slot.task), self._stop):
                        slot.results.put((result,))
                except BaseException as error:
                    slot.error = error
            slot.results.put(None)


def checked(items: Iterable[Item], stop: threading.Event) -> Iterator[Item]:
    """The items. Once `stop` is set, Stopped is raised in the place of the next one."""
    for item in items:
        if stop.is_set():
            raise Stopped
        yield item


_held = threading.local()


def _is_said_now(record: logging.LogRecord) -> bool:
    """Filters the messages of tasks out, and holds them until their turn."""
    messages: list[logging.LogRecord] | None = getattr(_held, "messages", None)
    if messages is not None:
        messages.append(record)
    return messages is None


def _hold_messages_back() -> None:
    """Let all loggers of this package hold the messages of tasks."""
    for name, logger in list(logging.root.manager.loggerDict.items()):
        if isinstance(logger, logging.Logger) and (name == _LOGGER or name.startswith(f"{_LOGGER}.")):
            logger.addFilter(_is_said_now)


@contextmanager
def _messages_to(messages: list[logging.LogRecord]) -> Iterator[None]:
    _held.messages = messages
    try:
        yield
    finally:
        _held.messages = None
