"""Worker processes: the same work in several interpreters, with results in the order of the tasks.

Threads of one interpreter take turns in Python code; processes do not. A worker keeps its messages, and this process
writes them beside the result. A worker ignores signals that end a run: this process ends its workers.
"""

from __future__ import annotations

import gc
import logging
import os
import pickle
import signal
import sys
import threading
import traceback
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self

from pairhmm.errors import PairhmmError
from pairhmm.process import keep_freed_memory

if TYPE_CHECKING:  # a command with one thread starts sooner without the import
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess

log = logging.getLogger(__name__)

# Tasks for each worker that are under way or wait for an earlier one: they bound the results that are held.
_AHEAD = 4
# Bytes of the largest task that a busy worker gets: the pipe takes them, so that sending does not wait.
_SMALL_TASK = 1 << 14
# A worker gets its next task before it has done its task, so that it need not wait for this process. That ends when so
# many tasks are left for each worker: what a busy worker holds, no other can do.
_HELD_TASKS = 2
_LAST_TASKS = 4
_ENDING = (signal.SIGINT, signal.SIGTERM, *((signal.SIGHUP,) if hasattr(signal, "SIGHUP") else ()))
_LOGGER = "pairhmm"


class Job(Protocol):
    """What every worker does. It has to be picklable."""

    def open(self) -> AbstractContextManager[Callable[[Any], Any]]:
        """A function that turns a task into its result, both picklable.

        If it gives an iterator, the result is the list of what that gives, and each item is sent as soon as it is made.
        A worker opens its job once. Messages of opening are dropped.
        """


class _Message(NamedTuple):
    logger: str
    level: int
    text: str


class _Answer(NamedTuple):
    """The result of a task, or the error in its place, and the messages that it wrote."""

    result: Any
    error: BaseException | None = None
    messages: Sequence[_Message] = ()


class _Part(NamedTuple):
    """An item of the result of a task."""

    item: Any


class _Worker(NamedTuple):
    process: BaseProcess
    connection: Connection
    held: deque[int]
    parts: list[Any]


def can_start_workers() -> bool:
    """Whether this process may have worker processes.

    Those of a `multiprocessing.Pool` may not. Where workers can't be forked, they import the program again, which a
    script has to be written for.
    """
    import multiprocessing

    return not multiprocessing.current_process().daemon and (_can_fork() or _can_be_imported_again())


def _can_fork() -> bool:
    """Whether a fork is safe. Locks that other threads hold would stay locked in it."""
    return sys.platform == "linux" and threading.active_count() == 1


def _can_be_imported_again() -> bool:
    program = getattr(sys.modules["__main__"], "__file__", None)
    return program is None or Path(program).stem == _LOGGER or Path(program).parent.name == _LOGGER


