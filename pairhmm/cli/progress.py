"""Where a run is, on a terminal only."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pairhmm.regions import Region


@contextmanager
def region_progress() -> Iterator[Callable[[Region], None] | None]:
    """What to tell of each scored region: shown on a terminal, None where there is none or with --quiet."""
    if not sys.stderr.isatty() or not logging.getLogger("pairhmm").isEnabledFor(logging.INFO):
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
