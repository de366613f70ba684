"""Worker processes: the same job in several interpreters, with results in the order of the tasks.

Workers return their log messages beside each result. They ignore signals that end a run: this process kills them.
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

_PENDING = 4  # unfinished tasks for each worker, which bound the results in memory
_SMALL_TASK = 1 << 14  # bytes of the largest task for a busy worker: the pipe takes them, so that sending never waits
_QUEUED = 2  # tasks queued at a worker, so that it never waits for this process
_LAST_TASKS = 4  # tasks left for each worker from which on none is queued: another worker may be free sooner
_ENDING = (signal.SIGINT, signal.SIGTERM, *((signal.SIGHUP,) if hasattr(signal, "SIGHUP") else ()))
_LOGGER = "pairhmm"


class Job(Protocol):
    """The work of every worker. It has to be picklable."""

    def open(self) -> AbstractContextManager[Callable[[Any], Any]]:
        """A function from a task to its result, both picklable. A worker opens its job once.

        An iterator's result is the list of its items, each of which is sent as soon as it is made. Messages of opening
        are dropped.
        """


class _Message(NamedTuple):
    logger: str
    level: int
    text: str


class _Answer(NamedTuple):
    """The result of a task, or the error in its place, and the messages that it logged."""

    result: Any
    error: BaseException | None = None
    messages: Sequence[_Message] = ()


class _Item(NamedTuple):
    """An item of the result of a task."""

    item: Any


class _Worker(NamedTuple):
    process: BaseProcess
    connection: Connection
    queue: deque[int]  # numbers of its unfinished tasks
    items: list[Any]  # of the first of these


def can_start_workers() -> bool:
    """Whether this process may start workers: not where it is one, or where a script would be imported again."""
    import multiprocessing

    program = getattr(sys.modules["__main__"], "__file__", None)
    is_own_program = program is None or _LOGGER in (Path(program).stem, Path(program).parent.name)
    return not multiprocessing.current_process().daemon and (_can_fork() or is_own_program)


def _can_fork() -> bool:
    """Whether a fork is safe: locks that other threads hold would stay locked in it."""
    return sys.platform == "linux" and threading.active_count() == 1


class Workers:
    """Worker processes; a context manager that ends them.

    The system may start fewer than `count`, which a warning says; without any, this process does the job.
    """

    def __init__(self, job: Job, count: int) -> None:
        self._job, self._count = job, count
        self._owner = os.getpid()
        self._workers: list[_Worker] = []
        self._ended: list[_Worker] = []
        self._logged: set[_Message] = set()

    def __enter__(self) -> Self:
        import multiprocessing
        from multiprocessing import process as registry

        # A fork takes milliseconds, a new interpreter a third of a second.
        is_forked = _can_fork()
        if is_forked:
            gc.freeze()  # the collector of a fork would copy this process's pages
        context = multiprocessing.get_context("fork" if is_forked else "spawn")
        pipes = [context.Pipe() for _ in range(self._count)]
        level = logging.getLogger(_LOGGER).getEffectiveLevel()
        for ours, theirs in pipes:
            # A fork inherits every end of every pipe. It would not see that this process is gone while it holds ours.
            others = [end for pipe in pipes for end in pipe if end is not theirs] if is_forked else []
            arguments = (self._job, theirs, others, level)
            process = context.Process(target=_serve, args=arguments, daemon=True)  # type: ignore[attr-defined]
            try:
                with warnings.catch_warnings():
                    # Python also warns of threads of libraries, which hold no lock that a worker takes.
                    warnings.simplefilter("ignore", DeprecationWarning)
                    process.start()
            except OSError:
                break
            # At exit, multiprocessing would send SIGTERM, which a worker ignores, and wait for it.
            registry._children.discard(process)  # type: ignore[attr-defined]
            self._workers.append(_Worker(process, ours, deque(), []))
        if is_forked:
            gc.unfreeze()
        for _, theirs in pipes:
            theirs.close()
        for ours, _ in pipes[len(self._workers) :]:
            ours.close()
        if len(self._workers) < self._count:
            started = len(self._workers)
            log.warning("%d of %d processes could be started: fewer do the work (ulimit -u)", started, self._count)
        return self

    def __exit__(self, *unused: object) -> None:
        if os.getpid() != self._owner:
            return  # a fork of the process that started the workers
        for worker in self._workers:
            worker.process.kill()
        for worker in [*self._ended, *self._workers]:
            worker.connection.close()
            worker.process.join()
            worker.process.close()

    def results(self, tasks: Iterable[Any], are_last: bool = False) -> Iterator[Any]:
        """The result of each task, in the order of the tasks. Errors are raised in the place of the result.

        With `are_last` there must be no later call: idle workers end, because freeing their memory takes time.
        """
        if not self._workers:
            with self._job.open() as work:
                for task in tasks:
                    result = work(task)
                    yield list(result) if isinstance(result, Iterator) else result
            return
        waiting = _Tasks(tasks)
        answers: dict[int, _Answer] = {}
        sent = done = 0
        while True:
            self._receive(answers, 0)
            while sent - done < _PENDING * len(self._workers) and self._may_send(waiting):
                task = waiting.take()
                if isinstance(task, _Answer):
                    answers[sent] = task
                else:
                    self._send(sent, pickle.dumps(task), answers)
                sent += 1
            if are_last and not waiting.are_left(1):
                self._end_idle()
            if done == sent:
                return
            if done not in answers:
                self._receive(answers, None)
                continue
            answer = answers.pop(done)
            done += 1
            self._log(answer.messages)
            if answer.error is not None:
                raise answer.error
            yield answer.result

    def _may_send(self, waiting: _Tasks) -> bool:
        shortest = min(len(worker.queue) for worker in self._workers)
        return shortest < _QUEUED and waiting.are_left(_LAST_TASKS * len(self._workers) if shortest else 1)

    def _end_idle(self) -> None:
        for worker in [worker for worker in self._workers if not worker.queue]:
            worker.process.kill()
            self._workers.remove(worker)
            self._ended.append(worker)

    def _send(self, number: int, packed: bytes, answers: dict[int, _Answer]) -> None:
        """Send a task to the worker with the shortest queue; a large one only to an idle worker."""
        limit = _QUEUED if len(packed) <= _SMALL_TASK else 1
        while len((worker := min(self._workers, key=lambda worker: len(worker.queue))).queue) >= limit:
            self._receive(answers, None)
        with suppress(ConnectionError):  # if the worker has ended, receiving says so
            worker.connection.send_bytes(packed)
        worker.queue.append(number)

    def _receive(self, answers: dict[int, _Answer], seconds: float | None) -> None:
        """Take the messages that arrive within some seconds; with None, at least one."""
        from multiprocessing.connection import wait

        busy = {worker.connection: worker for worker in self._workers if worker.queue}
        for connection in wait(list(busy), seconds):
            worker = busy[connection]  # type: ignore[index]
            try:
                message = worker.connection.recv()
            except (EOFError, OSError):  # an OSError within a message
                worker.process.join()
                why = f"signal {-code}" if (code := worker.process.exitcode or 0) < 0 else f"exit code {code}"
                raise PairhmmError(f"a worker process ended ({why}); out of memory? use fewer threads (-@)") from None
            if isinstance(message, _Item):
                worker.items.append(message.item)
                continue
            answer = _Answer(*message)
            if worker.items:
                answer = answer._replace(result=[*worker.items])
                worker.items.clear()
            answers[worker.queue.popleft()] = answer

    def _log(self, messages: Sequence[_Message]) -> None:
        """Log the messages of a worker; warnings of several workers once."""
        for message in messages:
            if message.level < logging.INFO or message not in self._logged:
                self._logged.add(message)
                logging.getLogger(message.logger).log(message.level, "%s", message.text)


class _Tasks:
    """Tasks with a look ahead. An error of their source takes the place of the next task."""

    def __init__(self, tasks: Iterable[Any]) -> None:
        self._source: Iterator[Any] | None = iter(tasks)
        self._taken = deque[Any]()

    def are_left(self, count: int) -> bool:
        """Whether at least this many tasks are left."""
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
        return self._taken.popleft()


class _MessageBuffer(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self._messages: list[_Message] = []

    def emit(self, record: logging.LogRecord) -> None:
        self._messages.append(_Message(record.name, record.levelno, record.getMessage()))

    def take(self) -> list[_Message]:
        """The messages since the last call."""
        taken, self._messages = self._messages, []
        return taken


def _serve(job: Job, connection: Connection, others: Sequence[Connection], level: int) -> None:
    """Do tasks until the other process is gone, or kills this one."""
    keep_freed_memory()
    for number in _ENDING:
        signal.signal(number, signal.SIG_IGN)
    for other in others:
        other.close()
    logger, messages = logging.getLogger(_LOGGER), _MessageBuffer()
    logger.handlers[:], logger.propagate = [messages], False
    logger.setLevel(level)
    with ExitStack() as stack, suppress(EOFError, ConnectionError):
        work = _opened(job, stack)  # before the first task: the other process is still starting workers
        messages.take()  # the caller has logged the same where it opened the same files
        while True:
            task = pickle.loads(connection.recv_bytes())
            try:
                result = work(task)
                if isinstance(result, Iterator):
                    for item in result:
                        connection.send(_Item(item))
                    result = []
                answer = _Answer(result, None, messages.take())
            except BaseException as error:
                error.add_note(f"in a worker process:\n{traceback.format_exc()}")
                answer = _Answer(None, _portable(error), messages.take())
            connection.send(tuple(answer))


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
    """An error that can be pickled."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return PairhmmError(f"{type(error).__name__}: {error}")
    return error
