"""Help pages: whole at 80 columns, the same panels everywhere, and examples that work."""

import gzip
import re
import shlex
import subprocess
import sys

import click
import numpy as np
import pytest
from click.testing import CliRunner

from pairhmm.cli import help_style as pages
from pairhmm.cli.main import cli
from pairhmm.commands import COMMANDS
from pairhmm.map.sketch.files import write_sketches
from pairhmm.map.sketch.sketches import Scheme, Sketches
from tests.command_line.start import command as command_line

WIDTH = 80


def commands(group=cli, path=()):
    """Every command with its path, groups among them."""
    yield path, group
    if isinstance(group, click.Group):
        context = click.Context(group)
        for name in group.list_commands(context):
            yield from commands(group.get_command(context, name), (*path, name))


EVERY = [pytest.param(path, command, id=" ".join(path) or "pairhmm") for path, command in commands()]


def page(path):
    done = CliRunner().invoke(cli, [*path, "--help"], env={"COLUMNS": str(WIDTH)}, catch_exceptions=False)
    assert done.exit_code == 0
    return done.output


@pytest.mark.parametrize("name", ["call", "likelihoods", "explain"])
def test_the_short_page_has_every_required_parameter(name):
    text = CliRunner().invoke(cli, [name, "-h"], env={"COLUMNS": str(WIDTH)}, catch_exceptions=False).output
    command = cli.get_command(click.Context(cli), name)
    required = [max(one.opts, key=len) for one in command.params if one.required]
    assert "--reference" in required
    assert [one for one in required if one.upper() not in text.upper()] == []
    assert "--help  Show all options, and exit." in text
    assert text.count("│") < page([name]).count("│") / 2


def params(path, command):
    return command.get_params(click.Context(command, info_name=path[-1] if path else "pairhmm"))


def rows(text):
    """The lines inside panels, without their borders."""
    return [line.strip("│ ") for line in text.splitlines() if line.startswith("│")]


@pytest.mark.parametrize(("path", "command"), EVERY)
def test_nothing_is_cut_off_at_80_columns(path, command):
    text = page(path)
    assert "…" not in text
    assert all(len(line) <= WIDTH for line in text.splitlines())
    inside = rows(text)
    told = " ".join(" ".join(inside).split())
    for param in params(path, command):
        names = [*param.opts, *param.secondary_opts] if isinstance(param, click.Option) else [param.name.upper()]
        whole = [re.compile(rf"(^|[\s/]){re.escape(name)}($|[\s/])") for name in names]
        row = next((line for line in inside if all(name.search(line) for name in whole)), None)
        assert row is not None, names
        if isinstance(param, click.Option) and not param.is_flag:
            assert f" {param.make_metavar(click.Context(command))} " in f"{row} "
        if isinstance(param, click.Option) and param.show_default and isinstance(param.default, str | int | float):
            assert param.is_flag or f"[default: {param.default}]" in told


@pytest.mark.parametrize(("path", "command"), EVERY)
def test_every_value_of_a_choice_is_named(path, command):
    for param in params(path, command):
        if isinstance(param.type, click.Choice):
            named = {word.strip("',.;:") for word in param.help.split()}
            assert set(map(str, param.type.choices)) <= named, param.opts


@pytest.mark.parametrize(("path", "command"), EVERY)
def test_panels_are_those_of_the_list_in_its_order(path, command):
    shown = [title for title in re.findall(r"^╭─ (.+?) ─+╮$", page(path), flags=re.MULTILINE) if title != "Commands"]
    assert shown == [name for name in pages.PANELS if name in shown]
    own = [param for param in params(path, command) if {"--help", "--version"}.isdisjoint(param.opts)]
    assert all(param.panel in pages.PANELS for param in own)


def test_lists_say_of_a_command_what_its_page_begins_with():
    context = click.Context(cli, resilient_parsing=True)
    for name in COMMANDS:
        whole = cli.get_command(click.Context(cli), name)
        assert cli.get_command(context, name).help == " ".join(whole.help.split("\n\n")[0].split())


@pytest.mark.parametrize(("path", "command"), EVERY)
def test_examples_are_of_the_command_and_fit(path, command):
    assert 1 <= len(command.examples) <= 3
    for example in command.examples:
        assert all(len(line) <= WIDTH - len(pages.INDENT) for line in example.splitlines())
    assert any(" ".join(("pairhmm", *path)) in example for example in command.examples)


FIRST = ("simulate signatures", "simulate signal", "simulate samples", "simulate")
"""Commands whose examples make files that those of others take."""
NOT_RUN = re.compile(r"^snakemake|--calibrate|^pairhmm (bench|page)|cuda|webgpu|-o samples.fastq.gz|blow5")
"""Other programs, GPUs, browsers, and what takes minutes or needs another library."""
SMALLER = {
    "--length 100000": "--length 20000",
    "simulate cohort": "simulate cohort --sites 500",
    "signatures -o viruses.fa": "signatures --count 200 --min-length 500 --max-length 1000 -o viruses.fa",
}
MADE_UP = 1
"""Exit code of `validate` for a file with made-up likelihoods."""


