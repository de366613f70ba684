"""Size and speed of `pairhmm report` with 5,000 sites, in headless Chromium.

    apt install chromium chromium-driver && pip install selenium
    python benchmarks/report.py [--rounds 5] [--workdir report-work]

The workload is made once, in the work folder: a genome of 5 Mb with 4,250 SNVs and 750 indels at 30x, its reads as one
sample and as five, and a table of 60 reads and 8 haplotypes a site. "Opened" is from the request to open the page until
its list of sites and the first panel with its heatmaps and pileups are drawn, the driver's share included. "Ready" is
when the first screen is drawn, and "a panel" is from a click to the drawn panel of another site: these, sorting and
filtering are the page's own times. The median of the rounds counts.
"""

from __future__ import annotations

import random
import shutil
import statistics
import subprocess
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pysam
from processes import made, measure, pairhmm, run
from tables import parser, write

from pairhmm.likelihoods.lines import Lines, Span
from pairhmm.likelihoods.writer import open_likelihoods

LENGTH, SNVS, INDELS = 5_000_000, 4250, 750
SAMPLES = 5
DEEP_READS, DEEP_HAPLOTYPES = 60, 8
STEPS = ("ready", "panel", "pileup", "sort", "filter")

MEASURE = """
const [hasBases, done] = arguments;
const until = (test) => new Promise((resolve) => {
    const look = () => (test() ? resolve(performance.now()) : requestAnimationFrame(look));
    look();
});
const one = (selector) => document.querySelector(selector);
const timed = async (act, test) => {
    const begin = performance.now();
    act();
    return (await until(test)) - begin;
};
const text = (selector) => one(selector)?.textContent ?? "";
(async () => {
    await until(() => document.documentElement.dataset.ready);
    const times = {ready: performance.now()};
    times.panel = await timed(() => one("#button-sites").click(), () => one("canvas.heatmap"));
    // Tables of likelihoods alone have no bases to show.
    const rows = [...document.querySelectorAll("#tab-sites tr[data-index]")];
    const before = one("canvas.heatmap");
    times.pileup = await timed(() => rows[5].click(), () => ![null, before].includes(one("canvas.heatmap")));
    if (!one("canvas.pileup") && hasBases) throw new Error("no pileup");
    const heads = [...document.querySelectorAll("#tab-sites thead button")];
    const column = heads.find((head) => head.textContent.startsWith("GQ")) ?? heads[0];
    times.sort = await timed(() => column.click(), () => column.parentElement.ariaSort === "ascending");
    const field = one("#tab-sites input");
    times.filter = await timed(() => {
        field.value = "type=deletion";
        field.dispatchEvent(new Event("input"));
    }, () => text("#tab-sites .counted").includes(" of "));
    return times;
})().then(done, (error) => done(String(error)));
"""


def main() -> None:
    options = parser(__doc__, "report-work", rounds=5).parse_args()
    folder = options.workdir
    folder.mkdir(parents=True, exist_ok=True)
    simulated = made(folder / "simulated", simulate) / "reads.bam"
    several = made(folder / "several.bam", lambda path: split(simulated, path))
    pages = {
        "one sample, 30x": inputs(folder, simulated, "one"),
        f"{SAMPLES} samples, 6x each": inputs(folder, several, "several"),
        f"{DEEP_READS} reads x {DEEP_HAPLOTYPES} haplotypes": ["--likelihoods", made(folder / "deep.tsv.gz", deep)],
    }
    rows = []
    for name, arguments in pages.items():
        page = folder / "report.html"
        rows.append({"what": name, **make(page, arguments), **show(page, options.rounds, "--alignments" in arguments)})
    browser = subprocess.run([program("chromium"), "--version"], capture_output=True, text=True).stdout.strip()
    write(options.output, {"pages": rows}, browser=browser)


def simulate(folder: Path) -> None:
    counts = ["--length", LENGTH, "--snvs", SNVS, "--indels", INDELS]
    run("simulate", "--force", "-o", folder, "--coverage", 30, *counts)


