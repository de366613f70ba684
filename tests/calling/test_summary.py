"""Messages at the end of a run, and the seconds of its stages. tests/calling/test_cli_filtered.py has whole runs."""

from __future__ import annotations

import pytest

from pairhmm.calling.genotyping import Site
from pairhmm.calling.summary import FilteredReads, SiteCounts
from pairhmm.calling.timing import StageClock
from pairhmm.models.gatk import GatkOptions
from pairhmm.variants.genotypes import SiteStatistics
from pairhmm.variants.variant import Variant


def site(position: int, unfit: float, left_out: int = 0) -> Site:
    statistics = SiteStatistics({}, unfit)
    return Site(Variant("q", position - 1, "A", ("C",)), 50.0, [], (), left_out, statistics)


def counts(*sites: Site) -> SiteCounts:
    found = SiteCounts()
    for one in sites:
        found.add(one)
    return found


def test_sites_with_many_unfit_reads_are_counted_over_parts(caplog):
    found = SiteCounts()
    for part in ([site(5, 0.1)], [site(9, 0.2), site(12, 0.9)], [site(20, 0.3)]):
        found.add_counts(counts(*part))
    found.announce()
    (line,) = caplog.messages
    assert line.startswith("at 3 of 4 sites, 20% of the reads or more fit no haplotype (INFO NOFIT), q:9 the first: ")


@pytest.mark.parametrize("left_out", [0, 2])
def test_a_few_unfit_reads_are_no_matter(caplog, left_out):
    counts(site(5, 0.0), site(9, 0.199, left_out)).announce()
    assert len(caplog.messages) == (left_out > 0)


@pytest.mark.parametrize(("length", "is_long"), [(3_000, True), (250, False)])
def test_long_reads_are_led_to_their_preset(caplog, length, is_long):
    counts, more = FilteredReads(["one"]), FilteredReads(["one"], reads=100, set_aside=90, bases=90 * length)
    counts.add_counts(more)
    counts.announce(GatkOptions(), 0.99)
    (line,) = caplog.messages
    assert "90 of 100 reads (90%) fit no haplotype: " in line
    assert ("reads of 3,000 bases need --preset ont, or --preset hifi" in line) is is_long
    assert ("--base-quality-threshold 0" in line) is not is_long


class Now:
    """A clock that is moved by hand."""

    def __init__(self) -> None:
        self.seconds = 100.0

    def __call__(self) -> float:
        return self.seconds

    def wait(self, seconds: float) -> float:
        self.seconds += seconds
        return seconds


def test_a_stage_does_not_count_those_within_it():
    now = Now()
    clock = StageClock(now)

    def score(seconds):
        with clock.stage("scoring"):
            return now.wait(seconds)

    def read():
        for _ in range(2):
            now.wait(1)
            yield score(10)

    now.wait(1000)
    with clock.stage("all"):
        now.wait(0.25)
        for _ in clock.items("reading", read()):
            now.wait(100)
    now.wait(1000)
    assert clock.seconds == {"all": 200.25, "reading": 2, "scoring": 20}


def test_a_stage_that_fails_is_over():
    now = Now()
    clock = StageClock(now)
    with pytest.raises(ZeroDivisionError), clock.stage("inner"):
        now.wait(3)
        raise ZeroDivisionError
    now.wait(5)
    with clock.stage("next"):
        now.wait(7)
    assert clock.seconds == {"inner": 3, "next": 7}
