"""Processes side by side take different devices, and what a killed one had is free again."""

import signal
import subprocess
import sys
from importlib import import_module

import pytest
from click.testing import CliRunner

from pairhmm import backends
from pairhmm.backends import Status
from pairhmm.engine.device_claims import claim_devices
from pairhmm.errors import BackendUnavailable, InputError
from pairhmm.forward.cli_validate import command as validate
from pairhmm.scan.cli import command as scan

CLAIM = """
import logging, sys, time
from pairhmm import backends
from pairhmm.backends import Status
from pairhmm.engine.device_claims import claim_devices
logging.basicConfig(level=logging.INFO, stream=sys.stdout, format="%(message)s")
from pairhmm.backends.cuda.setup import machine_numbers
backends.status = lambda name: Status(True, devices=("one", "two", "three"), machine_numbers=machine_numbers(3))
print(claim_devices("cuda", int(sys.argv[1])), flush=True)
time.sleep(600)
"""


@pytest.fixture
def claims(tmp_path, monkeypatch):
    """``claims(count)``: a process that claims so many of three devices; all of them share no claims with others."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    running = []

    def start(count, **environment):
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        process = subprocess.Popen([sys.executable, "-c", CLAIM, str(count)], stdout=subprocess.PIPE, text=True)
        running.append(process)
        return process

    yield start
    for process in running:
        process.kill()
        process.communicate()


def test_each_has_its_own(claims):
    assert claims(1).stdout.readline() == "(0,)\n"
    pair = claims(2)
    assert pair.stdout.readline() == "(1, 2)\n"
    waiting = claims(2)
    assert waiting.stdout.readline() == "waiting for 2 of cuda-0, cuda-1, cuda-2 to be free\n"
    pair.send_signal(signal.SIGKILL)
    assert waiting.stdout.readline() == "(1, 2)\n"


def test_a_schedulers_choice_is_another_device(claims):
    """What is number 0 to both is not the same."""
    assert claims(1, CUDA_VISIBLE_DEVICES="4").stdout.readline() == "(0,)\n"
    assert claims(1, CUDA_VISIBLE_DEVICES="5").stdout.readline() == "(0,)\n"
    assert claims(1, CUDA_VISIBLE_DEVICES="4,6").stdout.readline() == "(1,)\n"


def test_refused(monkeypatch):
    with pytest.raises(InputError, match="needs to know whose devices; name the --backend"):
        claim_devices("auto")
    with pytest.raises(InputError, match="cpu has 0 devices, and 1 are asked for"):
        claim_devices("cpu")
    monkeypatch.setattr(backends, "status", lambda name: Status(False, reason="no driver", cure="install it"))
    with pytest.raises(BackendUnavailable, match="no driver; install it"):
        claim_devices("cuda")


def test_as_an_option(monkeypatch):
    seen = []
    monkeypatch.setattr("pairhmm.engine.device_claims.claim_devices", lambda *asked: seen.append(asked) or (2, 5))
    monkeypatch.setattr(
        import_module("pairhmm.forward.validate"),
        "validate",
        lambda *_, **given: seen.append(given["backend"].devices),
    )
    CliRunner().invoke(validate, ["x.txt", "--backend", "cuda", "--device", "free,free"])
    assert seen == [("cuda", 2), (2, 5)]
    done = CliRunner().invoke(validate, ["x.txt", "--device", "free,1"])
    assert done.exit_code == 2 and "is not a list of device numbers" in done.output


def test_as_the_option_of_a_command_that_takes_one(monkeypatch):
    seen = []
    monkeypatch.setattr("pairhmm.engine.device_claims.claim_devices", lambda *asked: seen.append(asked) or (3,))
    monkeypatch.setattr(
        import_module("pairhmm.scan.files"), "scan_files", lambda *_, **given: seen.append(given["device"])
    )
    for device in ("free", "7"):
        CliRunner().invoke(scan, ["x.fq", "--signatures", "s.fa", "--backend", "cuda", "--device", device])
    assert seen == [("cuda", 1), 3, 7]
    done = CliRunner().invoke(scan, ["x.fq", "--signatures", "s.fa", "--device", "0,1"])
    assert done.exit_code == 2 and "is neither the number of a" in done.output
