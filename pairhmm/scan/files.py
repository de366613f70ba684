"""`scan` of files. Reading, matching and writing run at the same time."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from itertools import chain
from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from pairhmm.alignments.record_blocks import sample_blocks
from pairhmm.arguments import AnyPath, Paths, path_of, some_paths_of
from pairhmm.backends import on_the_cpu
from pairhmm.errors import InputError
from pairhmm.files.background import begun_prefetch, prefetch
from pairhmm.files.byte_stream import ByteStream
from pairhmm.files.descriptors import STDIN, is_device
from pairhmm.files.destinations import check_apart, check_given_once, kept_apart
from pairhmm.files.names import check_file_names
from pairhmm.native import require_compiled
from pairhmm.options import check_whole, with_keywords
from pairhmm.plurals import counted
from pairhmm.scan.api import ScanKeywords
from pairhmm.scan.base import Patterns, Scanned, Scanner, ScanOptions, Tiling, choose
from pairhmm.scan.candidates import open_candidates
from pairhmm.scan.outputs import Reports, ScanCounts, ScannedBlock, ScanOutputs
from pairhmm.scan.rollup import call_rule, repeated_tiles
from pairhmm.scan.tables import check_hit_table
from pairhmm.scan.tiles import SHORTEST_PART, check_tiling, load_tiles, masked_tiles
from pairhmm.sequences.records import RecordBlock
from pairhmm.sequences.signatures import Signatures, read_signatures

log = logging.getLogger(__name__)

CHUNK_SIZE = 8 << 20
"""Unpacked bytes of records that are read at once. Larger chunks are no faster."""

DEFAULT_TILING = Tiling(31)
"""Of signatures that are longer than the reads."""
_FIRST_READS = 1 << 20
"""Bytes of records that tell how long reads are."""

_DEFAULTS = ScanOptions()


@kept_apart()
def scan_files(
    signatures: AnyPath,
    samples: Paths,
    output: AnyPath = "-",
    *,
    options: ScanOptions = _DEFAULTS,
    tiling: Tiling | None = None,
    per_file: bool = False,
    reports: Reports | None = None,
    reference: AnyPath | None = None,
    chunk_size: int = CHUNK_SIZE,
    backend: str = "auto",
    device: int | None = None,
    threads: int = 1,
    watch: Callable[[int], None] = lambda _: None,
    **keywords: Unpack[ScanKeywords],
) -> ScanCounts:
    """Scan files for signatures; reading, matching and writing go on at once.

    Signatures are FASTA; samples are FASTQ, FASTA, BAM, CRAM or SAM, gzipped or not; ``-`` is stdin. The output is a
    table of hits (docs/scan.md); ``-`` is stdout. By default each record is a sample; with `per_file` each file is one.
    With tiles, a match of a tile is a match of its signature, and the summary has calls; without `tiling`, signatures
    are cut if most of them are longer than the first reads. CRAM is decoded with `reference`. `threads` match, in
    addition to one that reads. Other parameters and errors are as for `scan`, and InputError for files that can't be
    used; no output is left then.

    `chunk_size` are bytes of records that are taken at once, and change no result. ``watch(count)`` is told each time
    how many more bytes of the files were read.
    """
    require_compiled("scan")
    (options,) = with_keywords("scan_files", keywords, options)
    check_whole("threads", threads, 1)
    check_whole("chunk_size", chunk_size, 1, 2**63 - 1)
    signatures, samples = path_of(signatures), some_paths_of(samples, "samples")
    output, reference = path_of(output), path_of(reference)
    reports = reports or Reports()
    if per_file and options.every_match:
        raise InputError(
            "--per-file", "", "a file has one hit a signature, and --all asks for every match", "leave one out"
        )
    if reports.candidates is not None and tiling is None:
        raise InputError("--candidates", "", "needs tiles", "give --tile")
    check_apart((signatures, *samples, reference), reports.outputs(output))
    if not reports.assignment:
        check_hit_table(output)
    check_file_names("SAMPLE", samples)
    if [signatures, *samples].count(STDIN) > 1:
        raise InputError(STDIN, "", "stdin is named more than once", "give the other as a file")
    check_given_once(samples)
    known = read_signatures(signatures)
    begun: Iterator[RecordBlock] | None = None
    if tiling is None and backend in ("auto", *on_the_cpu()) and _can_be_cut(options):
        is_pipe = samples[0] == STDIN or is_device(samples[0])
        seen = watch if is_pipe else lambda _: None
        first = sample_blocks(samples[0], _FIRST_READS, int(known.lengths.max()) - 1, reference, seen)
        block = next(first, None)
        tiling = _tiling_of_reads(signatures, known, block)
        if is_pipe:  # It is read once.
            begun = _unpeeked(samples[0], block, first, tiling)
    if tiling is not None:
        check_tiling(tiling, options)
    patterns = _patterns(signatures, known, options, tiling)
    known = patterns.holding(known)
    if tiling is None:
        scanner = choose(backend, device, patterns, options, _size(samples), threads)
    else:
        _log_tiles(known, options, tiling, reports.min_breadth)
        scanner = load_tiles(backend, patterns, options, tiling)
    log.info("backend %s", scanner.label)
    for path in samples:
        # Faults in a file's first bytes show before anything is written. Pipes are left out: they are read once.
        if path != STDIN and not is_device(path):
            ByteStream(path, lambda _: None).close()
    # A read counts once, so that records are read whole where signatures are added up by reads.
    overlap = None if tiling is not None else int(known.lengths.max()) - 1
    source = _SampleReader(chunk_size, overlap, reference, watch, begun)
    outputs = ScanOutputs(known, options, tiling, per_file, reports)
    with ExitStack() as stack:
        _, scanned = stack.enter_context(begun_prefetch(_scanned(scanner, source.blocks(samples), outputs, threads)))
        sinks = outputs.open_sinks(stack, output)
        candidates = None
        if reports.candidates is not None:
            candidates = stack.enter_context(open_candidates(reports.candidates, outputs.searched))
        outputs.write(scanned, sinks, candidates)
    counts = outputs.counts
    files, reads, hits = counted(counts.files, "file"), counted(counts.reads, "read"), counted(counts.hits, "hit")
    log.info("%s, %s, %d bases, %s", files, reads, counts.bases, hits)
    return counts


def _can_be_cut(options: ScanOptions) -> bool:
    """Whether tiles of `DEFAULT_TILING` can have these options."""
    length = DEFAULT_TILING.length
    return options.min_informative <= length and options.max_mismatches < length // SHORTEST_PART


def _unpeeked(
    path: str, first: RecordBlock | None, others: Iterator[RecordBlock], tiling: Tiling | None
) -> Iterator[RecordBlock]:
    """The blocks of a pipe whose first one was looked at, when it was not known yet whether records are held whole."""
    for block in others if first is None else chain([first], others):
        if tiling is not None and block.unfinished:
            rule = f"a record of over {_FIRST_READS:,} letters behind shorter reads"
            raise InputError(path, block.names[-1], rule, f"give --tile {tiling.length}")
        yield block


def _tiling_of_reads(path: str, signatures: Signatures, block: RecordBlock | None) -> Tiling | None:
    """Tiles, if most signatures are longer than all of the first reads, so that they can't match. A line says so."""
    length = DEFAULT_TILING.length
    if block is None or block.unfinished:
        return None
    longest = int(np.diff(block.samples.offset).max())
    longer = int(np.count_nonzero(signatures.lengths > longest))
    if longest < length or 2 * longer <= len(signatures):
        return None
    longer_ones = "signature is" if len(signatures) == 1 else "signatures are"
    rule = f"{longer} of {len(signatures)} {longer_ones} longer than the reads ({longest} letters)"
    log.info("%s: %s: cut into tiles, as with --tile %d", path, rule, length)
    return DEFAULT_TILING


