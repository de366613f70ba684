"""Reads that were aligned to another reference are noticed, early; those that were not are let pass."""

import hashlib
from pathlib import Path

import numpy as np
import pysam
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairhmm.alignments.blocks import ReadBlock
from pairhmm.calling.reference_check import ReferenceCheck
from pairhmm.errors import InputError
from pairhmm.native import native
from pairhmm.sequences.letters import decode, encode
from tests.calling.reads import aligned

LENGTH, READ = 4000, 100
LETTERS = "".join(np.random.default_rng(1).choice(list("ACGT"), LENGTH))
OTHER = "".join(np.random.default_rng(2).choice(list("ACGT"), LENGTH))
# Those that use up bases of the read, of the reference, and of both.
QUERY, REFERENCE, ALIGNED = set("MIS=X"), set("MDN=X"), set("M=X")
OPERATIONS = "MIDNSHP=X"


def fetch_of(letters):
    return lambda chrom, start, end: letters[max(0, start) : min(end, len(letters))]


def alignment(start, cigar, bases=None):
    length = sum(size for letter, size in cigar if letter in QUERY)
    bases = LETTERS[start : start + length] if bases is None else bases
    return aligned(start, bases, [(OPERATIONS.index(letter), size) for letter, size in cigar])


def naive(read):
    at, query, compared, differing = read.start, 0, 0, 0
    for operation, size in read.cigar:
        letter = OPERATIONS[operation]
        for i in range(size if letter in ALIGNED else 0):
            pair = decode(read.bases[query + i : query + i + 1]), LETTERS[at + i]
            compared += "N" not in pair
            differing += "N" not in pair and pair[0] != pair[1]
        query += size if letter in QUERY else 0
        at += size if letter in REFERENCE else 0
    return compared, differing


@st.composite
def alignments(draw):
    cigar = draw(st.lists(st.tuples(st.sampled_from(OPERATIONS), st.integers(0, 9)), min_size=1, max_size=6))
    length = sum(size for letter, size in cigar if letter in QUERY)
    bases = draw(st.text("ACGTN", min_size=length, max_size=length))
    return alignment(draw(st.integers(0, LENGTH - 100)), cigar, bases)


@given(st.lists(alignments(), max_size=6))
def test_differences_as_counted_one_by_one(reads):
    reads.sort(key=lambda read: read.start)
    block, chosen = ReadBlock.from_alignments("q", reads), np.arange(len(reads))
    reference = native.ReferenceBases(fetch_of(LETTERS))
    compared, differing = native.reference_differences(block.native, "q", chosen, reference)
    assert list(zip(compared.tolist(), differing.tolist(), strict=True)) == [naive(read) for read in reads]


def blocks(letters, count=400, size=50, step=9):
    starts = [step * number for number in range(count)]
    reads = [alignment(start, [("M", READ)], letters[start : start + READ]) for start in starts]
    return [ReadBlock.from_alignments("q", reads[at : at + size]) for at in range(0, count, size)]


def watched(reference, reads, checksums=None):
    check = ReferenceCheck("ref.fa", fetch_of(reference), {"q": LENGTH}, checksums or {})
    return sum(map(len, check.watch(reads)))


def md5(letters):
    return hashlib.md5(letters.encode()).hexdigest()


def noisy(letters, share, seed=3):
    rng = np.random.default_rng(seed)
    changed = np.array(list(letters))
    where = rng.random(len(letters)) < share
    changed[where] = rng.choice(list("ACGT"), int(where.sum()))
    return "".join(changed)


@pytest.mark.parametrize("size", [1, 50, 400])
def test_another_reference_of_the_same_length(size):
    passed = []
    with pytest.raises(
        InputError, match=r"ref\.fa: contig q: 100% of the reads .* disagree with it; use the reference"
    ):
        for block in ReferenceCheck("ref.fa", fetch_of(OTHER), {"q": LENGTH}, {}).watch(blocks(LETTERS, size=size)):
            passed.append(block)
    assert sum(map(len, passed)) < 20


