"""`page`: the page that calls variants in a browser, as one HTML file."""

from __future__ import annotations

import logging
import webbrowser
from pathlib import Path

from pairhmm.arguments import AnyPath, path_of
from pairhmm.errors import InputError
from pairhmm.files.descriptors import STDOUT
from pairhmm.files.destinations import check_apart, kept_apart
from pairhmm.report.web_page import INDEX, PAGE, make_hosted_folder, write_hosted_files, write_web_page

__all__ = ["page"]

log = logging.getLogger(__name__)


@kept_apart()
def page(
    output: AnyPath | None = None,
    example: AnyPath | None = None,
    *,
    allow_urls: bool = False,
    hosted: AnyPath | None = None,
    opens: bool = False,
) -> str:
    """Write the page that calls variants in a browser, and open it.

    Parameters
    ----------
    output : path, optional
        HTML; ``-`` is stdout. Without it, the page is written to the user's cache folder.
    example : path, optional
        Folder with alignments, a reference and their indexes, which the page then offers as an example.
    allow_urls : bool
        The page takes addresses of files, too, and may fetch them.
    hosted : path, optional
        Folder for a web server, in place of `output`: the page as ``index.html``, and what browsers need to keep it.
    opens : bool
        Open the page in the default browser.

    Returns
    -------
    str
        Where the page is.

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
