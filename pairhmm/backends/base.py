"""The protocol of backends, as the engine uses them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:  # the command line's help asks the registry for names, and should import nothing else
    import numpy as np
    from numpy.typing import NDArray

    from pairhmm.models.batch import PairBatch, Scores


@dataclass(frozen=True, slots=True)
class Status:
    """Whether a backend runs on this machine."""

    available: bool
    detail: str = ""  # The SIMD level or the library that it runs on, if it is available
    # Name and size of each device that ``--device`` can choose, by index. Empty for a backend on the CPU.
    devices: tuple[str, ...] = ()
    # If it is not available: what is missing, and the cure
    reason: str = ""
    cure: str = ""
    software: tuple[int, ...] = ()  # Indices of the devices that are drivers on the CPU. "auto" takes none of them.
    # The number of each device on the whole machine, if it may differ from the index: a scheduler may give a process
    # only some of the devices, which are numbered anew for it.
    machine_numbers: tuple[str, ...] = ()

    def is_software(self, devices: Sequence[int] | None) -> bool:
        """Whether one of these devices is a driver on the CPU. Without devices, the first one is meant."""
        return not set(self.software).isdisjoint(devices or (0,))


class Backend(Protocol):
    """A backend on one device, which scores pairs of a `PairBatch`.

    Calls do not depend on each other. Devices and pipelines are made on first use.
    """

    name: str  # The backend's name in the registry
    label: str  # The device's name in messages: the backend's name, with an index where there are several (``cuda:0``)
    # The number of concurrent calls that pay; 1 where one call keeps the device busy
    concurrency: int = 1
    # The most cells of one call. On the CPU, a call takes about half a second of one core, so that runs can be
    # interrupted.
    chunk_cells: int = 4_000_000_000
    # The most cells of a batch's first call. It is small, so that the device soon computes while the next chunk is
    # prepared.
    first_chunk_cells: int = 4_000_000_000
    # Bases of the longest read for `forward`. Longer reads exceed float32's range, and their rounding errors add up.
    longest_fast_read: int = 500
    times_kernels: bool = False  # Whether it has `kernel_seconds`

    def forward(self, batch: PairBatch, skip_read: NDArray[np.bool_], threads: int) -> Scores:
        """Score every pair in the backend's fast arithmetic.

        Parameters
        ----------
        batch : PairBatch
        skip_read : bool[reads]
            Reads to leave out; the scores of their pairs are NaN.
        threads : int
            CPU threads.

        Returns
        -------
        Scores
            NaN and `UNSCORED` where the fast arithmetic does not hold the sum. The caller may change the arrays.

        Raises
        ------
        OutOfDeviceMemory
            The batch does not fit the device; a smaller one may.
        DeviceLost
            The device does not answer any more.
        """

    def forward_pairs(self, batch: PairBatch, pairs: NDArray[np.int64], threads: int) -> Scores:
        """Score the given pairs (indices into the batch), in their order, of any length and with any score.

        Pairs that this backend cannot score at all are NaN and `UNSCORED`; the CPU scores them. Errors are those of
        `forward`.
        """

    def computed_cells(self, batch: PairBatch) -> int:
        """Cells that `forward` computes for a batch: fewer than `batch.cells` where haplotypes share columns."""
        return batch.cells

    def kernel_seconds(self, batch: PairBatch, repetitions: int) -> list[float]:
        """Seconds that the kernels of `forward` take on arrays that are on the device, by the device's own clock.

        A backend without `times_kernels` need not define this method.

        Returns
        -------
        list of float
            One number a repetition. A first run before them is not counted.
        """
        raise TypeError(f"backend {self.name} does not time its kernels")