def split(source: Path, destination: Path) -> None:
    """The pairs of one sample as those of several, by chance."""
    groups, chance = [{"ID": f"g{number}", "SM": f"sample{number}"} for number in range(SAMPLES)], random.Random(1)
    group_of: dict[str, str] = {}
    with pysam.AlignmentFile(source) as reads:
        with pysam.AlignmentFile(destination, "wb", header=reads.header.to_dict() | {"RG": groups}) as out:
            for read in reads.fetch(until_eof=True):
                read.set_tag("RG", group_of.setdefault(read.query_name, chance.choice(groups)["ID"]))
                out.write(read)
    pysam.index(str(destination))


def inputs(folder: Path, reads: Path, name: str) -> Sequence[object]:
    """Calls and likelihoods of the true candidates."""
    reference, truth = folder / "simulated" / "reference.fa", folder / "simulated" / "truth.vcf.gz"
    paths = []
    for verb, ending in (("call", "vcf.gz"), ("likelihoods", "tsv.gz")):
        command = ["-f", reference, "-v", truth, reads]
        paths.append(made(folder / f"{name}.{ending}", partial(_run_to, verb, command)))
    return ["-f", reference, "--calls", paths[0], "--likelihoods", paths[1], "--alignments", reads]


def _run_to(verb: str, command: list[object], path: Path) -> None:
    run(verb, "-o", path, *command)


def deep(path: Path) -> None:
    """A table with many haplotypes at each of 5,000 sites; every haplotype differs from the first in two bases."""
    rng = np.random.default_rng(3)
    with open_likelihoods(path) as table:
        for start in range(1000, 1000 + 1000 * (SNVS + INDELS), 1000):
            letters = rng.choice(list("ACGT"), 150)
            sequences = []
            for _ in range(DEEP_HAPLOTYPES):
                sequences.append("".join(letters))
                letters = letters.copy()
                letters[rng.integers(0, 150, 2)] = "A"
            quality = rng.integers(20, 41, (DEEP_READS, 1)) / 10
            differences = rng.integers(0, 4, (DEEP_READS, DEEP_HAPLOTYPES))
            log10 = -rng.uniform(1, 8, (DEEP_READS, 1)) - differences * quality
            at = "chr1", start, start + 150
            place, name = "\t".join(map(str, at)), f"chr1:{start + 1}-{start + 150}"
            variants = f"{start + 75}:A>{'/'.join('C' * (index + 2) for index in range(DEEP_HAPLOTYPES - 1))}"
            rows = "".join(
                f"sample\t{place}\t{start}:read{read}\t1\t{name}/{index}\t{score:.6f}\tfloat32\t1\n"
                for (read, index), score in np.ndenumerate(log10)
            ).encode()
            described = "".join(
                f"{place}\t{name}/{index}\t{sequence}\t{index}\t{variants}\t0\n"
                for index, sequence in enumerate(sequences)
            ).encode()
            spans = Span(*at, log10.size, len(rows)), Span(*at, len(sequences), len(described))
            table.append(Lines(rows, described, *([span] for span in spans)))


def make(page: Path, arguments: Sequence[object]) -> dict[str, float]:
    """Seconds and peak memory of the command, and the size of what it writes."""
    cost = measure(pairhmm("report", "-o", page, *arguments))
    return {"s": cost.wall, "peak MB": cost.peak_mb, "page MB": round(page.stat().st_size / 1e6, 2)}


def show(page: Path, rounds: int, has_bases: bool) -> dict[str, float]:
    """Medians of what the page takes, in seconds; each round is a browser of its own."""
    from selenium.webdriver import Chrome, ChromeOptions
    from selenium.webdriver.chrome.service import Service

    options = ChromeOptions()
    options.binary_location = program("chromium")
    for flag in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--window-size=1500,950"):
        options.add_argument(flag)
    times: list[dict[str, float]] = []
    for _ in range(rounds):
        driver = Chrome(options=options, service=Service(program("chromedriver")))
        try:
            began = time.perf_counter()
            driver.get(page.resolve().as_uri())
            taken = driver.execute_async_script(MEASURE, has_bases)
            opened = 1000 * (time.perf_counter() - began)
        finally:
            driver.quit()
        assert isinstance(taken, dict), taken
        times.append(
            {"opened": opened - sum(taken[step] for step in ("pileup", "sort", "filter"))}
            | {step: taken[step] for step in STEPS}
        )
    return {key: round(statistics.median(one[key] for one in times) / 1000, 3) for key in times[0]}


def program(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise SystemExit(f"no {name}: apt install chromium chromium-driver")
    return found


if __name__ == "__main__":
    main()
