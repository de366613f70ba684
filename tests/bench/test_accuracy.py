"""`compare`: whatever the spelling, the same allele is the same."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairhmm.bench.accuracy import CallAccuracy, compare
from pairhmm.bench.dosages import Allele, normalise
from pairhmm.errors import InputError

SEQUENCE = "GATTACATTTTTTGCACACACAGGCTAAC" + "A" * 450 + "CGTGA"
HEADER = (
    "##fileformat=VCFv4.2\n"
    f"##contig=<ID=q,length={len(SEQUENCE)}>\n"
    '##FILTER=<ID=LowQual,Description="Low quality">\n'
    '##ALT=<ID=DEL,Description="Deletion">\n'
    '##FORMAT=<ID=GT,Number=1,Type=String,Description="Genotype">\n'
    "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\tS\n"
)


def write_vcf(path: Path, *records: str) -> Path:
    """Records as `POS REF ALT FILTER GT`."""
    lines = []
    for record in records:
        position, ref, alt, passed, genotype = record.split()
        lines.append(f"q\t{position}\t.\t{ref}\t{alt}\t.\t{passed}\t.\tGT\t{genotype}\n")
    path.write_text(HEADER + "".join(lines))
    return path


@pytest.fixture
def reference(tmp_path: Path) -> Path:
    path = tmp_path / "ref.fa"
    path.write_text(f">q\n{SEQUENCE}\n")
    return path


def run(tmp_path: Path, reference: Path, calls: list[str], truth: list[str]) -> dict[str, CallAccuracy]:
    return compare(write_vcf(tmp_path / "calls.vcf", *calls), write_vcf(tmp_path / "truth.vcf", *truth), reference)


def test_spellings_of_one_indel_match(tmp_path: Path, reference: Path) -> None:
    # One T less of the run of six, one CA more, and both at other places and with spare bases.
    truth = ["7 AT A PASS 0|1", "14 G GCA PASS 1|1"]
    calls = ["12 TTG TG PASS 0/1", "21 CA CACA PASS 1/1"]
    found = run(tmp_path, reference, calls, truth)
    assert found["indel"] == CallAccuracy(2, 0, 0, 2)
    assert found["snv"] == CallAccuracy(0, 0, 0, 0)


def test_counts_by_class_and_genotype(tmp_path: Path, reference: Path) -> None:
    truth = ["2 A G PASS 0|1", "5 A G PASS 1|1", "27 A C PASS 1|0", "14 GCA G PASS 0|1"]
    calls = ["2 A G . 0/1", "5 A G PASS 0/1", "10 T C PASS 1/1", "14 GCA G PASS 0/1", "26 TA T PASS 0/1"]
    found = run(tmp_path, reference, calls, truth)
    assert found["snv"] == CallAccuracy(2, 1, 1, 1)
    assert found["indel"] == CallAccuracy(1, 1, 0, 1)
    assert found["snv"].precision == found["snv"].recall == found["snv"].f1 == pytest.approx(2 / 3)
    assert found["snv"].genotype_concordance == 0.5


def test_what_does_not_count(tmp_path: Path, reference: Path) -> None:
    calls = ["2 A G LowQual 0/1", "5 A G PASS 0/0", "6 C T PASS ./.", "7 A <DEL> PASS 0/1", "10 T * PASS 0/1"]
    found = run(tmp_path, reference, calls, ["2 A G PASS 0|1"])
    assert found["snv"] == CallAccuracy(0, 0, 1, 0)
    assert found["indel"] == CallAccuracy(0, 0, 0, 0)


def test_multiallelic_and_multibase_records(tmp_path: Path, reference: Path) -> None:
    truth = ["2 A C PASS 1|0", "2 A G PASS 0|1", "5 A G PASS 1|1", "6 C T PASS 1|1"]
    calls = ["2 A C,G PASS 1/2", "5 AC GT PASS 1/1"]
    assert run(tmp_path, reference, calls, truth)["snv"] == CallAccuracy(4, 0, 0, 4)


def test_a_run_longer_than_what_is_fetched_at_once() -> None:
    def fetch(begin: int, end: int) -> str:
        return SEQUENCE[begin:end]

    last = len(SEQUENCE) - 5
    assert normalise("q", last - 1, "AC", "C", fetch) == [Allele("q", 28, "CA", "C")]


@given(st.text("AC", min_size=8, max_size=40), st.integers(1, 7), st.integers(1, 4), st.booleans())
def test_every_spelling_normalises_to_one(sequence: str, position: int, size: int, deletes: bool) -> None:
    moving = sequence[position : position + size]
    result = (
        sequence[:position] + sequence[position + len(moving) :]
        if deletes
        else sequence[:position] + moving + sequence[position:]
    )

    def fetch(begin: int, end: int) -> str:
        return sequence[begin:end]

    found = set()
    for at in range(1, len(sequence) + 1):
        gone = sequence[at : at + len(moving)] if deletes else ""
        come = "" if deletes else result[at : at + len(moving)]
        if sequence[:at] + come + sequence[at + len(gone) :] == result:
            anchor = sequence[at - 1]
            found.update(normalise("q", at - 1, anchor + gone, anchor + come, fetch))
    assert len(found) == 1


def test_a_file_that_is_no_vcf(tmp_path: Path, reference: Path) -> None:
    (tmp_path / "bad.vcf").write_text("not a VCF\n")
    truth = write_vcf(tmp_path / "truth.vcf")
    with pytest.raises(InputError, match=r"bad\.vcf: cannot be compared"):
        compare(tmp_path / "bad.vcf", truth, reference)
