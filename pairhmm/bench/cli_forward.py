"""`pairhmm bench forward`: the speed of the forward algorithm, by backend and length."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

import rich_click as click

from pairhmm import backends
from pairhmm.bench import device
from pairhmm.bench import lengths as by_length
from pairhmm.bench.cli_options import Lengths, Tables, json_option, repetitions_option
from pairhmm.bench.workloads import WORKLOADS
from pairhmm.cli.compute import device_memory_option, devices_option, threads_option
from pairhmm.cli.fields import either, option
from pairhmm.cli.help_style import COMPUTE, INPUT, MEASUREMENT, Command
from pairhmm.cli.param_types import INPUT_FILE
from pairhmm.engine import Choice

log = logging.getLogger(__name__)

EXAMPLES = (
    "pairhmm bench forward --lengths 100,1000",
    "pairhmm bench forward --backend cpu --lengths 100 --accuracy",
    "pairhmm bench forward --backend cuda --table workloads --json",
)

LENGTHS, KERNEL, WORKLOAD, FILES = "lengths", "kernel", "workloads", "files"
TABLES = (LENGTHS, KERNEL, WORKLOAD, FILES)


@click.command("forward", cls=Command, examples=EXAMPLES)
@click.option(
    "--groups",
    type=INPUT_FILE,
    metavar="FILE",
    panel=INPUT,
    help="A .in file, measured as one more workload.",
)
@option(
    device.measure_groups,
    "copies",
    least=1,
    metavar="N",
    panel=INPUT,
    help="The number of times that the batch repeats the groups of --groups.",
)
@click.option(
    "--table",
    "names",
    multiple=True,
    type=click.Choice(TABLES),
    metavar="NAME",
    panel=MEASUREMENT,
    help=f"A table to make: {either(TABLES)}. This option may be repeated. By default, {LENGTHS}, and all tables for a"
    " hardware GPU.",
)
@option(
    by_length.measure_speed,
    "lengths",
    "--lengths",
    type=Lengths(),
    default=Lengths.text(by_length.DEFAULT_LENGTHS),
    metavar="N,N",
    panel=MEASUREMENT,
    help="The lengths of reads and haplotypes, in bases.",
)
@click.option(
    "--workload",
    "workloads",
    multiple=True,
    metavar="NAME",
    panel=MEASUREMENT,
    help="A synthetic workload. This option may be repeated. By default, all workloads.",
)
@click.option(
    "--accuracy",
    is_flag=True,
    panel=MEASUREMENT,
    help="Also compare scores with the float64 oracle. At 100,000 bases this takes minutes.",
)
@repetitions_option(by_length.measure_speed, "Lengths take the best time, the other tables the median.")
@click.option(
    "--backend",
    "named",
    multiple=True,
    metavar="NAME",
    panel=COMPUTE,
    help="A backend to measure. This option may be repeated. By default, all that run here but the oracle.",
)
@devices_option
@device_memory_option
@threads_option(by_length.measure_speed)
@json_option
def command(
    groups: str | None,
    copies: int,
    names: Sequence[str],
    lengths: Sequence[int],
    workloads: Sequence[str],
    accuracy: bool,
    repetitions: int,
    named: Sequence[str],
    devices: tuple[int, ...] | None,
    device_memory: int | None,
    threads: int,
    as_json: bool,
) -> None:
    """Time the forward algorithm by backend and length, and GPUs on kernels, workloads and files.

    GCUPS are 10^9 cells of the whole matrix (read x haplotype bases) a second. Haplotypes of a group share cells, which
    are computed once: 'computed' is the share of the cells that is computed. Differences are in log10 units.

    The table 'lengths' is from packed qualities to scores, by length. 'kernel' is the kernels of a GPU alone.
    'workloads' is from packed qualities to scores on regions as sequencing gives them, and the kernels alone on these.
    'files' is the command 'forward' on a .in file.
    """
    unknown = [name for name in workloads if name not in WORKLOADS]
    if unknown:
        raise click.BadParameter(f"{unknown[0]!r} is not one of {', '.join(WORKLOADS)}", param_hint="--workload")
    choices = _choices(named, devices, device_memory)
    measured = choices if names else [choice for choice in choices if _is_gpu(choice)]
    wanted = set(names or TABLES)
    tables = Tables(as_json)
    if LENGTHS in wanted:
        _length_table(tables, choices, lengths, repetitions, threads)
    if accuracy:
        _accuracy_table(tables, choices, lengths, threads)
    if measured and wanted != {LENGTHS}:
        tables.devices(measured)
    if measured and KERNEL in wanted:
        _kernel_table(tables, measured, repetitions)
    if measured and WORKLOAD in wanted:
        _workload_table(tables, measured, workloads, groups, copies, repetitions=repetitions, threads=threads)
    if measured and FILES in wanted:
        _file_table(tables, measured, repetitions, threads)
    tables.finish()


def _choices(names: Sequence[str], devices: tuple[int, ...] | None, device_memory: int | None) -> list[Choice]:
    """The backends to measure: those that are named, or all that run here."""
    measured = list(names) or [
        name for name in backends.names() if name != by_length.ORACLE and backends.status(name).available
    ]
    with_devices = [name for name in measured if backends.status(name).devices]
    # Backends on the CPU may stand beside those that the devices are meant for, but not alone.
    on_devices = with_devices or measured
    return [Choice(name, devices, device_memory) if name in on_devices else Choice(name) for name in measured]


def _length_table(
    tables: Tables, choices: Sequence[Choice], lengths: Sequence[int], repetitions: int, threads: int
) -> None:
    figures = {"pairs": "", "seconds": ".4f", "gcups": ".3f", "computed": ".3f"}
    tables.table("speed", backend="", length="", threads="", **figures)
    common: dict[str, Any] = {"threads": threads, "repetitions": repetitions, "announce": log.info}
    for choice in choices:
        tables.rows(by_length.measure_speed(choice, lengths, **common))


def _accuracy_table(tables: Tables, choices: Sequence[Choice], lengths: Sequence[int], threads: int) -> None:
    figures = {"worst": ".2e", "worst_relative": ".2e", "lowest": ".2f", "rescued": ""}
    tables.table("accuracy", backend="", length="", pairs="", **figures)
    tables.rows(by_length.measure_accuracy(choices, lengths, threads=threads, announce=log.info))


def _is_gpu(choice: Choice) -> bool:
    """Whether a choice is a real GPU, which has tables of its own. A software adapter would take hours for them."""
    status = backends.status(choice.backend)
    if status.is_software(choice.devices):
        log.warning("backend %s is a software adapter: only --table makes the tables of a GPU for it", choice.backend)
        return False
    return bool(status.devices)


def _kernel_table(tables: Tables, choices: Sequence[Choice], repetitions: int) -> None:
    tables.table("kernel", backend="", length="", groups="", seconds=".5f", gcups=".1f")
    for choice in choices:
        tables.rows(device.measure_kernels(choice, repetitions=repetitions))


def _workload_table(
    tables: Tables,
    choices: Sequence[Choice],
    names: Sequence[str],
    groups: str | None,
    copies: int,
    repetitions: int,
    threads: int,
) -> None:
    figures = {"rescued": "", "seconds": ".4f", "gcups": ".1f", "kernel_gcups": ".1f", "computed": ".3f"}
    tables.table("workloads", backend="", workload="", threads="", pairs="", **figures)
    workloads = {name: WORKLOADS[name] for name in names or WORKLOADS}
    common = {"repetitions": repetitions, "threads": threads}
    for choice in choices:
        tables.rows(device.measure_workloads(choice, workloads, **common), threads=threads)
        if groups is not None:
            tables.rows([device.measure_groups(choice, groups, copies, **common)], threads=threads)


def _file_table(tables: Tables, choices: Sequence[Choice], repetitions: int, threads: int) -> None:
    seconds = {"process_seconds": ".3f", "again_seconds": ".3f"}
    tables.table("files", backend="", workload="", threads="", pairs="", **seconds)
    for choice in choices:
        tables.rows([device.measure_files(choice, repetitions=repetitions, threads=threads)], threads=threads)
