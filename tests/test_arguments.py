"""One string, path or read is one item, wherever several may be given, and every kind of path is taken."""

import os
import re
from pathlib import Path

import numpy as np
import pytest

import pairhmm
from pairhmm.arguments import path_of, paths_of, regions_of, texts_of
from pairhmm.calling.call import write_calls
from pairhmm.calling.likelihoods import write_likelihoods
from pairhmm.errors import InputError
from pairhmm.models.profile import one_hot, preset
from pairhmm.sequences.intervals import Interval
from pairhmm.sequences.letters import encode

KINDS = (str, os.fsencode, Path)


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    pairhmm.simulate(folder, length=6000, coverage=12)
    return folder


def read(bases="ACGTACGTAC"):
    return pairhmm.make_read(bases, 30)


def test_a_string_is_one_haplotype():
    haplotypes = ["TTACGTACGTACTT", "TTACGTTCGTACTT"]
    expected = pairhmm.forward([read(), read("ACGTT")], haplotypes, backend="reference")
    for number, haplotype in enumerate(haplotypes):
        for given in (haplotype, haplotype.encode(), encode(haplotype)):
            found = pairhmm.forward([read(), read("ACGTT")], given, backend="reference")
            assert found.shape == (2, 1)
            assert np.array_equal(found[:, 0], expected[:, number])
    assert np.array_equal(pairhmm.forward(read(), tuple(haplotypes), backend="reference"), expected[:1])


def test_a_string_is_one_haplotype_of_a_group():
    one, several = (pairhmm.PairBatch.from_groups([pairhmm.Group([read()], given)]) for given in ("ACGTTT", ["ACGTTT"]))
    assert one.pairs == several.pairs == 1
    assert np.array_equal(one.haplotypes, several.haplotypes)


def test_a_matrix_is_one_profile():
    matrix = one_hot(np.array([0, 1, 2, 3], dtype=np.uint8), np.full(4, 0.01))
    model = preset("normalised")
    one = pairhmm.forward(matrix, "ACGT", model=model, backend="reference")
    assert np.array_equal(one, pairhmm.forward([matrix], ["ACGT"], model=model, backend="reference"))


@pytest.mark.parametrize(
    ("reads", "model", "message"),
    [
        (["ACGT"], None, "reads\\[0\\] is of type str: make_read makes a read"),
        ([read(), np.full((4, 4), 0.25)], None, "reads\\[1\\] is of type ndarray: .* need model="),
        ([read()], preset("normalised"), "reads\\[0\\] is a Read: the profile model takes letter probabilities"),
    ],
)
def test_reads_of_another_model(reads, model, message):
    with pytest.raises(TypeError, match=message):
        pairhmm.forward(reads, ["ACGT"], model=model)


@pytest.mark.parametrize("kind", KINDS)
def test_one_path_and_one_region(data, tmp_path, kind):
    bam, fasta, truth = (kind(data / name) for name in ("reads.bam", "reference.fa", "truth.vcf.gz"))
    region = "chr1:1000-4000"
    sites = list(pairhmm.call(bam, fasta, truth, regions=region))
    assert len(sites) >= 2
    assert len(list(pairhmm.call([bam], fasta, truth, regions=[region]))) == len(sites)
    regions = list(pairhmm.likelihoods(bam, fasta, truth, regions=region))
    assert sum(len(one.region.variants) for one in regions) == len(sites)
    assert len(pairhmm.scatter(bam, fasta, 2, regions=region)) == 2

    bed = tmp_path / "one.bed"
    bed.write_text("chr1\t999\t4000\n")
    calls, table, report = (tmp_path / name for name in ("calls.vcf", "table.tsv", "report.html"))
    write_calls(bam, fasta, kind(calls), truth, regions_file=kind(bed))
    assert sum(not line.startswith("#") for line in calls.read_text().splitlines()) == len(sites)
    write_likelihoods(bam, fasta, kind(table), truth, regions=region.encode())
    pairhmm.gather(kind(table), kind(tmp_path / "gathered.tsv"))
    gathered = (tmp_path / "gathered.tsv").read_text().splitlines()
    assert len(gathered) == len(table.read_text().splitlines())
    pairhmm.report(kind(report), pairhmm.ReportInputs(fasta, kind(calls), kind(table)))
    assert "<html" in report.read_text()


@pytest.mark.parametrize("kind", KINDS)
def test_files_of_scan_forward_and_validate(data, tmp_path, kind, shared_data):
    from pairhmm.forward.files import forward_files
    from pairhmm.scan.files import scan_files

    (tmp_path / "s.fa").write_text(">a\nACGTTGCAACCA\n")
    (tmp_path / "x.fq").write_text("@r\nTTACGTTGCAACCA\n+\nIIIIIIIIIIIIII\n")
    signatures, reads, out = (kind(tmp_path / name) for name in ("s.fa", "x.fq", "out.tsv"))
    assert scan_files(signatures, reads, out).hits == 1
    assert forward_files(reads, signatures, out) == 1
    lines = (shared_data / "gatk-pairhmm-testdata.txt").read_text().splitlines(keepends=True)
    (tmp_path / "few.txt").write_text("".join(lines[:5]))
    assert pairhmm.validate(kind(tmp_path / "few.txt")).holds


def test_places_are_half_open(data):
    bam, fasta, truth = (data / name for name in ("reads.bam", "reference.fa", "truth.vcf.gz"))
    expected = list(pairhmm.call(bam, fasta, truth, regions="chr1:1001-4000"))
    assert len(expected) >= 2
    for given in (
        ("chr1", 1000, 4000),
        [("chr1", 1000, 4000)],
        Interval("chr1", 1000, 4000),
        ["chr1:1001-2000", ("chr1", 2000, 4000)],
    ):
        assert list(pairhmm.call(bam, fasta, truth, regions=given)) == expected


@pytest.mark.parametrize(
    ("place", "message"),
    [
        (("chr1", 4000, 1000), "an interval without a base; positions here are 0-based half-open"),
        (("chr1", 0, 6001), "0-6001 is not inside chr1, which has 6000 bases"),
        (("1", 0, 10), "no contig '1'; the reference names it 'chr1'"),
        (("chr1", 0.5, 10), "not (contig, start, end); give whole numbers"),
    ],
)
def test_places_that_are_none(data, place, message):
    with pytest.raises(InputError, match=re.escape(message)):
        next(pairhmm.call(data / "reads.bam", data / "reference.fa", regions=place))


def test_forms():
    assert path_of(None) is None
    assert paths_of("a") == paths_of(["a"]) == paths_of((b"a",)) == ["a"]
    with pytest.raises(TypeError, match=r"\('chr1', 0, 2\) is of type tuple, and text is needed"):
        texts_of([("chr1", 0, 2)])
    assert texts_of("chr1:1-2") == texts_of([b"chr1:1-2"]) == ["chr1:1-2"]
    assert regions_of(("chr1", 0, 2)) == regions_of([("chr1", 0, 2)]) == [("chr1", 0, 2)]
    assert regions_of(("chr1", "chr2", "chr3")) == ["chr1", "chr2", "chr3"]
    with pytest.raises(TypeError, match="is of type tuple, and text is needed"):
        regions_of([("chr1", 0)])
    with pytest.raises(TypeError):
        path_of(5)


def test_scan_takes_letters_by_name():
    with pytest.raises(TypeError, match="signatures is of type str: give letters by name"):
        pairhmm.scan("ACGT", {"s": "ACGT"})
    with pytest.raises(TypeError, match="samples is of type list"):
        pairhmm.scan({"a": "ACGT"}, ["ACGT"])
