"""`--backend`, `--device` and `--device-memory`, wherever they are taken, and `devices`, which lists what they name."""

import pytest
from click.testing import CliRunner

from pairhmm import backends
from pairhmm.backends import Entry, Status
from pairhmm.bench.cli import command as bench
from pairhmm.bench.cli_devices import command as devices
from pairhmm.calling.cli import command as call
from pairhmm.calling.cli_likelihoods import command as likelihoods
from pairhmm.cli.compute import BACKENDS
from pairhmm.engine import Choice
from pairhmm.forward.cli import command as forward
from pairhmm.forward.cli_validate import command as validate

ALIGNMENTS = ["-f", "x.fa", "x.bam"]
COMMANDS = {
    "forward": (forward, ["x.in"], "pairhmm.forward.files.forward_files"),
    "likelihoods": (likelihoods, ALIGNMENTS, "pairhmm.calling.likelihoods.write_likelihoods"),
    "call": (call, ALIGNMENTS, "pairhmm.calling.call.write_calls"),
    "validate": (validate, ["x.txt"], "pairhmm.forward.validate.validate"),
}


class Reached(Exception):
    """What the command was about to do."""


@pytest.fixture(params=COMMANDS)
def chosen(request, monkeypatch):
    """``chosen(*options)``: what a command makes of them."""
    from importlib import import_module

    command, files, verb = COMMANDS[request.param]

    def stop(*args, **given):
        raise Reached(given["backend"] if "backend" in given else given["options"].backend)

    module, _, name = verb.rpartition(".")
    monkeypatch.setattr(import_module(module), name, stop)

    def run(*options):
        with pytest.raises(Reached) as reached:
            CliRunner().invoke(command, [*files, *options], catch_exceptions=False)
        return reached.value.args[0]

    return run


def test_auto_is_the_default(chosen):
    assert chosen() == Choice("auto", None, None)


def test_all_of_them(chosen):
    given = chosen("--backend", "cuda", "--device", "1,0", "--device-memory", "8G")
    assert given == Choice("cuda", (1, 0), 8 << 30)


@pytest.mark.parametrize(("size", "expected"), [("5", 5), ("3k", 3 << 10), ("500M", 500 << 20)])
def test_sizes(chosen, size, expected):
    assert chosen("--device-memory", size).device_memory == expected


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--device", "0,"], "'0,' is not a list of device numbers"),
        (["--device", "-1"], "'-1' is not a list of device numbers"),
        (["--device", "gpu"], "'gpu' is not a list of device numbers"),
        (["--device-memory", "0G"], "'0G' is not a size"),
        (["--device-memory", "1.5G"], "'1.5G' is not a size"),
        (["--device-memory", "all"], "'all' is not a size"),
        (["--backend", "abacus"], "abacus"),
    ],
)
def test_misuse(options, message):
    done = CliRunner().invoke(forward, ["x.in", *options])
    assert done.exit_code == 2
    assert message in done.output


@pytest.mark.parametrize("command", [["forward", "x.in"], ["bench", "forward", "--lengths", "20"]])
@pytest.mark.parametrize("option", ["--device", "--device-memory"])
def test_devices_of_a_backend_that_has_none(run_cli, tmp_path, command, option):
    (tmp_path / "x.in").write_text("1 1\nA I I I +\nA\n")
    done = run_cli(*command, "--backend", "reference", option, "1", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr == (
        f"pairhmm: error: {option}: backend reference computes on the CPU; leave it out, or name a GPU backend\n"
    )


def test_bench_gives_devices_to_those_that_have_some(monkeypatch):
    found = {"gpu": Status(True, devices=("One",)), "cpu": Status(True)}
    monkeypatch.setattr(
        backends, "REGISTRY", tuple(Entry(name, has_devices=bool(status.devices)) for name, status in found.items())
    )
    monkeypatch.setattr(backends, "status", found.__getitem__)
    measured = []
    monkeypatch.setattr("pairhmm.bench.lengths.measure_speed", lambda choice, *_, **__: measured.append(choice) or [])
    CliRunner().invoke(bench, ["forward", "--device", "0", "--table", "lengths"], catch_exceptions=False)
    assert measured == [Choice("gpu", (0,)), Choice("cpu")]


def test_every_backend_can_be_named():
    assert set(backends.names()) < set(BACKENDS)


def test_devices_has_a_line_for_each(monkeypatch):
    found = {
        "gpu": Status(True, "a library", ("Big, 80 GiB", "Small, 8 GiB")),
        "gone": Status(False, reason="no driver", cure="install one"),
    }
    monkeypatch.setattr(
        backends, "REGISTRY", tuple(Entry(name, has_devices=bool(status.devices)) for name, status in found.items())
    )
    monkeypatch.setattr(backends, "status", found.__getitem__)
    assert CliRunner().invoke(devices).output.splitlines()[:4] == [
        "gpu        available  a library",
        "gpu:0                 Big, 80 GiB",
        "gpu:1                 Small, 8 GiB",
        "gone       missing    no driver; install one",
    ]