def _size(paths: Sequence[str]) -> int:
    """Total size of the regular files, in bytes. Pipes and devices do not count."""
    return sum(os.path.getsize(path) for path in paths if os.path.isfile(path))


def _patterns(path: str, signatures: Signatures, options: ScanOptions, tiling: Tiling | None) -> Patterns:
    """The patterns to search for. Warns of signatures that can't match."""
    rule = f"fewer than {options.min_informative} letters other than N"
    _check_able(path, signatures, signatures.informative >= options.min_informative, rule, "lower --min-informative")
    if tiling is not None:
        rule = f"fewer letters than a tile of {tiling.length}"
        _check_able(path, signatures, signatures.lengths >= tiling.length, rule, "lower --tile")
        searched = tiling.tiles(signatures.lengths) > masked_tiles(signatures, tiling)
        rule = "no tile but those of low complexity"
        _check_able(path, signatures, searched | (signatures.lengths < tiling.length), rule, "give --no-mask")
    return Patterns.of(signatures, options, tiling)


def _check_able(path: str, signatures: Signatures, able: NDArray[np.bool_], rule: str, cure: str) -> None:
    """Warn of signatures that can't match. Raise an error if none can."""
    unable = np.flatnonzero(~able)
    if len(unable) == len(signatures):
        raise InputError(path, "", f"every signature has {rule}: none can match", cure)
    if len(unable):
        first = signatures.names[int(unable[0])]
        option = cure.rpartition(" ")[2]
        skipped = counted(len(unable), "signature")
        log.warning("%s: %s skipped, with %s (%s): %s ...", path, skipped, rule, option, first)


