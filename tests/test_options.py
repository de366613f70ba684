"""Options are refused when they are made; errors are one line: where, what, and what helps."""

import numpy as np
import pytest

import pairhmm
from pairhmm.alignments.selection import ReadSelection
from pairhmm.calling.discovery import CandidateOptions
from pairhmm.calling.molecules import MoleculeOptions
from pairhmm.calling.run_options import RunOptions
from pairhmm.calling.stream import EvidenceOptions
from pairhmm.engine import Choice
from pairhmm.errors import BackendUnavailable, InputError, OptionError, PairhmmError
from pairhmm.models.gatk import PCR_RATES, GatkOptions
from pairhmm.options import Rule, Within, rules_of
from pairhmm.scan.base import ScanOptions
from pairhmm.variants.genotypes import GenotypeOptions
from pairhmm.variants.regions import RegionOptions

NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("kind", "name", "values"),
    [
        (GatkOptions, "pcr_indel_model", ("x", None, 3)),
        *((GatkOptions, f"{one}_quality", (-1, 128, 300, 45.0, "45", NAN)) for one in ("insertion", "deletion", "gap")),
        (GatkOptions, "base_quality_threshold", (-1, 128, 1.5)),
        (GatkOptions, "score_floor", (-1, NAN, INF, "4")),
        (GatkOptions, "error_rate", (-0.1, 1.1, NAN)),
        *((RegionOptions, name, (-1, 1.5)) for name in ("join_distance", "flank", "min_flank", "pad")),
        *((RegionOptions, name, (0, -1)) for name in ("max_span", "max_alleles")),
        (EvidenceOptions, "max_haplotypes", (1, -1, 2.5)),
        *((EvidenceOptions, name, (0, -1, NAN)) for name in ("max_depth", "max_cells")),
        *((CandidateOptions, f"min_{one}_count", (0, -1)) for one in ("snv", "indel")),
        *((CandidateOptions, f"min_{one}_fraction", (-0.1, 1.1, NAN)) for one in ("snv", "indel")),
        (CandidateOptions, "min_base_quality", (-1, 94)),
        (GenotypeOptions, "ploidy", (0, -1, 2.5, True)),
        *((GenotypeOptions, name, (0, -1, 0.5, NAN)) for name in ("snv_prior", "indel_prior")),
        *((ScanOptions, name, (-1, 1.5, NAN, "1")) for name in ("max_mismatches", "min_informative")),
        (ScanOptions, "max_mismatches", (1 << 31, 1 << 80)),
        *((ScanOptions, name, (-1, NAN, INF, 1e300)) for name in ("min_score", "min_mean")),
        (MoleculeOptions, "families", ("x", None, "mi")),
        (RunOptions, "backend", ("x", None)),
        *((RunOptions, name, (0, -1, 1.5, "2")) for name in ("threads", "chunk_size")),
        (Choice, "device_memory", (0, -1)),
    ],
)
def test_values_out_of_range(kind, name, values):
    for value in values:
        with pytest.raises(OptionError) as raised:
            kind(**{name: value})
        assert str(raised.value).startswith(f"{name}={value!r} is not ")


@pytest.mark.parametrize("options", [{"join_mates": True}, {"families": "MI"}])
def test_reads_are_joined_for_the_profile_model_alone(options):
    with pytest.raises(OptionError, match="needs the profile model"):
        RunOptions(molecules=MoleculeOptions(**options))
    with pytest.raises(OptionError, match="needs the profile model"):
        pairhmm.likelihoods("x.bam", "x.fa", **options)


@pytest.mark.parametrize(("name", "values"), [("excluded_flags", (-1, 1 << 16)), ("min_mapq", (-1, 256))])
def test_of_reads(name, values):
    for value in values:
        with pytest.raises(OptionError, match=f"{name}={value} is not a whole number from 0"):
            ReadSelection(**{"excluded_flags": 0, "min_mapq": 0, name: value})


