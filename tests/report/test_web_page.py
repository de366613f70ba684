"""The page as it is written: with an example baked in, and with the policy that is asked for."""

from __future__ import annotations

import os
import re

import pytest

from pairhmm.errors import InputError
from pairhmm.report import web_page
from pairhmm.report.packing import unpack

POLICY = "<meta content=\"default-src 'none'; img-src data:; worker-src blob:; connect-src 'none'\">"
ICON = '<link rel="icon" href="data:,">'
BUILT = f'<!doctype html>\n<html lang="en">\n{POLICY}\n{ICON}\n<!-- examples -->\n'


@pytest.fixture
def installed(monkeypatch, tmp_path):
    """A folder that stands for the installed package, with a page."""
    folder = tmp_path / "package"
    (folder / "web_page").mkdir(parents=True)
    (folder / "web_page" / web_page.PAGE).write_text(BUILT)
    monkeypatch.setattr(web_page, "files", lambda package: folder)
    return folder


@pytest.fixture
def example(tmp_path):
    folder = tmp_path / "example"
    folder.mkdir()
    for name in ("reads.bam", "reads.bam.bai", "ref.fa", "ref.fa.fai", "notes.txt"):
        (folder / name).write_bytes(name.encode() * 3)
    return folder


def test_the_example_is_baked_in(installed, example, tmp_path):
    web_page.write_web_page(str(tmp_path / "p.html"), str(example))
    text = (tmp_path / "p.html").read_text()
    baked = re.findall(r'<script type="text/plain" class="example" data-name="([^"]*)">([^<]*)</script>', text)
    assert {name: unpack(data) for name, data in baked} == {
        name: name.encode() * 3 for name in ("reads.bam", "reads.bam.bai", "ref.fa", "ref.fa.fai")
    }


def test_the_page_may_fetch_only_where_it_is_asked_for(installed, tmp_path):
    for allowed in (False, True):
        web_page.write_web_page(str(tmp_path / "p.html"), None, allowed)
        text = (tmp_path / "p.html").read_text()
        assert ("connect-src 'none'" in text) is not allowed
        assert ("data-urls" in text) is allowed


def test_a_hosted_page_has_its_files_beside_it(installed, tmp_path):
    (installed / "web_page" / "hosted").mkdir()
    (installed / "web_page" / "hosted" / "service_worker.js").write_text("x")
    web_page.make_hosted_folder(str(tmp_path / "site" / "pairhmm"))
    web_page.write_hosted_files(str(tmp_path / "site" / "pairhmm"))
    assert (tmp_path / "site" / "pairhmm" / "service_worker.js").read_text() == "x"
    web_page.write_web_page(str(tmp_path / "p.html"), is_hosted=True)
    text = (tmp_path / "p.html").read_text()
    assert all(one in text for one in web_page._HOSTED.values())
    assert "connect-src 'none'" in text


def test_names_of_files_stay_text(installed, example, tmp_path):
    (example / '"><b>.bam').write_bytes(b"")
    web_page.write_web_page(str(tmp_path / "p.html"), str(example))
    assert "<b>" not in (tmp_path / "p.html").read_text()


def test_a_page_that_was_not_built(installed, tmp_path):
    (installed / "web_page" / web_page.PAGE).unlink()
    with pytest.raises(InputError, match=r"pairhmm/web_page/pairhmm.html: the page is not in this .* 'make page'"):
        web_page.write_web_page(str(tmp_path / "p.html"))
    assert not (tmp_path / "p.html").exists()


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda folder: (folder / "reads.bam").unlink(), r"has no alignments \(.bam, .cram\)"),
        (lambda folder: (folder / "ref.fa").unlink(), "has no reference"),
        (lambda folder: (folder / "other.fasta").write_text(">x\n"), "has 2 files of reference; leave one"),
        (lambda folder: os.truncate(folder / "reads.bam", 10**8), "holds 100 MB, and a page takes 64 MB"),
    ],
)
def test_a_folder_that_is_no_example(installed, example, tmp_path, change, told):
    change(example)
    with pytest.raises(InputError, match=told):
        web_page.write_web_page(str(tmp_path / "p.html"), str(example))
    assert not (tmp_path / "p.html").exists()


def test_a_missing_folder(installed, tmp_path):
    with pytest.raises(InputError, match="is not a folder"):
        web_page.write_web_page(str(tmp_path / "p.html"), str(tmp_path / "none"))
