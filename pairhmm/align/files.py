"""`align` of files. Reading, aligning and writing run at the same time, block after block."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from functools import partial

import numpy as np
from numpy.typing import NDArray

from pairhmm.align.api import scoring_of
from pairhmm.align.base import AlignerPool, Alignments, choose
from pairhmm.align.names import PAF_NAMES, RECORD_NAMES, TABLE_NAMES, NameRules
from pairhmm.align.records import open_records, read_targets
from pairhmm.align.scoring import Scoring
from pairhmm.align.sequence_blocks import CHUNK_SIZE, PairBlock, every_pair, pairs_in_order
from pairhmm.align.tables import AlignmentSink, open_paf, open_table
from pairhmm.arguments import AnyPath, path_of
from pairhmm.engine import Choice
from pairhmm.engine.choice import named_devices
from pairhmm.errors import InputError
from pairhmm.files.background import BackgroundWriter, begun_prefetch
from pairhmm.files.descriptors import STDIN, STDOUT, is_device
from pairhmm.files.destinations import check_apart, kept_apart
from pairhmm.files.formats import require_ending
from pairhmm.native import require_compiled
from pairhmm.options import check_whole

TABLE_ENDINGS = (".tsv", ".tsv.gz")
PAF_ENDINGS = (".paf", ".paf.gz")
RECORD_ENDINGS = (".sam", ".bam")

_DEFAULTS = Scoring()


@kept_apart()
def align_files(
    queries: AnyPath,
    targets: AnyPath,
    output: AnyPath = STDOUT,
    *,
    scoring: Scoring | str = _DEFAULTS,
    every: bool = False,
    cigars: bool = False,
    backend: str | Choice = "auto",
    threads: int = 1,
    chunk_size: int = CHUNK_SIZE,
    provenance: Mapping[str, str] | None = None,
    watch: Callable[[int], None] = lambda _: None,
) -> int:
    """Align the sequences of one file with those of another, the first with the first, and so on.

    Files are FASTA or FASTQ, gzipped or not; ``-`` is stdin, for one of them. The output is ``.tsv`` or ``.tsv.gz``,
    ``.paf`` or ``.paf.gz``, ``.sam`` or ``.bam``; ``-`` is TSV to stdout. A table has alignments with `cigars`; the
    others always have them. Memory does not grow with the files, apart from the targets with `every`. Other parameters
    and errors are as for `align`, and InputError for files that can't be used; no output is left then.
    Gives the number of pairs.

    `chunk_size` are bytes of text of each file that are read at once, and change no result. `provenance` are fields of
    the line @PG of SAM and BAM, which has none without it. `watch` is called with the number of bytes that were read.
    """
    require_compiled("align")
    check_whole("threads", threads, 1)
    check_whole("chunk_size", chunk_size, 1, 2**63 - 1)
    queries, targets, output = path_of(queries), path_of(targets), path_of(output)
    options = scoring_of(scoring)
    _check(queries, targets, output, options)
    cigars = cigars or output.endswith((*PAF_ENDINGS, *RECORD_ENDINGS))
    pairs = (every_pair if every else pairs_in_order)(queries, targets, chunk_size, watch)
    count = 0
    with begun_prefetch(_rules(output).checked(pairs, queries, targets)) as (first, blocks):
        cells = sum(_cells_of_file(queries, block) for block in first)
        aligner = choose(*named_devices(backend), options, cells, threads, cigars)
        with (
            _opened(targets, output, cigars, options.is_distance, provenance or {}) as sink,
            BackgroundWriter(threads) as behind,
        ):
            for block in blocks:
                behind.run(partial(sink.add, block, *_aligned(aligner, block, options, cigars, threads)))
                count += len(block.pairs)
    return count


def _check(queries: str, targets: str, output: str, scoring: Scoring) -> None:
    check_apart([queries, targets], [("-o", output)])
    require_ending(output, "alignments", (*TABLE_ENDINGS, *PAF_ENDINGS, *RECORD_ENDINGS))
    if queries == targets == STDIN:
        raise InputError(STDIN, "", "stdin is named twice", "give one of QUERIES and TARGETS as a file")
    if output.endswith(RECORD_ENDINGS) and (targets == STDIN or is_device(targets)):
        rule = "is read twice, since SAM begins with the names of all targets"
        raise InputError(targets, "", rule, "give a file, or write TSV or PAF")
    if output.endswith((*PAF_ENDINGS, *RECORD_ENDINGS)) and scoring.overhang == "ignore" and scoring.mode == "gatk":
        rule = "PAF and SAM can't hold a query beyond its target, where 'ignore' places it"
        raise InputError("--overhang", "ignore", rule, "write TSV, or take softclip")


def _rules(output: str) -> NameRules:
    if output.endswith(RECORD_ENDINGS):
        return RECORD_NAMES
    return PAF_NAMES if output.endswith(PAF_ENDINGS) else TABLE_NAMES


def _opened(
    targets: str, output: str, cigars: bool, is_distance: bool, provenance: Mapping[str, str]
) -> AbstractContextManager[AlignmentSink]:
    if output.endswith(RECORD_ENDINGS):
        return open_records(output, *read_targets(targets), provenance)
    return open_paf(output) if output.endswith(PAF_ENDINGS) else open_table(output, is_distance)


def _aligned(
    aligner: AlignerPool, block: PairBlock, scoring: Scoring, cigars: bool, threads: int
) -> tuple[NDArray[np.int32], Alignments | None]:
    if not cigars:
        return aligner.scores(block.pairs, scoring, threads), None
    found = aligner.alignments(block.pairs, scoring, threads)
    return found.scores, found


def _cells_of_file(queries: str, first: PairBlock) -> int:
    """About how many cells the whole files have, by their first block."""
    letters = int(first.queries.sequences.offsets[-1])
    whole = os.path.getsize(queries) if os.path.isfile(queries) else 0
    return int(first.pairs.cells * max(1.0, whole / max(1, letters)))
