"""Bad input is one clear line, and the page goes on working."""

from __future__ import annotations

import random
import struct

import pysam
import pytest


def cut_off(tiny, tmp_path):
    path = tmp_path / "cut.bam"
    path.write_bytes(tiny[0].read_bytes()[:100_000])
    return [path, *tiny[2:]], ""


def damaged(tiny, tmp_path):
    path = tmp_path / "damaged.bam"
    data = bytearray(tiny[0].read_bytes())
    data[100_000:100_200] = random.Random(1).randbytes(200)
    path.write_bytes(data)
    return [path, *tiny[2:]], ""


def with_a_wrong_checksum(data, number):
    """Bgzipped data: the content of a block is not what its CRC-32 says."""
    changed, at = bytearray(data), 0
    for _ in range(number + 1):
        at += struct.unpack_from("<H", data, at + 16)[0] + 1
    changed[at - 8] ^= 1
    return changed


def a_checksum(tiny, tmp_path):
    path = tmp_path / "flip.bam"
    path.write_bytes(with_a_wrong_checksum(tiny[0].read_bytes(), 2))
    return [path, *tiny[2:]], ""


def a_checksum_of_the_reference(tiny, tmp_path):
    path = tmp_path / "packed.fa.gz"
    pysam.tabix_compress(str(tiny[2]), str(path))
    pysam.faidx(str(path))
    path.write_bytes(with_a_wrong_checksum(path.read_bytes(), 0))
    return [*tiny[:2], *(path.with_name(path.name + ending) for ending in ("", ".fai", ".gzi"))], ""


def without_index(tiny, tmp_path):
    return [tiny[0], *tiny[2:]], "q:1,000-2,000"


def of_another_reference(tiny, tmp_path):
    path = tmp_path / "other.fa"
    path.write_text(">q\n" + "ACGT" * 100 + "\n")
    (tmp_path / "other.fa.fai").write_text("q\t400\t3\t400\t401\n")
    return [*tiny[:2], path, tmp_path / "other.fa.fai"], ""


def of_another_name(tiny, tmp_path):
    path = tmp_path / "other.fa"
    path.write_text(tiny[2].read_text().replace(">q", ">chr22"))
    (tmp_path / "other.fa.fai").write_text(tiny[3].read_text().replace("q", "chr22"))
    return [*tiny[:2], path, tmp_path / "other.fa.fai"], ""


def unsorted(tiny, tmp_path):
    path = tmp_path / "unsorted.bam"
    with pysam.AlignmentFile(str(tiny[0])) as reads:
        records = list(reads)
        header = reads.header.to_dict()
    header["HD"] = {"VN": "1.6", "SO": "coordinate"}
    random.Random(1).shuffle(records)
    with pysam.AlignmentFile(str(path), "wb", header=header) as out:
        for record in records:
            out.write(record)
    return [path, *tiny[2:]], ""


def no_bam(tiny, tmp_path):
    path = tmp_path / "text.bam"
    path.write_text("This is a text.\n" * 100)
    return [path, *tiny[2:]], ""


def empty(tiny, tmp_path):
    path = tmp_path / "empty.bam"
    path.write_bytes(b"")
    return [path, *tiny[2:]], ""


def beyond_the_contig(tiny, tmp_path):
    return tiny, "q:20,000-999,999,999,999"


def unknown_contig(tiny, tmp_path):
    return tiny, "chrQ:1-100"


def no_region(tiny, tmp_path):
    return tiny, "q:x"


def cram_of_another_reference(tiny, tmp_path):
    path = tmp_path / "reads.cram"
    reference = ["--reference", str(tiny[2])]
    pysam.view("-C", *reference, "-o", str(path), str(tiny[0]), catch_stdout=False)
    pysam.index(str(path))
    other = tmp_path / "other.fa"
    letters = "".join(line for line in tiny[2].read_text().splitlines() if not line.startswith(">"))
    other.write_text(">q\n" + letters[::-1] + "\n")
    (tmp_path / "other.fa.fai").write_text(f"q\t{len(letters)}\t3\t{len(letters)}\t{len(letters) + 1}\n")
    return [path, tmp_path / "reads.cram.crai", other, tmp_path / "other.fa.fai"], ""


CASES = {
    cut_off: "cut.bam: is cut off",
    damaged: "damaged.bam: can't be read to its end",
    a_checksum: "flip.bam: can't be read to its end; it is cut off or damaged",
    a_checksum_of_the_reference: "packed.fa.gz: can't be indexed as FASTA; is it damaged?",
    without_index: "NA12878.chr22.tiny.bam: has no index, which regions need",
    of_another_reference: "other.fa: contig q: 12356 bases in NA12878.chr22.tiny.bam and 400 in the reference",
    of_another_name: "other.fa: contig q: not in the reference",
    unsorted: "the file is not sorted by coordinate; run samtools sort",
    no_bam: "text.bam: not a BAM or CRAM file",
    empty: "empty.bam: is cut off: nothing is in it",
    beyond_the_contig: "Region: q:20,000-999,999,999,999: outside q, which has 12356 bases",
    unknown_contig: "Region: chrQ:1-100: no contig",
    no_region: "Region: q:x: no contig",
    cram_of_another_reference: "reads.cram: can't be read to its end; it is cut off, or written with another reference",
}


@pytest.mark.parametrize("make", CASES, ids=lambda make: make.__name__)
def test_bad_input_is_one_line(page, tiny, tmp_path, make):
    given, region = make(tiny, tmp_path)
    page.give(given)
    page.element("region").send_keys(region)
    page.press_run()
    told = page.problem()
    assert CASES[make] in told
    assert "\n" not in told and len(told) < 400
    assert page.js("document.getElementById('problem').childElementCount") == 1
    assert page.text("state").startswith("Stopped")
    assert not page.element("downloads").is_displayed()
    # The page goes on working.
    for one in page.js("[...document.querySelectorAll('.remove')].map((one) => one.ariaLabel)"):
        page.js(f"document.querySelector(\"[aria-label='{one}']\")?.click()")
    page.element("region").clear()
    page.give(tiny)
    assert page.run().startswith("Done: 17 sites")
    assert page.text("problem") == ""


def test_a_huge_region_ends_with_its_contig(page, tiny):
    page.give(tiny)
    page.element("region").send_keys("q:1-99,999,999,999,999")
    assert page.run().startswith("Done: 17 sites")


def test_a_cram_needs_a_reference(page, tiny, tmp_path):
    path = tmp_path / "reads.cram"
    pysam.view("-C", "--reference", str(tiny[2]), "-o", str(path), str(tiny[0]), catch_stdout=False)
    page.give([path])
    assert page.text("missing") == "Still needed: reference"
    assert not page.element("run").is_enabled()
