"""The WebGPU host of the page (web/src/gpu/) beside Python's: the same texts, tables, tiers and bytes.

Without a browser: tests/page has the kernels in Chromium.
"""

import hashlib
import json
import subprocess
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from pairhmm.backends.webgpu import browser, kernels, layout
from pairhmm.backends.webgpu.rows import tables
from pairhmm.backends.webgpu.runtime import WIDTH
from pairhmm.bench.workloads import Workload, make_workload
from pairhmm.native import native
from tests.web.batch_files import write_batch

PROJECT = Path(__file__).parents[2]
SHARE = 1 << 28
SMALL = {"regions": 7, "reads": 9, "haplotypes": 5, "read_length": 150, "haplotype_length": 300}
WORKLOADS = {
    "one gap quality": Workload(**SMALL, spread=140),
    "gap qualities that vary": Workload(**SMALL, varying_gaps=True),
    "a profile model": Workload(**SMALL, preset="normalised"),
    "tall reads": Workload(3, 4, 3, 1500, 1800, spread=1300),
    "many haplotypes": Workload(2, 3, 130, 100, 200),
}


class Memory:
    """Host memory that stands for a device's."""

    packer = native.Packer(native.ThreadPool(0))

    def begin(self, size, behind):
        self.behind = behind
        self.parts = np.zeros(behind, dtype=np.uint8), np.zeros(size - behind, dtype=np.uint8)
        return self.parts

    def send(self, first, end):
        self.end = end

    def bytes(self):
        arrays, behind = self.parts
        used = -(-(self.end - self.behind) // 4) * 4
        return arrays.tobytes() + behind[:used].tobytes()


@pytest.fixture(scope="module")
def of_browsers():
    """What a browser is given."""
    return browser.data()


@pytest.fixture(scope="module")
def variants(shader_variants, of_browsers):
    """Those that the page uses: it has no profiles but by distinct rows, and its GPU scores no long pairs."""
    known = of_browsers["variants"]
    made = (
        replace(one, part=kernels.TREE_PART if one.kernel == "forward_trees" else one.part) for one in shader_variants
    )
    return [one for one in made if browser.name_of(one) in known]


@pytest.fixture(scope="module")
def batches(tmp_path_factory):
    folder = tmp_path_factory.mktemp("batches")
    made = {}
    for name, workload in WORKLOADS.items():
        made[folder / name.replace(" ", "-")] = make_workload(workload, 3)
    for path, batch in made.items():
        write_batch(path, batch)
    return made


def digest(*parts):
    whole = hashlib.sha256()
    for part in parts:
        whole.update(part)
    return whole.hexdigest()


def text_of(variant):
    return kernels.SUBGROUPS * variant.shuffles + browser.stripped(kernels.source(variant))


def described(batch, subgroup):
    """What gpu_described.js prints of a batch."""
    memory = Memory()
    packed = layout.pack(batch, np.zeros(batch.reads, dtype=bool), WIDTH, subgroup, SHARE, memory)
    tiers = [
        {
            "numbers": [
                tier.shape.lanes,
                tier.shape.rows,
                tier.items,
                tier.at_once,
                tier.cells,
                tier.walkers,
                tier.scratch_bytes,
            ],
            "work": tier.work.tobytes().hex(),
        }
        for tier in packed.tiers
    ]
    return {
        "input": digest(memory.bytes()),
        "tiers": tiers,
        "rescues": [[*rescue.shape[:2], rescue.work.tobytes().hex(), rescue.workgroups] for rescue in packed.rescues],
        "bytes": [packed.list_bytes, packed.scratch_bytes, packed.out_bytes],
    }


@pytest.fixture(scope="module")
def of_page(node, of_browsers, variants, batches, tmp_path_factory):
    """What the page's host makes of the variants and batches."""
    folder = tmp_path_factory.mktemp("gpu")
    (folder / "gpu.json").write_text(json.dumps(of_browsers))
    asked = [
        {
            "kernel": one.kernel,
            "lanes": one.shape.lanes,
            "rows": one.shape.rows,
            "shuffles": one.shuffles,
            "from": one.rows,
            "extension": one.extension,
            "part": one.part,
        }
        for one in variants
    ]
    (folder / "variants.json").write_text(json.dumps(asked))
    command = [node, "web/tests/gpu_described.js", folder / "gpu.json", folder / "variants.json", *batches]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_texts_are_pythons(of_page, variants):
    assert len(variants) > 300
    assert of_page["texts"] == [digest(text_of(variant).encode()) for variant in variants]


def test_tables_are_pythons(of_page):
    assert of_page["tables"] == digest(tables().tobytes())


def test_tiers_and_bytes_are_pythons(of_page, batches, monkeypatch):
    """But for qualities, whose digits take longer to join in JavaScript than to send, and lanes of over 19 rows."""
    monkeypatch.setattr(layout, "pack_qualities", lambda batch: None)
    monkeypatch.setattr(layout, "tree_shapes", lambda width, masked, known=layout.tree_shapes: known(width))
    expected = [described(batch, subgroup) for batch, subgroup in product(batches.values(), (32, 0))]
    assert of_page["packed"] == expected
