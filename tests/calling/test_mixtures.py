"""Fractions of mixtures, their intervals and QUAL are those of plain Python; planted mixtures are found again."""

import json
from itertools import chain
from math import erfc, exp, log, log10, sqrt

import numpy as np
import pysam
import pytest

import pairhmm
from pairhmm.native import is_compiled
from tests.calling.scored import evidence_of, genotyped, substitutions

pytestmark = pytest.mark.skipif(not is_compiled(), reason="mixtures need the compiled part")

FLOOR, RATIO, TESTS = 4.5, 1.9207, 3000
ALLELES = [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1)]
WEIGHTS = [0.6, 0.02, 0.3, 0.07, 0.01, 0]


def simulated(seed, reads=600):
    """Scores of reads of a mixture, and their fragments. Some reads see one of the two sites only.

    Scores are multiples of 1/16: native code rounds differences to that.
    """
    rng = np.random.default_rng(seed)
    of = rng.choice(len(WEIGHTS), reads, p=WEIGHTS)
    sees = rng.random((reads, 2)) < 0.7
    rows = np.zeros((reads, len(ALLELES)))
    for read in range(reads):
        for site in np.flatnonzero(sees[read]):
            shown = ALLELES[of[read]][site] if rng.random() > 0.01 else rng.integers(0, 2)
            rows[read] -= [0 if own[site] == shown else 3.5 for own in ALLELES]
    rows -= rng.integers(0, 160, (reads, 1)) / 16
    # Mates: the last reads are of the fragments of the first ones.
    fragments = [str(read if read < 500 or of[read] != of[read - 500] else read - 500) for read in range(reads)]
    return rows, fragments


def likelihoods(rows, fragments):
    """P(fragment | haplotype), the best 1, and how often: [distinct][haplotypes], [distinct]."""
    sums = {}
    for row, fragment in zip(rows, fragments, strict=True):
        sums[fragment] = sums.get(fragment, 0) + np.maximum(row - row.max(), -FLOOR)
    return np.unique([10 ** np.maximum(one - one.max(), -FLOOR) for one in sums.values()], axis=0, return_counts=True)


def fitted(table, is_in=None, share=1.0):
    """The largest log likelihood where some haplotypes have a share, and the weights: expectation and maximisation."""
    table, counts = table
    is_in = np.ones(table.shape[1], bool) if is_in is None else is_in
    weights = np.where(is_in, share / is_in.sum(), (1 - share) / max(1, (~is_in).sum()))
    for _ in range(2000):
        before = weights.copy()
        parts = weights * table
        mean = counts @ (parts / parts.sum(axis=1, keepdims=True))
        for group, own in ((is_in, share), (~is_in, 1 - share)):
            weights[group] = mean[group] * own / mean[group].sum() if own else 0
        if np.abs(weights - before).max() < 1e-15:
            break
    return float(counts @ np.log(table @ weights)), weights


def bound(table, is_in, best, inner, outer):
    """Where the profile likelihood is lower than the best one by RATIO: halves the interval."""
    if best - fitted(table, is_in, outer)[0] <= RATIO:
        return outer
    for _ in range(14):
        middle = (inner + outer) / 2
        inner, outer = (middle, outer) if best - fitted(table, is_in, middle)[0] < RATIO else (inner, middle)
    return (inner + outer) / 2


@pytest.mark.parametrize("seed", [1, 2])
def test_fractions_and_quality_by_plain_python(seed):
    rows, fragments = simulated(seed)
    variants = [substitutions(3, 10), substitutions(2, 30)]
    sites = genotyped(evidence_of(rows, fragments, variants=variants, alleles=ALLELES), mixture=True, score_floor=FLOOR)
    table = likelihoods(rows, fragments)
    best, weights = fitted(table)
    for number, site in enumerate(sites):
        qualities = []
        for allele, found in enumerate(site.samples[0].fractions):
            is_in = np.array([own[number] == allele for own in ALLELES])
            fraction = weights[is_in].sum()
            expected = (fraction, bound(table, is_in, best, fraction, 0), bound(table, is_in, best, fraction, 1))
            assert found == pytest.approx(expected, abs=2e-4)
            p = erfc(sqrt(best - fitted(table, is_in, 0)[0])) / 2
            qualities.append(max(0, -10 * log10(TESTS * p)) if p > 0 else np.inf)
        if max(qualities[1:]) < np.inf:
            assert site.quality == pytest.approx(max(qualities[1:]), abs=0.05)
        assert site.samples[0].alleles == tuple(
            allele
            for allele, (_, low, _) in enumerate(site.samples[0].fractions)
            if low > 0 and (allele == 0 or qualities[allele] > 0)
        )


