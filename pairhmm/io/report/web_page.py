"""Writes the page that calls variants in a browser, as it was built (web/), with an example baked in."""

from __future__ import annotations

import html
from importlib.resources import files
from pathlib import Path

from pairhmm.errors import InputError
from pairhmm.io.files.outputs import open_output
from pairhmm.reporting.packing import pack

PAGE, BENCHMARK = "pairhmm.html", "benchmark.html"
"""Names of the pages."""

KINDS = {
    "alignments": (".bam", ".cram"),
    "reference": (".fa", ".fasta", ".fna", ".fa.gz", ".fasta.gz", ".fna.gz", ".fa.bgz"),
    "variants": (".vcf", ".vcf.gz", ".vcf.bgz"),
    "regions": (".bed", ".bed.gz"),
    "index": (".bai", ".csi", ".crai", ".fai", ".gzi", ".tbi"),
}
"""Endings of the files that the page takes (web/src/page/files.js)."""

MOST_EXAMPLE_BYTES = 64_000_000
"""A page with a larger example opens slowly."""

_NO_REQUEST, _URLS = "connect-src 'none'", "connect-src https: http:"
_ROOT, _ROOT_WITH_URLS = '<html lang="en"', '<html lang="en" data-urls'
_EXAMPLES = "<!-- examples -->\n"


def write_web_page(destination: str, name: str, example: str | None = None, allow_urls: bool = False) -> None:
    """Write a page.

    Parameters
    ----------
    destination : str
        ``-`` is stdout.
    name : str
        `PAGE` or `BENCHMARK`.
    example : str, optional
        Folder of the files that the page offers as an example.
    allow_urls : bool
        Whether the page takes addresses of files. Without it, the page's own policy allows no request.

    Raises
    ------
    InputError
        Where the page was not built, and for a folder that is no example.
    """
    text = _built(name)
    if allow_urls:
        text = text.replace(_NO_REQUEST, _URLS, 1).replace(_ROOT, _ROOT_WITH_URLS, 1)
    before, mark, after = text.partition(_EXAMPLES)
    baked = [_baked(path) for path in _example_files(Path(example))] if example is not None else []
    with open_output(destination) as out:
        out.writelines([before, *baked, mark, after])


def _built(name: str) -> str:
    """The text of a page that `make page` built."""
    page = files("pairhmm") / "web_page" / name
    if not page.is_file():
        cure = "install a wheel of pairhmm, or run 'make page' in a checkout (it needs Node)"
        raise InputError(f"pairhmm/web_page/{name}", "", "the page is not in this installation", cure)
    return page.read_text(encoding="utf-8")


def _example_files(folder: Path) -> list[Path]:
    """The files of a folder that the page takes."""
    if not folder.is_dir():
        raise InputError(str(folder), "", "is not a folder", "name a folder with alignments and a reference")
    found = [path for path in sorted(folder.iterdir()) if path.is_file() and _kind(path) is not None]
    for kind in KINDS:
        count = sum(_kind(path) == kind for path in found)
        if count == 0 and kind in ("alignments", "reference"):
            rule = f"has no {kind} ({', '.join(KINDS[kind])})"
            raise InputError(str(folder), "", rule, "name a folder with alignments and a reference")
        if count > 1 and kind in ("reference", "variants", "regions"):
            raise InputError(str(folder), "", f"has {count} files of {kind}", "leave one, since the page takes one")
    size = sum(path.stat().st_size for path in found)
    if size > MOST_EXAMPLE_BYTES:
        rule = f"holds {size / 1e6:,.0f} MB, and a page takes {MOST_EXAMPLE_BYTES / 1e6:.0f} MB at most"
        raise InputError(str(folder), "", rule, "cut the files to a region (samtools view)")
    return found


def _kind(path: Path) -> str | None:
    name = path.name.lower()
    return next((kind for kind, endings in KINDS.items() if name.endswith(endings)), None)


def _baked(path: Path) -> str:
    name = html.escape(path.name, quote=True)
    return f'<script type="text/plain" class="example" data-name="{name}">{pack(path.read_bytes())}</script>\n'
