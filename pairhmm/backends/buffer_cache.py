"""A cache of device buffers, which are reused from call to call until a call needs their memory."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Generic, NamedTuple, TypeVar

from pairhmm.errors import OutOfDeviceMemory

Buffer = TypeVar("Buffer")


class _Held(NamedTuple, Generic[Buffer]):
    buffer: Buffer
    size: int


class BufferCache(Generic[Buffer]):
    """Buffers by name, which grow as needed. One call at a time uses them.

    A call gets the buffers that earlier calls made, if they are large enough. Where a buffer can't be made, those that
    the call has not asked for are given back, and it is made after all.

    Parameters
    ----------
    label : str
        The device's label, for messages.
    memory : int or None
        Bytes that the buffers may take together; None for no limit.
    make : callable
        Makes the buffer of a name with a number of bytes. It may raise OutOfDeviceMemory.
    drop : callable
        Gives up the memory of a buffer.
    of_host : collection of str
        Buffers that do not count towards `memory`, because they lie in the host's memory.
    """

    def __init__(
        self,
        label: str,
        memory: int | None,
        make: Callable[[str, int], Buffer],
        drop: Callable[[Buffer], object],
        of_host: Collection[str] = (),
    ) -> None:
        self._label, self._memory = label, memory
        self._make, self._drop = make, drop
        self._of_host = of_host
        self._held: dict[str, _Held[Buffer]] = {}
        self._asked: dict[str, int] = {}

    def __getitem__(self, name: str) -> Buffer:
        return self._held[name].buffer

    def begin_call(self) -> None:
        """Note that no call uses the buffers any more, and that the next one begins."""
        self._asked.clear()

    def with_room(self, name: str, size: int) -> Buffer:
        """The buffer of that name, with at least `size` bytes. A buffer that grows loses its contents.

        Raises
        ------
        OutOfDeviceMemory
            `fits_later` is True where earlier calls made the call's own buffers larger than it needs.
        """
        self._asked[name] = max(size, self._asked.get(name, 0))
        cached = self._held.get(name)
        if cached is not None and cached.size >= size:
            return cached.buffer
        self._give_up([name])
        try:
            self._held[name] = _Held(self._made(name, size), size)
        except OutOfDeviceMemory as error:
            unasked = [other for other in self._on_device() if other not in self._asked]
            if not unasked:
                error.fits_later = any(self._held[other].size > self._asked[other] for other in self._on_device())
                raise
            self._give_up(unasked)
            return self.with_room(name, size)
        return self._held[name].buffer

    def release(self) -> None:
        """Give up all device memory. Nothing uses it any more. The buffers in the host's memory stay."""
        self._give_up(self._on_device())

    def _made(self, name: str, size: int) -> Buffer:
        if self._memory is not None and name not in self._of_host:
            taken = size + sum(self._held[other].size for other in self._on_device())
            if taken > self._memory:
                raise OutOfDeviceMemory(f"{self._label}: {taken} bytes are over the budget of a call")
        return self._make(name, size)

    def _on_device(self) -> list[str]:
        return [name for name in self._held if name not in self._of_host]

    def _give_up(self, names: Collection[str]) -> None:
        for name in names:
            if name in self._held:
                self._drop(self._held.pop(name).buffer)