def test_a_choice_of_no_backend():
    with pytest.raises(OptionError, match="backend='x' is not one of auto, cuda"):
        RunOptions(backend=Choice("x"))


@pytest.mark.parametrize(
    ("verb", "message"),
    [
        (lambda: pairhmm.forward(pairhmm.make_read("ACGT", 30), "ACGT", threads=0), "threads=0 is not"),
        (lambda: pairhmm.scan({"a": "ACGT"}, {"s": "ACGT"}, threads=-1), "threads=-1 is not"),
        (lambda: pairhmm.scatter("a.bam", "r.fa", 0), "pieces=0 is not"),
        (lambda: pairhmm.validate("x.txt", min_base_quality=300), "min_base_quality=300 is not"),
        (lambda: pairhmm.validate("x.txt", tolerance=NAN), "tolerance=nan is not"),
        (lambda: pairhmm.write_calls("a.bam", "r.fa", "x.vcf", min_quality=NAN), "min_quality=nan is not"),
        (lambda: pairhmm.write_vcf([], "x.vcf", "r.fa", min_quality=-1), "min_quality=-1 is not"),
        (lambda: pairhmm.report("x.html", calls="x.vcf", max_sites=0), "max_sites=0 is not"),
    ],
)
def test_arguments_of_functions(verb, message):
    with pytest.raises(OptionError, match=message):
        verb()


@pytest.mark.parametrize(
    ("verb", "what"),
    [
        (lambda: list(pairhmm.call([], "r.fa")), "alignments"),
        (lambda: pairhmm.scatter([], "r.fa", 2), "alignments"),
        (lambda: pairhmm.gather([], "x.tsv"), "pieces"),
    ],
)
def test_no_files(verb, what):
    with pytest.raises(InputError, match=f"{what}: no file is named"):
        verb()


def test_what_is_in_range_is_taken():
    GatkOptions(pcr_indel_model="none", base_quality_threshold=None, score_floor=None, error_rate=None)
    ScanOptions(max_mismatches=np.int64(3), min_mean=np.float32(2.5))
    RunOptions(backend="reference", threads=np.int32(2))


def test_both_kinds_of_callers_know_it():
    assert issubclass(OptionError, ValueError), "Python's"
    assert issubclass(OptionError, InputError), "the command line's: one line, exit code 2"


def test_rules_are_read_from_types():
    found = rules_of(GatkOptions)
    assert found["gap_quality"] == Rule(int, within=Within(0, 127))
    assert found["error_rate"] == Rule(float, is_optional=True, within=Within(0, 1))
    assert found["pcr_indel_model"] == Rule(str, choices=tuple(PCR_RATES))
    assert found["cap_by_mapping_quality"] == Rule(bool)
    assert rules_of(pairhmm.validate)["threads"] == Rule(int)
    assert rules_of(RunOptions)["reads"] == Rule(object)


def test_none_is_a_value_only_where_the_type_says_so():
    Rule(int, is_optional=True, within=Within(0)).check("x", None)
    with pytest.raises(OptionError, match="x=None is not a whole number from 0 to 9"):
        Rule(int, within=Within(0, 9)).check("x", None)


@pytest.mark.parametrize(
    ("parts", "line"),
    [
        (("x.bam", "read r", "has no bases", "remove it"), "x.bam: read r: has no bases; remove it"),
        (("x.bam", "", "is cut off", ""), "x.bam: is cut off"),
        (("", "", "nothing to do", "give a file"), "nothing to do; give a file"),
    ],
)
def test_input_error_drops_empty_parts(parts, line):
    error = InputError(*parts)
    assert str(error) == line
    assert (error.path, error.record, error.rule, error.cure) == parts
    assert isinstance(error, PairhmmError)


def test_backend_unavailable():
    error = BackendUnavailable("cuda", "no driver", "install one")
    assert str(error) == "backend cuda: no driver; install one"
