"""How a run ends where a stream is closed, a terminal goes, memory is short, or an output is a link or protected."""

import os
import resource
import signal
import subprocess
import sys
import time
from functools import partial

import pytest

PAIRHMM = [sys.executable, "-m", "pairhmm"]
SIZES = ("--count", "3", "--min-length", "30", "--max-length", "40")
CLOSED = "pairhmm: error: stdout: is closed; redirect it, or name a file with -o\n"
DATA = "1 1\nA I I I +\nA\n"


@pytest.fixture
def pairs(tmp_path):
    path = tmp_path / "x.in"
    path.write_text(DATA)
    return path


def run_without(*descriptors, arguments, **options):
    """The command line with standard streams closed, as a shell's ``>&-`` has it."""

    def close():
        for descriptor in descriptors:
            os.close(descriptor)

    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    return subprocess.run([*PAIRHMM, *map(str, arguments)], text=True, timeout=300, preexec_fn=close, **streams)


@pytest.mark.parametrize("arguments", [["-q", "forward", "x.in"], ["devices"], ["--help"], ["workflow", "path"]])
def test_closed_stdout_is_one_line(pairs, arguments):
    done = run_without(1, arguments=arguments, cwd=pairs.parent)
    assert (done.returncode, done.stderr) == (2, CLOSED)


@pytest.mark.parametrize("closed", [(0,), (1,), (2,), (0, 1), (1, 2), (0, 1, 2)])
def test_a_file_is_written_without_streams(pairs, closed):
    """And no message gets into it: the first file that is opened must not become stdout or stderr."""
    output = pairs.parent / "out.tsv"
    done = run_without(*closed, arguments=["forward", pairs, "-o", output])
    assert done.returncode == 0, done.stderr
    lines = output.read_text().splitlines()
    assert len(lines) == 2 and lines[0].startswith("#group\t") and lines[1].startswith("0\t")
    assert pairs.read_text() == DATA


def test_closed_stderr_still_fails(pairs):
    assert run_without(2, arguments=["forward", pairs.parent / "none.in"]).returncode == 2
    assert run_without(2, arguments=["forward", "--nonsense"]).returncode == 2


def test_full_stdout_is_one_line(pairs):
    with open("/dev/full", "w") as full:
        done = subprocess.run([*PAIRHMM, "-q", "forward", pairs], stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 2
    assert done.stderr == "pairhmm: error: stdout: No space left on device; free some space or choose another -o\n"


@pytest.mark.parametrize(
    "arguments", [["forward", "x.in", "-o", "out.tsv"], ["simulate", "signatures", *SIZES, "-o", "out.tsv"]]
)
def test_work_goes_on_when_nobody_reads_the_messages(pairs, arguments):
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([*PAIRHMM, *arguments], stderr=writer, cwd=pairs.parent)
    os.close(writer)
    assert done.returncode == 0
    assert (pairs.parent / "out.tsv").stat().st_size > 0


def long_run(folder, **options):
    """A run of minutes, once its output is begun."""
    length = 150_000
    quality = "I" * length
    (folder / "x.in").write_text(
        f"1 1\n{'A' * length} {quality} {quality} {quality} {quality}\n{'ACGT' * (length // 4)}\n"
    )
    (folder / "out").mkdir()
    command = [*PAIRHMM, "forward", str(folder / "x.in"), "-o", str(folder / "out" / "scores.tsv")]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, **options)
    while not os.listdir(folder / "out") and process.poll() is None:
        time.sleep(0.05)
    return process


@pytest.mark.parametrize(
    ("number", "told"),
    [
        (signal.SIGINT, "interrupted"),
        (signal.SIGTERM, "terminated"),
        (signal.SIGHUP, "the terminal was closed (hang-up)"),
    ],
)
def test_a_signal_leaves_no_file(tmp_path, number, told):
    """Also inside the native code: one long pair. A shell's background jobs ignore Ctrl-C, and this one must not."""
    with long_run(tmp_path, preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL)) as process:
        process.send_signal(number)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 128 + number
    assert said.endswith(f"pairhmm: error: {told}\n") and "Traceback" not in said
    assert os.listdir(tmp_path / "out") == []


def test_nohup_holds(tmp_path):
    with long_run(tmp_path, preexec_fn=partial(signal.signal, signal.SIGHUP, signal.SIG_IGN)) as process:
        process.send_signal(signal.SIGHUP)
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(timeout=1)
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=60) == 128 + signal.SIGTERM


def test_an_output_through_a_link(pairs):
    (pairs.parent / "link.tsv").symlink_to("real.tsv")
    for _ in range(2):
        assert subprocess.run([*PAIRHMM, "-q", "forward", pairs, "-o", pairs.parent / "link.tsv"]).returncode == 0
        assert (pairs.parent / "link.tsv").is_symlink()
        assert (pairs.parent / "real.tsv").read_text().startswith("#group\t")
    assert sorted(os.listdir(pairs.parent)) == ["link.tsv", "real.tsv", "x.in"]


def test_a_read_only_output_stays(pairs, run_cli):
    output = pairs.parent / "out.tsv"
    output.write_text("mine")
    output.chmod(0o400)
    done = run_cli("-q", "forward", pairs, "-o", output)
    assert done.returncode == 2
    assert f"{output}: is read-only; choose another -o, or make it writable" in done.stderr
    assert output.read_text() == "mine"


@pytest.mark.parametrize(("length", "code"), [(246, 0), (255, 0), (256, 2)])
def test_long_names(pairs, run_cli, length, code):
    name = "x" * (length - 4) + ".tsv"
    done = run_cli("-q", "forward", pairs, "-o", pairs.parent / name)
    assert done.returncode == code
    assert len(done.stderr.splitlines()) == (code != 0)
    assert ("File name too long" in done.stderr) == (code != 0)
    assert sorted(os.listdir(pairs.parent)) == sorted(["x.in", *([name] if code == 0 else [])])


def limited(megabytes):
    return partial(resource.setrlimit, resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))


@pytest.mark.parametrize("megabytes", [260, 320])
def test_short_of_memory_is_one_line(pairs, run_cli, megabytes):
    """Parquet's library must not end the process, wait for ever, or be said to be missing."""
    pytest.importorskip("pyarrow")
    table = pairs.parent / "t.parquet"
    write = (
        "import sys; from pathlib import Path; from pairhmm.likelihoods.writer import open_likelihoods\n"
        "with open_likelihoods(Path(sys.argv[1])): pass\n"
    )
    subprocess.run([sys.executable, "-c", write, table], check=True)
    done = run_cli("-q", "gather", table, "-o", pairs.parent / "out.parquet", preexec_fn=limited(megabytes))
    assert done.returncode in (0, 1), done.stderr
    assert len(done.stderr.splitlines()) == done.returncode
    assert "needs pyarrow" not in done.stderr and "a defect" not in done.stderr
    assert (pairs.parent / "out.parquet").exists() == (done.returncode == 0)
