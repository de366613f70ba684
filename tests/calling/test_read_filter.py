"""What is said of reads that fit no haplotype. tests/calling/test_cli_set_aside.py has whole runs."""

from __future__ import annotations

import pytest

from pairhmm.calling.summary import FilteredReads
from pairhmm.models.gatk import GatkOptions


@pytest.mark.parametrize(("length", "is_long"), [(3_000, True), (250, False)])
def test_long_reads_are_led_to_their_preset(caplog, length, is_long):
    counts, more = FilteredReads(["one"]), FilteredReads(["one"], reads=100, set_aside=90, bases=90 * length)
    counts.add_counts(more)
    counts.announce(GatkOptions(), 0.99)
    (line,) = caplog.messages
    assert "90 of 100 reads (90%) fit no haplotype and were set aside" in line
    assert ("reads of 3,000 bases need --preset ont, or --preset hifi" in line) is is_long
    assert ("--base-quality-threshold 0" in line) is not is_long
