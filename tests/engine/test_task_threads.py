"""Threads give results, errors and messages in the order of the tasks, and leave nothing behind."""

from __future__ import annotations

import logging
import threading
import time

import pytest

from pairhmm.engine import task_threads
from pairhmm.engine.device_pool import Stopped
from pairhmm.engine.task_threads import TaskThreads, checked
from pairhmm.errors import InputError

log = logging.getLogger("pairhmm.tests")


def work(task):
    """Doubles numbers; other tasks do what their name says."""
    if isinstance(task, tuple):
        for one in task:
            yield from work(one)
    elif task == "fail":
        raise InputError("a.bam", "read 1", "is damaged", "make it again")
    elif isinstance(task, str):
        log.warning("%s", task)
        yield threading.current_thread().name
    else:
        time.sleep(0.02 * (task % 3))
        yield 2 * task


@pytest.fixture(autouse=True)
def alive():
    yield
    assert not [one for one in threading.enumerate() if one.name == "pairhmm tasks"]


def threads_of(count, begin=lambda: work):
    return TaskThreads(begin, count, threading.Event())


@pytest.mark.parametrize("count", [1, 2, 5])
def test_results_are_in_order(count):
    with threads_of(count) as threads:
        assert list(threads.results(range(40))) == [2 * task for task in range(40)]
        assert list(threads.results([])) == []


def test_each_thread_begins_once():
    begun = []
    with threads_of(3, lambda: begun.append(threading.get_ident()) or work) as threads:
        list(threads.results(range(30)))
    assert len(begun) == len(set(begun)) <= 3


def test_a_failure_is_raised_behind_the_results_before_it():
    with threads_of(2) as threads:
        results = threads.results([(1, 2), (3, "fail"), (4,)])
        assert [next(results) for _ in range(3)] == [2, 4, 6]
        with pytest.raises(InputError, match="is damaged"):
            next(results)


def test_a_failure_to_begin():
    def refuse():
        raise InputError("a.bam", "", "no such file", "check the path")

    with threads_of(2, refuse) as threads, pytest.raises(InputError, match="no such file"):
        list(threads.results(range(3)))


def test_a_failure_of_the_source_of_tasks():
    def tasks():
        yield 1
        raise InputError("a.vcf", "record 2", "is damaged", "make it again")

    with threads_of(2) as threads:
        results = threads.results(tasks())
        assert next(results) == 2
        with pytest.raises(InputError, match="record 2"):
            next(results)


def test_messages_are_in_order_and_said_once(caplog):
    with threads_of(3) as threads, caplog.at_level(logging.INFO, "pairhmm"):
        names = set(threads.results([(2, "one"), (1, "two"), (0, "one"), "three"]))
    assert caplog.messages == ["one", "two", "three"]
    assert "pairhmm tasks" in names


def test_a_message_of_a_task_comes_with_its_results(caplog):
    """Another task may have ended long before."""
    with threads_of(2) as threads, caplog.at_level(logging.INFO, "pairhmm"):
        results = threads.results([(2, 2, 2), "early"])
        next(results)
        time.sleep(0.1)
        assert not caplog.messages
        list(results)
    assert caplog.messages == ["early"]


@pytest.mark.parametrize("taken", [0, 1, 5])
def test_few_tasks_are_begun_ahead(taken):
    begun = []

    def tasks():
        for number in range(100):
            begun.append(number)
            yield number

    with threads_of(2) as threads:
        results = threads.results(tasks())
        for _ in range(taken):
            next(results)
        time.sleep(0.05)
        assert len(begun) <= taken + 2 * task_threads._PENDING
    assert len(begun) < 100


def test_what_goes_on_for_ever_ends_with_the_threads():
    def endless(task):
        yield 1
        while True:
            time.sleep(0.001)
            yield 2

    with threads_of(2, lambda: endless) as threads:
        assert next(threads.results(range(10))) == 1


def test_items_up_to_a_stop():
    stop = threading.Event()
    items = checked(iter(range(5)), stop)
    assert next(items) == 0
    stop.set()
    with pytest.raises(Stopped):
        next(items)


@pytest.mark.parametrize("allowed", [0, 1])
def test_the_system_refuses_threads(monkeypatch, caplog, allowed):
    start, started = threading.Thread.start, []

    def refuse(thread):
        if len(started) == allowed:
            raise RuntimeError("can't start new thread")
        started.append(thread)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", refuse)
    with threads_of(3) as threads, caplog.at_level(logging.WARNING, "pairhmm"):
        assert list(threads.results(range(5))) == [0, 2, 4, 6, 8]
    assert f"{allowed} of 3 threads could be started" in caplog.text


def test_several_runs_at_once():
    found = {}

    def run(number):
        with threads_of(2) as threads:
            found[number] = list(threads.results(range(number, number + 10)))

    hosts = [threading.Thread(target=run, args=(number,)) for number in range(3)]
    for host in hosts:
        host.start()
    for host in hosts:
        host.join()
    assert found == {number: [2 * task for task in range(number, number + 10)] for number in range(3)}
