"""`warp` of signals in memory, and of files in parts."""

import numpy as np
import pytest

import pairhmm
from pairhmm.errors import InputError, OptionError
from pairhmm.warp import files as warp_files
from pairhmm.warp import reference
from pairhmm.warp.base import WarpOptions

QUERIES, TARGETS = {"q": [5, 9], "r": [1, 1, 1]}, {"t": [0, 5, 5, 9], "u": [1.0, 4.0]}


def test_pairs_in_order():
    found = pairhmm.warp(QUERIES, TARGETS)
    assert [(one.query, one.target, one.cost, one.start, one.end) for one in found] == [
        ("q", "t", 5.0, 0, 4),
        ("r", "u", 3.0, 0, 2),
    ]


def test_each_onto_each():
    found = pairhmm.warp(QUERIES, TARGETS, every_pair=True, mode="subsequence")
    assert [(one.query, one.target) for one in found] == [("q", "t"), ("q", "u"), ("r", "t"), ("r", "u")]
    assert [(one.cost, one.start, one.end) for one in found] == [(0, 2, 4), (6, 1, 2), (3, 0, 1), (0, 0, 1)]


def test_the_scale_keeps_fractions():
    given = {"q": [0.25, 1.5]}, {"t": [0.5, 1.25]}
    assert pairhmm.warp(*given, scale=4)[0].cost == 0.5
    assert pairhmm.warp(*given, options=pairhmm.WarpOptions(band=0), scale=4)[0].cost == 0.5


def test_a_band_may_leave_no_path():
    assert pairhmm.warp({"q": [1]}, {"t": [1, 1, 1]}, band=1)[0].cost is None


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        (({"q": []}, {"t": [1]}), ValueError, r"queries\['q'\] is empty"),
        (({"q": [1]}, {"t": [np.nan]}), ValueError, r"targets\['t'\] is empty, or not a list of finite"),
        (({"q": [1e6]}, {"t": [1]}), ValueError, "1 values that 16 bits do not hold: lower the scale"),
        (({"q": [1]}, {}), ValueError, "1 queries and 0 targets: give as many"),
        (([[1]], {"t": [1]}), TypeError, "queries is of type list"),
    ],
)
def test_signals_that_can_not_be_used(given, error, message):
    with pytest.raises(error, match=message):
        pairhmm.warp(*given)


@pytest.mark.parametrize("keywords", [{"mode": "local"}, {"band": -1}, {"scale": 0}, {"threads": 0}])
def test_options_out_of_range(keywords):
    with pytest.raises(OptionError):
        pairhmm.warp(QUERIES, TARGETS, **keywords)


def test_unknown_options():
    with pytest.raises(TypeError, match="did you mean 'band'"):
        pairhmm.warp(QUERIES, TARGETS, bands=2)


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Twelve queries and as many targets of whole numbers, in text; the folder is the current one."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    signals = {
        name: [rng.integers(-500, 500, rng.integers(1, 60)).astype(np.int16) for _ in range(12)] for name in ("q", "t")
    }
    for name, arrays in signals.items():
        lines = (f"{name}{at}\t{','.join(map(str, one.tolist()))}\n" for at, one in enumerate(arrays))
        (tmp_path / f"{name}.tsv").write_text("".join(lines))
    return signals


def rows(path):
    return [line.split("\t") for line in path.read_text().splitlines() if not line.startswith("#")]


@pytest.mark.parametrize("every_pair", [False, True])
@pytest.mark.parametrize("mode", ["global", "subsequence"])
@pytest.mark.parametrize("parts", [{}, {"_SIGNALS_AT_ONCE": 5, "_PAIRS_AT_ONCE": 30}, {"_LEVELS_AT_ONCE": 1}])
def test_files_in_parts(files, tmp_path, monkeypatch, every_pair, mode, parts):
    """The size of parts changes nothing."""
    for name, value in parts.items():
        monkeypatch.setattr(warp_files, name, value)
    options = WarpOptions(mode)
    count = warp_files.warp_files("q.tsv", "t.tsv", "out.tsv", every_pair=every_pair, options=options)
    pairs = [(a, b) for a in range(12) for b in range(12) if every_pair or a == b]
    assert count == len(pairs)
    expected = [
        [f"q{a}", f"t{b}", *map(str, reference.warping(files["q"][a], files["t"][b], options))] for a, b in pairs
    ]
    assert rows(tmp_path / "out.tsv") == expected


def test_signals_that_are_too_long(files, monkeypatch):
    monkeypatch.setattr(warp_files, "LONGEST_SIGNAL", 30)
    with pytest.raises(
        InputError, match=r"[qt]\.tsv: signal [qt]\d+: has \d+ levels; the most is 30; cut it into parts"
    ):
        warp_files.warp_files("q.tsv", "t.tsv", "out.tsv")
