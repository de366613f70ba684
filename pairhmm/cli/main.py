"""The command `pairhmm`: finds the subcommand, sets up logging, and turns errors into one line and an exit code."""

from __future__ import annotations

import ast
import json
import logging
import signal
import sys
from collections.abc import Callable
from difflib import get_close_matches
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any, NoReturn

import rich_click as click
from click.exceptions import Exit

from pairhmm.cli import ending, startup
from pairhmm.cli.help_style import MESSAGES, Command, CommandGroup
from pairhmm.commands import COMMANDS
from pairhmm.errors import BackendUnavailable, InputError, PairhmmError
from pairhmm.files.destinations import kept_apart
from pairhmm.files.names import printable

EXAMPLES = (
    "pairhmm call -f ref.fa -o calls.vcf.gz sample.bam",
    "pairhmm scan --signatures viruses.fa -o hits.tsv sample.fastq.gz",
    "pairhmm call --help",
)

SHARED_OPTIONS = ("-q", "--quiet", "--verbose", "--json-log", "--debug")

FOREIGN_COMMANDS = {name: ["call"] for name in ("HaplotypeCaller", "freebayes", "mpileup")}
"""Names that other tools have for our commands."""

FAILED, MISUSED = 1, 2


class _LazyCommands(CommandGroup):
    """Imports a command when it runs. Lists of commands read its summary from its source."""

    _is_listing = False

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        # A shell that completes a name lists the commands, too.
        if self._is_listing or ctx.resilient_parsing:
            return Command(name=cmd_name, help=_summary(cmd_name))
        return load_command(cmd_name)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        self._is_listing = True
        try:
            super().format_options(ctx, formatter)
        finally:
            self._is_listing = False

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            name, command, rest = super().resolve_command(ctx, args)
        except click.UsageError as error:
            near = FOREIGN_COMMANDS.get(args[0]) or get_close_matches(args[0], COMMANDS, n=1)
            if not near:
                raise
            raise click.UsageError(f"{error.message} Did you mean {near[0]!r}?", ctx) from error
        return name, load_command(name) if name in COMMANDS else command, rest


def _function_of(name: str) -> tuple[str, str]:
    """The module and the function of a command."""
    module, _, function = COMMANDS[name].partition(":")
    return module, function or "command"


def _summary(name: str) -> str:
    """The first paragraph of a command's help, which is the docstring of its function."""
    module, function_name = _function_of(name)
    spec = find_spec(module)
    assert spec is not None and spec.origin is not None
    source = Path(spec.origin).read_text(encoding="utf-8")
    (function,) = ast.parse(source[source.index(f"\ndef {function_name}(") :]).body[:1]
    assert isinstance(function, ast.FunctionDef)
    return " ".join((ast.get_docstring(function) or "").partition("\n\n")[0].split())


def load_command(name: str) -> click.Command:
    """Import a subcommand."""
    module, function = _function_of(name)
    command: click.Command = getattr(startup.import_command(module), function)
    return command


