"""`pairhmm page` on the command line."""

from __future__ import annotations

import pytest

from pairhmm.cli.main import main
from pairhmm.report import web_page


@pytest.fixture
def run(monkeypatch, capsys):
    def run(*arguments):
        with pytest.raises(SystemExit) as ended:
            main(list(map(str, arguments)))
        return ended.value.code, capsys.readouterr().err

    return run


def test_what_is_missing_is_one_line(run, monkeypatch, tmp_path):
    monkeypatch.setattr(web_page, "files", lambda package: tmp_path)
    code, told = run("page", "-o", tmp_path / "p.html")
    assert code == 2
    assert told.splitlines() == [
        "pairhmm: error: pairhmm/web_page/pairhmm.html: the page is not in this installation; install a wheel of"
        " pairhmm, or run 'make page' in a checkout (it needs Node)"
    ]
    assert list(tmp_path.iterdir()) == []


def test_the_page_has_a_place(run):
    code, told = run("page")
    assert code == 2
    assert "Give -o, --open or both, or --hosted." in told


def test_one_destination_is_named(run, tmp_path):
    code, told = run("page", "-o", tmp_path / "p.html", "--hosted", tmp_path)
    assert code == 2
    assert "Give -o or --hosted, not both." in told
