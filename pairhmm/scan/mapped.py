"""Sends large arrays to a WebGPU device, through mapped buffers."""

from __future__ import annotations

from typing import Any

from pairhmm.backends.webgpu.setup import mapped
from pairhmm.scan.sending import Bytes, Filling, Sender

PIECE, PIECES = 1 << 24, 16
"""Bytes of a buffer, and the number of buffers."""


class MappedSender(Sender):
    """Sends arrays to device buffers, whose sizes are whole words.

    While a buffer is being mapped, a thread of wgpu waits for the device, and no other thread can submit work. So
    buffers are mapped once everything is submitted, or when no mapped buffer is left.

    Parameters
    ----------
    device : GPUDevice
    """

    def __init__(self, device: Any) -> None:
        super().__init__(PIECE, PIECES)
        self._device = device
        self._sent: list[Any] = []
        self._mapping: list[tuple[Any, Any]] = []  # buffers, each with the promise that it is mapped

    def map_sent(self) -> None:
        """Begin to map the buffers that were passed to the device."""
        self._mapping += [(piece, piece.map_async("WRITE", 0, PIECE)) for piece in self._sent]
        self._sent = []

    def _take(self) -> Any:
        if not self._free and self._mapping:
            self._wait_for_mapped()
        return super()._take()

    def _make(self) -> Any:
        return self._device.create_buffer(size=PIECE, usage="MAP_WRITE|COPY_SRC", mapped_at_creation=True)

    def _memory(self, piece: Any) -> Bytes:
        return mapped(piece)

    def _pass(self, filling: Filling) -> None:
        filling.piece.unmap()
        sending = filling.sending
        size = -(-sending.size(filling.count) // 4) * 4
        encoder = self._device.create_command_encoder()
        encoder.copy_buffer_to_buffer(filling.piece, 0, sending.target, sending.size(filling.first), size)
        self._device.queue.submit([encoder.finish()])
        self._sent.append(filling.piece)

    def _reclaim(self) -> None:
        self.map_sent()
        self._wait_for_mapped()

    def _wait_for_mapped(self) -> None:
        for piece, promise in self._mapping:
            promise.sync_wait()
            self._free.append(piece)
        self._mapping = []
