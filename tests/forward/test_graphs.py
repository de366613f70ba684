"""The model `graph`: sums over all haplotypes of a text with undetermined alleles."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import pairhmm
from pairhmm.models.haplotype_graph import graph_of, reciprocals

BACKENDS = ("cpu", "reference")


@pytest.fixture(params=BACKENDS)
def backend(request, require):
    if request.param == "cpu":
        require("cpu", pairhmm.native.is_compiled(), "pairhmm has no compiled part here")
    return request.param


def letters(rng, count):
    return "".join(rng.choice(list("ACGT"), count))


def random_sites(rng, sites, longest_allele):
    """Sites as lists of (letters, weight), with determined letters between them."""
    chain = [[(letters(rng, 12), 1.0)]]
    for _ in range(sites):
        count = int(rng.integers(2, 4))
        weights = rng.dirichlet(np.ones(count))
        lengths = rng.integers(0, longest_allele + 1, count)
        chain += [[(letters(rng, n), w) for n, w in zip(lengths, weights, strict=True)], [(letters(rng, 7), 1.0)]]
    return chain


def text_of(chain):
    return "".join(
        site[0][0] if len(site) == 1 else "[" + "|".join(f"{allele or '-'}:{weight!r}" for allele, weight in site) + "]"
        for site in [[(allele, float(weight)) for allele, weight in site] for site in chain]
    )


def paths_of(chain):
    """The letters and the weight of every path."""
    for path in product(*chain):
        yield "".join(allele for allele, _ in path), float(np.prod([weight for _, weight in path]))


def listed(reads, chain):
    """The weighted sum over the haplotypes of all paths, by GATK's model."""
    haplotypes, weights = zip(*paths_of(chain), strict=True)
    scores = pairhmm.forward(reads, haplotypes, backend="reference")
    return np.log10((10**scores * weights).sum(axis=1))


def reads_of(rng, chain, count):
    """Reads of some paths with errors, lengths and qualities of their own."""
    paths = [path for path, _ in paths_of(chain)]
    reads = []
    for _ in range(count):
        path = paths[rng.integers(len(paths))]
        begin = int(rng.integers(0, len(path) - 8))
        bases = list(path[begin : begin + int(rng.integers(8, 40))])
        bases[rng.integers(len(bases))] = "ACGTN"[rng.integers(5)]
        qualities = [rng.integers(least, 50, len(bases)) for least in (2, 10, 10, 3)]
        qualities[3][5] *= len(reads) % 2  # a gap that never ends
        reads.append(pairhmm.make_read("".join(bases), *qualities))
    return reads


@pytest.mark.parametrize("seed", range(6))
def test_the_sum_is_that_of_the_listed_haplotypes(backend, seed):
    rng = np.random.default_rng(seed)
    chain = random_sites(rng, sites=4, longest_allele=(1, 3, 20)[seed % 3])
    reads = reads_of(rng, chain, 5)
    scores = pairhmm.forward(reads, text_of(chain), model="graph", backend=backend, threads=2)
    assert scores[:, 0] == pytest.approx(listed(reads, chain), abs=1e-6)


def test_4096_paths(require):
    require("cpu", pairhmm.native.is_compiled(), "pairhmm has no compiled part here")
    rng = np.random.default_rng(1)
    chain = [[(letters(rng, 9), 1.0)]]
    for site in range(12):
        other = ("", "TT", "G")[site % 3]
        chain += [[("A", 0.75), (other, 0.25)], [(letters(rng, 8), 1.0)]]
    reads = reads_of(rng, chain, 2)
    scores = pairhmm.forward(reads, text_of(chain), model="graph", backend="cpu")
    assert scores[:, 0] == pytest.approx(listed(reads, chain), abs=1e-5)


def test_a_path_is_a_haplotype(backend):
    """Also a long read, and one whose likelihood float64 does not hold."""
    rng = np.random.default_rng(2)
    haplotype = letters(rng, 600)
    reads = [pairhmm.make_read(haplotype[20:580], 40), pairhmm.make_read(letters(rng, 400), 60)]
    texts = [haplotype, f"{haplotype[:300]}[{haplotype[300:]}:1|A:0]"]
    scores = pairhmm.forward(reads, texts, model="graph", backend=backend)
    expected = pairhmm.forward(reads, haplotype, backend="reference")
    assert scores == pytest.approx(np.hstack([expected, expected]), abs=1e-6)
    assert scores[1, 0] < -320


