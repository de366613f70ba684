"""Devices of one process, which its worker processes share.

A worker writes a batch to shared memory and sends its address on a socket. The process that has the devices scores the
batch in place, and writes the scores behind it.
"""

from __future__ import annotations

import logging
import mmap
import os
import pickle
import shutil
import socket
import tempfile
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from pairhmm.engine.device_thread import DeviceThread
from pairhmm.errors import InputError, PairhmmError
from pairhmm.models.batch import PairBatch, Scores

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

log = logging.getLogger(__name__)

_ALIGNED = 64  # arrays begin at multiples of so many bytes
_GROWTH = 1 << 22  # bytes by which shared memory grows at least
_LONGEST_FOLDER = 80  # the path of a socket has about a hundred bytes of room
_SCORE_BYTES = np.dtype(np.float64).itemsize


class _Request(NamedTuple):
    """A batch in shared memory."""

    memory: int  # which memory of the worker
    size: int  # of that memory, in bytes
    frame: bytes  # the pickled batch without its arrays
    arrays: Sequence[tuple[int, int]]  # begin and end of each
    scores: int  # where they belong


class _Memory:
    """Shared memory without a name, which is freed with the last process that has it."""

    def __init__(self, file: int) -> None:
        self.file = file
        self._map: mmap.mmap | None = None

    @classmethod
    def new(cls) -> Self:
        if hasattr(os, "memfd_create"):
            return cls(os.memfd_create("pairhmm"))
        with tempfile.TemporaryFile() as file:
            return cls(os.dup(file.fileno()))

    def grow(self, size: int) -> int:
        """Grow to at least this many bytes. Returns the size."""
        if self._map is None or len(self._map) < size:
            self._map = None
            os.ftruncate(self.file, size + _GROWTH)
        return len(self.mapped())

    def mapped(self, size: int = 0) -> mmap.mmap:
        """The mapping, of at least this many bytes."""
        if self._map is None or len(self._map) < size:
            self._map = mmap.mmap(self.file, 0)
        return self._map

    def close(self) -> None:
        # The mapping is freed with its last view.
        self._map = None
        os.close(self.file)


class DeviceAddress(NamedTuple):
    """The path of the socket of a process that has devices."""

    path: str


@contextmanager
def device_address() -> Iterator[DeviceAddress]:
    """An address that no other user of the machine can connect to."""
    owner = os.getpid()
    usual = tempfile.gettempdir()
    try:
        folder = tempfile.mkdtemp(prefix="pairhmm-", dir=usual if len(usual) < _LONGEST_FOLDER else "/tmp")
    except OSError as error:
        raise InputError(usual, "", error.strerror or str(error), "set TMPDIR to a folder of yours") from error
    try:
        yield DeviceAddress(f"{folder}/devices")
    finally:
        if os.getpid() == owner:
            shutil.rmtree(folder, ignore_errors=True)


class SharedDevices:
    """Scores batches of worker processes, which connect when they have their first batch; a context manager."""

    def __init__(self, devices: DeviceThread, address: DeviceAddress) -> None:
        self.devices, self._address = devices, address
        self._thread = threading.Thread(target=self._serve, name="pairhmm requests", daemon=True)
        self._answers = ThreadPoolExecutor(1)

    def __enter__(self) -> Self:
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(self._address.path)
        self._listener.listen(socket.SOMAXCONN)
        self._ended, self._end = os.pipe()
        try:
            self._thread.start()
        except RuntimeError as error:
            raise PairhmmError("no thread could be started for workers (ulimit -u); use fewer threads (-@)") from error
        return self

    def __exit__(self, *unused: object) -> None:
        os.close(self._end)
        self._thread.join()
        self._answers.shutdown()
        os.close(self._ended)

    def _serve(self) -> None:
        from multiprocessing.connection import wait

        clients: dict[int, _Client] = {}
        arrivals = self._listener.fileno()
        try:
            while self._ended not in (ready := wait([self._ended, arrivals, *clients])):
                for number in map(int, ready):  # type: ignore[arg-type]
                    if number == arrivals:
                        client = _Client(self._listener.accept()[0], self.devices, self._answers)
                        clients[client.number] = client
                    elif not clients[number].serve():
                        del clients[number]
        except Exception as error:
            log.warning("worker processes can't use the devices any more: %s", error)
        # Workers that wait for scores get an end of file.
        self._listener.close()
        for client in clients.values():
            client.close()