@pytest.mark.parametrize("ratios", [(12.0, 0.0), (4.0, 9.0), (0.0, 0.0)])
def test_quality_of_two_samples(ratios):
    """Each sample adds a degree of freedom half of the time: P(chi-square > d) is erfc(sqrt(d/2)), and exp(-d/2)."""
    rows, samples = [], []
    for sample, ratio in enumerate(ratios):
        # Reads of the reference, and alternative ones of such a likelihood.
        alternative, others = (round(ratio), 400 - round(ratio)) if ratio else (0, 400)
        rows += [[-3.0, 0.0]] * alternative + [[0.0, -3.0]] * others
        samples += [sample] * 400
    site = genotyped(evidence_of(rows, sample=samples), ploidies=(2, 2), mixture=True, score_floor=FLOOR)[0]
    half = 0.0
    for sample in range(2):
        own = likelihoods(np.array(rows)[np.array(samples) == sample], [str(read) for read in range(400)])
        half += fitted(own)[0] - fitted(own, np.array([False, True]), 0)[0]
    p = erfc(sqrt(half)) / 2 + exp(-half) / 4
    assert site.quality == pytest.approx(max(0, -10 * log10(TESTS * p)), abs=0.05)


def test_a_mixture_of_one_haplotype():
    site = genotyped(evidence_of([[-7.0, 0.0]] * 50), mixture=True, score_floor=FLOOR)[0]
    sample = site.samples[0]
    assert sample.genotype == "1"
    fraction, low, high = sample.fractions[1]
    # 50 log(low) = -RATIO, but for reads of which the reference explains 1 in 31,623.
    assert (fraction, high) == (pytest.approx(1, abs=1e-4), 1)
    assert low == pytest.approx(exp(-RATIO / 50), abs=1e-4)
    assert sample.fractions[0][:2] == (pytest.approx(0, abs=1e-4), 0)
    assert log(1 - sample.fractions[0][2]) == pytest.approx(-RATIO / 50, abs=1e-4)


STRAINS = {"first": 0.65, "second": 0.25, "third": 0.08, "fourth": 0.02}
LENGTH, READ = 700, 100


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    """Reads of four strains that differ every 17 bases on average: ref.fa, s.bam, and the letters of each."""
    folder = tmp_path_factory.mktemp("mixture")
    rng = np.random.default_rng(8)
    reference = rng.choice(list("ACGT"), LENGTH)
    strains = {}
    for number, name in enumerate(STRAINS):
        letters = strains[name] = reference.copy()
        for position in np.flatnonzero(rng.random(LENGTH) < 0.02 + 0.02 * number):
            letters[position] = "ACGT"["ACGT".index(letters[position]) ^ 1 + number % 3]
    (folder / "ref.fa").write_text(f">q\n{''.join(reference)}\n")
    pysam.faidx(str(folder / "ref.fa"))
    header = pysam.AlignmentHeader.from_dict(
        {"HD": {"SO": "coordinate"}, "SQ": [{"SN": "q", "LN": LENGTH}], "RG": [{"ID": "1", "SM": "one"}]}
    )
    with pysam.AlignmentFile(str(folder / "s.bam"), "wb", header=header) as out:
        for number, start in enumerate(np.sort(rng.integers(0, LENGTH - READ, 9000)).tolist()):
            letters = strains[rng.choice(list(STRAINS), p=list(STRAINS.values()))][start : start + READ].copy()
            wrong = rng.random(READ) < 1e-3
            letters[wrong] = rng.choice(list("ACGT"), int(wrong.sum()))
            read = pysam.AlignedSegment(header)
            read.query_name, read.flag, read.mapping_quality = f"r{number}", 16 * (number % 2), 60
            read.reference_id, read.reference_start, read.cigartuples = 0, start, [(0, READ)]
            read.query_sequence, read.query_qualities = "".join(letters), [30] * READ
            read.set_tag("RG", "1")
            out.write(read)
    pysam.index(str(folder / "s.bam"))
    (folder / "strains.json").write_text(json.dumps({name: "".join(own) for name, own in strains.items()}))
    return folder


