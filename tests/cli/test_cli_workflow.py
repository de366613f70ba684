"""`pairhmm workflow`: the copy that comes with the package, and options that it gives, checked before any job."""

from pathlib import Path

import pytest

from pairhmm.cli.workflow import why_wrong
from pairhmm.errors import InputError

REQUIRED = {
    "call": ["-f", "ref.fa"],
    "scatter": ["-f", "ref.fa", "-n", "1", "-o", "pieces"],
    "scan": ["--signatures", "s.fa"],
    "map sketch": ["-o", "x.sketches"],
    "map draw": ["-o", "x.tsv"],
    "consensus": ["-f", "ref.fa", "-b", "s.bam"],
}


def test_the_path_has_it_all(run_cli):
    done = run_cli("workflow", "path")
    assert (done.returncode, done.stderr) == (0, "")
    folder = Path(done.stdout.strip())
    assert folder.is_absolute()
    names = ["Snakefile", "rules/call.smk", "config/README.md", "schemas/config.schema.yaml", "envs/pairhmm.yaml"]
    names += [f"profiles/{name}/config.yaml" for name in ("default", "gpu", "slurm", "kubernetes", "googlebatch")]
    names += [".test/Snakefile", "report/calls.rst"]
    assert [name for name in names if not (folder / name).is_file()] == []


@pytest.mark.parametrize(
    ("command", "text"),
    [
        *(("call", ""), ("call", "--min-mapq 30 --no-version -q"), ("call", "--sample-sex 'a b=F'")),
        *(("call", "--min-mapq $MAPQ"), ("scatter", "--min-alt-count 3"), ("scan", "--tile=31 --max-mismatches 1")),
        *(("map sketch", "--k 31"), ("map draw", "--weight sheet=0"), ("consensus", "--iupac-fraction 0.2")),
    ],
)
def test_sound(command, text):
    assert why_wrong(command, text, REQUIRED[command]) == ""


@pytest.mark.parametrize(
    ("command", "text", "expected"),
    [
        ("call", "--min-mapqq 30", "No such option '--min-mapqq'"),
        ("call", "--min-mapq x", "Invalid value for '--min-mapq': 'x'"),
        ("call", "--min-mapq 300", "Invalid value for '--min-mapq': 300 is not in the range"),
        ("call", "--min-mapq", "Invalid value for '--min-mapq'"),
        ("call", "--preset hifii", "Invalid value for '--preset': 'hifii' is not one of"),
        ("call", "30", "'30' is no option"),
        ("call", "--help", "No such option '--help'"),
        ("call", "--sample-sex 'a=F", "No closing quotation"),
        ("scatter", "--min-qual 30", "No such option '--min-qual'"),
        ("map sketch", "-k 31", "No such option '-k'"),
        ("map draw", "--weight", "Option '--weight' requires an argument"),
    ],
)
def test_wrong(command, text, expected, capsys):
    found = why_wrong(command, text, REQUIRED[command])
    assert found.startswith(expected)
    assert "\n" not in found
    assert capsys.readouterr() == ("", "")


def test_a_file_that_an_option_names():
    with pytest.raises(InputError, match=r"none\.toml: No such file"):
        why_wrong("call", "--str-model none.toml", REQUIRED["call"])
