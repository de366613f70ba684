"""The `pairhmm` command: finds the subcommand, sets up messages, and turns errors into one line and an exit code."""

from __future__ import annotations

import logging
import signal
import sys
from difflib import get_close_matches
from importlib import import_module

import rich_click as click
from click.exceptions import Exit

from pairhmm.cli import ends
from pairhmm.engine.threads import tell_of_refused_threads
from pairhmm.errors import BackendUnavailable, InputError, PairhmmError
from pairhmm.io.files.names import printable
from pairhmm.io.files.outputs import output_errors

# A command's module is imported when it is run; its line of help stands here so that --help imports none of them.
COMMANDS = {
    "likelihoods": "Likelihood of every read given every haplotype, from BAM or CRAM.",
    "call": "Genotypes from BAM or CRAM, of given candidates or of those that the reads show.",
    "scatter": "Cut a run into pieces of equal work, to be run side by side.",
    "gather": "Put the outputs of pieces together.",
    "scan": "Signatures that occur in samples, scored by base quality.",
    "fit": "A model's parameters from BAM or CRAM.",
    "forward": "Score sequence files: reads against haplotypes.",
    "workflow": "Where the Snakemake workflow is.",
    "report": "One HTML file from the outputs of a run: samples, sites, reads, hits.",
    "validate": "Compare a backend with reference likelihoods.",
    "simulate": "Make a reference, a truth VCF, reads and their true alignments.",
    "bench": "Measure speed and accuracy here.",
    "devices": "Say which backends run here, and why others do not.",
}

SHARED_OPTIONS = ("-q", "--quiet", "--verbose", "--json-log", "--debug")

FAILED, MISUSED = 1, 2
SIGNAL_BASE = 128


class _LazyCommands(click.RichGroup):
    """Imports a command when it is run; for the list of commands its line of help is enough."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return click.RichCommand(name=cmd_name, help=COMMANDS[cmd_name]) if cmd_name in COMMANDS else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            name, command, rest = super().resolve_command(ctx, args)
        except click.UsageError as error:
            near = get_close_matches(args[0], COMMANDS, n=1)
            if not near:
                raise
            raise click.UsageError(f"{error.message} Did you mean {near[0]!r}?", ctx) from error
        if name in COMMANDS:
            command = import_module(f"pairhmm.cli.{name}").command
        return name, command, rest


@click.group(cls=_LazyCommands, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("-q", "--quiet", is_flag=True, help="Only warnings and errors on stderr.")
@click.option("--verbose", is_flag=True, help="Say on stderr what is being done.")
@click.option("--json-log", is_flag=True, help="Messages on stderr as JSON, one object a line.")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
@click.version_option(package_name="pairhmm")
def cli(quiet: bool, verbose: bool, json_log: bool, debug: bool) -> None:
    """Pair-HMM likelihoods of reads given haplotypes, and the genotypes that follow from them."""
    _set_up_messages(logging.WARNING if quiet else logging.DEBUG if verbose else logging.INFO, json_log)


class _JsonFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        import json

        return json.dumps({"level": record.levelname.lower(), "logger": record.name, "message": record.getMessage()})


class _LineFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        level = f"{record.levelname.lower()}: " if record.levelno >= logging.WARNING else ""
        # Of a file's name, too, a line break makes no second line, and an escape code does nothing to the terminal.
        return f"pairhmm: {level}{printable(record.getMessage())}"


def _set_up_messages(level: int, json_log: bool) -> None:
    handler = ends.MessageHandler(sys.stderr)
    handler.setFormatter(_JsonFormatter() if json_log else _LineFormatter())
    logger = logging.getLogger("pairhmm")
    logger.handlers[:] = [handler]
    logger.setLevel(level)
    logger.propagate = False


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit: 0 done, 1 the work failed or a check did not hold, 2 usage or input error."""
    ends.open_closed_streams()
    ends.heed_signals()
    given = _shared_first(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in given
    try:
        code = cli.main(given, prog_name="pairhmm", standalone_mode=False)
        tell_of_refused_threads()
        with output_errors("stdout"):
            sys.stdout.flush()
    except Exit as exit_:
        code = exit_.exit_code
    except click.ClickException as error:
        ends.tell_if_heard(error.show)
        code = MISUSED
    except (click.Abort, KeyboardInterrupt):
        _tell("interrupted")
        code = SIGNAL_BASE + signal.SIGINT
    except ends.Ended as ended:
        ends.settle()
        _tell(ended.told)
        code = SIGNAL_BASE + ended.number
    except BrokenPipeError:
        # The reader of a pipe has gone, as `head` does: nothing is left to write.
        code = FAILED
    except (InputError, BackendUnavailable) as error:
        if debug:
            raise
        _tell(str(error))
        code = MISUSED
    except MemoryError as error:
        if debug:
            raise
        _tell(f"out of memory: {_one_line(error)}; give it more, or smaller pieces (-r, --chunk-size)")
        code = FAILED
    except (PairhmmError, OSError) as error:
        if debug:
            raise
        _tell(_one_line(error))
        code = FAILED
    except Exception as error:
        if debug:
            raise
        _tell(f"{type(error).__name__}: {_one_line(error)} (a defect: --debug shows where)")
        code = FAILED
    finally:
        ends.drop_unwritten()
    sys.exit(code if isinstance(code, int) else 0)


def _shared_first(arguments: list[str]) -> list[str]:
    """Options that all commands share may stand behind the command too; click wants them before it."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    shared = [argument for argument in arguments[:end] if argument in SHARED_OPTIONS]
    return shared + [argument for argument in arguments[:end] if argument not in SHARED_OPTIONS] + arguments[end:]


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split()) or type(error).__name__


def _tell(message: str) -> None:
    logger = logging.getLogger("pairhmm")
    if not logger.handlers:
        _set_up_messages(logging.INFO, json_log=False)
    logger.error(message)
