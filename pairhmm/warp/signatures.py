"""`warp` of raw reads onto the expected levels of signatures: the best place of each read."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TextIO

import numpy as np
from numpy.typing import NDArray

from pairhmm.arguments import AnyPath, Paths, path_of, some_paths_of
from pairhmm.engine import Choice
from pairhmm.engine.choice import named_devices
from pairhmm.errors import InputError
from pairhmm.files.background import begun_prefetch
from pairhmm.files.descriptors import STDIN
from pairhmm.files.destinations import check_apart, kept_apart
from pairhmm.files.names import check_file_names, decoded
from pairhmm.native import require_compiled
from pairhmm.options import check_choice, check_number, check_whole
from pairhmm.plurals import counted
from pairhmm.sequences.signatures import Signatures, read_signatures
from pairhmm.warp.base import Signals, Warper, choose
from pairhmm.warp.chemistry import Chemistry
from pairhmm.warp.cutting import CutOptions
from pairhmm.warp.files import Quantiser, check_length, log_scale
from pairhmm.warp.kmers import KmerTable, read_kmer_table
from pairhmm.warp.places import SignatureLevels, place_reads
from pairhmm.warp.scaling import NORMALISATIONS, SCALES, UNITS_PER_DEVIATION, Normalisation
from pairhmm.warp.signal_files import read_signals
from pairhmm.warp.writer import PLACE_COLUMNS, check_warpings, open_warpings, place_lines

log = logging.getLogger(__name__)

_READS_AT_ONCE = 512
_BYTES_A_READ = 50_000
"""Approximate bytes of a read in a file, for the choice of a backend."""

_DEFAULTS = CutOptions()


@dataclass(slots=True)
class PlaceCounts:
    """Counts of what was read and found."""

    reads: int = 0  # all of them
    short: int = 0  # those that are too short to be warped
    first_short: str = ""  # name of the first of these


@kept_apart()
def warp_signatures(
    signatures: AnyPath,
    model: AnyPath,
    reads: Paths,
    output: AnyPath = "-",
    *,
    every_signature: bool = False,
    normalise: Normalisation = "z-score",
    scale: float | None = None,
    cut: CutOptions = _DEFAULTS,
    backend: str | Choice = "auto",
    threads: int = 1,
) -> PlaceCounts:
    """Find the best place of each raw read on the expected levels of signatures, on both strands.

    Signatures are FASTA, and the model is a table of the expected level of each k-mer, as nanopolish and f5c have it.
    Reads are files as for `warp_files`. A row of the output is for a read with its best signature, or for each of both.
    Levels of each read, and those of all signatures together, are first normalised (`pairhmm.warp.scaling`); `cut` says
    which part of a read is warped. The scale is 64 without another one. Other parameters and errors are as for
    `warp_files`; and CompiledPartMissing where the package was installed without its compiled part, which reads
    signatures.
    """
    require_compiled("warp --signatures")
    check_whole("threads", threads, 1)
    check_choice("normalise", normalise, NORMALISATIONS)
    scale = UNITS_PER_DEVIATION if scale is None else scale
    check_number("scale", scale, *SCALES)
    signatures, model, output = path_of(signatures), path_of(model), path_of(output)
    paths = some_paths_of(reads, "reads")
    check_apart((signatures, model, *paths), [("-o", output)])
    check_warpings(output)
    check_file_names("READS", paths)
    if [signatures, model, *paths].count(STDIN) > 1:
        raise InputError(STDIN, "", "stdin is named more than once", "give the others as files")
    table = read_kmer_table(model)
    targets = _levels_of(signatures, read_signatures(signatures), table, normalise, scale)
    bases = int(targets.lengths.sum())
    cells = sum(map(_approximate_reads, paths)) * cut.count * 2 * bases
    warper = choose(*named_devices(backend), cells, threads)
    log.info("%s, %d bases; %s %d to %d of each read", counted(len(targets), "signature"), bases, cut.levels, *cut.part)
    log_scale(normalise, scale)
    settings = {
        "scale": f"{scale:g}",
        "normalise": normalise,
        "levels": cut.levels,
        "skip": cut.begin,
        "first": cut.count,
        "k": table.k,
    }
    run = _Run(
        targets=targets,
        warper=warper,
        threads=threads,
        options=cut,
        quantiser=Quantiser(normalise, scale),
        every_signature=every_signature,
        chemistry=Chemistry(table.pore),
    )
    with begun_prefetch(run.cut(paths)) as (_, blocks), open_warpings(output, PLACE_COLUMNS, settings) as out:
        for block in blocks:
            run.write(block, out)
    run.tell()
    return run.counts


def _approximate_reads(path: str) -> int:
    return 1 + (os.path.getsize(path) if os.path.isfile(path) else 0) // _BYTES_A_READ


def _levels_of(
    path: str, known: Signatures, table: KmerTable, normalise: Normalisation, scale: float
) -> SignatureLevels:
    """The expected levels of signatures. Warns of those that are shorter than a k-mer, and leaves them out."""
    able = np.flatnonzero(known.lengths >= table.k).tolist()
    if not able:
        raise InputError(path, "", f"every signature is shorter than a {table.k}-mer", "give longer ones")
    if len(able) < len(known):
        first = known.names[int(np.flatnonzero(known.lengths < table.k)[0])]
        log.warning(
            "%s: %s skipped, shorter than a %d-mer: %s ...",
            path,
            counted(len(known) - len(able), "signature"),
            table.k,
            first,
        )
    for index in able:
        check_length(path, known.names[index], int(known.lengths[index]))
    names, sequences = [known.names[index] for index in able], [known.sequence(index) for index in able]
    return SignatureLevels.of(names, sequences, table, normalise, scale)


@dataclass(frozen=True, slots=True)
class _Cut:
    """Reads of a file that were cut: names, and levels."""

    path: str
    names: list[str]
    levels: Signals


@dataclass(slots=True)
class _Run:
    targets: SignatureLevels
    warper: Warper
    threads: int
    options: CutOptions
    quantiser: Quantiser
    every_signature: bool
    chemistry: Chemistry
    counts: PlaceCounts = field(default_factory=PlaceCounts)

    def write(self, reads: _Cut, out: TextIO) -> None:
        """Find the places of reads, and write them."""
        places = place_reads(self.targets, reads.levels, self.warper, self.threads)
        out.write(
            place_lines(
                decoded(reads.path),
                reads.names,
                reads.levels.lengths,
                self.targets.names,
                places,
                self.quantiser.scale,
                every_signature=self.every_signature,
            )
        )

    def tell(self) -> None:
        """Say what was read and found."""
        counts = self.counts
        self.quantiser.tell()
        if counts.short:
            log.warning(
                "%s set aside, with fewer than %d %s: %s ...",
                counted(counts.short, "read"),
                self.options.least,
                self.options.levels,
                counts.first_short,
            )
        log.info("%s, %d placed", counted(counts.reads, "read"), counts.reads - counts.short)

    def cut(self, paths: Sequence[str]) -> Iterator[_Cut]:
        """The levels of the files' reads that are warped, some reads at a time."""
        for path in paths:
            before = self.counts.reads
            cut = self._levels(path)
            while some := [*islice(cut, _READS_AT_ONCE)]:
                yield _Cut(path, [name for name, _ in some], Signals.of([levels for _, levels in some]))
            if self.counts.reads == before:
                log.warning("%s: no read in it", decoded(path))

    def _levels(self, path: str) -> Iterator[tuple[str, NDArray[np.int16]]]:
        for signal in read_signals(path):
            self.chemistry.check(path, signal)
            self.counts.reads += 1
            levels = self.options.cut(signal.values)
            if len(levels) >= self.options.least:
                yield signal.name, self.quantiser.levels(levels)
                continue
            self.counts.first_short = self.counts.first_short or signal.name
            self.counts.short += 1
