"""`pairhmm bench`: speed and accuracy on this machine."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from dataclasses import asdict
from itertools import chain
from statistics import median
from typing import TYPE_CHECKING

import rich_click as click

from pairhmm.cli.common import device_memory_option, device_option, threads_option
from pairhmm.cli.numbers import Whole

if TYPE_CHECKING:
    from pairhmm.engine import Choice

log = logging.getLogger(__name__)

TABLES = ("lengths", "kernel", "workloads", "files")


def _lengths(context: click.Context, parameter: click.Parameter, value: str | None) -> tuple[int, ...] | None:
    if value is None:
        return None
    try:
        lengths = tuple(int(word.replace("_", "")) for word in value.split(","))
    except ValueError:
        lengths = ()
    if not lengths or min(lengths) < 1:
        raise click.BadParameter(f"{value!r} is not a list of lengths such as 100,1000", context, parameter)
    return lengths


@click.group("bench")
def command() -> None:
    """Measure speed and accuracy on this machine."""


@command.command("forward")
@click.option(
    "--backend",
    "backends",
    multiple=True,
    metavar="NAME",
    help="A backend to measure; may be repeated. Default: all that can run here, but the oracle.",
)
@device_option
@device_memory_option
@click.option(
    "--lengths",
    default="100,1000,10000,100000",
    show_default=True,
    callback=_lengths,
    metavar="N,N,...",
    help="Bases of the reads and haplotypes.",
)
@click.option(
    "--accuracy",
    is_flag=True,
    help="Compare with the float64 oracle too; at 100,000 bases that takes minutes, which is announced.",
)
@click.option(
    "--table",
    "tables",
    multiple=True,
    type=click.Choice(TABLES),
    help="A table to make; may be repeated. Default: lengths, and for a GPU that is no software all of them.",
)
@click.option(
    "--workload",
    "workloads",
    multiple=True,
    metavar="NAME",
    help="A synthetic workload for the table of workloads; may be repeated. Default: all of them.",
)
@click.option("--groups", type=click.Path(), metavar="FILE.in", help="A file's groups, for the table of workloads.")
@click.option("--copies", type=Whole(1), default=1, show_default=True, help="Of those groups, in one batch.")
@click.option(
    "--repetitions",
    type=Whole(1),
    default=3,
    show_default=True,
    help="Of each measurement. The best one counts for lengths, the median in the other tables.",
)
@threads_option
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of tables.")
def forward(
    backends: Sequence[str],
    devices: tuple[int, ...] | None,
    device_memory: int | None,
    lengths: Sequence[int],
    accuracy: bool,
    tables: Sequence[str],
    workloads: Sequence[str],
    groups: str | None,
    copies: int,
    repetitions: int,
    threads: int,
    as_json: bool,
) -> None:
    """Time the forward algorithm by backend and length, and a GPU in other ways, too.

    GCUPS is 10^9 cells of the matrix (read x haplotype bases) a second. Differences are in log10 units.

    The tables: "lengths" from packed qualities to scores, by length; "kernel" the kernels of a GPU alone; "workloads"
    from packed qualities to scores, on regions as sequencing gives them, and the kernels alone on these; "files" the
    command forward on a .in file.
    """
    from pairhmm import backends as registry
    from pairhmm.bench import lengths as bench
    from pairhmm.bench.workloads import WORKLOADS
    from pairhmm.engine import Choice

    unknown = [name for name in workloads if name not in WORKLOADS]
    if unknown:
        raise click.BadParameter(f"{unknown[0]!r} is not one of {', '.join(WORKLOADS)}", param_hint="--workload")
    names = list(backends) or [n for n in registry.names() if n != bench.ORACLE and registry.status(n).available]
    with_devices = [name for name in names if registry.status(name).devices]
    # Backends on the CPU may stand beside those that the devices are meant for, but not alone.
    on_devices = with_devices or names
    choices = [Choice(name, devices, device_memory) if name in on_devices else Choice(name) for name in names]
    report = _Report(as_json)
    if "lengths" in tables or not tables:
        report.table("speed", "backend", "length", "threads", "pairs", "seconds", "gcups")
        for choice in choices:
            for speed in bench.measure_speed(
                choice, lengths, threads=threads, repetitions=repetitions, announce=log.info
            ):
                figures = speed.pairs, f"{speed.seconds:.4f}", f"{speed.gcups:.3f}"
                report.row({**asdict(speed), "gcups": speed.gcups}, speed.backend, speed.length, threads, *figures)
    if accuracy:
        report.table("accuracy", "backend", "length", "pairs", "worst", "worst_relative", "lowest", "rescued")
        for error in bench.measure_accuracy(choices, lengths, threads=threads, announce=log.info):
            differences = f"{error.worst:.2e}", f"{error.worst_relative:.2e}", f"{error.lowest:.2f}"
            report.row(asdict(error), error.backend, error.length, error.pairs, *differences, error.rescued)
    measured = choices if tables else [choice for choice in choices if _is_gpu(choice)]
    wanted = set(tables or TABLES)
    if measured and wanted != {"lengths"}:
        report.devices(measured)
    if measured and "kernel" in wanted:
        _kernel_table(report, measured, repetitions)
    if measured and "workloads" in wanted:
        _workload_table(report, measured, workloads, groups, copies, repetitions, threads)
    if measured and "files" in wanted:
        _file_table(report, measured, repetitions, threads)
    report.finish()


@command.command("wavefront")
@click.option(
    "--backend", type=click.Choice(["cuda", "webgpu"]), default="cuda", show_default=True, help="What is compared with."
)
@device_option
@click.option(
    "--lengths",
    callback=_lengths,
    metavar="N,N,...",
    help="Bases of the read and of the haplotype. Default: 100,1000,10000,100000; for a software adapter 100,1000.",
)
@click.option("--repetitions", type=Whole(1), default=5, show_default=True, help="The median counts.")
@threads_option
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of a table.")
def wavefront(
    backend: str,
    devices: tuple[int, ...] | None,
    lengths: Sequence[int] | None,
    repetitions: int,
    threads: int,
    as_json: bool,
) -> None:
    """Time one pair by the published design, a launch for each anti-diagonal, and by ours.

    Seconds are from host arrays to the score. CUDA: with each launch made by the host, with the launches replayed as a
    CUDA graph, and ours; the ratio is that of the faster of the first two to ours. WebGPU: the published design without
    its optimisations, with one more of them each row, and ours; beside the CUDA backend where that can run. Differences
    are relative, from float64.
    """
    from pairhmm.engine import Choice

    table = _ladder_table if backend == "webgpu" else _wavefront_table
    report = _Report(as_json)
    table(report, Choice(backend, devices), lengths, repetitions, threads)
    report.finish()


@command.command("scan")
@click.option(
    "--backend", type=click.Choice(["cuda", "webgpu"]), default="cuda", show_default=True, help="What is measured."
)
@click.option("--device", type=Whole(0), metavar="N", help="GPU. Default: the first.")
@click.option(
    "--samples",
    type=Whole(1),
    metavar="N",
    help="Of 150,000 bases on average. Default: 1010; for a software adapter 1.",
)
@click.option(
    "--signatures",
    type=Whole(1),
    metavar="N",
    help="Of 6,500 bases on average. Default: 1000; for a software adapter 20.",
)
@click.option("--repetitions", type=Whole(1), default=3, show_default=True, help="The median counts.")
@threads_option
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of a table.")
def scan(
    backend: str,
    device: int | None,
    samples: int | None,
    signatures: int | None,
    repetitions: int,
    threads: int,
    as_json: bool,
) -> None:
    """Time the scan as published programs do it, with one more optimisation each row, and as ours.

    Seconds are from packed arrays on the host to hits on the host; the hits of each row are compared with the CPU's.
    """
    from pairhmm.bench.scan import measure_scan
    from pairhmm.engine import Choice

    report = _Report(as_json)
    speeds = measure_scan(
        backend, device, samples, signatures, repetitions=repetitions, threads=threads, announce=log.info
    )
    report.devices([Choice(backend, None if device is None else (device,))])
    report.table("scan", "rung", "bases", "patterns", "hits", "seconds", "speedup", "same")
    for speed in speeds:
        figures = speed.hits, f"{median(speed.seconds):.4f}", f"{speed.speedup:.3g}", "yes" if speed.same else "no"
        report.row({**asdict(speed), "speedup": speed.speedup}, speed.rung, speed.bases, speed.patterns, *figures)
    report.finish()


def _wavefront_table(
    report: _Report, choice: Choice, lengths: Sequence[int] | None, repetitions: int, threads: int
) -> None:
    from pairhmm.bench.lengths import DEFAULT_LENGTHS
    from pairhmm.bench.published.wavefront import measure_wavefront

    columns = "launched_seconds", "replayed_seconds", "ours_seconds", "ratio", "difference", "ours_difference"
    speeds = measure_wavefront(
        choice, lengths or DEFAULT_LENGTHS, repetitions=repetitions, threads=threads, announce=log.info
    )
    report.devices([choice])
    report.table("wavefront", "length", *columns)
    for speed in speeds:
        seconds = (median(s) for s in (speed.launched_seconds, speed.replayed_seconds, speed.ours_seconds))
        differences = f"{speed.difference:.1e}", f"{speed.ours_difference:.1e}"
        figures = *(f"{value:.6f}" for value in seconds), f"{speed.ratio:.1f}", *differences
        report.row({**asdict(speed), "ratio": speed.ratio}, speed.length, *figures)


def _ladder_table(
    report: _Report, choice: Choice, lengths: Sequence[int] | None, repetitions: int, threads: int
) -> None:
    from pairhmm.bench.published.webgpu_ladder import measure_ladder

    columns = "round_trips", "bind_groups", "storage_reads", "seconds", "speedup", "share_of_cuda", "difference"
    speeds = measure_ladder(choice, lengths, repetitions=repetitions, threads=threads, announce=log.info)
    report.devices([choice])
    report.table("wavefront", "length", "rung", *columns)
    for speed in speeds:
        counts = speed.round_trips, speed.bind_groups, f"{speed.storage_reads:.2f}", f"{median(speed.seconds):.6f}"
        ratios = {"speedup": speed.speedup, "share_of_cuda": speed.share_of_cuda}
        shown = ("-" if ratio is None else f"{ratio:.3g}" for ratio in ratios.values())
        difference = speed.difference
        record = {**asdict(speed), **ratios, "difference": difference}
        report.row(record, speed.length, speed.rung, *counts, *shown, f"{difference:.1e}")


def _is_gpu(choice: Choice) -> bool:
    """Whether it has tables of its own: a software adapter would take hours for them."""
    from pairhmm import backends

    found = backends.status(choice.backend)
    if found.is_software(choice.devices):
        log.warning("backend %s: a software adapter, for which --table makes the tables of a GPU", choice.backend)
        return False
    return bool(found.devices)


def _kernel_table(report: _Report, choices: Sequence[Choice], repetitions: int) -> None:
    from pairhmm.bench.device import measure_kernels

    report.table("kernel", "backend", "length", "groups", "seconds", "gcups")
    for choice in choices:
        for speed in measure_kernels(choice, repetitions=repetitions):
            figures = f"{median(speed.seconds):.5f}", f"{speed.gcups:.1f}"
            report.row({**asdict(speed), "gcups": speed.gcups}, speed.backend, speed.length, speed.groups, *figures)


def _workload_table(
    report: _Report,
    choices: Sequence[Choice],
    names: Sequence[str],
    groups: str | None,
    copies: int,
    repetitions: int,
    threads: int,
) -> None:
    from pairhmm.bench.device import measure_groups, measure_workloads
    from pairhmm.bench.workloads import WORKLOADS

    report.table("workloads", "backend", "workload", "threads", "pairs", "rescued", "seconds", "gcups", "kernel_gcups")
    for choice in choices:
        workloads = {name: WORKLOADS[name] for name in names or WORKLOADS}
        speeds = measure_workloads(choice, workloads, repetitions=repetitions, threads=threads)
        if groups is not None:
            speeds = chain(speeds, [measure_groups(choice, groups, copies, repetitions=repetitions, threads=threads)])
        for speed in speeds:
            kernels = "" if speed.kernel_gcups is None else f"{speed.kernel_gcups:.1f}"
            figures = speed.pairs, speed.rescued, f"{median(speed.seconds):.4f}", f"{speed.gcups:.1f}", kernels
            record = {**asdict(speed), "gcups": speed.gcups, "kernel_gcups": speed.kernel_gcups}
            report.row(record, speed.backend, speed.workload, threads, *figures)


def _file_table(report: _Report, choices: Sequence[Choice], repetitions: int, threads: int) -> None:
    from pairhmm.bench.device import measure_files

    report.table("files", "backend", "workload", "threads", "pairs", "process_seconds", "again_seconds")
    for choice in choices:
        speed = measure_files(choice, repetitions=repetitions, threads=threads)
        figures = speed.pairs, f"{median(speed.process_seconds):.3f}", f"{median(speed.again_seconds):.3f}"
        report.row(asdict(speed), speed.backend, speed.workload, threads, *figures)


class _Report:
    """Tables of tab-separated rows on stdout, each row as soon as it is known; or, at the end, one JSON object."""

    def __init__(self, as_json: bool) -> None:
        self._as_json = as_json
        self._records: dict[str, list[dict[str, object]]] = {}
        self._current: list[dict[str, object]] = []

    def table(self, name: str, *columns: str) -> None:
        """Begin a table; the name is that of its records."""
        self._current = self._records[name] = []
        self._line(*columns)

    def row(self, record: dict[str, object], *values: object) -> None:
        """Add what a measurement found, and how the table shows it."""
        self._current.append(record)
        self._line(*values)

    def devices(self, choices: Sequence[Choice]) -> None:
        """Say on what the device tables are measured."""
        from pairhmm.bench.device import describe

        self._records["devices"] = []
        for choice in choices:
            about = describe(choice)
            self._records["devices"].append(dict(about))
            log.info("%s", ", ".join(f"{name} {value}" for name, value in about.items() if value))

    def finish(self) -> None:
        if self._as_json:
            click.echo(json.dumps(self._records, indent=1))

    def _line(self, *values: object) -> None:
        if not self._as_json:
            click.echo("\t".join(map(str, values)))
