"""Objects that go to other processes come back as they were, without the slow pickling of dataclasses."""

import pickle

import numpy as np

from pairhmm.likelihoods.table import LikelihoodRows
from pairhmm.sequences.arrays import Names
from pairhmm.variants.variant import Variant


def copied(one):
    packed = pickle.dumps(one)
    assert b"_dataclass_setstate" not in packed and b"dataclasses" not in packed
    return pickle.loads(packed)


def test_copies_are_equal():
    variant = Variant("chr1", 7, "A", ("C", "AT"), "rs1", 3, "context")
    assert copied(variant) == variant
    names = Names.of(["a", "bc"])
    assert copied(names) == names
    rows = LikelihoodRows(
        chrom="q",
        start=10,
        end=20,
        samples=["s"],
        sample=np.zeros(1, dtype=np.int32),
        read_names=names,
        mates=np.ones(2, dtype=np.uint8),
        haplotypes=["h"],
        sequences=["ACGT"],
        alleles=["0"],
        variants=".",
        nuisances=[False],
        log10=np.array([[-1.0], [-2.0]]),
        precision=np.zeros((2, 1), dtype=np.uint8),
    )
    copy = copied(rows)
    assert (copy.chrom, copy.haplotypes, copy.read_names, copy.reads) == ("q", ["h"], names, None)
    assert np.array_equal(copy.log10, rows.log10) and copy.log10.dtype == rows.log10.dtype
