"""MkDocs: pages of the site that lie outside docs/, and the links between them."""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath
from posixpath import normpath, relpath

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

PAGES = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "benchmarks/README.md": "benchmarks/README.md",
    "benchmarks/dp-gpu.md": "benchmarks/dp-gpu.md",
    "benchmarks/forward-gpu.md": "benchmarks/forward-gpu.md",
    "workflows/config/README.md": "workflow-configuration.md",
    "wrappers/README.md": "wrappers.md",
}
"""Where each is in the site; what is in docs/ keeps its place."""

_SOURCES = {page: source for source, page in PAGES.items()}
_LINK = re.compile(r"(?<=\]\()(?![a-z]+:|#)([^)#\s]+)(#[^)\s]*)?(?=\))")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages."""
    root = Path(config.config_file_path).parent
    for source, page in PAGES.items():
        files.append(File.generated(config, page, abs_src_path=str(root / source)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Turn links between files of the repository into links between pages.

    A link to a file that is no page becomes its text. What is nowhere stays, and MkDocs says so.
    """
    here = page.file.src_uri
    folder = PurePosixPath(_SOURCES.get(here, f"docs/{here}")).parent
    root = Path(config.config_file_path).parent
    lines = markdown.split("\n")
    in_code = False
    for number, line in enumerate(lines):
        in_code ^= line.startswith("```")
        if not in_code:
            lines[number] = _with_links(line, here, folder, root)
    return "\n".join(lines)


def _with_links(line: str, here: str, folder: PurePosixPath, root: Path) -> str:
    def link(found: re.Match[str]) -> str:
        target = normpath(str(folder / found[1]))
        page = PAGES.get(target, target.removeprefix("docs/") if target.startswith("docs/") else None)
        if page is None:
            return "" if (root / target).exists() else found[0]
        return relpath(page, str(PurePosixPath(here).parent)) + (found[2] or "")

    return re.sub(r"\[([^]]*)\]\(\)", r"\1", _LINK.sub(link, line))
