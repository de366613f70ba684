"""`page`: where it is written, and that it is opened."""

from __future__ import annotations

import pytest

from pairhmm.errors import InputError
from pairhmm.report import web_page
from pairhmm.report import web_page_command as command


@pytest.fixture(autouse=True)
def installed(monkeypatch, tmp_path):
    folder = tmp_path / "package"
    (folder / "web_page").mkdir(parents=True)
    (folder / "web_page" / web_page.PAGE).write_text(web_page.PAGE)
    monkeypatch.setattr(web_page, "files", lambda package: folder)


@pytest.fixture
def opened(monkeypatch):
    seen = []
    monkeypatch.setattr(command.webbrowser, "open", lambda address: seen.append(address) or len(seen) < 2)
    return seen


def test_the_page_is_written_and_opened(opened, tmp_path):
    target = tmp_path / "p.html"
    assert command.page(target, opens=True) == str(target)
    assert target.read_text() == web_page.PAGE
    assert opened == [target.as_uri()]


def test_without_a_name_the_page_is_in_the_cache(opened, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("HOME", str(tmp_path))
    place = command.page(opens=True)
    assert place.endswith(web_page.PAGE) and str(tmp_path) in place
    assert len(opened) == 1


def test_where_no_browser_starts_the_page_is_named(opened, tmp_path, caplog):
    opened.append("another")
    command.page(tmp_path / "p.html", opens=True)
    assert f"no browser could be started: open {tmp_path / 'p.html'}" in caplog.text


def test_stdout_is_not_opened(opened):
    with pytest.raises(InputError, match="stdout can't be opened"):
        command.page("-", opens=True)
    assert opened == []


def test_the_page_takes_no_place_of_its_example(tmp_path):
    for name in ("reads.bam", "ref.fa"):
        (tmp_path / name).write_text("x")
    with pytest.raises(InputError, match=r"reads.bam"):
        command.page(tmp_path / "reads.bam", tmp_path)


@pytest.fixture
def hosted(tmp_path, installed):
    """An installation whose page has what a hosted one changes."""
    built = tmp_path / "package" / "web_page"
    (built / web_page.PAGE).write_text('<html lang="en"><link rel="icon" href="data:,">\n')
    (built / "hosted").mkdir()
    for name in ("icon.svg", "pairhmm.webmanifest"):
        (built / "hosted" / name).write_text(f"ours: {name}")


def test_a_hosted_page_is_written_again(hosted, tmp_path):
    folder = tmp_path / "served"
    for _ in range(2):
        command.page(hosted=folder)
        assert sorted(one.name for one in folder.iterdir()) == ["icon.svg", "index.html", "pairhmm.webmanifest"]
        assert "data-hosted" in (folder / "index.html").read_text()


@pytest.mark.parametrize("name", ["index.html", "icon.svg"])
def test_a_hosted_page_replaces_no_file_of_others(hosted, tmp_path, name):
    folder = tmp_path / "served"
    folder.mkdir()
    (folder / name).write_text("<html>another's</html>")
    with pytest.raises(InputError, match=rf"{name}: is there already, and is no page of pairhmm; name another folder"):
        command.page(hosted=folder)
    assert [one.name for one in folder.iterdir()] == [name]
    assert (folder / name).read_text() == "<html>another's</html>"
