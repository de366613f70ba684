"""Mutated inputs through every command and binding: `make fuzz`, or `python tests/fuzz` with any installed pairhmm.

    python tests/fuzz --seconds 60 --seed 1 --jobs 2    # ends with a table; exit code 1 where something was found
    python tests/fuzz --seed 1 --only 1234              # one input of that run
    python tests/fuzz --replay tests/fuzz/corpus        # saved cases

Input number N of a seed is the same in every run. A finding is saved with its files in --output, once a cause.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import resource
import sys
import tempfile
import time
from collections import Counter, defaultdict
from multiprocessing.queues import SimpleQueue
from pathlib import Path

from launch import has_sanitizers, make_ready

_SKIPPED, _NO_PAGE = "(not installed)", "(without the page)"


def main() -> int:
    options = _options()
    make_ready()
    with tempfile.TemporaryDirectory(prefix="pairhmm-fuzz-") as scratch:
        if options.replay is not None:
            return _replay(options.replay, Path(scratch))
        return _fuzz(options, Path(scratch))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python tests/fuzz", description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60.0, help="how long inputs are made (default: 60)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes (default: as many as cores)")
    parser.add_argument("--output", type=Path, default=Path("fuzz-findings"), help="folder for findings")
    parser.add_argument("--targets", help="only those that have this in their name")
    parser.add_argument("--only", type=int, help="one input, by its number; it is saved and told")
    parser.add_argument("--replay", type=Path, help="cases below this folder, each judged; JSON to stdout")
    return parser.parse_args()


def _replay(folder: Path, scratch: Path) -> int:
    """Judge saved cases: a line of JSON each."""
    from cases import Case
    from runner import import_everything, tried

    import_everything()
    found = 0
    for place in Case.folders(folder):
        outcome, wrong = tried(Case.load(place), scratch / "case")
        found += bool(wrong)
        told = {"case": str(place.relative_to(folder)), "wrong": wrong, "code": outcome.code, "stderr": outcome.stderr}
        print(json.dumps(told), flush=True)
    return int(found > 0)


def _fuzz(options: argparse.Namespace, scratch: Path) -> int:
    from page import has_page
    from seeds import has_parquet, has_signal, make_seeds

    (scratch / "seeds").mkdir()
    seeds = make_seeds(scratch / "seeds")
    print(f"sanitizers: {'yes' if has_sanitizers() else 'NO'}, seed {options.seed}, {options.jobs} jobs", flush=True)
    if not has_parquet():
        print("no pyarrow: what reads or writes Parquet is skipped", flush=True)
    if not has_signal():
        print("no pyslow5: what reads SLOW5 or BLOW5 is skipped", flush=True)
    if not has_page():
        print("no Node, or web/ is not built (make web-module): the page's readers are left out", flush=True)
    if options.only is not None:
        return _one(options, seeds, scratch)
    queue: SimpleQueue = multiprocessing.get_context("fork").SimpleQueue()
    began = time.monotonic()
    workers = [
        multiprocessing.get_context("fork").Process(target=_work, args=(job, options, seeds, scratch, queue))
        for job in range(options.jobs)
    ]
    for worker in workers:
        worker.start()
    tried, causes, running = Counter(), defaultdict(list), len(workers)
    while running:
        said = queue.get()
        if said is None:
            running -= 1
            continue
        number, target, wrong, seconds = said
        tried[target] += 1
        if wrong:
            if (target, wrong) not in causes:
                print(f"input {number}: {target}: {wrong}", flush=True)
            causes[target, wrong].append((number, seconds))
    for worker in workers:
        worker.join()
    failed = [worker.exitcode for worker in workers if worker.exitcode]
    _tell(tried, causes, time.monotonic() - began, options)
    return int(bool(causes) or bool(failed))


def _work(job: int, options: argparse.Namespace, seeds: dict, scratch: Path, queue: SimpleQueue) -> None:
    try:
        _try_inputs(job, options, seeds, scratch, queue)
    finally:
        queue.put(None)


def _try_inputs(job: int, options: argparse.Namespace, seeds: dict, scratch: Path, queue: SimpleQueue) -> None:
    """Every `jobs`-th input until the time is over."""
    from page import PAGE, has_page
    from runner import import_everything, tried
    from seeds import has_parquet, has_signal

    import_everything()
    lacking = [*([] if has_parquet() else [".parquet"]), *([] if has_signal() else [".slow5", ".blow5"])]
    with_page = has_page()
    known: set[tuple[str, str]] = set()
    end = time.monotonic() + options.seconds
    number = job
    while time.monotonic() < end:
        case = _case(options, number, seeds)
        if any(ending in argument for argument in case.arguments for ending in lacking):
            queue.put((number, _SKIPPED, "", 0.0))
        elif not with_page and case.target == PAGE:
            queue.put((number, _NO_PAGE, "", 0.0))
        else:
            outcome, wrong = tried(case, scratch / f"job{job}")
            if wrong and (case.target, wrong) not in known:
                known.add((case.target, wrong))
                _save(options.output, number, case, wrong, outcome.stderr)
            queue.put((number, case.target, wrong, outcome.seconds))
        number += options.jobs


def _case(options: argparse.Namespace, number: int, seeds: dict):
    """Input `number` of a seed."""
    import numpy as np
    from bindings import BINDINGS
    from cases import Case
    from mutate import pick
    from targets import TARGETS

    rng = np.random.default_rng([options.seed, number])
    names = [(target, weight) for target, weight in TARGETS if (options.targets or "") in target.__name__]
    share = 3.0 if (options.targets or "") in "binding" else 0.0
    weights = np.array([*(weight for _, weight in names), share])
    chosen = int(rng.choice(len(weights), p=weights / weights.sum()))
    if chosen == len(names):
        name = pick(rng, list(BINDINGS))
        return Case(f"binding {name}", ["binding", name, str(int(rng.integers(2**31)))])
    return names[chosen][0](rng, seeds)


def _save(folder: Path, number: int, case, wrong: str, stderr: str) -> None:
    place = folder / f"{case.target.replace(' ', '-')}-{number}"
    case.save(place)
    (folder / f"{place.name}.txt").write_text(f"{wrong}\n\n{stderr}")


def _one(options: argparse.Namespace, seeds: dict, scratch: Path) -> int:
    from runner import import_everything, tried

    import_everything()
    case = _case(options, options.only, seeds)
    outcome, wrong = tried(case, scratch / "one")
    _save(options.output, options.only, case, wrong, outcome.stderr)
    print(f"{case.target}: {case.arguments}\n{outcome.stderr}exit code {outcome.code}; {wrong or 'as it should be'}")
    return int(bool(wrong))


def _tell(tried: Counter, causes: dict, seconds: float, options: argparse.Namespace) -> None:
    found: Counter = Counter()
    for (target, wrong), cases in sorted(causes.items()):
        found[target] += len(cases)
        numbers = ", ".join(str(number) for number, _ in cases[:3])
        print(f"{target}: {wrong}: {len(cases)} inputs ({numbers}{', ...' if len(cases) > 3 else ''})")
    print(f"\n{'target':20} {'inputs':>8} {'findings':>8}")
    for target in sorted(tried):
        print(f"{target:20} {tried[target]:8} {found[target]:8}")
    total, causes_found = sum(tried.values()), len(causes)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    processors = f"{(used.ru_utime + used.ru_stime) / 60:.1f} CPU-minutes"
    spent = f"{seconds:.0f} s, {options.jobs} jobs, {processors}"
    print(f"{'all':20} {total:8} {sum(found.values()):8}  {causes_found} causes, {spent}")
    if causes_found:
        print(f"saved in {options.output}; python tests/fuzz --replay {options.output}")


if __name__ == "__main__":
    sys.exit(main())
