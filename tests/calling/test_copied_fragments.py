"""Fragments with the same two ends are copies of a molecule, whose error they share."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import pairhmm
from pairhmm.native import is_compiled
from pairhmm.simulate.files import ReadWriter, write_fasta
from pairhmm.simulate.reads import SimulatedReads

pytestmark = pytest.mark.skipif(not is_compiled(), reason="genotypes need the compiled part")

LENGTH, READ, SITE = 3_000, 100, 1_500


def genotypes(folder: Path, fragments: list[tuple[int, int, bool]]) -> dict[int, tuple[int, ...]]:
    """Genotypes of pairs: of each the first base, the bases of its fragment, and whether it has an SNV at `SITE`."""
    codes = np.random.default_rng(6).integers(0, 4, LENGTH, dtype=np.uint8)
    other = codes.copy()
    other[SITE] = (codes[SITE] + 1) % 4
    starts = np.array([at for start, size, _ in fragments for at in (start, start + size - READ)], dtype=np.int32)
    has_snv = np.repeat([snv for *_, snv in fragments], 2)
    rows = np.array([(other if snv else codes)[at : at + READ] for at, snv in zip(starts, has_snv, strict=True)])
    first_is_left = np.arange(len(fragments)) % 2 == 0
    reads = SimulatedReads(rows, np.full_like(rows, 37), starts, starts + READ, first_is_left, {})
    write_fasta(folder / "ref.fa", {"c": codes})
    with ReadWriter(folder / "1.fq.gz", folder / "2.fq.gz", folder / "reads.bam", {"c": LENGTH}, "s") as writer:
        writer.add(reads)
    found = pairhmm.call(folder / "reads.bam", folder / "ref.fa", backend="cpu")
    return {site.variant.pos: site.samples[0].alleles for site in found if site.quality >= 10}


def usual(count: int) -> list[tuple[int, int, bool]]:
    """Fragments of molecules without the SNV. A read of each is over it."""
    return [(SITE - 95 + 6 * i, 300 + 7 * i, False) for i in range(count)]


def test_an_error_of_one_molecule_is_no_variant(tmp_path):
    copies = [(SITE - 50, 320, True)] * 3
    assert genotypes(tmp_path, usual(8) + copies) == {}


def test_molecules_that_share_one_end_are_others(tmp_path):
    molecules = [(SITE - 50, 320 + i, True) for i in range(3)]
    assert genotypes(tmp_path, usual(8) + molecules) == {SITE: (0, 1)}


def test_the_ends_of_amplicons_tell_of_no_copies(tmp_path):
    amplicon = [(SITE - 50, 320, i % 2 == 0) for i in range(12)]
    assert genotypes(tmp_path, amplicon) == {SITE: (0, 1)}
