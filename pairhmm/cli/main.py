"""The `pairhmm` command finds its subcommand, sets up messages, and turns errors into one line and an exit code."""

from __future__ import annotations

import json
import logging
import signal
import sys
from collections.abc import Callable
from difflib import get_close_matches
from typing import Any, NoReturn

import rich_click as click
from click.exceptions import Exit

from pairhmm.cli import ends, startup
from pairhmm.cli.pages import MESSAGES, Command, CommandGroup
from pairhmm.errors import BackendUnavailable, InputError, PairhmmError
from pairhmm.io.files.destinations import kept_apart
from pairhmm.io.files.names import printable

# A command's module is imported when it runs. Its line of help is kept here, so that --help imports no module.
COMMANDS = {
    "likelihoods": "Write log10 P(read | haplotype) for the reads of each region.",
    "call": "Genotype candidate variants, and write VCF or BCF.",
    "scatter": "Cut a run of 'call' or 'likelihoods' into pieces with about as many reads each.",
    "gather": "Put the outputs of a run's pieces together.",
    "scan": "Find signatures in samples, with the base qualities under each match.",
    "align": "Align each sequence of QUERIES to one of TARGETS, exactly, and write scores or alignments.",
    "warp": "Find the cheapest time warping of signals onto signals, or of raw reads onto signatures.",
    "map": "Find which samples are alike, swapped or contaminated.",
    "fit": "Fit the parameters of a model to the reads of BAM or CRAM.",
    "calibrate-str": "Estimate how often tandem repeats gain or lose units in the reads of BAM or CRAM.",
    "profiles": "Write reads as the profile model takes them: as letter probabilities.",
    "forward": "Score every read of READS against every sequence of HAPLOTYPES.",
    "workflow": "Find the Snakemake workflow that comes with pairhmm.",
    "report": "Make one HTML file of a run's outputs: samples, sites, reads and hits.",
    "page": "Write the page that calls variants in a browser, as one HTML file.",
    "validate": "Compare the scores of a backend with the likelihoods in FILE.",
    "simulate": "Make a diploid genome with known variants, and paired reads of it.",
    "bench": "Measure speed and accuracy on this machine.",
    "devices": "List the backends that run here with their devices, and say what the others lack.",
}

EXAMPLES = (
    "pairhmm call -f ref.fa -o calls.vcf.gz sample.bam",
    "pairhmm scan --signatures viruses.fa -o hits.tsv sample.fastq.gz",
    "pairhmm call --help",
)

SHARED_OPTIONS = ("-q", "--quiet", "--verbose", "--json-log", "--debug")

FAILED, MISUSED = 1, 2


class _LazyCommands(CommandGroup):
    """Imports a command only when it is asked for. For lists of commands, the line of help is enough."""

    _is_listing = False

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        # A shell that completes a name lists the commands, too.
        if self._is_listing or ctx.resilient_parsing:
            return Command(name=cmd_name, help=COMMANDS[cmd_name])
        return _imported(cmd_name)

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
            near = get_close_matches(args[0], COMMANDS, n=1)
            if not near:
                raise
            raise click.UsageError(f"{error.message} Did you mean {near[0]!r}?", ctx) from error
        return name, _imported(name) if name in COMMANDS else command, rest


def _imported(name: str) -> click.Command:
    command: click.Command = startup.import_command(name).command
    return command


def _message_option(*names: str, help: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    return click.option(*names, is_flag=True, panel=MESSAGES, help=help)


@click.group("pairhmm", cls=_LazyCommands, examples=EXAMPLES)
@_message_option("-q", "--quiet", help="Only warnings and errors are written to stderr.")
@_message_option("--verbose", help="What the command does is written to stderr in detail.")
@_message_option("--json-log", help="Messages on stderr are JSON, one object a line.")
@_message_option("--debug", help="An error shows where in the code it occurred.")
@click.version_option(package_name="pairhmm")
def cli(quiet: bool, verbose: bool, json_log: bool, debug: bool) -> None:
    """Score reads against haplotypes with a pair hidden Markov model, and genotype variants with these scores.

    'pairhmm COMMAND --help' describes a command. The options for messages may also stand behind the command.
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
    handler = ends.MessageHandler(sys.stderr)
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
    ends.open_closed_streams()
    given = _shared_first(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in given
    try:
        ends.raise_signals()
        with kept_apart():
            code = cli.main(given, prog_name="pairhmm", standalone_mode=False)
        _tell_of_refused_threads()
        _flush_stdout()
    except Exit as exit_:
        code = exit_.exit_code
    except click.ClickException as error:
        ends.tell_if_heard(error.show)
        code = MISUSED
    except click.Abort:
        _tell("interrupted")
        code = startup.SIGNALLED + signal.SIGINT
    except ends.Ended as ended:
        _tell(ended.told)
        code = startup.SIGNALLED + ended.number
    except BrokenPipeError:
        # The reader of a pipe has closed it, as `head` does: nobody wants the rest.
        code = FAILED
    except (InputError, BackendUnavailable) as error:
        if debug:
            raise
        _tell(str(error))
        code = MISUSED
    except MemoryError as error:
        if debug:
            raise
        _tell(f"out of memory: {_one_line(error)}; free some, or work on less at once (-r, --chunk-size)")
        code = FAILED
    except (PairhmmError, OSError) as error:
        if debug:
            raise
        _tell(_one_line(error))
        code = FAILED
    except Exception as error:
        if debug:
            raise
        _tell(f"{type(error).__name__}: {_one_line(error)} (a defect in pairhmm; --debug shows where)")
        code = FAILED
    finally:
        ends.drop_unwritten()
    code = code if isinstance(code, int) else 0
    sys.exit(code)


def _shared_first(arguments: list[str]) -> list[str]:
    """Move options that all commands share, and that may stand behind a command, to where click wants them: first."""
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


def _tell_of_refused_threads() -> None:
    """Say how many threads the system refused, where a command has started any."""
    if "pairhmm._cpu" in sys.modules:
        from pairhmm.engine.threads import tell_of_refused_threads

        tell_of_refused_threads()


def _flush_stdout() -> None:
    """Write what stdout still holds. A failure is reported like that of any other output."""
    try:
        sys.stdout.flush()
    except OSError:
        from pairhmm.io.files.outputs import output_errors

        with output_errors("stdout"):
            raise