class Workers:
    """Worker processes; a context manager that ends them.

    Parameters
    ----------
    count : int
        How many. The system may start fewer, which a warning says; without any, this process does the job.
    """

    def __init__(self, job: Job, count: int) -> None:
        self._job, self._count = job, count
        self._owner = os.getpid()
        self._workers: list[_Worker] = []
        self._ended: list[_Worker] = []
        self._told: set[_Message] = set()

    def __enter__(self) -> Self:
        import multiprocessing
        from multiprocessing import process as registry

        # A fork takes milliseconds, a new interpreter a third of a second.
        is_forked = _can_fork()
        if is_forked:
            # The garbage collector of a fork would write to all objects of this process, whose pages it then copies.
            gc.freeze()
        context = multiprocessing.get_context("fork" if is_forked else "spawn")
        pipes = [context.Pipe() for _ in range(self._count)]
        level = logging.getLogger(_LOGGER).getEffectiveLevel()
        for own, theirs in pipes:
            # A fork has every end of every pipe. It would not see that this process is gone while it holds ours.
            others = [end for pipe in pipes for end in pipe if end is not theirs] if is_forked else []
            arguments = (self._job, theirs, others, level)
            process = context.Process(target=_serve, args=arguments, daemon=True)  # type: ignore[attr-defined]
            try:
                with warnings.catch_warnings():
                    # Python warns of threads of libraries, too, which hold no lock that a worker takes.
                    warnings.simplefilter("ignore", DeprecationWarning)
                    process.start()
            except OSError:
                break
            # At exit, multiprocessing would send SIGTERM, which a worker ignores, and wait for it.
            registry._children.discard(process)  # type: ignore[attr-defined]
            self._workers.append(_Worker(process, own, deque(), []))
        if is_forked:
            gc.unfreeze()
        for _, theirs in pipes:
            theirs.close()
        for own, _ in pipes[len(self._workers) :]:
            own.close()
        if len(self._workers) < self._count:
            started = len(self._workers)
            log.warning("%d of %d processes could be started: fewer do the work (ulimit -u)", started, self._count)
        return self

    def __exit__(self, *unused: object) -> None:
        if os.getpid() != self._owner:
            # A fork of the process that started the workers.
            return
        for worker in self._workers:
            worker.process.kill()
        for worker in [*self._ended, *self._workers]:
            worker.connection.close()
            worker.process.join()
            worker.process.close()

    def results(self, tasks: Iterable[Any], are_last: bool = False) -> Iterator[Any]:
        """The result of each task, in the order of the tasks.

        With `are_last` there must be no later call: workers end when nothing is left for them.

        Errors, those of `tasks` too, are raised in the place of the result: after the results of all earlier tasks.
        """
        if not self._workers:
            with self._job.open() as work:
                yield from (_whole(work(task)) for task in tasks)
            return
        waiting = _Tasks(tasks)
        answers: dict[int, _Answer] = {}
        given = done = 0
        while True:
            self._collect(answers, 0)
            while given - done < _AHEAD * len(self._workers) and self._may_take(waiting):
                task = waiting.take()
                if isinstance(task, _Answer):
                    answers[given] = task
                else:
                    self._give(given, pickle.dumps(task), answers)
                given += 1
            if are_last and not waiting.are_left(1):
                self._end_idle()
            if done == given:
                return
            if done not in answers:
                self._collect(answers, None)
                continue
            answer = answers.pop(done)
            done += 1
            self._tell(answer.messages)
            if answer.error is not None:
                raise answer.error
            yield answer.result

    def _may_take(self, waiting: _Tasks) -> bool:
        """Whether the next task is to be given now."""
        fewest = min(len(one.held) for one in self._workers)
        return fewest < _HELD_TASKS and waiting.are_left(_LAST_TASKS * len(self._workers) if fewest else 1)

    def _end_idle(self) -> None:
        """End workers that have no task: the system takes its time to free their memory."""
        for worker in [one for one in self._workers if not one.held]:
            worker.process.kill()
            self._workers.remove(worker)
            self._ended.append(worker)

    def _least_busy(self, limit: int) -> _Worker | None:
        """The worker with the fewest tasks, if they are fewer than `limit`."""
        worker = min(self._workers, key=lambda one: len(one.held))
        return worker if len(worker.held) < limit else None

    def _give(self, number: int, packed: bytes, answers: dict[int, _Answer]) -> None:
        """Give a task to the worker with the fewest; a large one only to one that waits for it."""
        most = _HELD_TASKS if len(packed) <= _SMALL_TASK else 1
        while (worker := self._least_busy(most)) is None:
            self._collect(answers, None)
        # If the worker has ended, what it leaves says so.
        with suppress(ConnectionError):
            worker.connection.send_bytes(packed)
        worker.held.append(number)

    def _collect(self, answers: dict[int, _Answer], seconds: float | None) -> None:
        """Take what has arrived, or arrives within some seconds; with None, an answer or a part of one at least."""
        from multiprocessing.connection import wait

        busy = {worker.connection: worker for worker in self._workers if worker.held}
        for connection in wait(list(busy), seconds):
            worker = busy[connection]  # type: ignore[index]
            try:
                message = worker.connection.recv()
            except (EOFError, OSError):
                # Within a message, its end is an OSError.
                worker.process.join()
                why = f"signal {-code}" if (code := worker.process.exitcode or 0) < 0 else f"exit code {code}"
                raise PairhmmError(f"a worker process ended ({why}); out of memory? use fewer threads (-@)") from None
            if isinstance(message, _Part):
                worker.parts.append(message.item)
                continue
            answer = _Answer(*message)
            if worker.parts:
                answer = answer._replace(result=[*worker.parts])
                worker.parts.clear()
            answers[worker.held.popleft()] = answer

    def _tell(self, messages: Sequence[_Message]) -> None:
        """Write the messages of a worker. What several workers say is said once."""
        for message in messages:
            if message.level < logging.INFO or message not in self._told:
                self._told.add(message)
                logging.getLogger(message.logger).log(message.level, "%s", message.text)


