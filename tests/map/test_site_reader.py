"""Samples at common sites: from VCF and from tables of likelihoods."""

import numpy as np
import pytest

from pairhmm.errors import InputError
from pairhmm.map import site_reader, sites
from pairhmm.map.site_reader import read_sample_sites
from pairhmm.map.sites import COUNTED_RATIO

FIXED = "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT"
TABLE = "#sample\tchrom\tstart\tend\tread_name\tmate\thaplotype\tlog10_likelihood\tprecision\n"
HAPLOTYPES = "#chrom\tstart\tend\thaplotype\tsequence\talleles\tvariants\tnuisance\n"


@pytest.fixture
def write(tmp_path):
    """``write(name, samples, records)``: a VCF of AD, as a path; a record is (pos, cells)."""

    def made(name, samples, records, form="AD"):
        lines = ["##fileformat=VCFv4.2", "\t".join([FIXED, *samples])]
        lines += ["\t".join(["1", str(pos), ".", "A", "G", ".", ".", ".", form, *cells]) for pos, cells in records]
        (tmp_path / name).write_text("\n".join(lines) + "\n")
        return str(tmp_path / name)

    return made


def rows(found):
    """Rows of evidence by sample and site."""
    evidence = found.evidence
    sample = np.repeat(np.arange(len(found.samples)), np.diff(evidence.begin))
    ratio = evidence.log10_ratio.astype(float).round(2)
    return sorted(
        zip(*(one.tolist() for one in (sample, evidence.site, ratio, evidence.count)), strict=True),
    )


def test_files_meet_at_their_sites(write):
    one = write("a.vcf", ["a"], [(10, ["3,1"]), (20, ["0,5"]), (30, ["2,0"])])
    two = write("b.vcf", ["b", "c"], [(20, ["4,0", "."]), (10, ["1,1", "0,2"]), (40, ["1,0", "1,0"])])
    found, keys = read_sample_sites([one, two])
    assert found.samples == ("a", "b", "c")
    assert keys == ["1:10:A:G", "1:20:A:G", "1:30:A:G", "1:40:A:G"]
    up = round(COUNTED_RATIO, 2)
    assert rows(found) == [
        (0, 0, -up, 3),
        (0, 0, up, 1),
        (0, 1, up, 5),
        (0, 2, -up, 2),
        (1, 0, -up, 1),
        (1, 0, up, 1),
        (1, 1, -up, 4),
        (1, 3, -up, 1),
        (2, 0, up, 2),
        (2, 3, -up, 1),
    ]
    assert found.depth.tolist() == pytest.approx([11 / 3, 7 / 3, 3 / 2])


def test_the_first_record_of_a_site_counts(write):
    found, _ = read_sample_sites([write("a.vcf", ["a", "b"], [(10, ["3,0", "1,0"]), (10, ["9,0", "9,0"])])])
    assert [count for *_, count in rows(found)] == [3, 1]


def test_fewer_sites_are_the_same_whatever_the_order(write, monkeypatch):
    records = [(pos, [f"{pos},0", "1,0"]) for pos in range(1, 400)]
    forth, back = write("f.vcf", ["a", "b"], records), write("r.vcf", ["a", "b"], records[::-1])
    for most in ("MOST_SITES", "MOST_CELLS"):
        with monkeypatch.context() as changed:
            changed.setattr(sites, most, 100 if most == "MOST_SITES" else 50)
            changed.setattr(site_reader, "MOST_SITES", sites.MOST_SITES)
            chosen = [read_sample_sites([path]) for path in (forth, back)]
        assert len(chosen[0][1]) == (100 if most == "MOST_SITES" else 25)
        assert set(chosen[0][1]) == set(chosen[1][1])
        for found, keys in chosen:
            own = slice(*found.evidence.begin[:2].tolist())
            positions = [int(keys[site].split(":")[1]) for site in found.evidence.site[own].tolist()]
            assert found.evidence.count[own].tolist() == positions


