"""`likelihoods` and `call` with the profile model, on real reads."""

import os
import subprocess
from pathlib import Path

import numpy as np
import pysam
import pytest

from pairhmm import RunOptions, likelihoods
from pairhmm.calling.call import call
from pairhmm.models.parameter_file import read_options
from pairhmm.models.profile import preset
from tests.command_line.start import command

SHARED = Path(os.environ.get("PAIRHMM_SHARED_DATA", Path(__file__).parents[2].parent / "shared" / "data"))
TINY = SHARED / "na12878-chr22-tiny"
REFERENCE, BAM, TRUTH = TINY / "q.fa", TINY / "NA12878.chr22.tiny.bam", TINY / "NA12878.chr22.tiny.giab.vcf"
OPEN = 10**-4.5
"""Probability of a gap, GATK's Phred 45."""

if not TINY.exists():
    if "shared" in os.environ.get("PAIRHMM_TEST_REQUIRE", ""):
        pytest.fail(f"{TINY} is required")
    pytest.skip(f"{TINY} is not there", allow_module_level=True)


def run(verb, *arguments, code=0):
    given = [*command(), verb, *map(str, arguments)]
    done = subprocess.run(given, capture_output=True, text=True, timeout=120)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    return done


@pytest.fixture(scope="module")
def without_n(tmp_path_factory):
    """The reads that have no N."""
    path = tmp_path_factory.mktemp("reads") / "reads.bam"
    with pysam.AlignmentFile(BAM) as reads, pysam.AlignmentFile(path, "wb", template=reads) as out:
        for read in reads:
            if "N" not in read.query_sequence:
                out.write(read)
    return path


@pytest.fixture
def identity(tmp_path):
    """Parameters with which the profile model is GATK's, but for N: a profile's is uniform, GATK's matches."""
    match = "\n".join(
        f"{letter} = [{', '.join(str(float(letter == other)) for other in 'ACGT')}, 1.0]" for letter in "ACGT"
    )
    insertion = "\n".join(f"{letter} = 1.0" for letter in "ACGT")
    transitions = {"MM": 1 - 2 * OPEN, "MI": OPEN, "MD": OPEN, "IM": 0.9, "II": 0.1, "DM": 0.9, "DD": 0.1}
    text = "\n".join(f"{name} = {value!r}" for name, value in transitions.items())
    path = tmp_path / "identity.toml"
    path.write_text(f'start = "anywhere"\n[match]\n{match}\n[insertion]\n{insertion}\n[transitions]\n{text}\n')
    return path


def table(reads, *options):
    rows = run("likelihoods", "-f", REFERENCE, *options, reads).stdout.splitlines()
    fields = [row.split("\t") for row in rows if not row.startswith("#")]
    return [row[:7] for row in fields], np.array([float(row[7]) for row in fields])


def test_identity_parameters_give_gatks_likelihoods(identity, without_n):
    names, expected = table(without_n, "--pcr-indel-model", "none")
    profile_names, found = table(without_n, "--model", "profile", "--parameters", identity)
    assert profile_names == names
    assert len(expected) > 1000
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5 + 1e-6)  # the table has six digits


def test_a_preset_equals_the_oracle():
    names, expected = table(
        BAM, "--model", "profile", "--parameters", "published", "--backend", "reference", "-v", TRUTH
    )
    again, found = table(BAM, "--model", "profile", "--parameters", "published", "--backend", "cpu", "-v", TRUTH)
    assert names == again
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-5)


@pytest.fixture(scope="module")
def ambiguous(tmp_path_factory):
    """Two files of the same reads: every seventh base is an ambiguous letter in one, and N in the other."""
    paths = [tmp_path_factory.mktemp("ambiguous") / name for name in ("letters.bam", "n.bam")]
    for path, letters in zip(paths, ("RYSWKMBDHVN", "N" * 11), strict=True):
        with pysam.AlignmentFile(BAM) as reads, pysam.AlignmentFile(path, "wb", template=reads) as out:
            for number, read in enumerate(reads):
                bases, quality = list(read.query_sequence), read.query_qualities
                for at in range(number % 7, len(bases), 7):
                    bases[at] = letters[at % 11]
                read.query_sequence, read.query_qualities = "".join(bases), quality
                out.write(read)
    return paths


@pytest.mark.parametrize("verb", ["likelihoods", "call"])
def test_ambiguous_letters_are_n_for_gatks_model(ambiguous, verb):
    """Candidates are discovered, regions made and reads cut as if they were N, too."""
    letters, n = (run(verb, "-f", REFERENCE, path).stdout.splitlines() for path in ambiguous)
    assert len(letters) > 10
    different = [line for line, other in zip(letters, n, strict=True) if line != other]
    assert all(line.startswith("##") for line in different)


def test_ambiguous_letters_are_spread_over_their_bases(ambiguous):
    options = ("-v", TRUTH, "--model", "profile", "--parameters", "published")
    (names, letters), (other, n) = (table(path, *options) for path in ambiguous)
    assert names == other
    assert (letters != n).any()
    _, oracle = table(ambiguous[0], *options, "--backend", "reference")
    np.testing.assert_allclose(letters, oracle, rtol=1e-6, atol=1e-5)


def test_genotypes_are_those_of_gatks_model(identity, without_n, tmp_path):
    rows = {}
    for model in (("--pcr-indel-model", "none"), ("--model", "profile", "--parameters", identity)):
        out = tmp_path / "out.vcf"
        run("call", "-f", REFERENCE, *model, "-o", out, without_n)
        lines = out.read_text().splitlines()
        rows[model[0]] = [line for line in lines if not line.startswith("#")]
        told = [line for line in lines if line.startswith("##pairhmmModel=")]
        assert told == [
            f"##pairhmmModel=profile ({identity})"
            if "--model" in model
            else "##pairhmmModel=gatk, pcr_indel_model=none"
        ]
    assert rows["--model"] == rows["--pcr-indel-model"]
    assert len(rows["--model"]) >= 15