class _Tasks:
    """Tasks, of which some are taken from their source before they are needed."""

    def __init__(self, tasks: Iterable[Any]) -> None:
        self._source: Iterator[Any] | None = iter(tasks)
        self._taken = deque[Any]()

    def are_left(self, count: int) -> bool:
        """Whether so many tasks are left, or more."""
        while self._source is not None and len(self._taken) < count:
            try:
                self._taken.append(next(self._source))
            except StopIteration:
                self._source = None
            except Exception as error:
                self._source = None
                self._taken.append(_Answer(None, error))
        return len(self._taken) >= count

    def take(self) -> Any:
        """The next task, or an answer with the error that came in its place."""
        return self._taken.popleft()


class _Kept(logging.Handler):
    """Keeps messages."""

    def __init__(self) -> None:
        super().__init__()
        self._messages: list[_Message] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a message."""
        self._messages.append(_Message(record.name, record.levelno, record.getMessage()))

    def take(self) -> list[_Message]:
        """The messages since the last call."""
        taken, self._messages = self._messages, []
        return taken


def _serve(job: Job, connection: Connection, others: Sequence[Connection], level: int) -> None:
    """Do tasks until the other process is gone, or ends this one."""
    keep_freed_memory()
    for number in _ENDING:
        signal.signal(number, signal.SIG_IGN)
    for other in others:
        other.close()
    logger, kept = logging.getLogger(_LOGGER), _Kept()
    logger.handlers[:], logger.propagate = [kept], False
    logger.setLevel(level)
    with ExitStack() as stack, suppress(EOFError, ConnectionError):
        # Before the first task: the other process is still starting workers.
        work = _opened(job, stack)
        # Every worker would say the same, and the caller has said it where it opened the same files.
        kept.take()
        while True:
            task = pickle.loads(connection.recv_bytes())
            try:
                result = work(task)
                if isinstance(result, Iterator):
                    for item in result:
                        connection.send(_Part(item))
                    result = []
                answer = _Answer(result, None, kept.take())
            except BaseException as error:
                error.add_note(f"in a worker process:\n{traceback.format_exc()}")
                answer = _Answer(None, _portable(error), kept.take())
            connection.send(tuple(answer))


def _whole(result: Any) -> Any:
    """A result that did not come in parts."""
    return list(result) if isinstance(result, Iterator) else result


def _opened(job: Job, stack: ExitStack) -> Callable[[Any], Any]:
    """The function of a job; where that can't be opened, one that raises the error."""
    try:
        return stack.enter_context(job.open())
    except BaseException as error:
        why = error

        def refuse(task: Any) -> Any:
            raise why

        return refuse


def _portable(error: BaseException) -> BaseException:
    """An error as it can be sent."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return PairhmmError(f"{type(error).__name__}: {error}")
    return error
