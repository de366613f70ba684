"""GPU embedding on any device: chunks that fit, z-scores as an affine form, and the CPU as the fallback.

Kernels add up whole numbers, so the sums of a slot's values and of their squares are exact, and nothing depends on how
samples are cut into chunks.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial, reduce
from operator import add
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from pairhmm.errors import DeviceLost, OutOfDeviceMemory
from pairhmm.map.base import EMBEDDERS, Embedder
from pairhmm.map.sketch.published import SLOTS
from pairhmm.map.tokens import Neighbours, TokenSets

FORM_WORDS = 4
"""Words of a slot in `form_of`."""


@dataclass(frozen=True, slots=True)
class SlotSums:
    """Sums over the samples that have tokens."""

    samples: int
    values: NDArray[np.object_]  # of each slot: Python's integers, which have no limit
    squares: NDArray[np.object_]

    def __add__(self, other: SlotSums) -> SlotSums:
        return SlotSums(self.samples + other.samples, self.values + other.values, self.squares + other.squares)


def form_of(sums: SlotSums, matrix: NDArray[np.float32]) -> NDArray[np.uint32]:
    """Forms of the values by which kernels project a signature, by a matrix (128, 2): uint32 (129, 4).

    The projection is the sum over slots of ``(value - mean) / deviation * matrix``. With a whole number m next to the
    mean, it is the sum of ``(value - m) * weight``, and a constant. The difference is exact, so no digits are lost
    where a slot hardly varies.

    A row has a slot's m (int32), and the weights of x and y (float32). The last one has 0, and the constants of x and
    y. The last column is 0.
    """
    count = max(1, sums.samples)
    middle = (2 * sums.values + count) // (2 * count)
    beyond = ((count * middle - sums.values) / count).astype(np.float64)
    variances = count * sums.squares - sums.values**2
    deviations = np.sqrt(variances.astype(np.float64)) / count
    varies = deviations > 0
    weights = np.where(varies[:, None], matrix, 0.0) / np.where(varies, deviations, 1.0)[:, None]
    form = np.zeros((SLOTS + 1, FORM_WORDS), dtype=np.uint32)
    form[:SLOTS, 0] = middle.astype(np.uint32)
    form[:SLOTS, 1:3] = weights.astype(np.float32).view(np.uint32)
    form[SLOTS, 1:3] = (beyond[:, None] * weights).sum(axis=0).astype(np.float32).view(np.uint32)
    return form


log = logging.getLogger(__name__)

LEAST_WORDS = 1 << 14
"""Words of the smallest chunk. A device without the memory for it is not used."""

WORTH_A_DEVICE = 3_000_000
"""Sets of tokens for each CPU thread from which "auto" starts a GPU on a machine that was not calibrated: samples times
groups. A thread of an AMD EPYC with AVX-512 embeds 2.3 M sets of about 10 tokens in a second, and a GPU begins after 1
to 1.5 s."""

Found = TypeVar("Found")
Rows = TypeVar("Rows", TokenSets, Neighbours)


class Sketcher(Protocol):
    """Runs the kernels of the map on one device, on chunks of samples that fit it.

    Any call may raise OutOfDeviceMemory or DeviceLost.
    """

    label: str  # the device's name in messages
    # of a chunk: its tokens or neighbours, an offset for each sample, and signatures if they are wanted
    most_words: int
    row_words: int  # that a sample takes beside its tokens while its projection is made

    def signatures(self, chunk: TokenSets, out: NDArray[np.uint32]) -> None:
        """Write the signatures of a chunk to `out`, shape (samples, 128)."""
        ...

    def begin(self, chunk: TokenSets, is_summed: bool) -> Any:
        """Send a chunk; with `is_summed`, begin to add up the columns of its signatures.

        Two chunks may be on the device. A third takes the place of the first.
        """
        ...

    def sums(self, begun: Any) -> SlotSums:
        """The sums of a chunk's columns, once they are made."""
        ...

    def project(self, begun: Any, form: NDArray[np.uint32], out: NDArray[np.float32]) -> None:
        """Write the projections of a chunk to `out`, shape (samples, 2), by what `form_of` made."""
        ...

    def blended(
        self, start: NDArray[np.float32], chunks: Sequence[Neighbours], alpha: float, passes: int
    ) -> NDArray[np.float32]:
        """Blended positions; the chunks are consecutive samples."""
        ...

    def release(self) -> None:
        """Give up all device memory."""
        ...

    def timing(self) -> AbstractContextManager[list[float]]:
        """A context that makes a list of the seconds of each kernel that is launched in it, by the device's clock."""
        ...


def cut(rows: Rows, most_words: int, row_words: int = 1) -> list[Rows]:
    """Consecutive rows of about `most_words` words at most: their tokens or neighbours, and `row_words` for each.

    A row with more is a chunk of its own.
    """
    values = rows.tokens if isinstance(rows, TokenSets) else rows.indices
    offsets, count = rows.offsets, len(rows)
    if not count or int(offsets[-1] - offsets[0]) + row_words * count <= most_words:
        return [rows]
    before = offsets + row_words * np.arange(count + 1)
    chunks, begin = [], 0
    while begin < count:
        end = max(begin + 1, int(np.searchsorted(before, before[begin] + most_words, side="right")) - 1)
        chunks.append(type(rows)(values, offsets[begin : end + 1]))
        begin = end
    return chunks


