"""What threads do beside the caller is done in order, and its errors are raised where the caller is."""

import logging
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from pairhmm.files.background import BackgroundWriter, prefetch


def test_all_items_in_order():
    assert list(prefetch(iter(range(1, 100)))) == list(range(1, 100))


def test_the_next_item_is_made_meanwhile():
    begun = threading.Event()

    def items():
        yield 1
        begun.set()
        yield 2

    ahead = prefetch(items())
    assert next(ahead) == 1
    assert begun.wait(10), "without anyone asking for the second item"
    assert list(ahead) == [2]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_errors_are_raised_in_the_caller(error):
    def items():
        yield 1
        raise error("in the thread")

    ahead = prefetch(items())
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

    ahead = prefetch(items())
    next(ahead)
    ahead.close()
    del ahead
    assert ended.wait(10), "its file is closed"
    assert threading.active_count() == threads


@pytest.mark.parametrize("threads", [1, 2, 8])
def test_in_order(threads):
    done = []
    with BackgroundWriter(threads) as behind:
        for number in range(200):
            behind.run(lambda number=number: done.append(number))
    assert done == list(range(200))


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("after", [0, 3])
def test_errors_are_raised_by_the_next_call_or_the_end(threads, after):
    def fail():
        raise OSError("full")

    done = []
    with pytest.raises(OSError, match="full"), BackgroundWriter(threads) as behind:
        behind.run(fail)
        for number in range(after):
            behind.run(lambda number=number: done.append(number))
    assert done == []


def test_an_error_of_the_caller_comes_first():
    with pytest.raises(KeyError), BackgroundWriter(2) as behind:
        behind.run(lambda: 1 / 0)
        raise KeyError


def test_without_a_thread_the_caller_does_it(monkeypatch, caplog):
    def refuse(*unused):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(ThreadPoolExecutor, "submit", refuse)
    done = []
    with caplog.at_level(logging.WARNING), BackgroundWriter(2) as behind:
        behind.run(lambda: done.append(1))
        behind.run(lambda: done.append(2))
    assert done == [1, 2] and caplog.text.count("no thread could be started") == 1
