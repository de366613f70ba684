"""`pairhmm page`: the page with an example and a policy, where it is written, and that it is opened."""

import os
import re

import pytest

from pairhmm.cli.main import main
from pairhmm.errors import InputError
from pairhmm.report import cli_page, web_page
from pairhmm.report.cli_page import page
from pairhmm.report.page_writer import unpack

POLICY = "<meta content=\"default-src 'none'; img-src data:; worker-src blob:; connect-src 'none'\">"
ICON = '<link rel="icon" href="data:,">'
BUILT = f'<!doctype html>\n<html lang="en">\n{POLICY}\n{ICON}\n<!-- examples -->\n'
HOSTED = ("icon.svg", "pairhmm.webmanifest")


@pytest.fixture(autouse=True)
def installed(monkeypatch, tmp_path):
    """A folder that stands for the built page of an installation."""
    folder = tmp_path / "package" / "web_page"
    (folder / "hosted").mkdir(parents=True)
    (folder / web_page.PAGE).write_text(BUILT)
    for name in HOSTED:
        (folder / "hosted" / name).write_text(f"ours: {name}")
    monkeypatch.setattr(web_page, "files", lambda package: folder.parent)
    return folder


@pytest.fixture
def example(tmp_path):
    folder = tmp_path / "example"
    folder.mkdir()
    for name in ("reads.bam", "reads.bam.bai", "ref.fa", "ref.fa.fai", "notes.txt"):
        (folder / name).write_bytes(name.encode() * 3)
    return folder


@pytest.fixture
def opened(monkeypatch):
    """Addresses that were opened. A second one is refused."""
    seen = []
    monkeypatch.setattr(cli_page.webbrowser, "open", lambda address: seen.append(address) or len(seen) < 2)
    return seen


def test_the_example_is_baked_in(example, tmp_path):
    (example / '"><b>.bam').write_bytes(b"")
    page(tmp_path / "p.html", example)
    text = (tmp_path / "p.html").read_text()
    baked = re.findall(r'<script type="text/plain" class="example" data-name="([^"]*)">([^<]*)</script>', text)
    names = ("reads.bam", "reads.bam.bai", "ref.fa", "ref.fa.fai")
    expected = {name: name.encode() * 3 for name in names} | {"&quot;&gt;&lt;b&gt;.bam": b""}
    assert {name: unpack(data) for name, data in baked} == expected
    assert "<b>" not in text


@pytest.mark.parametrize("allowed", [False, True])
def test_the_page_may_fetch_only_where_it_is_asked_for(tmp_path, allowed):
    page(tmp_path / "p.html", allow_urls=allowed)
    text = (tmp_path / "p.html").read_text()
    assert ("connect-src 'none'" in text) is not allowed
    assert ("data-urls" in text) is allowed


def test_a_hosted_page_has_its_files_beside_it_and_is_written_again(tmp_path):
    folder = tmp_path / "site" / "pairhmm"
    for _ in range(2):
        page(hosted=folder)
        assert sorted(path.name for path in folder.iterdir()) == ["icon.svg", "index.html", "pairhmm.webmanifest"]
        text = (folder / "index.html").read_text()
        assert all(part in text for part in web_page._HOSTED.values())
        assert "connect-src 'none'" in text
    assert (folder / "icon.svg").read_text() == "ours: icon.svg"


@pytest.mark.parametrize("name", ["index.html", "icon.svg"])
def test_a_hosted_page_replaces_no_file_of_others(tmp_path, name):
    folder = tmp_path / "served"
    folder.mkdir()
    (folder / name).write_text("<html>another's</html>")
    with pytest.raises(InputError, match=rf"{name}: is there already, and is no page of pairhmm; name another folder"):
        page(hosted=folder)
    assert [path.name for path in folder.iterdir()] == [name]
    assert (folder / name).read_text() == "<html>another's</html>"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda folder: (folder / "reads.bam").unlink(), r"has no alignments \(.bam, .cram\)"),
        (lambda folder: (folder / "ref.fa").unlink(), "has no reference"),
        (lambda folder: (folder / "other.fasta").write_text(">x\n"), "has 2 files of reference; leave one"),
        (lambda folder: os.truncate(folder / "reads.bam", 10**8), "holds 100 MB, and a page takes 64 MB"),
        (lambda folder: folder.rename(folder.with_name("moved")), "is not a folder"),
    ],
)
def test_a_folder_that_is_no_example(example, tmp_path, change, message):
    change(example)
    with pytest.raises(InputError, match=message):
        page(tmp_path / "p.html", example)
    assert not (tmp_path / "p.html").exists()


def test_the_page_does_not_overwrite_its_example(example):
    with pytest.raises(InputError, match=r"reads.bam"):
        page(example / "reads.bam", example)


def test_the_page_is_written_and_opened(opened, tmp_path, caplog):
    target = tmp_path / "p.html"
    assert page(target, opens=True) == str(target)
    assert target.read_text() == BUILT
    assert opened == [target.as_uri()]
    page(target, opens=True)
    assert f"no browser could be started: open {target}" in caplog.text


def test_without_a_name_the_page_is_in_the_cache(opened, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("HOME", str(tmp_path))
    path = page(opens=True)
    assert path.endswith(web_page.PAGE) and str(tmp_path) in path
    assert len(opened) == 1


def test_stdout_is_not_opened(opened):
    with pytest.raises(InputError, match="stdout can't be opened"):
        page("-", opens=True)
    assert opened == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["-o", "p.html"],
            "pairhmm: error: pairhmm/web_page/pairhmm.html: the page is not in this installation; install a wheel of"
            " pairhmm, or run 'make page' in a checkout (it needs Node)\n",
        ),
        (["-o", "p.pdf"], "p.pdf: not a name for pages; end it in .html or .htm"),
        ([], "Give -o, --open or both, or --hosted."),
        (["-o", "p.html", "--hosted", "."], "Give -o or --hosted, not both."),
    ],
)
def test_messages_of_the_command(installed, tmp_path, monkeypatch, capsys, arguments, message):
    (installed / web_page.PAGE).unlink()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as ended:
        main(["page", *arguments])
    assert ended.value.code == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "p.html").exists()
