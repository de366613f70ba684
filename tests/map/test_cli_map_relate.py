"""`pairhmm map relate` as users run it: a cohort with faults, outputs, and one line for what can't be used."""

import csv
import re

import numpy as np
import pytest

import pairhmm
from tests.map import cohorts

NAMES = [f"p{person}_{number}" for person in range(10) for number in range(3)] + ["single_0", "double_0", "foreign_0"]
SITES = 6000


@pytest.fixture(scope="module")
def cohort(tmp_path_factory):
    """A folder with a VCF and a sheet. p0_0 and p4_2 are exchanged, double_0 is single_0, 10% of foreign_0 are p7's."""
    folder = tmp_path_factory.mktemp("cohort")
    rng = np.random.default_rng(6)
    shares = cohorts.frequencies(SITES)
    people = [cohorts.founder(shares, rng) for _ in range(12)]
    genotypes = [*(people[index // 3] for index in range(30)), people[10], people[10], people[11]]
    genotypes[0], genotypes[14] = genotypes[14], genotypes[0]
    cohorts.write_counts(folder / "cohort.vcf", NAMES, cohorts.reads(genotypes, 30, rng, {32: (21, 0.1)}))
    lines = [f"{name}\t{name.split('_')[0]}\n" for name in NAMES]
    (folder / "samples.tsv").write_text("sample\tindividual\n" + "".join(lines))
    return folder


def rows(path):
    with open(path, newline="") as table:
        return list(csv.DictReader((line.removeprefix("#") for line in table), delimiter="\t"))


def test_every_fault_is_found_and_nothing_else(cohort, run_cli, tmp_path):
    done = run_cli(
        "map",
        "relate",
        "cohort.vcf",
        "--sheet",
        "samples.tsv",
        "-o",
        tmp_path / "pairs.tsv",
        "--sample-table",
        tmp_path / "samples.tsv",
        cwd=cohort,
    )
    assert done.returncode == 0, done.stderr
    assert "33 samples, 6000 sites" in done.stderr
    samples = {row["sample"]: row for row in rows(tmp_path / "samples.tsv")}
    assert list(samples) == NAMES
    assert {name: row["flags"] for name, row in samples.items() if row["flags"] != "."} == {
        "p0_0": "swap?",
        "p4_2": "swap?",
        "single_0": "duplicate",
        "double_0": "duplicate",
        "foreign_0": "contaminated",
    }
    assert float(samples["foreign_0"]["contamination"]) == pytest.approx(0.1, abs=0.01)
    assert float(samples["p1_0"]["depth"]) == pytest.approx(30, abs=0.5)
    pairs = {(row["sample_1"], row["sample_2"]): row for row in rows(tmp_path / "pairs.tsv")}
    assert len(pairs) == 33 * 32 // 2
    assert [pairs["p0_0", "p0_1"][key] for key in ("expected", "found", "flags")] == ["identical", "unrelated", "swap?"]
    assert [pairs["single_0", "double_0"][key] for key in ("expected", "found", "flags")] == [
        "unrelated",
        "identical",
        "duplicate",
    ]
    close = pairs["p1_0", "p1_2"]
    assert (
        close["ibs0"] == "0" and close["relatedness"] == "1.0000" and close["found"] == close["expected"] == "identical"
    )
    assert abs(float(pairs["p1_0", "p2_2"]["relatedness"])) < 0.1


def test_in_python(cohort):
    found = pairhmm.relate(cohort / "cohort.vcf")
    assert {pair.expected for pair in found.pairs()} == {"."}
    flagged = [(pair.sample_1, pair.sample_2) for pair in found.pairs() if "duplicate" in pair.flags]
    # Without a sheet, every two samples of one individual are duplicates.
    assert len(flagged) == 31
    assert {pair.found for pair in found.pairs()} == {"unrelated", "identical"}


def test_a_trio_and_its_pedigree(run_cli, tmp_path):
    rng = np.random.default_rng(21)
    (father, mother, kid, *_), _ = cohorts.family(cohorts.frequencies(4000), rng)
    cohorts.write_genotypes(tmp_path / "trio.vcf", ["dad", "mum", "kid", "extra"], [father, mother, kid, kid[::-1]])
    (tmp_path / "x.ped").write_text("f kid dad mum 1 0\nf dad 0 0 1 0\nf mum 0 0 2 0\n")
    done = run_cli("map", "relate", "trio.vcf", "--pedigree", "x.ped", cwd=tmp_path)
    assert "1 sample is not in the sheet or the pedigree, so no relation is expected: extra" in done.stderr
    found = [line.split("\t") for line in done.stdout.splitlines()[1:]]
    assert [(row[0], row[1], *row[8:11]) for row in found if row[1] != "extra"] == [
        ("dad", "mum", "unrelated", "unrelated", "."),
        ("dad", "kid", "parent-child", "parent-child", "."),
        ("mum", "kid", "parent-child", "parent-child", "."),
    ]
    # Mendel: a child and a parent are never opposite homozygotes.
    assert [row[4] for row in found if "kid" in row[:2] and "extra" not in row[:2]] == ["0", "0"]


def test_a_tumour_that_lost_alleles_is_its_own_blood(run_cli, tmp_path):
    rng = np.random.default_rng(31)
    blood, other = (cohorts.founder(cohorts.frequencies(2000), rng) for _ in range(2))
    lost = blood.copy()
    # A third of the genome has one of its chromosomes only.
    lost[700:1400] = np.where(blood[700:1400] == 1, 2 * np.repeat(rng.integers(0, 2, 14), 50), blood[700:1400])
    cohorts.write_counts(
        tmp_path / "loh.vcf", ["blood", "tumour", "other"], cohorts.reads([blood, lost, other], 40, rng)
    )
    (tmp_path / "s.tsv").write_text("sample\tindividual\nblood\tA\ntumour\tA\nother\tB\n")
    done = run_cli(
        "map", "relate", "loh.vcf", "--sheet", "s.tsv", "--sample-table", "o.tsv", "-o", "p.tsv", cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    pair = rows(tmp_path / "p.tsv")[0]
    assert [pair[key] for key in ("ibs0", "relatedness", "expected", "found", "flags")] == [
        *("0", "1.0000", "identical", "identical", ".")
    ]
    hets, gone = int((blood == 1).sum()), int((blood[700:1400] == 1).sum())
    told = re.fullmatch(r"loss of heterozygosity in tumour at (\d+) of (\d+) heterozygous sites", pair["note"])
    assert told is not None and [int(one) for one in told.groups()] == pytest.approx([gone, hets], abs=6)
    assert {row["flags"] for row in rows(tmp_path / "o.tsv")} == {"."}


def test_frequencies_of_the_population(run_cli, tmp_path):
    rng = np.random.default_rng(21)
    shares = cohorts.frequencies(3000)
    people = [cohorts.founder(shares, rng) for _ in range(2)]
    cohorts.write_counts(tmp_path / "c.vcf", ["a", "b"], cohorts.reads(people, 2, rng))
    lines = [f"chr1\t{1000 * (n + 1)}\t.\tA\tG\t.\t.\tDP=5;AF={p:.4f}\n" for n, p in enumerate(shares)]
    text = "##fileformat=VCFv4.3\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n"
    (tmp_path / "f.vcf").write_text(text + "".join(lines))
    done = run_cli("map", "relate", "c.vcf", "--frequencies", "f.vcf", cwd=tmp_path)
    assert done.stdout.splitlines()[1].split("\t")[9] == "unrelated"
    (tmp_path / "f.vcf").write_text(text + "chr1\t1000\t.\tA\tG\t.\t.\tAF=7\n")
    done = run_cli("map", "relate", "c.vcf", "--frequencies", "f.vcf", cwd=tmp_path)
    assert done.returncode == 2 and "f.vcf: 1:1000:A:G: AF=7 is not a frequency" in done.stderr


BAD = {
    "one sample": (["one.vcf"], "one.vcf: the only sample is a; relate compares samples: give two or more"),
    "no such file": (["gone.vcf"], "gone.vcf: No such file or directory"),
    "cut off": (["cut.vcf.gz"], "cut.vcf.gz: is cut off"),
    "no VCF": (["samples.tsv.txt"], "samples.tsv.txt: not a VCF or BCF file"),
    "no genotypes": (["bare.vcf"], "bare.vcf: has no genotype at a biallelic SNV"),
    "unknown pedigree": (["two.vcf", "--pedigree", "x.ped"], "x.ped: names none of the samples, such as a"),
    "own ancestor": (
        ["two.vcf", "--pedigree", "loop.ped"],
        "loop.ped: a is an ancestor of itself; correct the parents",
    ),
    "a table without its companion": (["t.tsv"], "t.tsv: its companion t.haplotypes.tsv is not there"),
    "over the input": (["two.vcf", "--sheet", "p.tsv"], "p.tsv: would be written by -o"),
    "another ending": (["two.vcf", "--sample-table", "s.csv"], "s.csv: not a name for tables"),
}


@pytest.mark.parametrize("case", BAD)
def test_one_line_for_what_can_not_be_used(run_cli, tmp_path, case):
    one = np.ones((1, 60, 2), dtype=np.uint16)
    cohorts.write_counts(tmp_path / "one.vcf", ["a"], one)
    cohorts.write_counts(tmp_path / "two.vcf", ["a", "b"], np.repeat(one, 2, axis=0))
    cohorts.write_columns(tmp_path / "bare.vcf", ["a", "b"], "GQ", [["7", "8"]])
    (tmp_path / "cut.vcf.gz").write_bytes(b"\x1f\x8b\x08\x04\0\0\0\0\0\xff\6\0\x42\x43\2\0\x1b\0")
    (tmp_path / "samples.tsv.txt").write_text("sample\na\n")
    (tmp_path / "x.ped").write_text("f kid dad mum 1 0\n")
    (tmp_path / "loop.ped").write_text("f a b 0 1 0\nf b a 0 1 0\n")
    (tmp_path / "t.tsv").write_text("#sample\n")
    (tmp_path / "p.tsv").write_text("sample\na\n")
    given, message = BAD[case]
    before = sorted(tmp_path.iterdir())
    done = run_cli("map", "relate", *given, "-o", "p.tsv" if case == "over the input" else "out.tsv", cwd=tmp_path)
    assert done.returncode == 2
    errors = [line for line in done.stderr.splitlines() if "error" in line]
    assert len(errors) == 1 and message in errors[0], done.stderr
    assert sorted(tmp_path.iterdir()) == before
