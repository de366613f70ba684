"""A new backend is a folder and a line of the registry: everything else asks the registry."""

import subprocess
import sys

import pytest

from pairhmm import backends
from pairhmm.backends import cpu, reference
from pairhmm.errors import BackendUnavailable
from pairhmm.scan.base import SCANNERS, Patterns, ScanOptions
from pairhmm.sequences.signatures import Signatures

FAKE = """
import sys
from types import ModuleType
from pairhmm import backends
from pairhmm.backends import Entry, Status, reference
from pairhmm.cli.main import main


class Abacus(reference.ReferenceBackend):
    name = label = "abacus"

    def __init__(self, device, memory):
        super().__init__()
        self.label = f"abacus:{device}"


module = ModuleType("pairhmm.backends.abacus")
module.status = lambda: Status(True, "wood", ("Ten rows",))
module.make = Abacus
sys.modules[module.__name__] = module
backends.REGISTRY = (Entry("abacus", has_devices=True), *backends.REGISTRY)
sys.exit(main())
"""


@pytest.fixture
def run():
    """The command line where the registry has one backend more."""

    def run(*arguments):
        command = [sys.executable, "-c", FAKE, *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    return run


@pytest.fixture
def pairs(tmp_path):
    path = tmp_path / "x.in"
    path.write_text("1 1\nACGT IIII IIII IIII ++++\nACGTT\n")
    return path


def test_a_new_backend_computes(run, pairs):
    done = run("forward", "--backend", "abacus", pairs)
    expected = run("forward", "--backend", "reference", pairs)
    assert (done.returncode, done.stdout) == (0, expected.stdout), done.stderr
    assert "abacus" in run("forward", "--help").stdout


def test_a_new_backend_is_one_that_auto_takes(run, pairs):
    done = run("forward", "--device", "0", pairs)
    assert "backend abacus (wood), the fastest here" in done.stderr


def test_a_new_backend_need_not_scan(run, tmp_path):
    (tmp_path / "s.fa").write_text(">s\nACGTACGTACGT\n")
    done = run("scan", tmp_path / "s.fa", "--signatures", tmp_path / "s.fa", "--backend", "abacus")
    assert done.returncode == 2
    assert done.stderr.startswith("pairhmm: error: backend abacus: it does not scan; use one of cuda, ")


def test_properties():
    assert backends.on_devices() + backends.on_the_cpu() == backends.names() == SCANNERS.names()
    assert [name for name in backends.names() if backends.is_oracle(name)] == [backends.names()[-1]]


@pytest.mark.parametrize("backend", [cpu.CpuBackend, reference.ReferenceBackend])
def test_kernels_are_timed_by_devices_alone(backend):
    assert not backend.times_kernels
    with pytest.raises(TypeError, match=f"backend {backend.name} does not time its kernels"):
        backend.kernel_seconds(backend, None, 1)


def test_scanners_take_what_scans(monkeypatch):
    monkeypatch.setattr(backends, "REGISTRY", (backends.Entry("abacus", has_devices=True), *backends.REGISTRY))
    assert "abacus" not in SCANNERS.names()
    with pytest.raises(BackendUnavailable, match="it does not scan"):
        SCANNERS.load("abacus", Patterns.of(Signatures.of([], []), ScanOptions()), ScanOptions())


def test_the_registry_is_cheap_to_ask():
    code = "import sys, pairhmm.backends; assert not {'numpy', 'pairhmm.models'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
