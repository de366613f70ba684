"""The tools besides the forward: what "auto" takes for each, what a message says, and what is refused."""

import logging
from types import SimpleNamespace

import pytest

from pairhmm import backends
from pairhmm.align.base import ALIGNERS
from pairhmm.backends.base import Status
from pairhmm.engine.tools import Fallback
from pairhmm.errors import BackendUnavailable, InputError
from pairhmm.map.base import EMBEDDERS
from pairhmm.map.sketch.base import COMPARERS
from pairhmm.scan.base import SCANNERS
from pairhmm.warp.base import WARPERS

GPU, SOFTWARE = Status(True, "made", ("Big", "Other")), Status(True, "made", ("Big",), software=(0,))
MISSING = Status(False, reason="no driver", cure="install it")
TOOLS = {
    "align": ALIGNERS,
    "warp": WARPERS,
    "scan": SCANNERS,
    "compare sketches": COMPARERS,
    "embed samples": EMBEDDERS,
}


@pytest.fixture
def states(monkeypatch):
    """The backends' states, which a test may change; all of them run here."""
    states = dict.fromkeys(backends.names(), GPU)
    monkeypatch.setattr(backends, "status", states.get)
    return states


@pytest.fixture
def taken(monkeypatch, states):
    """``taken(backend, devices, is_worth_a_device)``: the labels of the workers that are chosen."""

    def load(name, device=None):
        return SimpleNamespace(label=name if device is None else f"{name}:{device}")

    monkeypatch.setattr(COMPARERS, "load", load)
    return lambda *arguments: [worker.label for worker in COMPARERS.choose(*arguments)]


@pytest.mark.parametrize("verb", TOOLS)
def test_every_worker_has_a_backend(verb):
    names = TOOLS[verb].names()
    assert {"cpu", "reference"} <= set(names) <= set(backends.names())
    with pytest.raises(BackendUnavailable, match=f"backend abacus: it does not {verb}; use one of {names[0]}, "):
        TOOLS[verb].load("abacus")


def test_auto_takes_a_device_for_much_work(taken, states):
    assert taken("auto", None, True) == ["cuda"]
    assert taken("auto", None, False) == ["cpu"]
    assert taken("auto", (1,), False) == ["cuda:1"]
    assert taken("auto", (0, 1), False) == ["cuda:0", "cuda:1"]
    states["cuda"] = MISSING
    assert taken("auto", None, True) == ["webgpu"]


def test_a_named_backend_is_taken(taken, states):
    states["webgpu"] = SOFTWARE
    assert taken("webgpu", None, False) == ["webgpu"]


def test_auto_says_what_devices_lack(taken, states, caplog):
    states |= {"cuda": MISSING, "webgpu": SOFTWARE}
    with caplog.at_level(logging.INFO):
        assert taken("auto", None, True) == ["cpu"]
    assert caplog.messages == ["not cuda: no driver; install it", "not webgpu: Big is software", "backend cpu"]


def test_the_oracle_is_announced(taken, states, caplog):
    states["cpu"] = MISSING
    with caplog.at_level(logging.WARNING):
        assert taken("auto", None, False) == ["reference"]
    assert caplog.messages == ["backend reference, which is slow (cpu: no driver; install it)"]


def test_devices_that_are_refused(states):
    with pytest.raises(InputError, match="devices: 1,1: a device is named twice"):
        ALIGNERS.choose("auto", (1, 1), False)
    with pytest.raises(InputError, match="devices: 0,1: one device compares sketches; name one"):
        COMPARERS.choose_one("cuda", (0, 1), True)
    with pytest.raises(InputError, match="devices: 0,1: one device embeds samples; name one"):
        EMBEDDERS.choose_one("cuda", (0, 1), True)


def test_fallbacks_are_announced_once(taken, caplog):
    fallback = Fallback(COMPARERS, "cuda:0")
    for what in ("pairs", "pairs", "others"):
        assert fallback.of(what).label == "cpu"
    assert caplog.messages == [f"cuda:0: no kernel for {what}; cpu computes them" for what in ("pairs", "others")]
