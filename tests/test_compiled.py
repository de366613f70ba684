"""Without the compiled part: every command starts, what can work works, and the rest says in a line what is missing."""

import json
import subprocess
import sys

import pytest

from pairhmm.commands import COMMANDS
from pairhmm.errors import CompiledPartMissing
from pairhmm.native import Missing

WITHOUT = "import sys; sys.modules['pairhmm._cpu'] = None; from pairhmm.cli.main import main; main(sys.argv[1:])"
MISSING = "needs pairhmm's compiled part, which is not installed; install a C++ compiler"
PAIR = "ACGTACGTAC ACGTACGTAC IIIIIIIIII NNNNNNNNNN NNNNNNNNNN ++++++++++ {}\n"


@pytest.fixture(scope="module")
def run():
    """``run(*arguments)``: the command line where the compiled part can't be imported."""

    def started(*arguments):
        command = [sys.executable, "-c", WITHOUT, *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)

    return started


@pytest.fixture(scope="module")
def data(tmp_path_factory, run_cli):
    """Simulated reads, and calls and likelihoods that a whole installation made of them."""
    folder = tmp_path_factory.mktemp("data")
    alignments = ("-f", folder / "d/reference.fa", folder / "d/reads.bam")
    for arguments in (
        ("simulate", "-o", folder / "d", "--length", "6000", "--coverage", "10"),
        ("call", *alignments, "-o", folder / "calls.vcf.gz"),
        ("likelihoods", *alignments, "-o", folder / "likelihoods.tsv.gz"),
    ):
        assert run_cli(*arguments).returncode == 0
    return folder


def test_every_command_is_there(run):
    found = run("--help")
    assert found.returncode == 0
    assert all(name in found.stdout for name in COMMANDS)


def test_devices_say_what_is_missing(run):
    found = run("devices", "--json")
    assert found.returncode == 0, found.stderr
    by_name = {one["backend"]: one for one in json.loads(found.stdout)["backends"]}
    assert by_name["reference"]["available"]
    assert not by_name["cpu"]["available"] and not by_name["webgpu"]["available"]
    assert f"{by_name['cpu']['reason']}; {by_name['cpu']['cure']}".startswith(MISSING)


@pytest.mark.parametrize("backend", ["reference", "auto"])
def test_validate(run, tmp_path, run_cli, backend):
    path = tmp_path / "pairs.txt"
    path.write_text(PAIR.format(0))
    score = run_cli("validate", path).stdout.splitlines()[1].split("\t")[4]
    path.write_text(PAIR.format(score))
    found = run("validate", "--backend", backend, path)
    assert found.returncode == 0, found.stderr
    assert "1 pair," in found.stderr and "float64" in found.stdout
    assert ("warning: backend reference" in found.stderr) == (backend == "auto")


def test_forward(run, run_cli, tmp_path):
    reads, haplotypes = tmp_path / "r.fq", tmp_path / "h.fa"
    reads.write_text("@r\nACGTACGTAC\n+\nIIIIIIIIII\n")
    haplotypes.write_text(">h\nTTACGTACGTACTT\n")
    found = run("forward", reads, haplotypes)
    assert found.returncode == 0, found.stderr
    assert found.stdout.splitlines()[1].split("\t")[:3] == ["0", "r", "h"]
    assert found.stdout.splitlines()[1].split("\t")[3] == run_cli("forward", reads, haplotypes).stdout.split()[8]


def test_report(run, data, tmp_path):
    page = tmp_path / "report.html"
    given = ("report", "-f", data / "d/reference.fa", "--calls", data / "calls.vcf.gz", "-o", page)
    given += ("--likelihoods", data / "likelihoods.tsv.gz")
    found = run(*given)
    assert found.returncode == 0, found.stderr
    assert "<html" in page.read_text()
    refused = run(*given, "--alignments", data / "d/reads.bam")
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
    assert refused.stderr.startswith(f"pairhmm: error: reading alignments {MISSING}")


@pytest.mark.parametrize(
    ("arguments", "subject"),
    [
        (("call", "-f", "{d}/reference.fa", "{d}/reads.bam", "-o", "{out}"), "reading alignments"),
        (("likelihoods", "-f", "{d}/reference.fa", "{d}/reads.bam", "-o", "{out}"), "reading alignments"),
        (("call", "--backend", "reference", "-f", "{d}/reference.fa", "{d}/reads.bam"), "reading alignments"),
        (("scan", "--signatures", "{d}/reference.fa", "{d}/reads_1.fastq.gz", "-o", "{out}"), "scan"),
        (("align", "{d}/reference.fa", "{d}/reference.fa", "-o", "{out}"), "align"),
        (("scatter", "-n", "2", "-f", "{d}/reference.fa", "{d}/reads.bam", "-o", "{out}"), "scatter"),
        (("validate", "--backend", "cpu", "{d}/reference.fa"), "backend cpu:"),
    ],
)
def test_what_cannot_work_says_so_in_a_line(run, data, tmp_path, arguments, subject):
    found = run(*(one.format(d=data / "d", out=tmp_path / "out") for one in arguments))
    assert found.returncode == 2
    assert found.stdout == ""
    assert found.stderr.count("\n") == 1 and found.stderr.startswith(f"pairhmm: error: {subject} {MISSING}")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("call", "output"),
    [
        ("[hit.start for hit in pairhmm.scan({'a': 'ACGTTGCAACCA'}, {'s': 'TTTACGTTGCAACCATT'})]", "[3]\n"),
        ("pairhmm.align('GATTACA', 'GATACA')[0].cigar", "2M1I4M\n"),
    ],
    ids=["scan", "align"],
)
def test_functions_of_sequences_take_the_oracle(call, output):
    code = "import sys; sys.modules['pairhmm._cpu'] = None; import logging; logging.basicConfig(); import pairhmm\n"
    found = subprocess.run([sys.executable, "-c", f"{code}print({call})"], capture_output=True, text=True, check=True)
    assert found.stdout == output
    assert "backend reference, which is slow" in found.stderr


def test_every_module_can_be_imported():
    """`native` is used where something is computed, and nowhere while a module is made."""
    code = (
        "import sys; sys.modules['pairhmm._cpu'] = None; import pairhmm, pkgutil, importlib\n"
        "names = [one.name for one in pkgutil.walk_packages(pairhmm.__path__, 'pairhmm.')]\n"
        "left = ('pairhmm._vendor', 'pairhmm._cpu', 'pairhmm.__main__')\n"
        "names = [name for name in names if not name.startswith(left)]\n"
        "for name in names: importlib.import_module(name)\n"
        "print(len(names))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr
    assert int(found.stdout) > 100


def test_a_compiled_part_that_does_not_load_says_why():
    missing = Missing("which does not load (GLIBCXX_3.4.32 not found)")
    with pytest.raises(CompiledPartMissing, match=r"does not load \(GLIBCXX_3.4.32 not found\); install"):
        _ = missing.Scanner