def values_of(rows: TokenSets | Neighbours) -> NDArray[np.uint32] | NDArray[np.int32]:
    """The tokens or neighbours of a chunk's rows."""
    values = rows.tokens if isinstance(rows, TokenSets) else rows.indices
    return values[int(rows.offsets[0]) : int(rows.offsets[-1])]


class DeviceEmbedder(Embedder):
    """Embeds samples on a device; the CPU goes on once the device is lost, or where chunks of no size fit it."""

    def __init__(self, sketcher: Sketcher) -> None:
        self.label = sketcher.label
        self.sketcher = sketcher
        self._most = sketcher.most_words
        self._cpu: Embedder | None = None
        self._one_call = threading.Lock()

    def signatures(self, tokens: TokenSets, threads: int) -> NDArray[np.uint32]:
        return self._or_the_cpu(
            lambda: self._signatures(tokens),
            lambda cpu: cpu.signatures(tokens, threads),
        )

    def projections(
        self, groups: Sequence[TokenSets], matrices: NDArray[np.float32], threads: int
    ) -> NDArray[np.float32]:
        return self._or_the_cpu(
            lambda: self._projections(groups, matrices),
            lambda cpu: cpu.projections(groups, matrices, threads),
        )

    def blended(
        self, start: NDArray[np.float32], neighbours: Neighbours, alpha: float, passes: int, threads: int
    ) -> NDArray[np.float32]:
        if not len(neighbours):
            return start.copy()
        return self._or_the_cpu(
            lambda: self.sketcher.blended(start, cut(neighbours, self._most), alpha, passes),
            lambda cpu: cpu.blended(start, neighbours, alpha, passes, threads),
        )

    def _signatures(self, tokens: TokenSets) -> NDArray[np.uint32]:
        signatures = np.empty((len(tokens), SLOTS), dtype=np.uint32)
        done = 0
        for chunk in cut(tokens, self._most, 1 + SLOTS):
            if len(chunk):
                self.sketcher.signatures(chunk, signatures[done : done + len(chunk)])
            done += len(chunk)
        return signatures

    def _projections(self, groups: Sequence[TokenSets], matrices: NDArray[np.float32]) -> NDArray[np.float32]:
        """The projections of all groups. A group is sent while the device works on the one before."""
        projections = np.zeros((len(groups), len(groups[0]) if groups else 0, 2), dtype=np.float32)
        finish: Callable[[], None] | None = None
        for group, matrix, out in zip(groups, matrices, projections, strict=True):
            chunks = cut(group, self._most, self.sketcher.row_words)
            if not len(group):
                continue
            begun = self.sketcher.begin(chunks[0], True) if len(chunks) == 1 else None
            if finish is not None:
                finish()
            finish = None
            if begun is None:
                self._project_in_chunks(chunks, matrix, out)
            else:
                finish = partial(self._finish, begun, matrix, out)
        if finish is not None:
            finish()
        return projections

    def _finish(self, begun: Any, matrix: NDArray[np.float32], out: NDArray[np.float32]) -> None:
        """Project a group whose columns are being added up."""
        self.sketcher.project(begun, form_of(self.sketcher.sums(begun), matrix), out)

    def _project_in_chunks(
        self, chunks: Sequence[TokenSets], matrix: NDArray[np.float32], out: NDArray[np.float32]
    ) -> None:
        """Project a group of which the device holds a part: each chunk is sent twice."""
        sketcher = self.sketcher
        sums = reduce(add, (sketcher.sums(sketcher.begin(chunk, True)) for chunk in chunks))
        form, done = form_of(sums, matrix), 0
        for chunk in chunks:
            sketcher.project(sketcher.begin(chunk, False), form, out[done : done + len(chunk)])
            done += len(chunk)

    def _or_the_cpu(self, work: Callable[[], Found], by_cpu: Callable[[Embedder], Found]) -> Found:
        """The result of the device, or else of the CPU. Chunks that do not fit are halved."""
        while self._cpu is None:
            try:
                with self._one_call:
                    return work()
            except DeviceLost as error:
                self._leave(f"lost ({error.cause})")
            except OutOfDeviceMemory:
                self._halve()
        return by_cpu(self._cpu)

    def _halve(self) -> None:
        self.sketcher.release()
        self._most //= 2
        if self._most < LEAST_WORDS:
            self._leave("out of memory, however small the chunks")
        else:
            log.warning("%s: out of memory; chunks of %s words now", self.label, f"{self._most:,}")

    def _leave(self, reason: str) -> None:
        self._cpu = EMBEDDERS.on_the_cpu()
        log.warning("%s: %s; %s goes on", self.label, reason, self._cpu.label)
