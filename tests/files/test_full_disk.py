"""A disk that fills up: one clear line, and nothing left behind. A limit on file sizes stands in for the full disk."""

import resource
from contextlib import contextmanager

import numpy as np
import pytest

from pairhmm import simulate
from pairhmm.errors import InputError
from pairhmm.variants.call_writer import open_calls
from pairhmm.variants.genotypes import SampleGenotype
from pairhmm.variants.variant import Variant
from tests.likelihoods.rows import region_of, write_regions

LIMIT = 20_000


@contextmanager
def small_files():
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (LIMIT, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def write_rows(path):
    rng = np.random.default_rng(1)
    names = [[f"r{number:x}" for number in rng.integers(0, 1 << 60, 50)] for _ in range(100)]
    write_regions(path, [region_of("q", index, own, rng.normal(size=(50, 2))) for index, own in enumerate(names)])


def write_calls(path):
    rng = np.random.default_rng(1)
    genotype = SampleGenotype((0, 1), (3, 4), 8, 50, (50, 0, 60), -5.0)
    with open_calls(path, {"q": 10**6}, ["s"], min_quality=30, reference="q.fa", provenance={}) as out:
        for index in range(5000):
            out.write(Variant("q", index, "A", ("C",), f"rs{rng.integers(1 << 60)}"), float(index), [genotype])


@pytest.mark.parametrize("name", ["x.tsv", "x.tsv.gz", "x.parquet", "x.vcf", "x.vcf.gz", "x.bcf"])
def test_one_line_and_no_file(tmp_path, name, capfd):
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow")
    with pytest.raises(InputError, match="free some space or choose another output") as error, small_files():
        (write_calls if "cf" in name else write_rows)(tmp_path / name)
    assert str(error.value).startswith(str(tmp_path / name))
    assert list(tmp_path.iterdir()) == []
    assert capfd.readouterr().err == ""


def test_simulate_leaves_one_line(tmp_path, capfd):
    with pytest.raises(InputError, match="free some space or choose another output"), small_files():
        simulate(tmp_path / "x", length=20_000)
    assert list(tmp_path.iterdir()) == []
    assert capfd.readouterr().err == ""
