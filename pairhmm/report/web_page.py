"""Writes the page that calls variants in a browser, as it was built (web/), with an example baked in."""

from __future__ import annotations

import html
import os
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from pairhmm.errors import InputError
from pairhmm.files.outputs import open_output
from pairhmm.report.page_writer import pack

PAGE = "pairhmm.html"
"""The name of the page."""

KINDS = {
    "alignments": (".bam", ".cram"),
    "reference": (".fa", ".fasta", ".fna", ".fa.gz", ".fasta.gz", ".fna.gz", ".fa.bgz"),
    "variants": (".vcf", ".vcf.gz", ".vcf.bgz"),
    "regions": (".bed", ".bed.gz"),
    "index": (".bai", ".csi", ".crai", ".fai", ".gzi", ".tbi"),
}
"""Endings of the files that the page takes (web/src/page/files.js)."""

INDEX = "index.html"
"""The name of a page on a server."""

MOST_EXAMPLE_BYTES = 64_000_000
"""A page with a larger example opens slowly."""

_MANIFEST = '<link rel="manifest" href="pairhmm.webmanifest">'
_URLS = {"connect-src 'none'": "connect-src https: http:", '<html lang="en"': '<html lang="en" data-urls'}
_HOSTED = {
    "worker-src blob:": "worker-src blob: 'self'; manifest-src 'self'",
    "img-src data:": "img-src 'self'",
    '<link rel="icon" href="data:,">': f'<link rel="icon" href="icon.svg">\n{_MANIFEST}',
    '<html lang="en"': '<html lang="en" data-hosted',
}
"""Replacements in a page that fetches URLs, or one on a server."""
# Marks a hosted page, near its beginning.
_MARK, _MARK_WITHIN = _MANIFEST.encode(), 1 << 16
_EXAMPLES = "<!-- examples -->\n"


def write_web_page(
    destination: str, example: str | None = None, allow_urls: bool = False, is_hosted: bool = False
) -> None:
    """Write the page.

    Parameters
    ----------
    destination : str
        ``-`` is stdout.
    example : str, optional
        Folder of the files that the page offers as an example.
    allow_urls : bool
        Whether the page takes addresses of files. Without it, the page's own policy allows no request.
    is_hosted : bool
        Whether the files of `write_hosted_files` are beside the page.
    """
    text = _built().read_text(encoding="utf-8")
    for before, after in [*(_URLS.items() if allow_urls else ()), *(_HOSTED.items() if is_hosted else ())]:
        text = text.replace(before, after, 1)
    before, mark, after = text.partition(_EXAMPLES)
    baked = [_baked(path) for path in _example_files(Path(example))] if example is not None else []
    with open_output(destination) as out:
        out.writelines([before, *baked, mark, after])


def make_hosted_folder(folder: str) -> None:
    """Make the folder of a hosted page. A folder that is there has such a page, or no file of the same names."""
    for name in () if _has_page(folder) else (INDEX, *(file.name for file in _hosted_files())):
        path = os.path.join(folder, name)
        if os.path.lexists(path):
            rule = "is there already, and is no page of pairhmm"
            raise InputError(path, "", rule, "name another folder, or move it away")
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise InputError(folder, "", error.strerror or "can't be made", "name another folder") from error


def _has_page(folder: str) -> bool:
    try:
        with open(os.path.join(folder, INDEX), "rb") as page:
            return _MARK in page.read(_MARK_WITHIN)
    except OSError:
        return False


def write_hosted_files(folder: str) -> None:
    """Write what a browser needs to keep a hosted page: a manifest, an icon and a service worker."""
    for file in _hosted_files():
        with open_output(Path(folder) / file.name) as out:
            out.write(file.read_text(encoding="utf-8"))


def _hosted_files() -> list[Traversable]:
    _built()
    return list((files("pairhmm") / "web_page" / "hosted").iterdir())


def _built() -> Traversable:
    """The page that `make page` built."""
    page = files("pairhmm") / "web_page" / PAGE
    if not page.is_file():
        cure = "install a wheel of pairhmm, or run 'make page' in a checkout (it needs Node)"
        raise InputError(f"pairhmm/web_page/{PAGE}", "", "the page is not in this installation", cure)
    return page


def _example_files(folder: Path) -> list[Path]:
    """The files of a folder that the page takes."""
    if not folder.is_dir():
        raise InputError(str(folder), "", "is not a folder", "name a folder with alignments and a reference")
    files = [path for path in sorted(folder.iterdir()) if path.is_file() and _kind(path) is not None]
    for kind in KINDS:
        count = sum(_kind(path) == kind for path in files)
        if count == 0 and kind in ("alignments", "reference"):
            rule = f"has no {kind} ({', '.join(KINDS[kind])})"
            raise InputError(str(folder), "", rule, "name a folder with alignments and a reference")
        if count > 1 and kind in ("reference", "variants", "regions"):
            raise InputError(str(folder), "", f"has {count} files of {kind}", "leave one, since the page takes one")
    size = sum(path.stat().st_size for path in files)
    if size > MOST_EXAMPLE_BYTES:
        rule = f"holds {size / 1e6:,.0f} MB, and a page takes {MOST_EXAMPLE_BYTES / 1e6:.0f} MB at most"
        raise InputError(str(folder), "", rule, "cut the files to a region (samtools view)")
    return files


def _kind(path: Path) -> str | None:
    name = path.name.lower()
    return next((kind for kind, endings in KINDS.items() if name.endswith(endings)), None)


def _baked(path: Path) -> str:
    name = html.escape(path.name, quote=True)
    return f'<script type="text/plain" class="example" data-name="{name}">{pack(path.read_bytes())}</script>\n'
