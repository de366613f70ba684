"""Every option and argument that takes a file, found by walking the commands: none of them can be overwritten."""

import signal

import click
import pytest

from pairhmm.cli.main import cli, main
from pairhmm.cli.param_types import InputFile, OutputFile
from pairhmm.files.destinations import kept_apart

CONTENT = "kept\n"


def walk(command, path=()):
    """The commands below a command, with the words that lead to them. A group that does work itself is one, too."""
    if isinstance(command, click.Group):
        context = click.Context(command, info_name="pairhmm")
        for name in command.list_commands(context):
            yield from walk(command.get_command(context, name), (*path, name))
    if path and (not isinstance(command, click.Group) or command.invoke_without_command):
        yield path, command


COMMANDS = dict(walk(cli))
PARAMETERS = [(path, one) for path, command in COMMANDS.items() for one in command.params]
PAIRS = [
    pytest.param(path, source, output, id=f"{' '.join(path)} {source.opts[0]} {output.opts[0]}")
    for path, command in COMMANDS.items()
    for source in command.params
    for output in command.params
    if isinstance(source.type, InputFile) and isinstance(output.type, OutputFile)
]


def words(parameter, value):
    return [value] if isinstance(parameter, click.Argument) else [parameter.opts[0], value]


def line(path, given):
    """A command line: what is given, and a file for whatever else is required."""
    command = COMMANDS[path]
    options, arguments = [*path], []
    for one in command.params:
        if one in given:
            value = given[one]
        elif one.required:
            value = "2" if isinstance(one.type, click.IntRange) else f"other-{one.name}"
        else:
            continue
        (arguments if isinstance(one, click.Argument) else options).extend(words(one, value))
    return [*options, *arguments]


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Run the command line in this process: the exit code, and what it says."""
    monkeypatch.chdir(tmp_path)
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}

    def run(arguments):
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        return ended.value.code, capsys.readouterr().err

    yield run
    for number, handler in handlers.items():
        signal.signal(number, handler)


def test_the_walk_finds_the_commands():
    assert {("call",), ("map", "sketch"), ("simulate", "signal"), ("report",)} <= COMMANDS.keys()
    assert len(PAIRS) > 80


def test_every_file_of_the_command_line_has_a_type_that_guards_it():
    for path, one in PARAMETERS:
        is_position = (path, one.name) == (("explain",), "position")
        is_file = getattr(one, "metavar", None) == "FILE" or (isinstance(one, click.Argument) and not is_position)
        is_path = isinstance(one.type, click.Path) and (path, one.name) != (("bench", "dp"), "roofline")
        if is_file or is_path:
            assert isinstance(one.type, InputFile | OutputFile), (path, one.name)


@pytest.mark.parametrize(("path", "source", "output"), PAIRS)
@pytest.mark.parametrize("is_linked", [False, True])
def test_an_output_that_is_an_input_is_refused(tmp_path, run, path, source, output, is_linked):
    kept = tmp_path / "kept.txt"
    kept.write_text(CONTENT)
    target = "kept.txt"
    if is_linked:
        target = "linked.txt"
        (tmp_path / target).symlink_to("kept.txt")
    before = sorted(tmp_path.iterdir())
    code, told = run(line(path, {source: "kept.txt", output: target}))
    assert code == 2, told
    assert f"{target}: would be written by {output.opts[0]}, but is the input kept.txt" in told
    assert len(told.splitlines()) == 1
    assert kept.read_text() == CONTENT
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    ("path", "one"),
    [
        pytest.param(path, one, id=f"{' '.join(path)} {one.opts[0]}")
        for path, one in PARAMETERS
        if isinstance(one.type, InputFile)
    ],
)
@pytest.mark.parametrize(
    ("packed", "program", "cure"),
    [
        (bytes.fromhex("fd377a585a000004e6d6b4460200210116000000742fe5a3"), "xz", "xz -d"),
        (bytes.fromhex("28b52ffd0458190000610a"), "zstd", "zstd -d"),
        (b"BZh91AY&SY\x63\x3f\xbe\x1e", "bzip2", "bzip2 -d"),
    ],
    ids=lambda value: value if isinstance(value, str) and " " not in value else "",
)
def test_what_another_program_packed_is_named(tmp_path, run, path, one, packed, program, cure):
    (tmp_path / "x").write_bytes(packed)
    code, told = run(line(path, {one: "x"}))
    assert code == 2
    assert told == (
        f"pairhmm: error: x: is packed by {program}, which is not read; unpack it ({cure});"
        " text may be packed with gzip or bgzip instead\n"
    )


def test_completion_of_a_shell_checks_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x").write_text(CONTENT)
    with kept_apart():
        context = COMMANDS["gather",].make_context("gather", ["x", "-o", "x"], resilient_parsing=True)
    assert context.params["output"] == "x"
