"""htslib says nothing by itself for as long as something asks for that, whichever of several ends first."""

import sys

import pysam

from pairhmm.files.htslib import quiet


def state():
    verbosity = pysam.set_verbosity(0)
    pysam.set_verbosity(verbosity)
    return verbosity, sys.excepthook, sys.unraisablehook


def test_one_after_the_other():
    before = state()
    with quiet():
        assert state()[0] == 0 and state()[1:] != before[1:]
    assert state() == before


def test_the_first_to_begin_may_be_the_first_to_end():
    before = state()
    first, second = quiet(), quiet()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert state()[0] == 0
    second.__exit__(None, None, None)
    assert state() == before
