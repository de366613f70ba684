"""Scores of reads against graphs of haplotypes (the model `graph`), by the CPU or the oracle."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pairhmm import backends
from pairhmm.backends import cpu
from pairhmm.engine import Choice, named_devices
from pairhmm.errors import OptionError
from pairhmm.forward import graph_reference as oracle
from pairhmm.models.batch import FLOAT64, PairBatch, Scores
from pairhmm.models.haplotype_graph import HaplotypeGraph
from pairhmm.models.profile import rows_of
from pairhmm.native import native
from pairhmm.sequences.arrays import joined, offsets


def takes_oracle(backend: str | Choice) -> bool:
    """Whether the oracle scores graphs, and not the compiled kernel.

    Raises
    ------
    OptionError
        For a backend that is not of the CPU, and for devices.
    BackendUnavailable
        Where ``cpu`` does not run here.
    """
    name, devices = named_devices(backend)
    if devices is not None:
        raise OptionError("devices", devices, "can't be chosen: the model 'graph' runs on the CPU")
    return backends.takes_oracle(name, "the model 'graph'")


def graph_scores(batch: PairBatch, graphs: Sequence[HaplotypeGraph], by_oracle: bool, threads: int) -> Scores:
    """Scores of the reads of a batch, whose haplotypes are a path of each graph: the sums over all paths."""
    by = _by_oracle if by_oracle else _by_cpu
    scores = np.empty((batch.reads, len(graphs)))
    for at, graph in enumerate(graphs):
        scores[:, at] = by(batch, graph, threads)
    return Scores(scores.reshape(-1), np.full(scores.size, FLOAT64, dtype=np.uint8))


def _by_oracle(batch: PairBatch, graph: HaplotypeGraph, threads: int) -> NDArray[np.float64]:
    reads = np.split(rows_of(batch), batch.read_offset[1:-1])
    return np.array([oracle.log10_likelihood(rows, graph) for rows in reads[: batch.reads]])


def _by_cpu(batch: PairBatch, graph: HaplotypeGraph, threads: int) -> NDArray[np.float64]:
    letters = [allele.letters for allele in graph.alleles]
    weights, factors = graph.weights_by_length()
    scores = np.empty(batch.reads)
    backend = cpu.make()
    native.graph_scores(
        backend.isa,
        backend.native_batch(batch),
        offsets([len(site) for site in graph.sites]),
        offsets(list(map(len, letters))),
        joined(letters),
        weights.reshape(-1),
        factors,
        threads,
        scores,
    )
    return scores