def _log_tiles(signatures: Signatures, options: ScanOptions, tiling: Tiling, min_breadth: float) -> None:
    tiles, repeated, shared = repeated_tiles(signatures, tiling, options.both_strands)
    log.info(
        "%d tiles of %d letters; %d occur more than once, %d in several signatures",
        tiles, tiling.length, repeated, shared,
    )  # fmt: skip
    masked = int(masked_tiles(signatures, tiling).sum())
    if masked:
        tiles_masked = counted(masked, "tile of low complexity is", "tiles of low complexity are")
        log.info("%s not searched for (--no-mask searches for them)", tiles_masked)
    log.info("%s", call_rule(min_breadth))


@dataclass(frozen=True, slots=True)
class _SampleReader:
    """Reads the blocks of all files."""

    chunk_size: int
    overlap: int | None
    reference: str | None
    watch: Callable[[int], None]
    begun: Iterator[RecordBlock] | None  # the blocks of the first file, if it is being read already

    def blocks(self, paths: Sequence[str]) -> Iterator[tuple[str, RecordBlock | None]]:
        """The blocks of each file, with its path. None marks the end of a file."""
        for number, path in enumerate(paths):
            begun = self.begun if number == 0 else None
            for block in begun or sample_blocks(path, self.chunk_size, self.overlap, self.reference, self.watch):
                yield path, block
            yield path, None


def _scanned(
    scanner: Scanner, blocks: Iterator[tuple[str, RecordBlock | None]], outputs: ScanOutputs, threads: int
) -> Iterator[ScannedBlock]:
    with closing(prefetch(blocks)) as ahead:
        for path, block in ahead:
            if block is None:
                yield path, None, None
                continue
            outputs.check_qualities(path, block)
            for part, scanned in _in_parts(scanner, block, threads):
                yield path, part, scanned


def _in_parts(scanner: Scanner, block: RecordBlock, threads: int) -> Iterator[tuple[RecordBlock, Scanned]]:
    """Consecutive records of a block, and what was found in them: as many as memory is meant for."""
    while True:
        scanned = scanner.scan_some(block.samples, threads)
        count = len(scanned.quality_totals)
        if count == len(block.names):
            yield block, scanned
            return
        yield block.take(0, count), scanned
        block = block.take(count, len(block.names))
