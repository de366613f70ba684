"""Reads as bases, compared with a walk along each CIGAR, base by base."""

from __future__ import annotations

import numpy as np
import pytest

from pairhmm.alignments.blocks import ReadBlock
from pairhmm.alignments.sam import CONSUMES_QUERY, CONSUMES_REFERENCE
from pairhmm.report.pileup import (
    CLIPPED,
    DELETED,
    MOST_COLUMNS,
    QUALITY_STEP,
    SKIPPED,
    Pileup,
    packed_rows,
    shown_columns,
)
from pairhmm.report.reads import PlacedRead


def made_read(name: str, start: int, cigar: list[tuple[int, int]], rng: np.random.Generator) -> PlacedRead:
    spelled = sum(length for operation, length in cigar if CONSUMES_QUERY[operation])
    spanned = sum(length for operation, length in cigar if CONSUMES_REFERENCE[operation])
    bases, quals = rng.integers(0, 5, spelled, dtype=np.uint8), rng.integers(2, 41, spelled, dtype=np.uint8)
    return PlacedRead(name, 0, 0, 60, start, start + spanned, bases, quals, cigar)


def walked(read: PlacedRead) -> tuple[dict[int, tuple[int, int]], list[tuple[int, str, int]]]:
    """The cell and the quality at each position, and the insertions with the position before them."""
    cells: dict[int, tuple[int, int]] = {}
    insertions = []
    position, base = read.start, 0
    for operation, length in read.cigar:
        if operation == 4:
            first = position - length if position == read.start else position
            for offset in range(length):
                cells[first + offset] = int(read.bases[base + offset]) + 1 + CLIPPED, int(read.quals[base + offset])
        elif operation == 1:
            letters = "".join("ACGTN"[code] for code in read.bases[base : base + length])
            insertions.append((position - 1, letters, int(read.quals[base : base + length].min())))
        else:
            for offset in range(length if CONSUMES_REFERENCE[operation] else 0):
                if operation in (2, 3):
                    cells[position + offset] = DELETED if operation == 2 else SKIPPED, 0
                else:
                    cells[position + offset] = int(read.bases[base + offset]) + 1, int(read.quals[base + offset])
        position += length * int(CONSUMES_REFERENCE[operation])
        base += length * int(CONSUMES_QUERY[operation])
    return cells, insertions


def test_cells_are_those_of_a_walk():
    rng = np.random.default_rng(5)
    inner = ([0, 7, 8], [1], [2], [3])
    reads = []
    for number in range(60):
        middle = [(int(rng.choice(inner[kind])), int(rng.integers(1, 6))) for kind in rng.integers(0, 4, 5)]
        ends = [(4, int(rng.integers(1, 9)))] if number % 2 else [(5, 3)]
        reads.append(made_read(f"r{number}", 100 + number, [*ends, (0, 4), *middle, (0, 3), *ends], rng))
    columns = np.array([*range(90, 125), *range(140, 170)])
    pileup, block = Pileup(columns), ReadBlock.from_alignments("q", reads)
    keys = [("s", read.name, 0) for read in reads]
    pileup.add(block, np.arange(40), keys[:40])
    pileup.add(block, np.arange(40, 60), keys[40:])
    place = {position: column for column, position in enumerate(columns.tolist())}
    for read, key in zip(reads, keys, strict=True):
        cells, insertions = walked(read)
        expected = [cells.get(position, (0, 0)) for position in columns.tolist()]
        assert list(zip(pileup.cells[key].tolist(), pileup.quals[key].tolist(), strict=True)) == expected
        shown = [(place[position], letters, quality) for position, letters, quality in insertions if position in place]
        assert pileup.insertions.get(key, []) == shown


def test_rows_stand_column_by_column_and_agreeing_bases_have_rounded_qualities():
    reads = [PlacedRead("r", 0, 0, 60, 0, 2, np.array([0, 1], np.uint8), np.array([38, 38], np.uint8), [(0, 2)])]
    pileup = Pileup(np.array([0, 1]))
    pileup.add(ReadBlock.from_alignments("q", reads), np.arange(1), [("s", "r", 0)])
    data, insertions = packed_rows(pileup, [("s", "r", 0), ("s", "unknown", 0)], "AG")
    assert list(data) == [1, 0, 2, 0, 38 - 38 % QUALITY_STEP, 0, 38, 0]
    assert insertions == []


@pytest.mark.parametrize(
    ("differences", "sites", "expected"),
    [
        ([(50, "A", "C")], [], range(28, 73)),
        ([(5, "AAA", "A")], [200], [*range(30), *range(178, 223)]),
        ([], [], []),
    ],
)
def test_columns_near_differences_and_sites(differences, sites, expected):
    assert shown_columns(0, 230, differences, sites).tolist() == list(expected)


def test_of_very_many_columns_the_nearest_to_the_site_are_shown():
    columns = shown_columns(0, 2000, [(0, "A" * 2000, "A")], [1000])
    assert len(columns) == MOST_COLUMNS
    assert columns[0] == 1000 - MOST_COLUMNS // 2 and np.all(np.diff(columns) == 1)
