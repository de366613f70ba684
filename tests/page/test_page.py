"""The page from files to results: the command line's calls, nothing sent, and readable by everyone."""

from __future__ import annotations

import gzip
import socket
from contextlib import contextmanager, suppress

import pysam
import pytest

from pairhmm.models.str_parameters import str_model_of, str_toml
from tests.calling.test_circles import ALLELES, LENGTH, write_circle
from tests.explain.sections import sections_of
from tests.web.same_calls import assert_same_records

PIXELS = """[...new Set(new Uint32Array(document.querySelector("canvas.heatmap").getContext("2d").getImageData(
    0, 0, document.querySelector("canvas.heatmap").width, document.querySelector("canvas.heatmap").height
).data.buffer))].length"""

FIRST = 2.0
"""Seconds within which the first likelihoods of NA12878 tiny should be there; printed, not asserted."""


@pytest.fixture
def assert_same_calls(page, run_cli):
    """``assert_same_calls(*arguments)``: the page's calls, once it ran, are those of the command line. Returns them."""

    def check(*arguments: object) -> str:
        ours = page.download("calls.vcf").decode()
        assert_same_records(ours, run_cli("call", "--backend", "cpu", *arguments).stdout)
        return ours

    return check


def test_calls_are_those_of_the_command_line(page, tiny, assert_same_calls, built_page):
    page.give(tiny)
    assert page.run().startswith("Done: 16 sites, 32 regions, 1,121 reads (137 set aside), 6,306 pairs")
    assert_same_calls("-f", tiny[2], tiny[0])
    seconds = float(page.js("document.documentElement.dataset.firstSeconds"))
    size = built_page.stat().st_size
    print(f"first likelihoods {seconds:.2f} s after Run (wanted: {FIRST:g} s); the page has {size / 1e6:.2f} MB")
    assert size <= 1_500_000


SECTIONS = """Object.fromEntries([...document.querySelectorAll("#explanation details")].map((one) => [
    one.querySelector("summary").textContent, one.querySelector("pre").textContent.split("\\n")]))"""


def test_positions_are_explained_as_by_the_command_line(page, tiny, run_cli):
    """One that is typed, and one that is chosen in the list of sites."""

    def assert_same(place):
        page.wait(f"document.querySelector('#explanation h2')?.textContent == '{place}'")
        told = run_cli("-q", "explain", "-f", tiny[2], tiny[0], place).stdout
        expected = sections_of(told)
        assert expected.pop("Regions")
        assert page.js(SECTIONS) == expected

    page.give(tiny)
    page.run()
    page.wait('document.querySelector("canvas.heatmap")')
    page.explain("q:6,000")
    assert_same("q:6000")
    page.js("document.querySelector('#results tbody tr:nth-child(3)').click()")
    place = page.wait("location.hash && document.getElementById('position').value")
    assert place != "q:6,000"
    page.js("document.querySelector('#ask button').click()")
    assert_same(place)
    page.element("position").clear()
    page.element("position").send_keys("nowhere\n")
    assert page.problem().startswith("Position: nowhere: ")


def test_options_are_those_of_the_command_line(page, tiny, assert_same_calls):
    page.give(tiny)
    for name, value in {"region": "q:4,000-9,300", "minMapq": "30", "ploidy": "1", "minQual": "600"}.items():
        page.element(name).clear()
        page.element(name).send_keys(value)
    page.element("model").send_keys("profile")
    page.run()
    options = ["-r", "q:4,000-9,300", "--min-mapq", "30", "--ploidy", "1", "--min-qual", "600", "--model", "profile"]
    assert_same_calls(*options, "-f", tiny[2], tiny[0])


