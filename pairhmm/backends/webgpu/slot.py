"""The device buffers of one call to a WebGPU device, and how a batch is copied into them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pairhmm.backends.buffer_cache import BufferCache
from pairhmm.backends.tiles import team
from pairhmm.backends.webgpu.setup import mapped, translated
from pairhmm.errors import OutOfDeviceMemory
from pairhmm.native import native

SMALLEST_BUFFER, WORD = 256, 4
"""Units in bytes: the size of a buffer is a multiple of SMALLEST_BUFFER, that of a copy is a multiple of WORD."""


class Slot:
    """Buffers by name, which grow as needed. One call at a time owns them.

    Parameters
    ----------
    label : str
        The backend's label, for messages.
    usages : mapping
        WebGPU's usage flags of each buffer, by its name.
    memory : int or None
        Bytes of device memory that the buffers may take together; None for no limit.
    of_host : collection of str
        Buffers that do not count towards `memory`, because they lie in the host's memory.

    Attributes
    ----------
    bind_groups : dict
        Bind groups of these buffers, by layout and names. Dropped when a buffer grows.
    """

    def __init__(
        self,
        device: Any,
        label: str,
        usages: Mapping[str, str],
        memory: int | None = None,
        of_host: Collection[str] = (),
    ) -> None:
        self.bind_groups: dict[tuple[Any, tuple[str, ...]], Any] = {}
        self._device, self._label, self._usages = device, label, usages
        self._buffers: BufferCache[Any] = BufferCache(label, memory, self._created, self._destroy, of_host)

    def __getitem__(self, name: str) -> Any:
        return self._buffers[name]

    def begin_call(self) -> None:
        """Note that the next call begins. What it does not ask for may be given back."""
        self._buffers.begin_call()

    def make_room(self, name: str, size: int) -> Any:
        """The buffer of that name, with at least `size` bytes. A buffer that grows loses its contents.

        Raises
        ------
        OutOfDeviceMemory
            Beyond the budget, or the device's limit for a buffer, or where the device has no more.
        """
        room = max(1, -(-size // SMALLEST_BUFFER)) * SMALLEST_BUFFER
        limit = self._device.limits["max-storage-buffer-binding-size"]
        if room > limit:
            raise OutOfDeviceMemory(f"{self._label}: {room} bytes are over its limit of {limit} for a buffer")
        return self._buffers.with_room(name, room)

    def release(self) -> None:
        """Give up all device memory. The buffers in the host's memory stay."""
        self._buffers.release()

    def _created(self, name: str, size: int) -> Any:
        usage = self._usages[name]
        with translated(self._label):
            return self._device.create_buffer(size=size, usage=usage, mapped_at_creation="MAP_WRITE" in usage)

    def _destroy(self, buffer: Any) -> None:
        self.bind_groups.clear()
        buffer.destroy()

    def upload(self, name: str, *arrays: NDArray[Any]) -> None:
        """Write arrays to a buffer, one after the other."""
        buffer = self.make_room(name, sum(values.nbytes for values in arrays))
        at = 0
        for values in arrays:
            if values.size:
                self._device.queue.write_buffer(buffer, at, np.ascontiguousarray(values))
            at += values.nbytes


USAGES = {
    "upload": "MAP_WRITE|COPY_SRC",
    "behind": "MAP_WRITE|COPY_SRC",
    "in": "STORAGE|COPY_DST",
    "work": "UNIFORM|COPY_DST",
    "out": "STORAGE|COPY_SRC|COPY_DST",
    "staging": "MAP_READ|COPY_DST",
    "listed": "STORAGE|COPY_DST",
    "list": "STORAGE",
    "scratch": "STORAGE",
    "border": "STORAGE|COPY_DST",
    "strips": "STORAGE",
    "times": "QUERY_RESOLVE|COPY_SRC",
}
"""Usage flags of the buffers of a call to the forward algorithm."""

UPLOADS = ("upload", "behind")
"""Buffers that a batch is written to: its arrays, and what is made from them and lies behind them."""

