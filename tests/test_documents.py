"""The documents say what the code does, and what they link to is there."""

import re
import tomllib
from html import unescape
from pathlib import Path

import pytest
import rich_click as click

import pairhmm
from pairhmm.cli.main import cli
from pairhmm.variants.call_writer import open_calls

PROJECT = Path(__file__).resolve().parents[1]
FOLDERS = (".", "docs", "docs/start", "benchmarks", "workflows/config", "wrappers")
DOCUMENTS = sorted(
    path.relative_to(PROJECT).as_posix() for folder in FOLDERS for path in (PROJECT / folder).glob("*.md")
)

ARCHITECTURE = "docs/architecture.md"

_CODE = re.compile(r"^```.*?^```|^(?: {4}|\t).*?$|`[^`\n]*`", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\[[^]]*\]\(([^)\s]+)\)")


@pytest.fixture(autouse=True, scope="module")
def checkout(require):
    require("checkout", (PROJECT / "docs").is_dir(), "not a checkout")


@pytest.fixture(scope="module")
def site(require):
    """The folder of the site that `make docs` built."""
    index = PROJECT / "build" / "docs" / "index.html"
    sources = [PROJECT / "mkdocs.yml", *(PROJECT / "docs").rglob("*.md"), *(PROJECT / "pairhmm").rglob("*.py")]
    changed = max(path.stat().st_mtime for path in sources)
    require("docs", index.exists() and index.stat().st_mtime >= changed, "no site of these documents: make docs")
    return index.parent


def prose(document):
    return _CODE.sub("", (PROJECT / document).read_text())