def test_a_read_that_no_path_emits(backend):
    read = pairhmm.make_read("AC", 0, insertion_quality=0, deletion_quality=0, gap_quality=0)
    expected = pairhmm.forward(read, "ACGT", backend="reference")
    assert pairhmm.forward(read, "A[C]GT", model="graph", backend=backend) == pytest.approx(expected)


@pytest.mark.parametrize(("least", "most"), [(1, 1), (1, 40), (2, 3), (150, 180), (300, 900)])
def test_lengths(least, most):
    bases, factors = reciprocals(least, most)
    lengths = np.arange(least, most + 1)
    sums = (factors * bases ** (lengths - least)[:, None]).sum(axis=1)
    assert sums * lengths == pytest.approx(1, abs=1e-8)
    assert len(bases) <= (most - least) // 2 + 1


def test_equal_weights_and_case():
    graph = graph_of("ac[G|-|tu]n")
    assert [[allele.letters.tolist() for allele in site] for site in graph.sites] == [
        [[0, 1]],
        [[2], [], [3, 3]],
        [[4]],
    ]
    assert [allele.weight for allele in graph.sites[1]] == [pytest.approx(1 / 3)] * 3


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("AC[A:0.5|C:0.4]", r"site \[A:0.5\|C:0.4\]: the weights are not probabilities that sum to 1"),
        ("AC[A:-0.5|C:1.5]", "the weights are not probabilities"),
        ("AC[A:nan|C:0.5]", "the weights are not probabilities"),
        ("AC[A:0.5|C]", "not one weight behind each allele"),
        ("AC[A:x|C:0.5]", "not one weight behind each allele"),
        ("AC[A|]", r"site \[A\|\]: an allele without letters is -"),
        ("AC[A|C", r"letter '\[' at position 3 is not an IUPAC base"),
        ("AC[A|!]", "letter '!' at position 1"),
        ("[A|-]", "a path has no letters"),
        ("", "a path has no letters"),
    ],
)
def test_bad_text(text, message):
    with pytest.raises(ValueError, match=message):
        pairhmm.forward(pairhmm.make_read("ACG", 30), text, model="graph", backend="reference")


def test_the_command(tmp_path, run_cli):
    reads, graphs, bad = (tmp_path / name for name in ("reads.fq", "graphs.fa", "bad.fa"))
    reads.write_text("@r\nGCATTACGAACTTACGACGTT\n+\nIIIIIIIIIIIIIIIIIIIII\n")
    graphs.write_text(">one\nACGTTGCATTACGAA[A:0.3|C:0.7]TTACG\n[GG|-]ACGTTGCATTACGAA\n>two\nACGTTGCATTACGAA\n")
    texts = ["ACGTTGCATTACGAA[A:0.3|C:0.7]TTACG[GG|-]ACGTTGCATTACGAA", "ACGTTGCATTACGAA"]
    done = run_cli("-q", "forward", "--model", "graph", reads, graphs)
    assert (done.returncode, done.stderr) == (0, "")
    scores = pairhmm.forward(pairhmm.make_read("GCATTACGAACTTACGACGTT", 40), texts, model="graph")[0]
    assert done.stdout.splitlines()[1:] == [
        f"0\tr\t{name}\t{score:.6f}\tfloat64" for name, score in zip(("one", "two"), scores, strict=True)
    ]
    bad.write_text(">one\nA[A:0.3|C:0.6]C\n")
    for options, message in [
        ((bad,), "bad.fa: one: site [A:0.3|C:0.6]: the weights are not probabilities that sum to 1; write a site as"),
        ((graphs, "--backend", "webgpu"), "backend='webgpu' is not one of auto, cpu, reference: the model 'graph' has"),
        ((graphs, "--parameters", "published"), "--parameters is for --model profile"),
    ]:
        done = run_cli("-q", "forward", "--model", "graph", reads, *options)
        assert (done.returncode, done.stdout) == (2, "")
        assert message in done.stderr


def test_what_is_refused():
    read = pairhmm.make_read("ACG", 30)
    with pytest.raises(
        pairhmm.OptionError, match="backend='cuda' is not one of auto, cpu, reference: the model 'graph'"
    ):
        pairhmm.forward(read, "A[C|G]", model="graph", backend="cuda")
    with pytest.raises(ValueError, match="flags are of GATK's model"):
        pairhmm.forward(read, "ACG", model="graph", flags=[0, 0, 0])
    with pytest.raises(TypeError, match=r"reads\[0\] is of type ndarray"):
        pairhmm.forward(np.eye(4), "ACG", model="graph")
