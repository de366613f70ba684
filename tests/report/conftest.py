"""A generated run for reports: regions whose reads choose known haplotypes, without the time that scoring takes."""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from pairhmm.calling.scored_region import Evidence
from pairhmm.report.page_writer import unpack
from pairhmm.variants.haplotypes import Haplotype
from pairhmm.variants.variant import Variant
from tests.likelihoods.rows import FLAGS, region_of, write_regions

STEP, FLANK, PAD = 200, 55, 15
HITS = "#file\trecord\tnumber\tsignature\tstart\tend\tstrand\tsum\tmean\tmatches\tinformative\tmismatches\n"


@dataclass(frozen=True)
class GeneratedRun:
    """Files of a generated run. Every second read of a site has its alternative allele."""

    folder: Path
    samples: Sequence[str]
    reference: Path
    calls: Path
    table: Path
    hits: Path

    @property
    def arguments(self) -> list[object]:
        return ["-f", self.reference, "--calls", self.calls, "--likelihoods", self.table, "--hits", self.hits]


@pytest.fixture(scope="session")
def make_run(tmp_path_factory) -> Callable[..., GeneratedRun]:
    """``make_run(sites, reads, variants=1, samples=("s",), read_name="r")``: reads are those of a site."""

    def make(
        sites: int, reads: int, variants: int = 1, samples: Sequence[str] = ("s",), read_name: str = "r"
    ) -> GeneratedRun:
        folder = tmp_path_factory.mktemp("run")
        rng = np.random.default_rng(7)
        bases = "".join(rng.choice(list("ACGT"), STEP * (sites + 2)))
        run = GeneratedRun(
            folder, samples, folder / "ref.fa", folder / "calls.vcf", folder / "table.tsv.gz", folder / "hits.tsv"
        )
        run.reference.write_text(f">chr1\n{bases}\n")
        records, regions = [], []
        for number in range(sites):
            position = STEP * (number + 1)
            own = [position + 3 * index for index in range(1 + number % variants)]
            regions.append(region(bases, own, samples, reads, f"{read_name}{number}", rng))
            records.append(record(bases, position, len(samples), reads, rng))
        write_regions(run.table, regions)
        run.calls.write_text(header(len(bases), samples) + "".join(records))
        run.hits.write_text(HITS + "x.fq\trecord\t1\tvirus\t100\t400\t-\t6000\t20.000\t1\t290\t2\n")
        return run

    return make


def other(base: str) -> str:
    return "ACGT"[("ACGT".index(base) + 1) % 4]


def region(bases, positions, samples, reads, read_name, rng) -> Evidence:
    start, end = positions[0] - FLANK, positions[-1] + FLANK
    combinations = list(product((0, 1), repeat=len(positions)))
    sequences = []
    for alleles in combinations:
        letters = list(bases[start - PAD : end + PAD])
        for position, allele in zip(positions, alleles, strict=True):
            if allele:
                letters[position - start + PAD] = other(bases[position])
        sequences.append("".join(letters))
    true = rng.choice([0, len(combinations) - 1], reads)
    apart = np.array([[sum(map(int.__ne__, a, b)) for b in combinations] for a in combinations])
    quality = rng.integers(20, 41, (reads, 1)) / 10
    log10 = -rng.uniform(1, 8, (reads, 1)) - apart[true] * quality
    return region_of(
        *("chr1", start, [f"{read_name}:{index // 2}" for index in range(reads)], log10),
        end=end,
        pad=PAD,
        samples=samples,
        sample=np.arange(reads, dtype=np.int32) % np.int32(len(samples)),
        flag=FLAGS[1 + np.arange(reads) % 2],
        variants=[Variant("chr1", position, bases[position], (other(bases[position]),)) for position in positions],
        haplotypes=list(map(Haplotype, sequences, combinations)),
    )


def header(length: int, samples: Sequence[str]) -> str:
    columns = ["#CHROM", "POS", "ID", "REF", "ALT", "QUAL", "FILTER", "INFO", "FORMAT", *samples]
    fields = (
        ("GT", 1, "String"),
        ("AD", "R", "Integer"),
        ("DP", 1, "Integer"),
        ("GQ", 1, "Integer"),
        ("PL", "G", "Integer"),
    )
    described = "".join(
        f'##FORMAT=<ID={key},Number={count},Type={kind},Description="">\n' for key, count, kind in fields
    )
    contig = f"##contig=<ID=chr1,length={length}>\n"
    return f"##fileformat=VCFv4.3\n##pairhmmVersion=1\n{contig}{described}" + "\t".join(columns) + "\n"


