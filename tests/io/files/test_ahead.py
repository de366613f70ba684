"""Items are made one ahead, in a thread, and what goes wrong there is raised where they are used."""

from __future__ import annotations

import threading

import pytest

from pairhmm.io.files.ahead import read_ahead


def test_all_items_in_order():
    assert list(read_ahead(iter(range(1, 100)))) == list(range(1, 100))


def test_the_next_item_is_made_meanwhile():
    begun = threading.Event()

    def items():
        yield 1
        begun.set()
        yield 2

    ahead = read_ahead(items())
    assert next(ahead) == 1
    assert begun.wait(10), "without anyone asking for the second item"
    assert list(ahead) == [2]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_errors_are_raised_in_the_caller(error):
    def items():
        yield 1
        raise error("in the thread")

    ahead = read_ahead(items())
    assert next(ahead) == 1
    with pytest.raises(error, match="in the thread"):
        next(ahead)


def test_closed_early():
    ended, threads = threading.Event(), threading.active_count()

    def items():
        try:
            while True:
                yield 1
        finally:
            ended.set()

    ahead = read_ahead(items())
    next(ahead)
    ahead.close()
    del ahead
    assert ended.wait(10), "its file is closed"
    assert threading.active_count() == threads
