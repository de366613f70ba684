"""Speed of the page's WebGPU host, run by Node with Dawn, beside the same kernels through wgpu, in the same run.

    make web-module && npm i --prefix DIR webgpu@0.6.2
    python benchmarks/page_gpu.py --dawn DIR/node_modules/webgpu/dist/linux-x64/dawn.node [--file 1m.in]

Dawn is Chromium's WebGPU. `--file` adds 20 copies of a file of pairs. Kernels are timed by the device's clock, arrays
by the host's, best of five. Scores of the two are compared. Prints a markdown table: billions of cells of whole
matrices a second.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from pairhmm import backends
from pairhmm.backends import Backend
from pairhmm.bench.workloads import WORKLOADS, join, make_workload
from pairhmm.io.pairs.texts import read_in
from pairhmm.models.batch import PairBatch

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests" / "web"))
from batch_files import write_batch  # noqa: E402

REGIONS, COPIES, RUNS = 400, 20, 5


def batches(file: Path | None) -> Iterator[tuple[str, PairBatch]]:
    for name in ("s150", "s250"):
        yield name, make_workload(replace(WORKLOADS[name], regions=REGIONS))
    if file is not None:
        yield f"{COPIES} x {file.stem}", join([PairBatch.from_groups(list(read_in(file)))] * COPIES)


def of_wgpu(backend: Backend, batch: PairBatch) -> tuple[dict[str, float], np.ndarray]:
    """Seconds by name, and scores, NaN where a pair needs the CPU."""
    skip_read = np.zeros(batch.reads, dtype=bool)
    seconds = []
    for _ in range(RUNS):
        begin = time.perf_counter()
        scores = backend.forward(batch, skip_read, 1)
        seconds.append(time.perf_counter() - begin)
    kernels = statistics.median(backend.kernel_seconds(batch, RUNS))
    return {"kernels": kernels, "arrays": min(seconds)}, scores.log10


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dawn", type=Path, required=True, help="dawn.node of npm's webgpu")
    parser.add_argument("--node", default="node")
    parser.add_argument("--file", type=Path)
    options = parser.parse_args()
    backend = backends.load("webgpu")
    print("| data | wgpu, kernels | Dawn, kernels | share | wgpu, arrays | Dawn, arrays | largest difference |")
    print("|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name, batch in batches(options.file):
            ours, log10 = of_wgpu(backend, batch)
            path = Path(folder) / "batch"
            write_batch(path, batch, log10=log10)
            command = [options.node, HERE / "page" / "gpu.mjs", options.dawn.resolve(), path, str(RUNS)]
            done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
            found = json.loads(done.stdout)
            speed = {key: batch.cells / seconds / 1e9 for key, seconds in ours.items()}
            other = {key: batch.cells / found[key] / 1e9 for key in ours}
            share = other["kernels"] / speed["kernels"]
            print(
                f"| {name} | {speed['kernels']:,.0f} | {other['kernels']:,.0f} | {share:.2f} "
                f"| {speed['arrays']:,.0f} | {other['arrays']:,.0f} | {found['difference']:.1e} |"
            )


if __name__ == "__main__":
    main()
