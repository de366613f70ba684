"""Reads with gaps of any length: what is found is the same, and memory follows the aligned bases."""

import subprocess
import sys

import numpy as np
import pytest

from pairhmm.alignments.blocks import ReadBlock
from pairhmm.calling.discovery import CandidateOptions
from pairhmm.native import native
from pairhmm.sequences.letters import encode
from tests.calling.reads import aligned

RNG = np.random.default_rng(11)
EXON = 400
# Two exons between which a gap lies; the second begins in a repeat that goes on into the gap.
FIRST, SECOND = "".join(RNG.choice(list("ACGT"), EXON)), "CA" * 20 + "".join(RNG.choice(list("ACGT"), EXON - 40))
LONGEST = 2**28 - 1
DELETION, SKIP = 2, 3


class Contig:
    """Two exons `gap` bases apart, which can be asked for pieces; Cs and As between them."""

    def __init__(self, gap):
        self.gap, self.longest = gap, 0

    def fetch(self, chrom, start, end):
        self.longest = max(self.longest, end - start)
        second = EXON + self.gap
        between = "".join("CA"[(position - second) % 2] for position in range(max(EXON, start), min(second, end)))
        return FIRST[start:end] + between + SECOND[max(0, start - second) : max(0, end - second)]


def spliced(number, gap, operation=SKIP, edits=None, inserted=""):
    """The last 60 bases before the gap and the first 60 behind it, where `inserted` stands behind the first 20."""
    bases = list(FIRST[-60:] + SECOND[:20] + inserted + SECOND[20:60])
    for at, letter in (edits or {}).items():
        bases[at] = letter
    behind = [(0, 20), (1, len(inserted)), (0, 40)] if inserted else [(0, 60)]
    return aligned(EXON - 60, "".join(bases), [(0, 60), (operation, gap), *behind], name=f"r{number}")


def plain(start):
    return aligned(start, FIRST[start : start + 100], name=f"p{start}")


def find(contig, reads):
    finder = native.CandidateFinder(native.ReferenceBases(contig.fetch), 1, CandidateOptions())
    found = finder.scan("c", ReadBlock.from_alignments("c", reads).native) + finder.finish()
    return [(variant.pos, variant.ref, variant.alts) for variant in found]


def other(letter):
    return "A" if letter != "A" else "C"


@pytest.mark.parametrize("gap", [50, 2_000, 99_999, 100_001, 1_000_000, LONGEST])
def test_candidates_on_both_sides_of_a_gap(gap):
    contig = Contig(gap)
    edits = {10: other(FIRST[EXON - 50]), 110: other(SECOND[50])}
    reads = [spliced(number, gap, edits=edits) for number in range(4)]
    second = EXON + gap
    assert find(contig, reads) == [
        (EXON - 50, FIRST[EXON - 50], (edits[10],)),
        (second + 50, SECOND[50], (edits[110],)),
    ]
    assert contig.longest <= 2 * EXON + 100_000 + 2_000


@pytest.mark.parametrize("gap", [500, 900, 99_998, 100_002, 1_000_000])
def test_an_insertion_behind_a_gap_is_shifted_as_far_as_before(gap):
    """Through its repeat into the gap, for a thousand bases where the gap is long; not beyond the read."""
    contig = Contig(gap)
    ((position, ref, alts),) = find(contig, [spliced(number, gap, inserted="CA") for number in range(4)])
    shift = min(gap, 1_000) if gap > 100_000 else gap
    assert position <= EXON + gap - min(shift, 999)
    assert len(ref) == 1
    assert sorted(alts[0][1:]) == ["A", "C"]


def test_long_deletions_count_as_depth():
    """A base that all other reads show differently is in 3 of 13 reads, and in 3 of 29: 12% are asked for."""
    gap = 20_000
    at = 300
    contig = Contig(gap)
    carriers = [plain(250) for _ in range(3)]
    for read in carriers:
        read.bases = read.bases.copy()
        read.bases[at - 250] = encode(other(FIRST[at]))[0]
    long = aligned(200, "N" * 100, [(0, 50), (DELETION, 5_000), (0, 50)], name="long")
    others = [plain(250) for _ in range(10)]
    assert (at, FIRST[at], (other(FIRST[at]),)) in find(contig, [long, *carriers, *others])
    many = [long] * 16
    assert at not in [position for position, _, _ in find(contig, [*many, *carriers, *others])]


MEASURED = """
import resource
import tests.calling.test_discovery_far as far

limit = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize() + 200 * 2**20
resource.setrlimit(resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))
for operation in (far.SKIP, far.DELETION):
    far.find(far.Contig(far.LONGEST), [far.spliced(0, far.LONGEST, operation)])
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits the address space by /proc")
def test_one_read_over_a_contig_takes_no_memory(pytestconfig):
    """It took 5.3 GB: counts, and the reference, of every base that it spans."""
    done = subprocess.run(
        [sys.executable, "-c", "import sys; sys.path.insert(0, '.')" + MEASURED],
        cwd=pytestconfig.rootpath,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
