"""The device buffers of one call to a WebGPU device, and how a batch is copied into them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairhmm.backends.kept_buffers import KeptBuffers
from pairhmm.backends.webgpu.commands import mapped
from pairhmm.backends.webgpu.setup import translated
from pairhmm.errors import OutOfDeviceMemory

SMALLEST_BUFFER, WORD = 256, 4
"""Units in bytes: the size of a buffer is a multiple of SMALLEST_BUFFER, that of a copy is a multiple of WORD."""


class Slot:
    """Buffers by name, which grow as needed. One call at a time owns them.

    Parameters
    ----------
    device : GPUDevice
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
        self._buffers: KeptBuffers[Any] = KeptBuffers(label, memory, self._created, self._destroy, of_host)

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
    "in": "STORAGE|COPY_DST",
    "work": "UNIFORM|COPY_DST",
    "out": "STORAGE|COPY_SRC|COPY_DST",
    "staging": "MAP_READ|COPY_DST",
    "listed": "STORAGE|INDIRECT|COPY_DST",
    "list": "STORAGE",
    "scratch": "STORAGE",
    "border": "STORAGE|COPY_DST",
    "strips": "STORAGE",
    "times": "QUERY_RESOLVE|COPY_SRC",
}
"""Usage flags of the buffers of a call to the forward algorithm."""

OF_HOST = ("upload", "staging")
"""Buffers that the host reads or writes. On a GPU with its own memory, they lie in the host's memory."""


class BatchSlot(Slot):
    """A slot that a batch is packed into, through mapped memory. It is a `Staging` of `pairhmm.backends.tiles`.

    Parameters
    ----------
    device : GPUDevice
    label : str
    memory : int or None

    Attributes
    ----------
    beside : Executor
        A thread for work that can be done while arrays are copied.
    """

    def __init__(self, device: Any, label: str, memory: int | None) -> None:
        super().__init__(device, label, USAGES, memory, OF_HOST)
        self.beside = ThreadPoolExecutor(1)
        self._filled = 0  # bytes of "upload" that wait for a submission
        self._mapping: Any = None  # the promise that "upload" is mapped

    def begin(self, size: int) -> NDArray[np.uint8]:
        """Mapped memory to pack a batch into, with as much room in the buffer "in". It may only be written."""
        self.make_room("in", size)
        upload = self.make_room("upload", size)
        self.map_upload()
        if upload.map_state == "pending":
            self._mapping.sync_wait()
        self._filled = 0
        return mapped(upload)

    def send(self, first: int, end: int) -> None:
        """Mark bytes as written. The next submission copies them to the buffer "in"."""
        self._filled = max(self._filled, -(-end // WORD) * WORD)

    def record_upload(self, encoder: Any) -> None:
        if self._filled:
            encoder.copy_buffer_to_buffer(self["upload"], 0, self["in"], 0, self._filled)

    def end_upload(self) -> None:
        """Unmap the buffer "upload". This must be called before the recorded commands are submitted."""
        if self._filled:
            self["upload"].unmap()
            self._filled = 0

    def map_upload(self) -> None:
        """Begin to map the buffer "upload" for the next batch, unless that has begun already."""
        upload = self["upload"]
        if upload.map_state == "unmapped":
            self._mapping = upload.map_async("WRITE", 0, upload.size)
