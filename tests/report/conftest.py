"""A generated run for reports: regions whose reads choose known haplotypes, without the time that scoring takes."""

from __future__ import annotations

import importlib.util
import json
import re
import struct
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from pairhmm.likelihoods.table import LikelihoodRows
from pairhmm.likelihoods.writer import open_likelihoods
from pairhmm.report.packing import unpack
from pairhmm.sequences.arrays import Names

STEP, FLANK, PAD = 200, 55, 15
HITS = "#file\trecord\tnumber\tsignature\tstart\tend\tstrand\tsum\tmean\tmatches\tinformative\tmismatches\n"


@dataclass(frozen=True)
class MadeRun:
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
def make_run(tmp_path_factory) -> Callable[..., MadeRun]:
    """``make_run(sites, reads, variants=1, samples=("s",), read_name="r")``: reads are those of a site."""

    def make(
        sites: int, reads: int, variants: int = 1, samples: Sequence[str] = ("s",), read_name: str = "r"
    ) -> MadeRun:
        folder = tmp_path_factory.mktemp("run")
        rng = np.random.default_rng(7)
        bases = "".join(rng.choice(list("ACGT"), STEP * (sites + 2)))
        run = MadeRun(
            folder, samples, folder / "ref.fa", folder / "calls.vcf", folder / "table.tsv.gz", folder / "hits.tsv"
        )
        run.reference.write_text(f">chr1\n{bases}\n")
        records = []
        with open_likelihoods(run.table) as table:
            for number in range(sites):
                position = STEP * (number + 1)
                own = [position + 3 * index for index in range(1 + number % variants)]
                table.write(region(bases, own, samples, reads, f"{read_name}{number}", rng))
                records.append(record(bases, position, len(samples), reads, rng))
        run.calls.write_text(header(len(bases), samples) + "".join(records))
        run.hits.write_text(HITS + "x.fq\trecord\t1\tvirus\t100\t400\t-\t6000\t20.000\t1\t290\t2\n")
        return run

    return make


def other(base: str) -> str:
    return "ACGT"[("ACGT".index(base) + 1) % 4]


def region(bases, positions, samples, reads, read_name, rng) -> LikelihoodRows:
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
    place = f"chr1:{start - PAD + 1}-{end + PAD}"
    return LikelihoodRows(
        chrom="chr1",
        start=start,
        end=end,
        samples=samples,
        sample=np.arange(reads, dtype=np.int32) % np.int32(len(samples)),
        read_names=Names.of([f"{read_name}:{index // 2}" for index in range(reads)]),
        mates=(1 + np.arange(reads) % 2).astype(np.uint8),
        haplotypes=[f"{place}/{index}" for index in range(len(combinations))],
        sequences=sequences,
        alleles=[",".join(map(str, alleles)) for alleles in combinations],
        variants=",".join(f"{position + 1}:{bases[position]}>{other(bases[position])}" for position in positions),
        nuisances=[False] * len(combinations),
        log10=log10,
        precision=np.zeros(log10.shape, dtype=np.uint8),
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


@pytest.fixture(scope="session")
def cohort_tables() -> ModuleType:
    """The module of that name, which makes tables of `pairhmm map`. Tests can't import each other's modules."""
    spec = importlib.util.spec_from_file_location("cohort_tables", Path(__file__).parent / "cohort_tables.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["cohort_tables"] = module  # where dataclasses look it up
    spec.loader.exec_module(module)
    return module


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