def arguments(planted, *more):
    fractions = "--min-alt-fraction", "0.005", "--min-indel-fraction", "0.005"
    common = ("--mixture", "--max-depth", "100000", *fractions, "--no-version", "-q")
    return ("call", "-f", str(planted / "ref.fa"), *common, *more, str(planted / "s.bam"))


@pytest.mark.parametrize("ending", [".tsv", ".tsv.gz", ".parquet"])
def test_strains_are_found_again(planted, tmp_path, run_cli, ending):
    table, calls = tmp_path / f"haplotypes{ending}", tmp_path / "calls.vcf.gz"
    assert run_cli(*arguments(planted, "--haplotype-table", str(table), "-o", str(calls))).returncode == 0
    strains = json.loads((planted / "strains.json").read_text())
    check_rows(read_table(table), strains)
    with pysam.VariantFile(str(calls)) as records:
        for record in records:
            check_record(record, strains)


def check_rows(rows, strains):
    """Haplotypes of each region are those of the strains, and so are their fractions."""
    for start, end in {(row["start"], row["end"]) for row in rows}:
        expected = {}
        for name, letters in strains.items():
            own = letters[start:end]
            expected[own] = expected.get(own, 0) + STRAINS[name]
        found = {row["sequence"]: row for row in rows if row["start"] == start}
        assert found.keys() == expected.keys()
        depth = min(1000, sum(int(row["reads"]) for row in found.values()))  # few reads reach the last base
        for sequence, row in found.items():
            assert row["low"] < row["fraction"] < row["high"]
            assert row["fraction"] == pytest.approx(expected[sequence], abs=4 * sqrt(expected[sequence] / depth))


def test_haplotypes_of_windows(planted, tmp_path, run_cli):
    tables = []
    for number, region in enumerate(((), ("-r", "q:101-150"))):
        tables.append(tmp_path / f"{number}.tsv")
        given = "--haplotype-table", str(tables[-1]), "--haplotype-window", "50", "-o", str(tmp_path / "calls.vcf")
        assert run_cli(*arguments(planted, *given, *region)).returncode == 0
    rows, part = map(read_table, tables)
    assert {(row["start"] % 50, row["end"] - row["start"]) for row in rows} == {(0, 50)}
    deep = [row for row in rows if row["end"] < LENGTH]  # no read has the last base
    check_rows(deep, json.loads((planted / "strains.json").read_text()))
    assert part == [row for row in rows if row["start"] == 100]


def test_shards_of_windows_give_what_the_whole_gives(planted, tmp_path, run_cli):
    """Cuts lie between windows, so no window is in two tables."""
    window = "--haplotype-window", "50"
    places = "-f", str(planted / "ref.fa"), "-n", "4", "-o", str(tmp_path)
    assert run_cli("scatter", *window, *places, str(planted / "s.bam")).returncode == 0
    tables, calls = [], []
    shards = [("-R", str(tmp_path / f"{number}-of-4.bed")) for number in range(1, 5)]
    for number, shard in enumerate(((), *shards)):
        tables.append(tmp_path / f"{number}.tsv")
        calls.append(tmp_path / f"{number}.vcf")
        given = "--haplotype-table", str(tables[-1]), "-o", str(calls[-1])
        assert run_cli(*arguments(planted, *window, *given, *shard)).returncode == 0
    whole, *parts = map(read_table, tables)
    assert all(parts)
    assert list(chain.from_iterable(parts)) == whole
    whole, *parts = map(records_of, calls)
    assert list(chain.from_iterable(parts)) == whole


def records_of(path):
    return [line for line in path.read_text().splitlines() if line[0] != "#"]


