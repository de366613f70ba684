"""`pairhmm page`: the page that calls variants in a browser."""

from __future__ import annotations

import logging
import webbrowser
from pathlib import Path

import rich_click as click

from pairhmm.arguments import AnyPath, path_of
from pairhmm.cli.fields import output_option
from pairhmm.cli.help_style import INPUT, OUTPUT, Command
from pairhmm.errors import InputError
from pairhmm.files.descriptors import STDOUT
from pairhmm.files.destinations import check_apart, kept_apart
from pairhmm.files.formats import HTML_ENDINGS, require_ending
from pairhmm.report.web_page import INDEX, PAGE, make_hosted_folder, write_hosted_files, write_web_page

log = logging.getLogger(__name__)

EXAMPLES = (
    "pairhmm page --open",
    "pairhmm page -o pairhmm.html",
    "pairhmm page --data example/ -o example.html",
)


@click.command("page", cls=Command, examples=EXAMPLES)
@click.option(
    "--data",
    metavar="FOLDER",
    panel=INPUT,
    help="A folder with alignments, a reference and their indexes, and optionally a VCF or a BED: the example in the"
    " page.",
)
@output_option("The page (HTML). '-' is stdout.", default=None)
@click.option(
    "--open",
    "opens",
    is_flag=True,
    panel=OUTPUT,
    help="Open the page in the default browser. Without -o, it is written to the user's cache folder.",
)
@click.option(
    "--allow-urls",
    is_flag=True,
    panel=OUTPUT,
    help="Let the page fetch files by URL. By default, it can make no request.",
)
@click.option(
    "--hosted",
    metavar="FOLDER",
    panel=OUTPUT,
    help="Write a folder for a web server in place of -o: index.html, and what a browser needs to install the page."
    " Once open, the page works offline.",
)
def command(data: str | None, output: str | None, opens: bool, allow_urls: bool, hosted: str | None) -> None:
    """Write the page that calls variants in a browser, as one HTML file.

    The page needs no network and no server. Files opened in it stay on the computer.
    """
    if output is None and hosted is None and not opens:
        raise click.UsageError("Give -o, --open or both, or --hosted.")
    if output is not None and hosted is not None:
        raise click.UsageError("Give -o or --hosted, not both.")
    page(output, data, allow_urls=allow_urls, hosted=hosted, opens=opens)


@kept_apart()
def page(
    output: AnyPath | None = None,
    example: AnyPath | None = None,
    *,
    allow_urls: bool = False,
    hosted: AnyPath | None = None,
    opens: bool = False,
) -> str:
    """Write the page and, if `opens`, open it. Without `output` and `hosted`, it is in the user's cache folder.

    Returns
    -------
    str
        The page's path.

    Raises
    ------
    InputError
        Where the page was not built, for a folder that is no example, where stdout is to be opened, and where a file of
        `hosted` that another program wrote would be replaced.
    """
    destination, folder = path_of(output), path_of(example)
    if opens and destination == STDOUT:
        raise InputError("-o -", "", "stdout can't be opened in a browser", "name a file")
    served = path_of(hosted)
    if served is not None:
        destination = str(Path(served) / INDEX)
    destination = destination or _cached()
    require_ending(destination, "pages", HTML_ENDINGS)
    if folder is not None:
        check_apart(map(str, Path(folder).glob("*")), [("-o", destination)])
    if served is not None:
        make_hosted_folder(served)
    write_web_page(destination, folder, allow_urls, served is not None)
    if served is not None:
        write_hosted_files(served)
    log.info("%s", destination)
    if opens and not webbrowser.open(Path(destination).absolute().as_uri()):
        log.warning("no browser could be started: open %s", destination)
    return destination


def _cached() -> str:
    from platformdirs import user_cache_path

    try:
        return str(user_cache_path("pairhmm", appauthor=False, ensure_exists=True) / PAGE)
    except OSError as error:
        raise InputError("the cache folder", "", error.strerror or "can't be made", "name a file with -o") from error
