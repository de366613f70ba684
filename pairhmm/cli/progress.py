"""Where a run is, on a terminal only."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pairhmm.regions import Region


@contextmanager
def region_progress() -> Iterator[Callable[[Region], None] | None]:
    """What to tell of each scored region: shown on a terminal, None where there is none or with --quiet."""
    if not _is_watched():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("reading")
        regions = 0

        def watch(region: Region) -> None:
            nonlocal regions
            regions += 1
            progress.update(task, description=f"{region.chrom}:{region.start + 1:,}  {regions:,} regions")

        yield watch


@contextmanager
def byte_progress(paths: Sequence[str]) -> Iterator[Callable[[int], None]]:
    """What to tell of each piece of the files that was read, in bytes; it does nothing where nobody watches."""
    if not _is_watched():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn, TransferSpeedColumn

    sizes = [os.path.getsize(path) if os.path.isfile(path) else None for path in paths]
    total = None if None in sizes else sum(size for size in sizes if size is not None)
    columns = BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("reading", total=total)
        yield lambda count: progress.advance(task, count)


def _is_watched() -> bool:
    return sys.stderr.isatty() and logging.getLogger("pairhmm").isEnabledFor(logging.INFO)
