"""Work that is done behind is done in order, and its errors are raised."""

from __future__ import annotations

import logging
from concurrent.futures import ThreadPoolExecutor

import pytest

from pairhmm.io.files.behind import WriteBehind


@pytest.mark.parametrize("threads", [1, 2, 8])
def test_in_order(threads):
    done = []
    with WriteBehind(threads) as behind:
        for number in range(200):
            behind.run(lambda number=number: done.append(number))
    assert done == list(range(200))


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("after", [0, 3])
def test_errors_are_raised_by_the_next_call_or_the_end(threads, after):
    def fail():
        raise OSError("full")

    done = []
    with pytest.raises(OSError, match="full"), WriteBehind(threads) as behind:
        behind.run(fail)
        for number in range(after):
            behind.run(lambda number=number: done.append(number))
    assert done == []


def test_an_error_of_the_caller_comes_first():
    with pytest.raises(KeyError), WriteBehind(2) as behind:
        behind.run(lambda: 1 / 0)
        raise KeyError


def test_without_a_thread_the_caller_does_it(monkeypatch, caplog):
    def refuse(*unused):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(ThreadPoolExecutor, "submit", refuse)
    done = []
    with caplog.at_level(logging.WARNING), WriteBehind(2) as behind:
        behind.run(lambda: done.append(1))
        behind.run(lambda: done.append(2))
    assert done == [1, 2] and caplog.text.count("no thread could be started") == 1