def test_examples_work(tmp_path):
    by_path = {" ".join(path): command.examples for path, command in commands()}
    failed = []
    start = shlex.join(command_line())
    for name in dict.fromkeys((*FIRST, *by_path)):
        for example in by_path[name]:
            if NOT_RUN.search(example):
                continue
            # The console script may lead to another installation.
            script = re.sub(r"(^|\$\()pairhmm ", lambda found: f"{found[1]}{start} ", example)
            for whole, less in SMALLER.items():
                script = script.replace(whole, less)
            done = subprocess.run(script, shell=True, cwd=tmp_path, capture_output=True, text=True, timeout=120)
            if done.returncode not in ((0, MADE_UP) if name == "validate" else (0,)):
                failed.append(f"{example}\n{done.stderr}")
        if name == FIRST[-1]:
            _name_files(tmp_path)
    assert not failed, "\n".join(failed)


def _name_files(folder):
    """Give simulated files the names that examples have, and write the small ones."""
    made = folder / "demo"
    for old, new in (("reference.fa", "ref.fa"), ("reads.bam", "sample.bam"), ("truth.vcf.gz", "candidates.vcf.gz")):
        for path in made.glob(f"{old}*"):
            path.rename(folder / path.name.replace(old, new))
    (made / "reads_1.fastq.gz").rename(folder / "sample.fastq.gz")
    bases = (folder / "ref.fa").read_text().split("\n", 1)[1].replace("\n", "")[100:400]
    other = bases[:150] + ("A" if bases[150] != "A" else "C") + bases[151:]
    (folder / "haps.fa").write_text(f">a\n{bases}\n>b\n{other}\n")
    (folder / "haplotypes.fa").write_text(">h\nACGTTGCAACCA\n")
    (folder / "reads.fastq").write_text("@r\nACGTTGCAACCA\n+\nIIIIIIIIIIII\n")
    (folder / "pairs.in").write_text("1 1\nA I I I +\nA\n")
    (folder / "reads.profile").write_text(">p\n1 0 0 0\n.1 .1 .7 .1\n")
    (folder / "expected.txt").write_text("ACGTACGTAC ACGTACGTAC IIIIIIIIII NNNNNNNNNN NNNNNNNNNN ++++++++++ -1.0\n")
    for name in ("queries", "targets"):
        np.save(folder / f"{name}.npy", np.arange(200).reshape(2, 100))
    for name in ("samples", "collection", "new"):
        planes = np.arange(2 * 16, dtype=np.uint64).reshape(2, 8, 2)
        named = [f"{name}{number}" for number in range(2)]
        sketches = Sketches(Scheme(slots=128), named, planes, np.full(2, 1e6), np.ones(2, np.int32))
        write_sketches(folder / f"{name}.sketches", sketches)
    _write_cohort(folder)
    signal = (folder / "signal.tsv").read_text().splitlines(keepends=True)
    (folder / "signal.tsv").write_text("".join(signal[:10]))
    for name in ("first", "second"):
        (folder / f"{name}.tsv").write_text("#a\tb\n1\t2\n")


def _write_cohort(folder):
    """Two samples of one individual: `cohort.vcf.gz` with a sheet and a pedigree."""
    columns = "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\ta\tb\n"
    records = "".join(f"1\t{pos}\t.\tA\tG\t.\t.\t.\tAD\t9,{pos % 9}\t8,{pos % 9}\n" for pos in range(1, 40))
    with gzip.open(folder / "cohort.vcf.gz", "wt") as out:
        out.write(f"##fileformat=VCFv4.3\n{columns}{records}")
    (folder / "samples.tsv").write_text("sample\tindividual\na\tsame\nb\tsame\n")
    (folder / "family.ped").write_text("f a 0 0 1 0\nf b a 0 2 0\n")


@pytest.mark.parametrize(
    ("arguments", "unwanted"),
    [(["--help"], {"numpy", "pysam", "Bio", "pyarrow", "cupy"}), (["workflow", "path"], {"numpy", "rich.console"})],
)
def test_help_and_paths_import_little(arguments, unwanted):
    code = (
        "import sys\nfrom pairhmm.cli.main import main\n"
        f"try:\n    main({arguments})\nexcept SystemExit as end:\n    assert end.code == 0\n"
        f"assert not {unwanted} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)


def test_completion_lists_commands_without_importing_them():
    code = (
        "import sys, click\nfrom pairhmm.cli.main import COMMANDS, cli\n"
        "context = click.Context(cli, resilient_parsing=True)\n"
        "assert [cli.get_command(context, name).name for name in COMMANDS] == list(COMMANDS)\n"
        "assert 'numpy' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_an_unknown_option_has_a_hint(run_cli):
    done = run_cli("call", "--candidate", "x", "-f", "y", "z")
    assert done.returncode == 2
    assert "--candidates" in done.stderr
