"""Inputs and options of a run are plain data. Options by keyword are the options' fields, and no more."""

from dataclasses import replace
from pathlib import Path
from typing import get_type_hints

import pytest

import pairhmm
from pairhmm.align.scoring import AlignKeywords, Scoring
from pairhmm.alignments.selection import ReadSelection
from pairhmm.calling.keywords import CallKeywords, RunKeywords
from pairhmm.calling.run_options import RunInputs, RunOptions
from pairhmm.errors import ARGUMENTS, InputError
from pairhmm.map.sketch.sketches import SketchKeywords, SketchOptions
from pairhmm.models.gatk import GatkOptions
from pairhmm.options import keyword_types, with_keywords
from pairhmm.report.inputs import ReportInputs, ReportKeywords
from pairhmm.scan.api import ScanKeywords
from pairhmm.scan.base import ScanOptions
from pairhmm.simulate.cohort import simulate_cohort
from pairhmm.variants.genotypes import GenotypeOptions, RecordOptions
from pairhmm.warp.base import WarpKeywords, WarpOptions


@pytest.mark.parametrize(
    ("keywords", "options"),
    [
        (RunKeywords, [RunOptions]),
        (CallKeywords, [RunOptions, GenotypeOptions]),
        (ScanKeywords, [ScanOptions]),
        (SketchKeywords, [SketchOptions]),
        (AlignKeywords, [Scoring]),
        (WarpKeywords, [WarpOptions]),
    ],
)
def test_type_checkers_know_what_there_is(keywords, options):
    expected = {name: kind for one in options for name, kind in keyword_types(one).items()}
    assert get_type_hints(keywords) == expected
    assert len(expected) == sum(len(keyword_types(one)) for one in options), "a name of two options"


def test_the_reports_files():
    assert get_type_hints(ReportKeywords).keys() == keyword_types(ReportInputs).keys()


def test_values_at_every_depth():
    run, genotypes = with_keywords(
        "call", {"threads": 3, "min_mapq": 30, "error_rate": None, "ploidy": 1}, RunOptions(), GenotypeOptions()
    )
    default = RunOptions()
    expected = replace(
        default, threads=3, reads=replace(default.reads, min_mapq=30), model=GatkOptions(error_rate=None)
    )
    assert (run, genotypes) == (expected, GenotypeOptions(ploidy=1))


def test_keywords_go_before_objects():
    given = RunOptions(reads=ReadSelection(0, 7), threads=2)
    (found,) = with_keywords("call", {"excluded_flags": 4}, given)
    assert found == replace(given, reads=ReadSelection(4, 7))
    (found,) = with_keywords("call", {"reads": ReadSelection(1, 1), "min_mapq": 9}, given)
    assert found.reads == ReadSelection(1, 9)
    assert with_keywords("call", {}, given) == (given,)


@pytest.mark.parametrize(
    ("verb", "keyword", "hint"),
    [
        (
            lambda **k: pairhmm.call("a.bam", "r.fa", **k),
            "thread",
            "call() has no option 'thread'; did you mean 'threads'?",
        ),
        (lambda **k: pairhmm.likelihoods("a.bam", "r.fa", **k), "min_mapQ", "did you mean 'min_mapq'?"),
        (
            lambda **k: pairhmm.scatter("a.bam", "r.fa", 2, **k),
            "ploidy",
            "scatter() has no option 'ploidy'; there are ",
        ),
        (lambda **k: pairhmm.scan({"a": "ACGT"}, {}, **k), "max_mismatch", "did you mean 'max_mismatches'?"),
        (lambda **k: pairhmm.report("r.html", **k), "likelihood", "did you mean 'likelihoods'?"),
        (lambda **k: pairhmm.call("a.bam", "r.fa", **k), "min_mapping_quality", "did you mean 'min_mapq'?"),
        (lambda **k: pairhmm.likelihoods("a.bam", "r.fa", **k), "native_pair_hmm_threads", "did you mean 'threads'?"),
        (lambda **k: pairhmm.call("a.bam", "r.fa", **k), "intervals", "did you mean 'regions'?"),
        (lambda **k: pairhmm.call("a.bam", "r.fa", **k), "min_alt_count", "did you mean 'min_snv_count'?"),
    ],
)
def test_unknown_keywords_name_the_near_miss(verb, keyword, hint):
    with pytest.raises(TypeError) as raised:
        verb(**{keyword: 1})
    assert hint in str(raised.value)


def test_values_are_checked_at_the_call_not_at_the_first_site():
    with pytest.raises(ValueError, match="ploidy=0 is not a whole number from 1"):
        pairhmm.call("a.bam", "r.fa", ploidy=0)


def test_calls_by_keyword(tmp_path):
    pairhmm.simulate(tmp_path / "d", length=6000, coverage=12)
    bam, fasta, truth = (tmp_path / "d" / name for name in ("reads.bam", "reference.fa", "truth.vcf.gz"))
    sites = list(pairhmm.call(bam, fasta, truth, threads=2, ploidy=1))
    assert sites and {sample.ploidy for site in sites for sample in site.samples} == {1}
    assert sites == list(pairhmm.call(bam, fasta, truth, genotypes=GenotypeOptions(ploidy=1)))
    assert not any(len(one.names) for one in pairhmm.likelihoods(bam, fasta, truth, min_mapq=255))
    hits = pairhmm.scan({"a": "ACGTTGCAACCA"}, {"s": "ACGTTGCAACCT"}, max_mismatches=1)
    assert [hit.mismatches for hit in hits] == [1]
    pairhmm.report(tmp_path / "r.html", calls=truth, reference=fasta)
    assert "<html" in (tmp_path / "r.html").read_text()


def test_errors_name_arguments_in_place_of_options(tmp_path):
    pairhmm.simulate(tmp_path, length=2000, coverage=4)
    with pytest.raises(InputError) as raised:
        pairhmm.call(tmp_path / "reads.bam", tmp_path / "reference.fa", regions="chr9").__next__()
    assert str(raised.value).startswith("regions: chr9: no contig")
    assert raised.value.of_command_line.startswith("-r: chr9: no contig")
    others = InputError("x.vcf", "", "is bad", "run bcftools norm -f REFERENCE -o y.vcf")
    assert str(others) == others.of_command_line, "options of other tools stay"


def test_every_argument_that_errors_name_exists():
    known = {
        *keyword_types(RunOptions),
        *keyword_types(GenotypeOptions),
        *keyword_types(RecordOptions),
        *get_type_hints(simulate_cohort),
        "devices",
    }
    known |= RunInputs.__dataclass_fields__.keys()
    assert {name.partition("=")[0] for name in ARGUMENTS.values()} <= known


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


def test_without_alignments_nothing_begins():
    with pytest.raises(InputError, match="no file is named"):
        pairhmm.likelihoods([], "r.fa")