def test_the_header_is_the_same_for_each_model(tmp_path):
    headers = set()
    for options, model in (((), "gatk"), (("--model", "profile", "--parameters", "published"), "profile (published)")):
        run("likelihoods", "-f", REFERENCE, *options, "-o", tmp_path / "x.tsv", BAM)
        headers.add((tmp_path / "x.tsv").read_text().split("\n")[0])
        assert (tmp_path / "x.haplotypes.tsv").read_text().startswith(f"##pairhmmModel={model}\n#chrom\t")
    (header,) = headers
    assert header.startswith("#sample\t")


def test_python_takes_a_profile_model():
    (first, *_) = likelihoods(BAM, REFERENCE, profile=preset("normalised"))
    (again, *_) = likelihoods(BAM, REFERENCE, options=RunOptions(profile=preset("normalised")))
    (gatk, *_) = likelihoods(BAM, REFERENCE)
    assert (first.log10 == again.log10).all()
    assert (first.log10 != gatk.log10).all()
    assert next(iter(call(BAM, REFERENCE, profile=preset("normalised")))).variant.pos > 0


@pytest.mark.parametrize("verb", ["call", "likelihoods", "scatter"])
def test_parameters_that_are_none(verb, tmp_path):
    wrong = tmp_path / "wrong.toml"
    wrong.write_text("start = 1\n")
    output = (
        tmp_path / "out.vcf" if verb == "call" else tmp_path / "out.tsv" if verb == "likelihoods" else tmp_path / "p"
    )
    arguments = ("-f", REFERENCE, "-o", output, *(("-n", 2) if verb == "scatter" else ()), BAM)
    done = run(verb, "--model", "profile", "--parameters", wrong, *arguments, code=2)
    assert f"{wrong}: match: missing" in done.stderr
    done = run(verb, "--parameters", wrong, *arguments, code=2)
    assert f"{wrong}: has the parameters of the model 'profile'; give --model profile" in done.stderr
    done = run(verb, "--parameters", "published", *arguments, code=2)
    assert "--parameters published is for --model profile" in done.stderr
    wrong.write_text("gap_quality = 10\n")
    done = run(verb, "--parameters", wrong, *arguments, code=2)
    assert f"{wrong}: insertion_quality: missing" in done.stderr
    done = run(verb, "--parameters", wrong, "--gap-quality", 12, *arguments, code=2)
    assert "--parameters sets what --gap-quality sets: give one of them" in done.stderr
    assert not output.exists()


@pytest.mark.parametrize("model", ["gatk", "profile"])
def test_what_is_no_file_of_parameters(model, tmp_path):
    done = run("likelihoods", "-f", REFERENCE, "--model", model, "--parameters", tmp_path, BAM, code=2)
    assert f"{tmp_path}: Is a directory" in done.stderr
    assert len(done.stderr.splitlines()) == 1 and done.stdout == ""


def test_the_profile_model_takes_no_gap_qualities(tmp_path):
    """An option that would change nothing is told, not passed over."""
    done = run("likelihoods", "-f", REFERENCE, "--model", "profile", "--pcr-indel-model", "none", BAM, code=2)
    assert "--pcr-indel-model is for --model gatk" in done.stderr


def test_gatks_model_takes_fitted_parameters(tmp_path):
    """A file of GATK's defaults scores as GATK's defaults do; a fitted file calls the same variants."""
    parameters, by_copies = tmp_path / "gatk.toml", ", ".join(["45"] * 20)
    options = "insertion_quality = 45\ndeletion_quality = 45\ngap_quality = 10\n"
    parameters.write_text(
        f'{options}pcr_indel_model = "none"\n[by_copies]\ninsertion = [{by_copies}]\ndeletion = [{by_copies}]\n'
    )
    names, expected = table(BAM, "--pcr-indel-model", "none")
    again, found = table(BAM, "--parameters", parameters)
    assert names == again and (found == expected).all()
    run("scatter", "-f", REFERENCE, "--parameters", parameters, "-n", 2, "-o", tmp_path / "pieces", BAM)
    python = np.concatenate([one.log10.ravel() for one in likelihoods(BAM, REFERENCE, model=read_options(parameters))])
    np.testing.assert_allclose(python, expected, rtol=0, atol=1e-6)
    run("fit", "--model", "gatk", "-f", REFERENCE, "-o", parameters, BAM)
    calls = tmp_path / "calls.vcf"
    run("call", "-f", REFERENCE, "--parameters", parameters, "-o", calls, BAM)
    lines = calls.read_text().splitlines()
    (model,) = (line for line in lines if line.startswith("##pairhmmModel="))
    assert model.startswith(f"##pairhmmModel=gatk ({parameters}), gap_quality=")
    passed = [line.split("\t") for line in lines if "\tPASS\t" in line]
    assert [int(row[1]) for row in passed if len(row[3]) > 1] == [5638, 9251]
    assert sum(len(row[3]) == len(row[4]) == 1 for row in passed) == 14
    assert {row[9].partition(":")[0].replace("|", "/") for row in passed} == {"0/1"}


def test_parameters_are_not_written_over(identity):
    done = run(
        "likelihoods", "-f", REFERENCE, "--model", "profile", "--parameters", identity, "-o", identity, BAM, code=2
    )
    assert identity.read_text().startswith("start")
    assert str(identity) in done.stderr