def anchors(path):
    """What GitHub makes of the headings of a document."""
    headings = re.findall(r"^#+ +(.*)$", re.sub(r"^```.*?^```", "", path.read_text(), flags=re.M | re.S), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("document", DOCUMENTS)
def test_links_lead_somewhere(document):
    for link in _LINK.findall(prose(document)):
        if "://" in link:
            continue
        name, _, anchor = link.partition("#")
        target = (PROJECT / document).parent / name if name else PROJECT / document
        assert target.exists(), f"{document}: {link}"
        assert not anchor or anchor in anchors(target), f"{document}: {link}"


def table(document, heading):
    """The rows of the first table below a heading, as lists of cells without backticks."""
    below = (PROJECT / document).read_text().split(f"\n## {heading}\n")[1]
    lines = re.search(r"(?:^\|.*\n)+", below, re.MULTILINE)[0].splitlines()
    return [[cell.strip().replace("`", "") for cell in line.strip("|").split(" | ")] for line in lines[2:]]


BUILT = {"pairhmm/web_page/"}
"""What `make page` makes, which a checkout need not have."""


def test_paths_of_the_architecture_are_there():
    for path in re.findall(
        r"`((?:pairhmm|cpu|cuda|shaders|tests|docs|workflows)/[\w./-]*)`", (PROJECT / ARCHITECTURE).read_text()
    ):
        assert path in BUILT or (PROJECT / path).exists(), path


def test_fields_of_the_vcf(tmp_path):
    pattern = re.compile(r'##(INFO|FORMAT|FILTER)=<ID=(\w+),(?:Number=(\w+),Type=(\w+),)?Description="(.*)">')

    def header_lines(mixture):
        path = tmp_path / "x.vcf"
        with open_calls(path, {"one": 1}, ["s"], min_quality=9.0, reference="r.fa", provenance={}, mixture=mixture):
            pass
        return [found.groups() for found in map(pattern.match, path.read_text().splitlines()) if found]

    header = header_lines(mixture=False)
    fields = {
        kind: [(name, *shape) for given, name, *shape, _ in header if given == kind] for kind in ("INFO", "FORMAT")
    }
    for kind, expected in fields.items():
        assert [tuple(row[:3]) for row in table("docs/vcf.md", kind)] == expected
    filters = [name for kind, name, *_ in header_lines(mixture=True) if kind == "FILTER"]
    assert [row[0] for row in table("docs/vcf.md", "FILTER")] == filters


def test_pages_load_nothing_from_other_hosts(site):
    for page in site.rglob("*.html"):
        loaded = re.findall(r"<(?:script|img|link)\b[^>]*(?:src|href)=[\"']?(?:https?:)?//[^>]*>", page.read_text())
        assert not loaded, page.name


def commands(context):
    """Every command's path, with its parameters."""
    yield context.command_path, context.command.get_params(context)
    if isinstance(context.command, click.Group):
        for name in context.command.list_commands(context):
            found = context.command.resolve_command(context, [name])[1]
            yield from commands(click.Context(found, info_name=name, parent=context))


COMMANDS = dict(commands(click.Context(cli, info_name="pairhmm")))


def options_of(path):
    return {name for option in COMMANDS[path] for name in (*option.opts, *option.secondary_opts)}


@pytest.mark.parametrize("document", DOCUMENTS)
def test_named_options_are_those_of_the_command(document):
    text = (PROJECT / document).read_text().replace("\\\n", " ")
    for line, code in re.findall(r"^ +(?:\$ )?(pairhmm .*)$|`(pairhmm [^`]*)`", text, re.MULTILINE):
        words = re.sub(r" [|>#].*", "", line or code).split()
        path = [word for word in words[:4] if re.fullmatch("[a-z]+", word)]
        while " ".join(path) not in COMMANDS:
            path.pop()
        if len(path) > 1:
            named = {word.partition("=")[0] for word in words if re.match(r"--?[\w@]", word)}
            assert named <= options_of(" ".join(path)) | options_of("pairhmm"), f"{document}: {line or code}"


def test_the_reference_has_every_command(site):
    text = (site / "commands.html").read_text()
    shown = unescape(re.sub(r"<[^>]+>", "", text))
    for path, parameters in COMMANDS.items():
        assert f'id="{path.replace(" ", "-")}"' in text
        for parameter in parameters:
            if isinstance(parameter, click.Option) and not parameter.hidden:
                assert all(name in shown for name in parameter.opts), f"{path}: {parameter.opts}"


def test_the_reference_has_every_public_name(site):
    text = (site / "api.html").read_text()
    missing = {name for name in pairhmm.__all__ if f'id="pairhmm.{name}"' not in text}
    assert missing == {"__version__"} and "pairhmm.__version__" in text


def test_the_make_targets_of_the_documents_are_there():
    targets = set(re.findall(r"^([\w-]+):", (PROJECT / "Makefile").read_text(), re.MULTILINE))
    for name in ("README.md", "CONTRIBUTING.md", ".ci/run"):
        named = set(re.findall(r"(?:^ {4}|`|^)make ([\w-]+)", (PROJECT / name).read_text(), re.MULTILINE))
        assert "test" in named and named <= targets, name


VERSIONED = {
    "CITATION.cff": r"^version: (.*)",
    "web/package.json": r'^  "version": "(.*)"',
    "web/package-lock.json": r'"name": "pairhmm-web",\n +"version": "(.*)"',
    "docs/cluster.md": r"/pairhmm:(\S+)",
    "recipe/meta.yaml": r'set version = "(.*)"',
    "workflows/envs/pairhmm.yaml": r"pairhmm\S*==(.*)",
    **{f"workflows/profiles/{name}/config.yaml": r"/pairhmm:(\S+)" for name in ("kubernetes", "googlebatch")},
    **{
        f"wrappers/{name}/environment.yaml": r"pairhmm\S*==(.*)"
        for name in ("call", "consensus", "likelihoods", "scan")
    },
}
"""Files that name the version, and how."""


def test_the_version_is_that_of_the_project():
    version = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]["version"]
    named = {path: set(re.findall(pattern, (PROJECT / path).read_text(), re.M)) for path, pattern in VERSIONED.items()}
    assert {path: versions for path, versions in named.items() if versions != {version}} == {}
    assert re.findall(r"^## \[(.*?)\]", (PROJECT / "CHANGELOG.md").read_text(), re.MULTILINE)[:2] == [
        "Unreleased",
        version,
    ]