def test_choices_are_those_of_the_command_line(page, tiny, assert_same_calls, tmp_path):
    """Of gap qualities and records. A file of an STR model takes the place of the choice."""
    model = tmp_path / "own.toml"
    model.write_text(str_toml(str_model_of("pcr"), []))
    page.give([*tiny, model])
    page.element("preset").send_keys("Nanopore")
    page.element("mnv").click()
    page.element("gvcf").click()
    assert not page.element("strModel").is_enabled()
    page.run()
    calls = assert_same_calls("--preset", "ont", "--str-model", model, "--mnv", "--gvcf", "-f", tiny[2], tiny[0])
    assert "##pairhmmModel=gatk (own.toml)" in calls and calls.count("END=") > 100
    page.js("document.querySelector(\"[aria-label='Remove own.toml']\").click()")
    page.js("document.getElementById('setup').open = true")
    page.element("strModel").send_keys("STR model, PCR-free")
    page.give([tiny[0].parent / "NA12878.chr22.tiny.giab.vcf"])
    assert not page.element("mnv").is_enabled()
    page.run()
    assert "##pairhmmModel=gatk (pcr-free)" in page.download("calls.vcf").decode()


def test_primers_are_told_from_regions_by_their_name(page, tiny, assert_same_calls, tmp_path):
    primers, regions = tmp_path / "x.primer.bed", tmp_path / "places.bed"
    primers.write_text("".join(f"q\t{at}\t{at + 40}\tx_LEFT\t1\t{'+-'[at % 2]}\n" for at in range(100, 9000, 101)))
    regions.write_text("q\t4000\t9300\n")
    page.give([*tiny, primers, regions])
    page.run()
    assert_same_calls("--primers", primers, "-R", regions, "-f", tiny[2], tiny[0])


