"""`pairhmm page`: the page that calls variants in a browser."""

from __future__ import annotations

import rich_click as click

from pairhmm.cli.fields import output_option
from pairhmm.cli.help_style import INPUT, OUTPUT, Command
from pairhmm.report import web_page_command as page

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
    help="A folder with alignments, a reference and their indexes, and optionally a VCF or a BED. The page carries them"
    " as its example.",
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
    help="The page takes addresses of files, too, and may fetch them. Without this option, it can make no request.",
)
@click.option(
    "--hosted",
    metavar="FOLDER",
    panel=OUTPUT,
    help="Write a folder for a web server in place of -o: the page as index.html, and what a browser needs to keep it."
    " Once open, the page works without a network.",
)
def command(data: str | None, output: str | None, opens: bool, allow_urls: bool, hosted: str | None) -> None:
    """Write the page that calls variants in a browser, as one HTML file.

    The page needs no network and no server. Files that are given to it stay on the computer.
    """
    if output is None and hosted is None and not opens:
        raise click.UsageError("Give -o, --open or both, or --hosted.")
    if output is not None and hosted is not None:
        raise click.UsageError("Give -o or --hosted, not both.")
    page.page(output, data, allow_urls=allow_urls, hosted=hosted, opens=opens)
