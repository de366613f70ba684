"""What a backend is to the engine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:  # the registry is asked for names where nothing else should be imported: in the command line's help
    import numpy as np
    from numpy.typing import NDArray

    from pairhmm.models.batch import PairBatch, Scores


@dataclass(frozen=True, slots=True)
class Status:
    """Whether a backend runs on this machine.

    Attributes
    ----------
    available : bool
    detail : str
        What it runs on, where it is available: the SIMD level, the library.
    devices : tuple of str
        Name and size of each device that ``--device`` can choose, in the order of their indices. None for a backend
        on the CPU.
    reason, cure : str
        What is missing and how to get it, where it is not.
    software : tuple of int
        Indices of the devices that are the CPU in disguise: "auto" takes none of them.
    machine_numbers : tuple of str
        What the whole machine calls each device, where that may not be its index: a scheduler may leave a process some
        of the devices, which are numbered anew in it.
    """

    available: bool
    detail: str = ""
    devices: tuple[str, ...] = ()
    reason: str = ""
    cure: str = ""
    software: tuple[int, ...] = ()
    machine_numbers: tuple[str, ...] = ()

    def is_software(self, devices: Sequence[int] | None) -> bool:
        """Whether one of these devices, or without them the first one, is the CPU in disguise."""
        return not set(self.software).isdisjoint(devices or (0,))


class Backend(Protocol):
    """Scores pairs of a `PairBatch`. Stateless to its caller: devices and pipelines are made on first use.

    Attributes
    ----------
    name : str
        The registry's.
    label : str
        What messages call it: the name, with the device where there are several (``cuda:0``).
    concurrency : int
        Calls from different threads that are worth making at once; 1 where a call keeps the device busy by itself.
    chunk_cells : int
        Cells of one call at most. Calls on the CPU take about half a second of one core: a run can be interrupted.
    first_chunk_cells : int
        Of the first call of a batch, so that a device computes while the next chunk is made ready.
    longest_fast_read : int
        Longer reads (bases) are not for `forward`: float32's rounding grows with the read and its range ends.
    times_kernels : bool
        Whether it has `kernel_seconds`.
    """

    name: str
    label: str
    concurrency: int = 1
    chunk_cells: int = 4_000_000_000
    first_chunk_cells: int = 4_000_000_000
    longest_fast_read: int = 500
    times_kernels: bool = False

    def forward(self, batch: PairBatch, skip_read: NDArray[np.bool_], threads: int) -> Scores:
        """Scores of every pair in the backend's fast arithmetic.

        Parameters
        ----------
        batch : PairBatch
        skip_read : bool[reads]
            Reads whose pairs are left out: their scores are NaN.
        threads : int
            CPU threads.

        Returns
        -------
        Scores
            NaN and `UNSCORED` where the fast arithmetic does not hold the sum. The arrays are the caller's to change.

        Raises
        ------
        OutOfDeviceMemory
            The batch does not fit the device; a part of it may.
        DeviceLost
            The device answers no more.
        """

    def forward_pairs(self, batch: PairBatch, pairs: NDArray[np.int64], threads: int) -> Scores:
        """Scores of the given pairs, in their order, for any length and any score.

        NaN and `UNSCORED` for pairs that this backend cannot score at all, which go to the CPU. The rest is as
        `forward` has it.
        """

    def kernel_seconds(self, batch: PairBatch, repetitions: int) -> list[float]:
        """Seconds that the kernels of `forward` take on arrays that are on the device, by the device's own clock.

        A backend without `times_kernels` need not define it.

        Returns
        -------
        list of float
            One a repetition, after a first time that does not count.
        """
        raise TypeError(f"backend {self.name} does not time its kernels")