def test_a_circle_gives_the_calls_of_the_command_line(page, assert_same_calls, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_circle("x", ALLELES["SNVs at 1 and L"])
    reference, bam = tmp_path / "x.fa", tmp_path / "x.bam"
    page.give([bam, tmp_path / "x.bam.bai", reference])
    page.element("circular").send_keys("c")
    page.run()
    calls = assert_same_calls("--circular", "c", "-f", reference, bam)
    records = [line.split("\t") for line in calls.splitlines()[-2:]]
    assert [int(record[1]) for record in records] == [1, LENGTH]
    # The panel of the region over the origin has both alleles, one beside the other.
    letters = page.js("[...document.querySelectorAll('.alignment code')].map((one) => one.textContent)")
    assert any(f"{records[1][4]}{records[0][4]}" in line for line in letters)


def test_packed_files_of_100_kb_give_the_calls_of_the_command_line(page, shared_data, assert_same_calls):
    folder = shared_data / "na12878-chr20-100kb"
    bam, fasta = folder / "NA12878_S1.chr20.10_10p1mb.bam", folder / "ucsc.hg19.chr20.unittest.fasta.gz"
    truth = folder / "test_nist.b37_chr20_100kbp_at_10mb.vcf.gz"
    page.give([bam, f"{bam}.bai", fasta, f"{fasta}.fai", f"{fasta}.gzi", truth, f"{truth}.tbi"])
    page.run()
    assert_same_calls("-v", truth, "-f", fasta, bam)


def test_cram_and_bed_give_the_calls_of_the_command_line(page, tiny, assert_same_calls, tmp_path):
    cram, bed = tmp_path / "reads.cram", tmp_path / "regions.bed"
    pysam.view("-C", "--reference", str(tiny[2]), "-o", str(cram), str(tiny[0]), catch_stdout=False)
    pysam.index(str(cram))
    bed.write_text("q\t900\t2000\nq\t8000\t10000\n")
    page.give([cram, f"{cram}.crai", *tiny[2:], bed])
    page.run()
    assert_same_calls("-R", bed, "-f", tiny[2], cram)


def test_likelihoods_are_those_of_the_command_line(page, tiny, run_cli, tmp_path):
    page.give(tiny)
    page.run()
    table = tmp_path / "table.tsv"
    run_cli("likelihoods", "--backend", "cpu", "-f", tiny[2], "-o", table, tiny[0])
    own = gzip.decompress(page.download("likelihoods.tsv.gz")).decode().splitlines()
    wanted = table.read_text().splitlines()
    assert len(own) == len(wanted)
    for ours, theirs in zip(own[1:], wanted[1:], strict=True):
        assert ours.split("\t")[:7] == theirs.split("\t")[:7]
        assert float(ours.split("\t")[7]) == pytest.approx(float(theirs.split("\t")[7]), abs=1e-5)
    haplotypes = gzip.decompress(page.download("likelihoods.haplotypes.tsv.gz")).decode()
    assert haplotypes == (tmp_path / "table.haplotypes.tsv").read_text()


def test_the_downloads_make_a_report(page, tiny, run_cli, tmp_path):
    page.give(tiny)
    page.run()
    for name in ("calls.vcf", "likelihoods.tsv.gz", "likelihoods.haplotypes.tsv.gz"):
        (tmp_path / name).write_bytes(page.download(name))
    done = run_cli(
        *("report", "-f", tiny[2], "--calls", tmp_path / "calls.vcf"),
        *("--likelihoods", tmp_path / "likelihoods.tsv.gz", "-o", tmp_path / "report.html"),
    )
    assert done.returncode == 0, done.stderr
    assert "16 sites, 15 panels" in done.stderr


def test_reads_are_shown(page, tiny):
    page.give(tiny)
    page.run()
    page.wait('document.querySelector("canvas.heatmap")')
    assert page.js(PIXELS) > 10
    page.js("document.querySelectorAll('#results tr[data-index]')[7].click()")
    page.wait("document.querySelector('.panel h2').textContent.includes('5,638')")
    letters = page.js("[...document.querySelectorAll('.alignment code')].map((one) => one.textContent)")
    assert any("--" in line for line in letters[2:])
    assert "0/1 CAT/C" in page.js("document.querySelector('.evidence').textContent").replace("\xa0", " ")


def test_the_example_runs(browser, page, built_page, tiny, run_cli, tmp_path):
    folder = tmp_path / "example"
    folder.mkdir()
    for path in tiny:
        (folder / path.name).write_bytes(path.read_bytes())
    assert run_cli("page", "--data", folder, "-o", tmp_path / "example.html").returncode == 0
    page.open(tmp_path / "example.html")
    page.element("example").click()
    page.wait("document.documentElement.dataset.runs")
    assert page.text("state").startswith("Done: 16 sites")


def test_several_samples(page, run_cli, assert_same_calls, tmp_path):
    for number in (1, 2):
        where = ["-o", tmp_path / f"s{number}", "--sample", f"s{number}", "--seed", number, "--genome-seed", 1]
        run_cli("simulate", *where, "--length", 6000, "--coverage", 12)
        for end in ("bam", "bam.bai"):
            (tmp_path / f"s{number}" / f"reads.{end}").rename(tmp_path / f"s{number}.{end}")
    reads = [tmp_path / f"s{number}.bam" for number in (1, 2)]
    reference = tmp_path / "s1" / "reference.fa"
    page.give([*reads, *(path.with_suffix(".bam.bai") for path in reads), reference, f"{reference}.fai"])
    page.run()
    assert_same_calls("-f", reference, *reads)
    page.wait('document.querySelector("canvas.heatmap")')
    assert page.js("[...document.querySelectorAll('.sample summary b')].map((one) => one.textContent)") == ["s1", "s2"]


def test_the_page_takes_no_other_file(page, tiny, tmp_path):
    (tmp_path / "notes.txt").write_text("x")
    page.give([tmp_path / "notes.txt", *tiny])
    assert page.problem().startswith("notes.txt: is no file that this page reads; give BAM or CRAM")
    page.run()


def test_what_is_missing_is_said_in_its_place(page, tiny):
    def slot(title):
        return page.js(f"document.querySelector('[aria-label={title}]').textContent")

    assert "Needed: a BAM or CRAM, and its index" in slot("Alignments")
    assert page.text("missing") == "Still needed: alignments and reference"
    page.give(tiny[:1])
    assert "Index missing: NA12878.chr22.tiny.bam.bai" in slot("Alignments")
    assert page.text("missing") == "Still needed: reference"
    page.give(tiny[1:3])
    assert "missing" not in slot("Alignments")
    assert page.text("missing") == ""


def test_a_run_is_cancelled(page, tiny, run_cli, tmp_path):
    run_cli("simulate", "-o", tmp_path / "long", "--length", 400_000, "--coverage", 15)
    names = ("reads.bam", "reads.bam.bai", "reference.fa", "reference.fa.fai")
    page.give([tmp_path / "long" / name for name in names])
    page.press_run()
    # At once: what is left of the run takes a second.
    cancel = "((button) => !button.hidden && (button.click(), true))(document.getElementById('cancel'))"
    page.wait(f"document.querySelector('#results tr[data-index]') && {cancel}")
    assert page.text("state").startswith("Cancelled")
    assert not page.element("downloads").is_displayed()
    for name in ("reads.bam", "reference.fa"):
        page.js(f"document.querySelector(\"[aria-label='Remove {name}']\").click()")
    page.give(tiny)
    assert page.run().startswith("Done: 16 sites")


def test_names_of_files_stay_text(page, tiny, tmp_path):
    evil = tmp_path / "<img src=x onerror=document.title='broken'>.bam"
    evil.write_bytes(tiny[0].read_bytes())
    page.give([evil, *tiny[2:]])
    page.run()
    assert page.js("document.title") == "pairhmm"
    assert page.js("document.querySelectorAll('main img').length") == 0


@contextmanager
def nothing_arrives():
    """The address of a server, to which no byte comes. Chromium connects for a form before it asks the policy."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.5)
        yield f"http://127.0.0.1:{server.getsockname()[1]}/"
        with suppress(TimeoutError):
            connection, _ = server.accept()
            with connection:
                connection.settimeout(0.5)
                assert connection.recv(1000) == b""


FETCH = """
const [address, done] = arguments;
const text = `fetch("${address}").then(() => postMessage("fetched"), () => postMessage("refused"))`;
const worker = new Worker(URL.createObjectURL(new Blob([text])));
worker.onmessage = ({data}) => fetch(address).then(() => done("fetched"), () => done(data));
"""


def test_no_address_can_be_fetched(page):
    """The page's own policy holds for its workers, too, whatever their code does."""
    with nothing_arrives() as address:
        assert page.driver.execute_async_script(FETCH, address) == "refused"
    told = page.console()
    assert len(told) >= 2 and all("Content Security Policy" in one for one in told)


FORM = """
const form = document.createElement("form");
[form.action, form.method, form.innerHTML] = [arguments[0], "post", "<input name='data' value='genotypes'>"];
document.body.append(form);
form.submit();
form.remove();
"""


def test_no_form_can_be_sent(page):
    with nothing_arrives() as address:
        page.driver.execute_script(FORM, address)
    told = page.console()
    assert told and all("form-action 'none'" in one for one in told)


def test_no_base_can_be_set(page):
    base = "const base = document.createElement('base'); base.href = arguments[0]; document.head.append(base);"
    page.driver.execute_script(base, "http://127.0.0.1:9/")
    assert page.js("document.baseURI").startswith("file:")
    told = page.console()
    assert told and all("base-uri 'none'" in one for one in told)


def test_webrtc_is_off(browser, built_page):
    """Browsers that know the policy's directive refuse it, and for others the page takes its functions away."""
    browser.driver.get(built_page.as_uri())
    assert "webrtc 'block'" in browser.js("document.querySelector('meta[http-equiv]').content")
    assert browser.js("typeof RTCPeerConnection + typeof webkitRTCPeerConnection") == "undefined" * 2
    browser.console()
    browser.requests()
