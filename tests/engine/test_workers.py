"""Worker processes give results, errors and messages in the order of the tasks, and leave nothing behind."""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from pairhmm.engine import workers
from pairhmm.engine.workers import Workers
from pairhmm.errors import BackendUnavailable, InputError, OptionError, PairhmmError

log = logging.getLogger("pairhmm.tests")


@dataclass(frozen=True)
class Job:
    """Doubles numbers; other tasks do what their name says."""

    is_broken: bool = False

    @contextmanager
    def open(self):
        if self.is_broken:
            raise InputError("file", "record", "rule", "cure")
        log.warning("opened")
        yield self.work

    def work(self, task):
        if task == "fail":
            raise InputError("a.bam", "read 1", "is damaged", "make it again")
        if task == "option":
            raise OptionError("x", 3, "is too large")
        if task == "local":
            raise type("Odd", (Exception,), {})("not to be sent")
        if task == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        if isinstance(task, str):
            log.warning("%s", task)
            return os.getpid()
        if isinstance(task, bytes):
            time.sleep(0.1 * (not task))  # the caller takes the result before this one
            return len(task), bytes(300_000)
        if isinstance(task, tuple):
            return (self.work(one) for one in task)
        time.sleep(0.02 * (task % 3))
        return 2 * task


@pytest.fixture(autouse=True)
def forks(monkeypatch):
    """Other tests may have left threads, which would make workers start anew."""
    monkeypatch.setattr(workers, "_can_fork", lambda: True)


@pytest.fixture(autouse=True)
def begun(monkeypatch):
    """The ids of all workers, which are gone at the end."""
    begin, pids = Workers.__enter__, []

    def noted(self):
        begin(self)
        pids.extend(one.process.pid for one in self._workers)
        return self

    monkeypatch.setattr(Workers, "__enter__", noted)
    yield pids
    assert_gone(pids)


def assert_gone(pids):
    for one in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(one, 0)


@pytest.mark.parametrize("count", [1, 2, 5])
def test_results_are_in_order(count):
    with Workers(Job(), count) as started:
        assert list(started.results(range(40))) == [2 * task for task in range(40)]
        assert list(started.results(range(3))) == [0, 2, 4]
        assert list(started.results([])) == []


@pytest.mark.parametrize("count", [0, 1, 3])
def test_results_that_come_in_parts(count):
    """An error in a part is that of the whole task, and the next tasks are not touched by it."""
    with Workers(Job(), count) as started:
        tasks = [(), (1,), 4, (b"", 2, b"x"), (3,)]
        parts = [[], [2], 8, [(0, bytes(300_000)), 4, (1, bytes(300_000))], [6]]
        assert list(started.results(tasks)) == parts
        results = started.results([(1, 2), (3, "fail"), (4,)])
        assert next(results) == [2, 4]
        with pytest.raises(InputError, match="is damaged"):
            next(results)


def test_workers_end_when_nothing_is_left():
    with Workers(Job(), 3) as started:
        children = [one.process for one in started._workers]
        assert list(started.results([1, 2, 4, 5, 3], are_last=True)) == [2, 4, 8, 10, 6]
        for one in children:
            one.join(10)
        assert [one.exitcode for one in children] == [-signal.SIGKILL] * 3


def test_tasks_are_done_in_other_processes():
    with Workers(Job(), 2) as started:
        seen = set(started.results(f"task {number}" for number in range(8)))
    assert len(seen) == 2
    assert os.getpid() not in seen


def test_spawned_workers_do_the_same(monkeypatch):
    monkeypatch.setattr(workers, "_can_fork", lambda: False)
    # A spawned process imports Job by the name of this module.
    monkeypatch.syspath_prepend(Path(__file__).parents[2])
    with Workers(Job(), 2) as started:
        assert list(started.results(range(6))) == [0, 2, 4, 6, 8, 10]


def test_large_tasks_and_results_pass():
    with Workers(Job(), 2) as started:
        assert [size for size, _ in started.results(bytes(400_000) for _ in range(12))] == [400_000] * 12


@pytest.mark.parametrize(
    ("task", "expected"),
    [
        ("fail", InputError("a.bam", "read 1", "is damaged", "make it again")),
        ("option", OptionError("x", 3, "is too large")),
        ("local", PairhmmError("Odd: not to be sent")),
    ],
)
def test_an_error_comes_in_the_place_of_its_result(task, expected):
    seen = []
    with Workers(Job(), 3) as started, pytest.raises(type(expected)) as caught:
        seen.extend(started.results([1, 2, 4, 5, task, 6, "fail"]))
    assert seen == [2, 4, 8, 10]
    assert type(caught.value) is type(expected)
    assert str(caught.value) == str(expected)
    assert {**vars(expected), **vars(caught.value)} == vars(caught.value)


def test_an_error_of_the_tasks_comes_behind_the_results_before_it():
    def tasks():
        yield 2
        yield 5
        raise InputError("list.vcf", "line 3", "is no record", "")

    seen = []
    with Workers(Job(), 2) as started, pytest.raises(InputError, match=r"list\.vcf: line 3"):
        seen.extend(started.results(tasks()))
    assert seen == [4, 10]


def test_an_error_on_opening_is_raised():
    with Workers(Job(is_broken=True), 2) as started, pytest.raises(InputError, match="file: record"):
        list(started.results([1]))


def test_a_worker_that_dies_is_an_error():
    with Workers(Job(), 2) as started, pytest.raises(PairhmmError, match=r"ended \(signal 9\); out of memory\?"):
        list(started.results([1, "die", 2, 3, 4, 5, 6, 7]))


def test_messages_come_in_order_and_once(caplog):
    with caplog.at_level(logging.INFO, "pairhmm"), Workers(Job(), 3) as started:
        list(started.results(["one", 5, "two", "one", 4, "three"]))
    assert caplog.messages == ["one", "two", "three"]


def test_a_worker_that_dies_within_a_result_is_an_error(begun):
    with Workers(Job(), 1) as started:
        results = started.results([1, b""])
        assert next(results) == 2
        # The next result is larger than what a pipe takes, so the worker waits within it.
        assert started._workers[0].connection.poll(10)
        os.kill(begun[0], signal.SIGKILL)
        with pytest.raises(PairhmmError, match=r"ended \(signal 9\)"):
            next(results)


def test_no_worker_is_left_where_the_caller_stops(begun):
    with Workers(Job(), 2) as started:
        results = started.results(range(100))
        assert next(results) == 0
    assert_gone(begun)


def test_without_processes_this_one_works(monkeypatch, caplog):
    def refuse(process):
        raise BlockingIOError("Resource temporarily unavailable")

    monkeypatch.setattr(multiprocessing.get_context("fork").Process, "start", refuse)
    with Workers(Job(), 2) as started:
        assert list(started.results(["x", "x"])) == [os.getpid()] * 2
    assert "0 of 2 processes could be started" in caplog.text


def test_errors_of_pairhmm_can_be_sent():
    import pickle

    for error in (
        InputError("a", "b", "c", "d"),
        OptionError("x", (1, 2), "is odd"),
        BackendUnavailable("cuda", "no GPU", "buy one"),
    ):
        copy = pickle.loads(pickle.dumps(error))
        assert (type(copy), str(copy), vars(copy)) == (type(error), str(error), vars(error))
