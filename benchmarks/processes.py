"""How the benchmarks run commands and let programs take turns."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
SHARED = Path(os.environ.get("PAIRHMM_SHARED_DATA", ROOT.parent / "shared" / "data"))
"""The folder of shared data."""
_TINY, CHR20 = SHARED / "na12878-chr22-tiny", SHARED / "na12878-chr20-100kb"
NA12878 = {
    "chr22 tiny": (_TINY / "NA12878.chr22.tiny.bam", _TINY / "q.fa", _TINY / "NA12878.chr22.tiny.giab.vcf", None),
    "chr20 100 kb": (
        CHR20 / "NA12878_S1.chr20.10_10p1mb.bam",
        CHR20 / "ucsc.hg19.chr20.unittest.fasta.gz",
        CHR20 / "test_nist.b37_chr20_100kbp_at_10mb.vcf.gz",
        "chr20:10,000,001-10,100,000",
    ),
}
"""Alignments, reference, truth and region of real reads."""

CONFIDENT = CHR20 / "test_nist.b37_chr20_100kbp_at_10mb.bed"
"""Where the truth of chromosome 20 is complete."""


class Cost(NamedTuple):
    """What a process took: seconds of wall time and of CPU time, and peak resident memory in MiB."""

    wall: float
    cpu: float
    peak_mb: float


def pairhmm(*arguments: object) -> list[str]:
    """The command line of this Python's pairhmm."""
    return [sys.executable, "-m", "pairhmm", "-q", *map(str, arguments)]


def run(*arguments: object) -> Cost:
    """Run a command of pairhmm in a process of its own."""
    return measure(pairhmm(*arguments))


# A pipe through Python would cost bcftools time, so its two halves share an uncompressed file.
_BCFTOOLS = """
import json, sys, pysam.bcftools
reference, bams, out, targets, options = json.loads(sys.argv[1])
pysam.bcftools.mpileup('-f', reference, '-a', 'AD,DP', '-Ou', '-o', out + '.piled', *targets, *bams, catch_stdout=False)
pysam.bcftools.call(*options, '-Oz', '-o', out, out + '.piled', catch_stdout=False)
"""


def bcftools(
    reference: Path, bams: Sequence[Path], out: Path, mpileup: Sequence[str] = (), call: Sequence[str] = ("-mv",)
) -> list[str]:
    """The command line of `mpileup | call` of the bcftools that pysam brings, with further options of each."""
    paths = str(reference), [*map(str, bams)], str(out)
    return [sys.executable, "-c", _BCFTOOLS, json.dumps([*paths, [*mpileup], [*call]])]


def measure(line: Sequence[object], **keywords: Any) -> Cost:
    """What a command took, which must succeed. The memory is at least that of this process, which is its parent."""
    begin = time.perf_counter()
    process = subprocess.Popen(list(map(str, line)), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, **keywords)
    assert process.stderr is not None
    messages = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - begin
    if status:
        sys.exit(f"failed: {' '.join(map(str, line))}\n{messages.decode()}")
    # ru_maxrss is in KiB on Linux.
    return Cost(round(wall, 3), round(usage.ru_utime + usage.ru_stime, 3), round(usage.ru_maxrss / 1024))


def made(path: Path, make: Callable[[Path], object]) -> Path:
    """The path, once what is missing there was made."""
    if not path.exists():
        print(f"making {path}", file=sys.stderr)
        make(path)
    return path


def best_of_turns(rounds: int, works: Mapping[str, Callable[[], object]]) -> dict[str, float]:
    """The least CPU seconds of each work. They take turns, so that a slow moment of the machine hits all of them."""
    best = dict.fromkeys(works, float("inf"))
    for _ in range(rounds):
        for name, work in works.items():
            began = time.process_time()
            work()
            best[name] = min(best[name], time.process_time() - began)
    return best


class Contestant:
    """A process that works once for each line it is sent, and answers each time with an object of JSON.

    Attributes
    ----------
    header : dict
        What it says once it is ready.
    answers : list of dict
    """

    def __init__(self, command: Sequence[object], log: Path, **environment: str) -> None:
        python_path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))
        env = {**os.environ, "PYTHONPATH": python_path, **environment}
        self._command, self._log = list(map(str, command)), log
        with log.open("a") as stderr:
            self._process = subprocess.Popen(
                self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr, text=True, env=env
            )
        self.header: dict[str, Any] = {}
        self.answers: list[dict[str, float]] = []

    def answer(self) -> dict[str, Any]:
        """The next object."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            last_words = "".join(self._log.read_text().splitlines(keepends=True)[-5:])
            raise SystemExit(f"{' '.join(self._command)}: status {self._process.wait()}\n{last_words}")
        return dict(json.loads(line))

    def repeat(self) -> None:
        """Let it work once more."""
        assert self._process.stdin is not None
        self._process.stdin.write("again\n")
        self._process.stdin.flush()
        self.answers.append(self.answer())

    def best(self, what: str) -> float:
        """The least of the answers' figures of that name."""
        return min(answer[what] for answer in self.answers)

    def finish(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def take_turns(contestants: Sequence[Contestant], rounds: int) -> None:
    """Let each work once a round, after all are ready."""
    for contestant in contestants:
        contestant.header = contestant.answer()
    for _ in range(rounds):
        for contestant in contestants:
            contestant.repeat()
    for contestant in contestants:
        contestant.finish()


def answer_with(work: Callable[[], Mapping[str, float]], header: Mapping[str, object]) -> None:
    """The other end of a `Contestant`."""
    print(json.dumps(header), flush=True)
    for _ in sys.stdin:
        print(json.dumps(work()), flush=True)
