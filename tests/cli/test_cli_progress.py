"""Where a run is: a bar on a terminal and lines elsewhere; what --verbose says more."""

from __future__ import annotations

import logging
import os
import pty
import re
import subprocess
import sys

import pytest

from pairhmm.cli.progress import ByteLines, RegionLines
from pairhmm.variants.regions import Region

ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


@pytest.fixture(scope="module")
def simulated(run_cli, tmp_path_factory):
    folder = tmp_path_factory.mktemp("simulated")
    assert run_cli("simulate", "-o", folder, "--length", 20000, "--coverage", 15).returncode == 0
    return folder


@pytest.fixture
def told(caplog):
    """What is logged as a line of progress."""
    caplog.set_level(logging.INFO, "pairhmm.cli.progress")
    return lambda: caplog.messages


def region(start: int) -> Region:
    return Region("chr1", start, start + 100, start, start + 100, start, start + 100)


def test_a_line_a_minute_with_what_is_left(told):
    now = [1000.0]
    lines = RegionLines(lambda: now[0])
    # 5% before the first region was seen; then 1% in 10 seconds.
    for number in range(30):
        now[0] += 10
        lines(region(1_000_000 * number), 0.05 + 0.01 * number)
    assert told() == [
        "chr1:5,000,001, 6 regions, 10%, about 15 min left",
        "chr1:11,000,001, 12 regions, 16%, about 14 min left",
        "chr1:17,000,001, 18 regions, 22%, about 13 min left",
        "chr1:23,000,001, 24 regions, 28%, about 12 min left",
        "chr1:29,000,001, 30 regions, 34%, about 11 min left",
    ]


@pytest.mark.parametrize(("total", "said"), [(10**9, "60 MB read, 6%, about 2 h 37 min left"), (None, "60 MB read")])
def test_bytes(told, total, said):
    now = [0.0]
    lines = ByteLines(total, lambda: now[0])
    lines(0)
    for _ in range(60):
        now[0] += 10
        lines(1_000_000)
    assert told()[-1] == said and len(told()) == 10


def on_a_terminal(*arguments: object) -> str:
    """What a command writes to stderr where that is a terminal."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "pairhmm", *map(str, arguments)]
    given = {"TERM": "xterm", "COLUMNS": "100", "PATH": os.environ["PATH"], "PYTHONSAFEPATH": "1"}
    written = b""
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=theirs, env=given) as run:
        os.close(theirs)
        # Linux says EIO at the end.
        while piece := _read(ours):
            written += piece
    os.close(ours)
    assert run.returncode == 0, written.decode()
    return written.decode()


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 1 << 16)
    except OSError:
        return b""


@pytest.mark.parametrize("verb", ["call", "likelihoods", "scan"])
def test_messages_stand_in_lines_of_their_own(simulated, tmp_path, verb):
    (tmp_path / "v.fa").write_text(f">v\n{'ACGTTGCA' * 6}\n")
    inputs = {"scan": ["--signatures", tmp_path / "v.fa", simulated / "reads_1.fastq.gz"]}
    reads = ["-f", simulated / "reference.fa", simulated / "reads.bam"]
    written = on_a_terminal(verb, *inputs.get(verb, reads))
    assert "━" in written, "no bar"
    messages = [line for line in re.split(r"\r?\n|\r", ESCAPE.sub("", written)) if "pairhmm: " in line]
    assert len(messages) >= 2
    assert all(line.startswith("pairhmm: ") and "━" not in line for line in messages), messages


def test_a_bar_shows_percent(simulated):
    written = ESCAPE.sub("", on_a_terminal("call", "-f", simulated / "reference.fa", simulated / "reads.bam"))
    shares = [int(share) for share in re.findall(r"(\d+)%", written)]
    assert shares == sorted(shares) and shares[0] == 0 and 50 < shares[-1] <= 100


@pytest.mark.parametrize("verb", ["call", "likelihoods"])
def test_verbose_says_more(simulated, run_cli, verb):
    reads = ["-f", simulated / "reference.fa", simulated / "reads.bam"]
    plain, verbose = run_cli(verb, *reads), run_cli("--verbose", verb, *reads)
    assert verbose.stdout == plain.stdout.replace(f"##pairhmmCommand={verb}", f"##pairhmmCommand=--verbose {verb}")
    assert len(plain.stderr.splitlines()) == 2
    regions = re.findall(
        r"chr1:\d+-\d+: \d+ candidates, (\d+) haplotypes, (\d+) reads, (\d+) set aside, (\d+) pairs rescued",
        verbose.stderr,
    )
    done = re.search(
        r"(\d+) regions, (\d+) reads \((\d+) (?:set aside|fit no haplotype)\), (\d+) pairs$",
        verbose.stderr,
        re.MULTILINE,
    )
    assert len(regions) == int(done[1]) > 5
    assert sum(int(reads) for _, reads, *_ in regions) == int(done[2])
    assert sum(int(haplotypes) * int(reads) for haplotypes, reads, *_ in regions) == int(done[4])
    assert int(done[3]) == sum(int(aside) for *_, aside, _ in regions)
    assert re.search(rf"pairs: {done[4]} in float32, 0 in float64", verbose.stderr)
    assert re.search(r"seconds: .*reading \d+\.\d\d, .*scoring \d+\.\d\d", verbose.stderr)