class _Client:
    """A worker, as the process with the devices sees it."""

    def __init__(self, end: socket.socket, devices: DeviceThread, answers: ThreadPoolExecutor) -> None:
        _, files, _, _ = socket.recv_fds(end, 1, RemoteDevices.ahead + 1)
        self._memories = [_Memory(file) for file in files]
        self._connection = _connection(end)
        self._devices, self._answers = devices, answers
        self.number = self._connection.fileno()

    def serve(self) -> bool:
        """Take a request. False where the worker is gone."""
        try:
            request = _Request(*pickle.loads(self._connection.recv_bytes()))
        except (EOFError, OSError):
            self.close()
            return False
        memory = memoryview(self._memories[request.memory].mapped(request.size))
        batch = pickle.loads(request.frame, buffers=[memory[begin:end] for begin, end in request.arrays])
        self._devices.submit(batch).add_done_callback(partial(self._answer_aside, request, memory))
        return True

    def close(self) -> None:
        self._connection.close()
        for memory in self._memories:
            memory.close()

    def _answer_aside(self, request: _Request, memory: memoryview, scored: Any) -> None:
        """Answer in another thread than that of the devices."""
        try:
            self._answers.submit(self._answer, request, memory, scored)
        except RuntimeError:
            # At the end, or where the system refuses a thread.
            self._answer(request, memory, scored)

    def _answer(self, request: _Request, memory: memoryview, scored: Any) -> None:
        error = scored.exception()
        if error is None:
            log10, precision = _scores_in(memory, request.scores, len(scored.result().log10))
            log10[:], precision[:] = scored.result().log10, scored.result().precision
        with suppress(OSError):
            self._connection.send_bytes(pickle.dumps((request.memory, error)))


class RemoteDevices:
    """Devices of another process."""

    ahead = 1  # batches that a caller should begin before it takes the scores of the first one
    label = "devices of another process"

    def __init__(self, address: DeviceAddress) -> None:
        self._memories = [_Memory.new() for _ in range(self.ahead + 1)]
        self._free = deque(range(len(self._memories)))
        self._answered: dict[int, BaseException | None] = {}  # by memory; devices may score a later batch first
        self._address = address
        self._connected: Connection | None = None

    @property
    def _connection(self) -> Connection:
        """Made with the first batch: the devices are shared only after workers have begun."""
        if self._connected is None:
            end = socket.socket(socket.AF_UNIX)
            with _gone_as_error():
                end.connect(self._address.path)
                socket.send_fds(end, [b"x"], [memory.file for memory in self._memories])
            self._connected = _connection(end)
        return self._connected

    def begin(self, batch: PairBatch, threads: int = 1) -> Callable[[], Scores]:
        """Send a batch. The function that is returned waits for its scores, and is called in order."""
        buffers: list[pickle.PickleBuffer] = []
        frame = pickle.dumps(batch, 5, buffer_callback=buffers.append)
        parts = [buffer.raw() for buffer in buffers]
        ends = np.cumsum([-(-part.nbytes // _ALIGNED) * _ALIGNED for part in parts]).tolist()
        begins, scores = [0, *ends[:-1]], ends[-1]
        number = self._free.popleft()
        memory = self._memories[number]
        size = memory.grow(scores + (_SCORE_BYTES + 1) * batch.pairs)
        view = memoryview(memory.mapped())
        arrays = [(begin, begin + part.nbytes) for begin, part in zip(begins, parts, strict=True)]
        for (begin, end), part in zip(arrays, parts, strict=True):
            view[begin:end] = part
        with _gone_as_error():
            self._connection.send_bytes(pickle.dumps(tuple(_Request(number, size, frame, arrays, scores))))
        return partial(self._scores, number, scores, batch.pairs)

    def _scores(self, number: int, at: int, pairs: int) -> Scores:
        while number not in self._answered:
            with _gone_as_error():
                answered, error = pickle.loads(self._connection.recv_bytes())
            self._answered[answered] = error
        error = self._answered.pop(number)
        self._free.append(number)
        if error is not None:
            raise error
        scores = _scores_in(memoryview(self._memories[number].mapped()), at, pairs)
        return Scores(*(values.copy() for values in scores))


def _connection(end: socket.socket) -> Connection:
    # Not above: every command would load it.
    from multiprocessing.connection import Connection

    return Connection(end.detach())


@contextmanager
def _gone_as_error() -> Iterator[None]:
    try:
        yield
    except (EOFError, OSError) as error:
        raise PairhmmError("the process that has the devices is gone") from error


def _scores_in(memory: memoryview, at: int, pairs: int) -> tuple[Any, Any]:
    precision = at + _SCORE_BYTES * pairs
    return (
        np.frombuffer(memory[at:precision], dtype=np.float64),
        np.frombuffer(memory[precision : precision + pairs], dtype=np.uint8),
    )
