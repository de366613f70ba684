"""The version that the package tells is the installed one."""

from __future__ import annotations

from importlib import metadata

from pairhmm.interface.release import version


def test_it_is_the_installed_one():
    assert version() == metadata.version("pairhmm")