@pytest.fixture
def table(tmp_path):
    """A table of two samples: reads of a site with haplotypes 0 (reference), 1 and 2 (both alternative)."""
    scores = {
        ("a", "r1", 1): (-2, -4.5, -5),
        ("a", "r2", 1): (-9, -3, -2.8),
        ("a", "r2", 2): (-3, -8.7, -9),
        ("a", "r3", 0): (-2, -2, -2.04),
        ("b", "r1", 1): (-1, -2, -2),
        ("b", "r1", 2): (-1, -1.4, -1.4),
        ("b", "r4", 0): (-1, -2, -2),
    }
    place = "chr1\t90\t120"
    lines = [
        f"{sample}\t{place}\t{read}\t{mate}\th{haplotype}\t{score}\tfloat32\n"
        for (sample, read, mate), own in scores.items()
        for haplotype, score in enumerate(own)
    ]
    (tmp_path / "t.tsv").write_text(TABLE + "".join(lines))
    names = zip(("0,0", "1,0", "1,1"), "ACG", strict=True)
    companion = [f"{place}\th{n}\t{base}\t{alleles}\t101:A>G,110:AT>A\t0\n" for n, (alleles, base) in enumerate(names)]
    (tmp_path / "t.haplotypes.tsv").write_text(HAPLOTYPES + "".join(companion))
    return str(tmp_path / "t.tsv")


def test_reads_of_a_table(table):
    found, keys = read_sample_sites([table])
    assert found.samples == ("a", "b") and keys == ["1:101:A:G"]
    # Read a/r1 favours the reference by 2.5. Mates r2 disagree: 3 + 3.2 against 5.7, cut at 3. Read r3 tells nothing.
    # Mates b/r1 agree: the clearer one counts.
    assert rows(found) == [(0, 0, -2.5, 1), (0, 0, 0.5, 1), (1, 0, -1.0, 2)]
    assert found.depth.tolist() == [2, 2]


def test_a_table_and_a_vcf(table, write):
    found, keys = read_sample_sites([table, write("c.vcf", ["c"], [(101, ["4,0"]), (7, ["4,0"])])])
    assert found.samples == ("a", "b", "c") and keys == ["1:101:A:G", "1:7:A:G"]


def error(*paths):
    with pytest.raises(InputError) as raised:
        read_sample_sites(paths)
    return str(raised.value)


def test_one_sample_is_not_compared(write):
    assert "the only sample is a; relate compares samples" in error(write("a.vcf", ["a"], [(10, ["3,0"])]))


def test_a_sample_in_two_files(write):
    one, two = (write(name, ["a"], [(10, ["3,0"])]) for name in ("a.vcf", "b.vcf"))
    assert f"b.vcf: sample a: is in {one} too" in error(one, two)


def test_no_common_site(write):
    assert "no two samples have a site in common" in error(
        write("a.vcf", ["a"], [(10, ["3,0"])]), write("b.vcf", ["b"], [(11, ["3,0"])])
    )


def test_no_site_at_all(write):
    assert "no biallelic SNV on an autosome" in error(write("a.vcf", ["a", "b"], []))


def test_no_genotypes(write):
    assert "lack AD, PL, GL and GT" in error(write("a.vcf", ["a", "b"], [(10, ["3", "4"])], form="GQ"))


def test_files_of_variants_only(write):
    records = [(pos, ["0,9" if pos % 3 else "5,5"]) for pos in range(1, 90)]
    message = error(write("a.vcf", ["a"], records), write("b.vcf", ["b"], records))
    assert "a.vcf: lists variants only" in message and "pairhmm call -v" in message


def test_too_many_samples(write, monkeypatch):
    monkeypatch.setattr(site_reader, "MOST_SAMPLES", 2)
    assert "3 samples, and relate compares up to 2" in error(write("a.vcf", list("abc"), [(10, ["3,0"] * 3)]))
