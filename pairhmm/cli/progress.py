"""Progress of a run: a bar on a terminal, else a line per minute."""

from __future__ import annotations

import logging
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

    from pairhmm.variants.regions import Region

log = logging.getLogger(__name__)

SECONDS_A_LINE = 60


@contextmanager
def region_progress() -> Iterator[Callable[[Region, float], None] | None]:
    """A function to call with each scored region and the share of the run that is done (0 to 1); None with --quiet."""
    if not _is_shown():
        yield None
    elif not sys.stderr.isatty():
        yield RegionLines()
    else:
        from rich.progress import (
            BarColumn,
            Progress,
            SpinnerColumn,
            TaskProgressColumn,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )

        columns = TextColumn("{task.description}"), BarColumn(), TaskProgressColumn()
        times = TimeElapsedColumn(), TextColumn("left:"), TimeRemainingColumn()
        console = _console()
        progress = Progress(SpinnerColumn(), *columns, *times, console=console, transient=True)
        task = progress.add_task("reading", total=1.0)
        regions = 0

        def watch(region: Region, share: float) -> None:
            nonlocal regions
            regions += 1
            progress.start()
            progress.update(task, description=_position(region, regions), completed=share)

        try:
            with _messages_above(console):
                yield watch
        finally:
            progress.stop()


@contextmanager
def byte_progress(paths: Sequence[str]) -> Iterator[Callable[[int], None]]:
    """A function to call with each number of bytes that was read; it does nothing with --quiet."""
    sizes = [os.path.getsize(path) if os.path.isfile(path) else None for path in paths]
    total = None if None in sizes else sum(size for size in sizes if size is not None)
    if not _is_shown():
        yield lambda _: None
    elif not sys.stderr.isatty():
        yield ByteLines(total)
    else:
        from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn, TransferSpeedColumn

        columns = BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn()
        console = _console()
        with Progress(*columns, console=console, transient=True) as progress:
            task = progress.add_task("reading", total=total)
            with _messages_above(console):
                yield lambda count: progress.advance(task, count)


class RegionLines:
    """Reports regions where there is no terminal.

    Parameters
    ----------
    now : callable
        Gives the time in seconds.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._minutes = _Minutes(now)
        self._regions = 0

    def __call__(self, region: Region, share: float) -> None:
        """Report a scored region; `share` of the run (0 to 1) is done."""
        self._regions += 1
        self._minutes.tell(lambda: _position(region, self._regions), share)


class ByteLines:
    """Reports bytes that were read, where there is no terminal.

    Parameters
    ----------
    total : int, optional
        Bytes of all files, if that is known.
    now : callable
        Gives the time in seconds.
    """

    def __init__(self, total: int | None, now: Callable[[], float] = time.monotonic) -> None:
        self._minutes = _Minutes(now)
        self._total, self._read = total, 0

    def __call__(self, count: int) -> None:
        """Report that `count` more bytes were read."""
        self._read += count
        self._minutes.tell(
            lambda: f"{self._read / 1e6:,.0f} MB read", self._read / self._total if self._total else None
        )


class _Minutes:
    """Writes at most one line a minute, with the time left: the speed is that since the first report."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._next = now() + SECONDS_A_LINE
        self._first: tuple[float, float] | None = None

    def tell(self, what: Callable[[], str], share: float | None) -> None:
        now = self._now()
        if self._first is None and share is not None:
            self._first = (now, share)
        if now < self._next:
            return
        self._next = now + SECONDS_A_LINE
        log.info("%s%s", what(), "" if share is None else f", {share:.0%}{self._left(now, share)}")

    def _left(self, now: float, share: float) -> str:
        since, begin = self._first or (now, share)
        if now <= since or share <= begin:
            return ""
        seconds = (1 - share) * (now - since) / (share - begin)
        return f", about {_duration(seconds)} left"


def _duration(seconds: float) -> str:
    """A time in hours and minutes."""
    minutes = max(1, round(seconds / 60))
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def _position(region: Region, regions: int) -> str:
    return f"{region.chrom}:{region.start + 1:,}, {regions:,} regions"


def _is_shown() -> bool:
    return logging.getLogger("pairhmm").isEnabledFor(logging.INFO)


def _console() -> Console:
    from rich.console import Console

    return Console(stderr=True)


class _Above:
    """A stream that writes messages above the bar, on lines of their own."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def write(self, text: str) -> None:
        self._console.print(text, end="", soft_wrap=True, markup=False, highlight=False, emoji=False)

    def flush(self) -> None:
        """Do nothing: nothing is held back."""


@contextmanager
def _messages_above(console: Console) -> Iterator[None]:
    """Write messages above the bar, instead of into its line."""
    handlers = [
        handler for handler in logging.getLogger("pairhmm").handlers if isinstance(handler, logging.StreamHandler)
    ]
    streams = [handler.setStream(_Above(console)) for handler in handlers]
    try:
        yield
    finally:
        for handler, stream in zip(handlers, streams, strict=True):
            if stream is not None:
                handler.setStream(stream)
