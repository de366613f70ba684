"""What all commands share: imports, messages, exit codes, signals."""

import json
import os
import subprocess
import sys

import pytest

from pairhmm.backends import cpu


@pytest.mark.parametrize("arguments", [["nonsense"], ["devices", "--nonsense"], ["call"]])
def test_misuse_is_code_2(run_cli, arguments):
    done = run_cli(*arguments)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_numpy_starts_no_threads():
    """OpenBLAS would start one on each core, which no option of ours holds back."""
    if not os.path.isdir("/proc/self/task"):
        pytest.skip("the system does not list threads")
    code = (
        "import os, sys\nfrom pairhmm.cli.main import main\n"
        "try:\n    main(['call', '--help'])\nexcept SystemExit:\n    pass\n"
        "assert 'numpy' in sys.modules and len(os.listdir('/proc/self/task')) == 1\n"
    )
    settings = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL, env=settings)


def test_devices_json(run_cli):
    done = run_cli("devices", "--json")
    told = json.loads(done.stdout)
    by_name = {one["backend"]: one for one in told["backends"]}
    assert by_name["reference"]["available"]
    assert by_name["cpu"]["detail"] in told["simd_levels"]


def test_devices_says_why_not(run_cli):
    done = run_cli("devices", env={**os.environ, "PAIRHMM_CPU": "sse9"})
    assert done.returncode == 0
    assert "PAIRHMM_CPU=sse9" in done.stdout and "unset it" in done.stdout


@pytest.mark.parametrize("backend", ["auto", "cpu"])
def test_a_level_that_there_is_not(run_cli, tmp_path, backend):
    (tmp_path / "x.in").write_text("1 1\nA I I I +\nA\n")
    env = {**os.environ, "PAIRHMM_CPU": "sse9"}
    done = run_cli("forward", tmp_path / "x.in", "-o", tmp_path / "out.tsv", "--backend", backend, env=env)
    assert done.returncode == 2
    known = ", ".join(name for name, runs in cpu.instruction_sets() if runs)
    told = f"PAIRHMM_CPU: sse9: this build has no such instruction set; unset it or use one of {known}"
    assert done.stderr == f"pairhmm: error: {told}\n"
    assert not (tmp_path / "out.tsv").exists()


def test_json_log(run_cli, tmp_path):
    (tmp_path / "x.in").write_text("1 1\nA I I I +\nA\n")
    done = run_cli("--json-log", "forward", tmp_path / "x.in")
    messages = [json.loads(line) for line in done.stderr.splitlines()]
    assert any("backend" in message["message"] for message in messages)


def test_errors_are_json_too(run_cli, tmp_path):
    done = run_cli("forward", "--json-log", tmp_path / "none.in")
    assert done.returncode == 2
    assert json.loads(done.stderr.splitlines()[-1])["level"] == "error"


def test_shared_options_may_follow_the_command(run_cli, tmp_path):
    (tmp_path / "x.in").write_text("1 1\nA I I I +\nA\n")
    assert run_cli("forward", tmp_path / "x.in", "--quiet").stderr == ""
    assert run_cli("forward", "-q", tmp_path / "x.in").stderr == ""


def test_debug_shows_the_traceback(run_cli, tmp_path):
    done = run_cli("--debug", "forward", tmp_path / "none.in")
    assert "Traceback" in done.stderr


def test_head_gets_no_traceback(shared_data):
    reader, writer = os.pipe()
    command = [sys.executable, "-m", "pairhmm", "-q", "forward", str(shared_data / "1m.in"), "-@", "2"]
    process = subprocess.Popen(command, stdout=writer, stderr=subprocess.PIPE, text=True)
    os.close(writer)
    os.read(reader, 100)
    os.close(reader)
    _, told = process.communicate(timeout=60)
    assert told == ""
    assert process.returncode == 1, "as click has it"