WORK_ROOM = 1 << 15
"""Bytes for `Work` blocks behind a batch. A call with more of them sends them by the queue, which takes longer."""

EARLY_BYTES = 1 << 20
"""Bytes of a batch's arrays from which on they are sent by a submission of their own, while the rest is made."""

OF_HOST = (*UPLOADS, "staging")
"""Buffers that the host reads or writes. On a GPU with its own memory, they lie in the host's memory."""


class _Copy(NamedTuple):
    """Bytes that were written to one of UPLOADS, and the buffer that they go to."""

    source: str
    first: int
    to: str
    at: int
    size: int


class BatchSlot(Slot):
    """A slot that a batch is packed into, through mapped memory. It is a `Staging` of `pairhmm.backends.tiles`.

    Parameters
    ----------
    usages : mapping
        As for `Slot`: those of the forward algorithm, unless the slot is for other kernels.
    """

    def __init__(self, device: Any, label: str, memory: int | None, usages: Mapping[str, str] = USAGES) -> None:
        super().__init__(device, label, usages, memory, OF_HOST)
        self.packer = native.Packer(team())
        self._behind = 0  # first byte of the batch that is in "behind"
        self._work_at = 0  # in "behind", where `Work` blocks go
        self._room: NDArray[np.uint8] | None = None  # that of "behind", while it is mapped
        self._copies: dict[str, _Copy] = {}  # what waits for a submission
        self._mappings: dict[str, Any] = {}  # the promises that buffers are mapped

    def begin(self, size: int, behind: int) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
        """Mapped memory to pack a batch into, with as much room in the buffer "in". It may only be written."""
        self.make_room("in", size)
        self._work_at = -(-(size - behind) // SMALLEST_BUFFER) * SMALLEST_BUFFER
        for name, room in zip(UPLOADS, (behind, self._work_at + WORK_ROOM), strict=True):
            self.make_room(name, room)
        self.map_uploads()
        for name in UPLOADS:
            if self[name].map_state == "pending":
                self._mappings[name].sync_wait()
        self._behind, self._copies, self._room = behind, {}, mapped(self["behind"])
        return mapped(self["upload"]), self._room

    def send(self, first: int, end: int) -> None:
        """Mark bytes as written. The next submission copies them to the buffer "in"; much is copied at once."""
        name, begin = ("upload", 0) if end <= self._behind else ("behind", self._behind)
        self._copies[name] = _Copy(name, 0, "in", begin, -(-(end - begin) // WORD) * WORD)
        if end == self._behind >= EARLY_BYTES:
            encoder = self._device.create_command_encoder()
            self.record_upload(encoder)
            commands = encoder.finish()
            self.end_upload()
            self._device.queue.submit([commands])

    def send_work(self, blocks: bytes) -> None:
        """Send `Work` blocks to the buffer "work", with the next submission."""
        self.make_room("work", len(blocks))
        if self._room is None or len(blocks) > WORK_ROOM:
            self.upload("work", np.frombuffer(blocks, dtype=np.uint8))
            return
        self._room[self._work_at : self._work_at + len(blocks)] = np.frombuffer(blocks, dtype=np.uint8)
        self._copies["work"] = _Copy("behind", self._work_at, "work", 0, len(blocks))

    def record_upload(self, encoder: Any) -> None:
        for source, first, to, at, size in self._copies.values():
            encoder.copy_buffer_to_buffer(self[source], first, self[to], at, size)

    def end_upload(self) -> None:
        """Unmap what was recorded. This must be called before the recorded commands are submitted."""
        sources = {copy.source for copy in self._copies.values()}
        for name in sources:
            self[name].unmap()
        if "behind" in sources:
            self._room = None
        self._copies = {}

    def map_uploads(self) -> None:
        """Begin to map the buffers that the next batch is packed into, unless that has begun already."""
        for name in UPLOADS:
            if self[name].map_state == "unmapped":
                self._mappings[name] = self[name].map_async("WRITE", 0, self[name].size)