def read_table(path):
    if path.suffix == ".parquet":
        parquet = pytest.importorskip("pyarrow.parquet")
        return parquet.read_table(path).to_pylist()
    with pysam.BGZFile(str(path)) if path.suffix == ".gz" else open(path, "rb") as lines:
        names, *rows = [line.decode().rstrip("\n").split("\t") for line in lines]
    kinds = {"start": int, "end": int, "fraction": float, "low": float, "high": float}
    names[0] = names[0].removeprefix("#")
    return [{name: kinds.get(name, str)(one) for name, one in zip(names, row, strict=True)} for row in rows]


def check_record(record, strains):
    """Fractions are those of the strains with each allele, and phased genotypes have the alleles of haplotypes."""
    sample = record.samples[0]
    assert set(sample.keys()) >= {"GT", "AD", "DP", "AF", "CIAF", "SB"}
    assert "GQ" not in sample and "PL" not in sample
    for alt, fraction, low, high in zip(
        record.alts, sample["AF"], sample["CIAF"][::2], sample["CIAF"][1::2], strict=True
    ):
        truth = sum(STRAINS[name] for name, letters in strains.items() if letters[record.start] == alt)
        assert low <= fraction <= high
        assert fraction == pytest.approx(truth, abs=4 * sqrt(truth / min(1000, sample["DP"])))
    if sample.phased and len(sample["GT"]) > 1:
        assert len(sample["GT"]) <= len(STRAINS)


def test_threads_change_nothing(planted, tmp_path, run_cli):
    outputs = []
    for threads in ("1", "2"):
        calls, table = tmp_path / f"{threads}.vcf", tmp_path / f"{threads}.tsv"
        done = run_cli(
            *arguments(planted, "-@", threads, "-o", str(calls), "--haplotype-table", str(table), "--backend", "cpu")
        )
        assert done.returncode == 0
        outputs.append((calls.read_bytes(), table.read_bytes()))
    assert outputs[0] == outputs[1]


def test_sites_of_the_library_write_the_same(planted, tmp_path, run_cli):
    calls, again = tmp_path / "calls.vcf", tmp_path / "again.vcf"
    assert run_cli(*arguments(planted, "-o", str(calls))).returncode == 0
    keywords = {"mixture": True, "max_depth": 100000, "min_snv_fraction": 0.005, "min_indel_fraction": 0.005}
    sites = pairhmm.call(planted / "s.bam", planted / "ref.fa", **keywords)
    pairhmm.write_vcf(sites, again, planted / "ref.fa")
    assert again.read_text() == calls.read_text()


@pytest.mark.parametrize(
    "options",
    [
        ("--ploidy", "2"),
        ("--sample-ploidy", "one=1"),
        ("--sample-sex", "one=M"),
        ("--contamination", "0"),
        ("--snv-prior", "0.001"),
        ("--gvcf",),
    ],
)
def test_options_of_genotypes_are_refused(planted, run_cli, options):
    done = run_cli(*arguments(planted, *options))
    assert done.returncode == 2
    assert f"{options[0]} is for genotypes" in done.stderr


def test_a_table_of_haplotypes_needs_a_mixture(planted, tmp_path, run_cli):
    done = run_cli(
        "call", "-f", str(planted / "ref.fa"), "--haplotype-table", str(tmp_path / "h.tsv"), str(planted / "s.bam")
    )
    assert done.returncode == 2
    assert "add --mixture" in done.stderr


@pytest.mark.parametrize(
    ("options", "cure"), [((), "add --mixture"), (("--mixture", "--circular", "q"), "leave out --circular")]
)
def test_windows_are_those_of_a_mixture_without_circles(planted, run_cli, options, cure):
    done = run_cli("call", "-f", str(planted / "ref.fa"), "--haplotype-window", "100", *options, str(planted / "s.bam"))
    assert done.returncode == 2
    assert cure in done.stderr


def test_genotypes_of_a_mixture_have_no_priors():
    with pytest.raises(pairhmm.OptionError, match="mixture"):
        pairhmm.GenotypeOptions(mixture=True, ploidy=1)