def _message_option(*names: str, help: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    return click.option(*names, is_flag=True, panel=MESSAGES, help=help)


@click.group("pairhmm", cls=_LazyCommands, examples=EXAMPLES)
@_message_option("-q", "--quiet", help="Write only warnings and errors to stderr.")
@_message_option("--verbose", help="Report each step on stderr.")
@_message_option("--json-log", help="Write messages as JSON, one object per line.")
@_message_option("--debug", help="Show the traceback of an error.")
@click.version_option(package_name="pairhmm")
def cli(quiet: bool, verbose: bool, json_log: bool, debug: bool) -> None:
    """Score reads against haplotypes with a pair hidden Markov model, and genotype variants by these scores.

    'pairhmm COMMAND --help' describes a command. Message options may also follow the command.
    """
    _set_up_messages(logging.WARNING if quiet else logging.DEBUG if verbose else logging.INFO, json_log)


class _JsonFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return json.dumps({"level": record.levelname.lower(), "logger": record.name, "message": record.getMessage()})


class _LineFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        level = f"{record.levelname.lower()}: " if record.levelno >= logging.WARNING else ""
        # A file name may hold line breaks and escape codes. They are escaped, so that they do nothing to the terminal.
        return f"pairhmm: {level}{printable(record.getMessage())}"


def _set_up_messages(level: int, json_log: bool) -> None:
    handler = ending.MessageHandler(sys.stderr)
    handler.setFormatter(_JsonFormatter() if json_log else _LineFormatter())
    logger = logging.getLogger("pairhmm")
    logger.handlers[:] = [handler]
    logger.setLevel(level)
    logger.propagate = False


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the command line and exit.

    The exit code is 0 if the work is done, 1 if it failed or a check did not hold, and 2 for an error in usage or
    input. A signal that ends the run gives 128 plus its number.
    """
    startup.set_up()
    ending.open_closed_streams()
    given = sys.argv[1:] if arguments is None else arguments
    arguments = _shared_first(given)
    debug = "--debug" in arguments
    try:
        ending.raise_signals()
        _check_quiet(given)
        with kept_apart():
            code = cli.main(arguments, prog_name="pairhmm", standalone_mode=False)
        _report_refused_threads()
        _flush_stdout()
    except Exit as exit_:
        code = exit_.exit_code
    except click.ClickException as error:
        ending.show_if_open(error.show)
        code = MISUSED
    except click.Abort:
        _log_error("interrupted")
        code = startup.SIGNALLED + signal.SIGINT
    except ending.Ended as ended:
        ending.Ended.arrived = True
        _log_error(ended.message)
        code = startup.SIGNALLED + ended.number
    except BrokenPipeError:
        # The reader of a pipe has closed it, as `head` does: nobody wants the rest.
        code = FAILED
    except (InputError, BackendUnavailable) as error:
        if debug:
            raise
        _log_error(error.of_command_line if isinstance(error, InputError) else str(error))
        code = MISUSED
    except MemoryError as error:
        if debug:
            raise
        _log_error(f"out of memory: {_one_line(error)}; free some, or work on less at once (-r, --chunk-size)")
        code = FAILED
    except (PairhmmError, OSError) as error:
        if debug:
            raise
        _log_error(_one_line(error))
        code = FAILED
    except Exception as error:
        if debug:
            raise
        _log_error(f"{type(error).__name__}: {_one_line(error)} (a defect in pairhmm; --debug shows where)")
        code = FAILED
    finally:
        ending.drop_unwritten()
    code = code if isinstance(code, int) else 0
    sys.exit(code)


def _shared_first(arguments: list[str]) -> list[str]:
    """Move options that all commands share, and that may stand behind a command, to where click wants them: first."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    shared = [argument for argument in arguments[:end] if argument in SHARED_OPTIONS]
    return shared + [argument for argument in arguments[:end] if argument not in SHARED_OPTIONS] + arguments[end:]


def _check_quiet(arguments: list[str]) -> None:
    """Refuse `-q 20`, the lowest mapping quality of other tools: the number would be taken for a file."""
    for option, value in pairwise(arguments):
        if option == "-q" and value.isdecimal() and not Path(value).exists():
            raise click.UsageError("-q is --quiet, and takes no number. The lowest mapping quality is --min-mapq.")


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split()) or type(error).__name__


def _log_error(message: str) -> None:
    logger = logging.getLogger("pairhmm")
    if not logger.handlers:
        _set_up_messages(logging.INFO, json_log=False)
    logger.error(message)


def _report_refused_threads() -> None:
    """Say how many threads the system refused, where a command has started any."""
    if "pairhmm._cpu" in sys.modules:
        from pairhmm.process import tell_of_refused_threads

        tell_of_refused_threads()


def _flush_stdout() -> None:
    """Write what stdout still holds. A failure is reported like that of any other output."""
    try:
        sys.stdout.flush()
    except OSError:
        from pairhmm.files.outputs import output_errors

        with output_errors("stdout"):
            raise
