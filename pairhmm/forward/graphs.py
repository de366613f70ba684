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
from pairhmm.models import gatk
from pairhmm.models.batch import FLOAT64, PairBatch, Read, Scores, joined_reads
from pairhmm.models.haplotype_graph import HaplotypeGraph
from pairhmm.native import native
from pairhmm.sequences.arrays import joined, offsets


def graph_batch(reads: Sequence[Read], graphs: Sequence[HaplotypeGraph]) -> PairBatch:
    """Every read with every graph as one group of a batch, in which a path of it stands for each graph."""
    read_offset, qualities = joined_reads(reads)
    paths = [graph.shortest_path for graph in graphs]
    return PairBatch(
        group_read=offsets([len(reads)]),
        group_haplotype=offsets([len(graphs)]),
        read_offset=read_offset,
        haplotype_offset=offsets(list(map(len, paths))),
        haplotypes=joined(paths),
        start=gatk.START,
        qualities=qualities,
    )


def graph_scores(batch: PairBatch, graphs: Sequence[HaplotypeGraph], backend: str | Choice, threads: int) -> Scores:
    """Scores of a `graph_batch`.

    Raises
    ------
    OptionError
        For a backend that is not of the CPU, and for devices.
    BackendUnavailable
        Where ``cpu`` does not run here.
    """
    assert batch.qualities is not None
    name, devices = named_devices(backend)
    if devices is not None:
        raise OptionError("devices", devices, "can't be chosen: the model 'graph' runs on the CPU")
    takes_oracle = backends.takes_oracle(name, "the model 'graph'")
    rows = gatk.rows(batch.qualities)
    by = _by_oracle if takes_oracle else _by_cpu
    scores = np.empty((batch.reads, len(graphs)))
    for at, graph in enumerate(graphs):
        scores[:, at] = by(rows, batch.read_offset, graph, threads)
    return Scores(scores.reshape(-1), np.full(scores.size, FLOAT64, dtype=np.uint8))


def _by_oracle(
    rows: NDArray[np.float64], read_offset: NDArray[np.int64], graph: HaplotypeGraph, threads: int
) -> NDArray[np.float64]:
    reads = np.split(rows, read_offset[1:-1])
    return np.array([oracle.log10_likelihood(each, graph) for each in reads[: len(read_offset) - 1]])


def _by_cpu(
    rows: NDArray[np.float64], read_offset: NDArray[np.int64], graph: HaplotypeGraph, threads: int
) -> NDArray[np.float64]:
    letters = [allele.letters for allele in graph.alleles]
    weights, factors = graph.weights_by_length()
    scores = np.empty(len(read_offset) - 1)
    native.graph_scores(
        cpu.chosen_isa(),
        offsets([len(site) for site in graph.sites]),
        offsets(list(map(len, letters))),
        joined(letters),
        weights.reshape(-1),
        factors,
        read_offset,
        rows.reshape(-1),
        threads,
        scores,
    )
    return scores