def test_a_reference_that_lacks_a_base_at_its_beginning():
    with pytest.raises(InputError, match="disagree"):
        watched(LETTERS[1:] + "A", blocks(LETTERS))


@pytest.mark.parametrize("reference", [LETTERS, LETTERS.replace("A", "N"), "N" * LENGTH, noisy(LETTERS, 0.2)])
def test_references_that_pass(reference):
    assert watched(reference, blocks(LETTERS)) == 400


def test_a_few_reads_that_fit_nothing_pass():
    mixed = blocks(LETTERS)
    for block in mixed:
        block.bases[: 20 * READ] = encode(OTHER)[: 20 * READ]
    assert watched(LETTERS, mixed) == 400


def test_it_is_looked_at_later_too(monkeypatch):
    monkeypatch.setattr("pairhmm.calling.reference_check._ONE_IN", 4)
    late = [*blocks(LETTERS, 200, 50, 3), *blocks(OTHER, 4000, 50, 0)]
    with pytest.raises(InputError, match="disagree"):
        watched(LETTERS, late)


def test_reads_that_disagree_with_the_reference_that_the_checksum_names(caplog, monkeypatch):
    # Too long to be summed unasked.
    monkeypatch.setattr("pairhmm.calling.reference_check._SUMMED_UNASKED", LENGTH - 1)
    assert watched(LETTERS, blocks(OTHER), {"q": md5(LETTERS)}) == 400
    assert "although it is the one they were aligned to" in caplog.text
    with pytest.raises(InputError, match="disagree"):
        watched(LETTERS, blocks(OTHER), {"q": md5(OTHER)})


def test_another_checksum_alone_is_announced(caplog):
    assert watched(LETTERS, blocks(LETTERS), {"q": md5(LETTERS).upper()}) == 400
    assert caplog.text == ""
    assert watched(noisy(LETTERS, 0.01), blocks(LETTERS), {"q": md5(LETTERS)}) == 400
    assert caplog.messages == ["ref.fa: contig q is not the one that the reads' header names (M5)"]


@pytest.mark.parametrize("arguments", [(), ("-v", "x.vcf"), ("-r", "q:1-2000")], ids=" ".join)
@pytest.mark.parametrize("verb", ["call", "likelihoods"])
def test_through_the_command_line(tmp_path, monkeypatch, run_cli, verb, arguments):
    monkeypatch.chdir(tmp_path)
    for name, letters in (("right.fa", LETTERS), ("wrong.fa", OTHER)):
        Path(name).write_text(f">q\n{letters}\n")
    header = pysam.AlignmentHeader.from_dict({"HD": {"SO": "coordinate"}, "SQ": [{"SN": "q", "LN": LENGTH}]})
    with pysam.AlignmentFile("x.bam", "wb", header=header) as out:
        for start in range(0, LENGTH - READ, 10):
            read = pysam.AlignedSegment(header)
            read.query_name, read.reference_id, read.reference_start = f"r{start}", 0, start
            read.mapping_quality, read.cigartuples, read.query_sequence = 60, [(0, READ)], LETTERS[start : start + READ]
            read.query_qualities = pysam.qualitystring_to_array("I" * READ)
            out.write(read)
    pysam.index("x.bam")
    rows = "".join(f"q\t{at + 1}\t.\tN\tA,C\t.\t.\t.\n" for at in range(100, LENGTH - 100, 200))
    Path("x.vcf").write_text(f"##fileformat=VCFv4.2\n{rows}")
    assert run_cli("-q", verb, "-f", "right.fa", *arguments, "x.bam").returncode == 0
    done = run_cli("-q", verb, "-f", "wrong.fa", *arguments, "-o", "out.vcf" if verb == "call" else "out.tsv", "x.bam")
    assert done.returncode == 2, done.stderr
    assert "wrong.fa: contig q: 100% of the reads that were looked at disagree with it; use the ref" in done.stderr
    assert not list(Path().glob("out*"))