def record(bases, position, n_samples, reads, rng) -> str:
    quality = int(rng.integers(1, 100))
    calls = [f"0/1:{reads // 2},{reads - reads // 2}:{reads}:{quality}:{quality},0,300"] * n_samples
    fields = [
        "chr1",
        position + 1,
        ".",
        bases[position],
        other(bases[position]),
        50 + quality,
        "PASS",
        ".",
        "GT:AD:DP:GQ:PL",
    ]
    return "\t".join(map(str, [*fields, *calls])) + "\n"


@dataclass(frozen=True)
class ReadReport:
    """The data that a page carries."""

    data: dict
    panels: list[bytes]

    def header(self, number: int) -> dict:
        """The JSON of a panel."""
        (length,) = struct.unpack_from("<I", self.panels[number])
        return json.loads(self.panels[number][4 : 4 + length])


@pytest.fixture(scope="session")
def read_report() -> Callable[[Path], ReadReport]:
    def read(path: Path) -> ReadReport:
        parts = dict(re.findall(r'<script type="text/plain" id="(\w+)">(.*?)</script>', path.read_text(), re.DOTALL))
        return ReadReport(json.loads(unpack(parts["data"])), [unpack(line) for line in parts["panels"].split()])

    return read


@pytest.fixture
def report(run_cli, tmp_path):
    """``report(*arguments, code=0)``: the command, from an empty folder; without success there is no output."""

    def make(*arguments, code=0):
        done = run_cli("report", "-o", "report.html", *arguments, cwd=tmp_path)
        assert done.returncode == code, done.stderr
        assert "Traceback" not in done.stderr
        assert (tmp_path / "report.html").exists() == (code == 0)
        return done

    return make


@pytest.fixture
def reported(report, read_report, tmp_path):
    """``reported(*arguments)``: the data of the page."""

    def make(*arguments):
        report(*arguments)
        return read_report(tmp_path / "report.html").data

    return make


@pytest.fixture
def refused(report):
    """``refused(*arguments)``: the one line that says why."""

    def line(*arguments):
        said = report(*arguments, code=2).stderr.splitlines()
        (error,) = [line for line in said if line.startswith("pairhmm: error: ")]
        return error.removeprefix("pairhmm: error: ")

    return line


PIXELS = """
const canvas = document.querySelectorAll(arguments[0])[arguments[1] ?? 0];
const {data} = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
return [...new Set(new Uint32Array(data.buffer))].length;
"""
OWN = "No available adapters"  # Chromium says it itself where it has WebGPU, and no GPU


class Browser:
    """Headless Chromium with a report in it."""

    def __init__(self, driver) -> None:
        self.driver = driver

    def __getattr__(self, name: str):
        return getattr(self.driver, name)

    def wait(self, script: str):
        """Until the script gives something true, and that."""
        from selenium.webdriver.support.ui import WebDriverWait

        return WebDriverWait(self.driver, 60, 0.05).until(lambda driver: driver.execute_script(script))

    def open_tab(self, name: str) -> None:
        self.find_element("id", f"button-{name}").click()

    def colours(self, canvas: str, number: int = 0) -> int:
        """How many colours a canvas has."""
        return self.execute_script(PIXELS, canvas, number)

    def messages(self) -> list:
        """What was said on the console since the last call."""
        return [line for line in self.get_log("browser") if OWN not in line["message"]]


@pytest.fixture(scope="session")
def start_browser(start_chromium) -> Callable[..., Browser]:
    return lambda *flags: Browser(
        start_chromium("--window-size=1500,950", *flags, goog__loggingPrefs={"browser": "ALL"})
    )


@pytest.fixture(scope="session")
def browser(start_browser) -> Browser:
    browser = start_browser()
    browser.set_script_timeout(60)
    return browser


@pytest.fixture
def open_report(browser, run_cli, tmp_path) -> Iterator[Callable[..., Path]]:
    """``open_report(*arguments)``: makes a report and opens it; at the end no message may have been written."""

    def make(*arguments) -> Path:
        page = tmp_path / "report.html"
        done = run_cli("report", "-o", page, *arguments)
        assert done.returncode == 0, done.stderr
        browser.get("about:blank")
        browser.get(page.as_uri())
        browser.wait("return document.documentElement.dataset.ready")
        return page

    browser.messages()
    yield make
    assert browser.messages() == []
