"""With identity parameters, the profile model scores reads of alignments as GATK's model does, on every backend."""

import numpy as np
import pysam
import pytest

from pairhmm.calling.cut_reads import CutReads
from pairhmm.calling.scoring import ReadScorer, prepared_base_quality
from pairhmm.calling.stream import HaplotypeLetters
from pairhmm.engine.device_pool import DevicePool
from pairhmm.models.gatk import ERROR, GatkOptions
from pairhmm.sequences.arrays import joined, offsets
from pairhmm.sequences.letters import encode

READS = 60


@pytest.fixture(scope="module")
def tiny(shared_data):
    """Reads of NA12878 without N, each beside its stretch of the reference and the same with a base deleted."""
    folder = shared_data / "na12878-chr22-tiny"
    with (
        pysam.FastaFile(str(folder / "q.fa")) as genome,
        pysam.AlignmentFile(str(folder / "NA12878.chr22.tiny.bam")) as alignments,
    ):
        letters = encode(genome.fetch("q"))
        usable = [one for one in alignments if one.mapping_quality and "N" not in one.query_sequence]
        chosen = usable[:: len(usable) // READS][:READS]
        reads = CutReads(
            offsets([one.query_length for one in chosen]),
            joined([encode(one.query_sequence) for one in chosen]),
            np.concatenate([one.query_qualities for one in chosen]).astype(np.uint8),
            np.array([one.mapping_quality for one in chosen], dtype=np.uint8),
        )
        windows = [letters[max(0, one.reference_start - 30) : one.reference_end + 30] for one in chosen]
    haplotypes = [each for window in windows for each in (window, np.delete(window, len(window) // 2))]
    lengths = [len(each) for each in haplotypes]
    return reads, HaplotypeLetters(joined(haplotypes), offsets(lengths), offsets([2] * READS))


def test_identity_parameters_are_gatks_model(backend, identity_model, tiny):
    reads, haplotypes = tiny
    options, pool = GatkOptions(pcr_indel_model="none"), DevicePool([backend])
    gatk, profile = (
        ReadScorer(options, pool, profile=model).begin(reads, [1] * READS, haplotypes)()[0]
        for model in (None, identity_model)
    )
    assert len(gatk) == 2 * READS and np.isfinite(gatk).all()
    assert np.abs(profile - gatk).max() <= 1e-5


def test_an_n_costs_a_profile_log10_of_4_times_1_minus_e(backend, identity_model):
    """GATK's N matches with 1 - e, a profile's with 1/4. An N that lies in an insertion costs neither of them that."""
    rng = np.random.default_rng(6)
    haplotype = rng.integers(0, 4, 200).astype(np.uint8)
    bases = np.stack([haplotype[k : k + 100] for k in range(20, 80)])
    bases[rng.random(bases.shape) < 0.02] = 4
    quals = np.where(bases == 4, rng.choice([2, 20, 40], bases.shape), 35).astype(np.uint8)
    reads = CutReads(offsets([100] * 60), bases.ravel(), quals.ravel(), np.full(60, 60, dtype=np.uint8))
    options = GatkOptions(pcr_indel_model="none")
    pool = DevicePool([backend])
    alone = HaplotypeLetters(haplotype, offsets([200]), offsets([1]))
    gatk, profile = (
        ReadScorer(options, pool, profile=model).begin(reads, [60], alone)()[0] for model in (None, identity_model)
    )
    error = ERROR[prepared_base_quality(reads, options)].reshape(bases.shape)
    cost = np.where(bases == 4, np.log10(4 * (1 - error)), 0).sum(axis=1)
    assert cost.max() > 2
    assert np.abs(gatk - profile - cost).max() < 1e-3
