"""What a run is given is plain data, made in one place."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

import pairhmm
from pairhmm.calling.run_options import RunInputs, RunOptions
from pairhmm.engine import Choice
from pairhmm.errors import InputError


def test_paths_of_any_kind_become_text():
    inputs = RunInputs.of(Path("a.bam"), b"r.fa", Path("v.vcf"), regions="chr1:1-9", regions_file=b"x.bed")
    assert inputs == RunInputs(("a.bam",), "r.fa", "v.vcf", None, ("chr1:1-9",), "x.bed")
    assert inputs.files == ("a.bam", "r.fa", "v.vcf", None, "x.bed")


@pytest.mark.parametrize(
    ("candidates", "haplotypes", "discovered", "listed"),
    [(None, None, True, False), ("v.vcf", None, False, True), (None, "h.fa", False, False)],
)
def test_where_candidates_come_from(candidates, haplotypes, discovered, listed):
    inputs = RunInputs.of("a.bam", "r.fa", candidates, haplotypes)
    assert (inputs.candidates_are_discovered, inputs.candidates_are_listed) == (discovered, listed)


def test_other_processes_can_have_them():
    given = RunInputs.of(["a.bam", "b.bam"], "r.fa"), RunOptions(threads=2, backend=Choice("reference"))
    assert pickle.loads(pickle.dumps(given)) == given


def test_without_alignments_nothing_begins():
    with pytest.raises(InputError, match="no file is named"):
        pairhmm.likelihoods([], "r.fa")


def test_alignments_may_come_from_an_iterator(tmp_path):
    pairhmm.simulate(tmp_path / "d", length=3000, coverage=8)
    bam, fasta = tmp_path / "d/reads.bam", tmp_path / "d/reference.fa"
    pairhmm.write_calls([bam], fasta, tmp_path / "list.vcf")
    pairhmm.write_calls(iter([bam]), fasta, tmp_path / "iterator.vcf")
    assert (tmp_path / "iterator.vcf").read_bytes() == (tmp_path / "list.vcf").read_bytes()
