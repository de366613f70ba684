"""Bad input is one clear line, and the page goes on working. tests/web/ compares all lines with the package's."""

import random

import pysam
import pytest


def damaged(tiny, tmp_path):
    path = tmp_path / "damaged.bam"
    data = bytearray(tiny[0].read_bytes())
    data[100_000:100_200] = random.Random(1).randbytes(200)
    path.write_bytes(data)
    return [path, *tiny[2:]], ""


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
    damaged: "damaged.bam: can't be read to its end",
    no_region: "Region: q:x: not an interval",
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
    assert page.run().startswith("Done: 16 sites")
    assert page.text("problem") == ""


def test_a_huge_region_ends_with_its_contig(page, tiny):
    page.give(tiny)
    page.element("region").send_keys("q:1-99,999,999,999,999")
    assert page.run().startswith("Done: 16 sites")


def test_a_cram_needs_a_reference(page, tiny, tmp_path):
    path = tmp_path / "reads.cram"
    pysam.view("-C", "--reference", str(tiny[2]), "-o", str(path), str(tiny[0]), catch_stdout=False)
    page.give([path])
    assert page.text("missing") == "Still needed: reference"
    assert not page.element("run").is_enabled()
