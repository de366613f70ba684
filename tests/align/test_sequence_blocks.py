"""Sequences for alignment, in blocks: the same records whatever the block, and errors that say where."""

import gzip

import numpy as np
import pytest

from pairhmm.align import sequence_blocks as module
from pairhmm.align.base import LONGEST
from pairhmm.align.sequence_blocks import every_pair, pairs_in_order, read_sequences_whole, sequence_blocks
from pairhmm.errors import InputError
from pairhmm.sequences.letters import decode

FASTA = ">one more\nACGTN\nryk\n>two\n\n>three\nGGuT\n>four\nAC\n"
FASTQ = "@one more\nACGTNryk\n+\n!!!!!IJK\n@two\n\n+\n\n@three\nGGuT\n+\nIIII\n@four\nAC\n+\n''\n"
RECORDS = [("one", "ACGTNNNN"), ("two", ""), ("three", "GGTT"), ("four", "AC")]


def records(blocks):
    return [(name, decode(block.sequences[index])) for block in blocks for index, name in enumerate(block.names)]


@pytest.fixture
def files(tmp_path):
    """``files(*texts)``: paths of files with these texts."""

    def write(*texts):
        paths = [tmp_path / f"{number}.fa" for number in range(len(texts))]
        for path, text in zip(paths, texts, strict=True):
            path.write_text(text)
        return [str(path) for path in paths]

    return write


@pytest.mark.parametrize("chunk_size", [16, 40, 1 << 20])
@pytest.mark.parametrize("text", [FASTA, FASTQ, FASTA.replace("\n", "\r\n")])
def test_records(files, tmp_path, text, chunk_size):
    (path,) = files(text)
    blocks = [*sequence_blocks(path, chunk_size)]
    assert records(blocks) == RECORDS
    assert all(block.sequences.offsets[0] == 0 for block in blocks)
    packed = tmp_path / "x.fa.gz"
    packed.write_bytes(gzip.compress(text.encode()))
    assert records(sequence_blocks(str(packed), chunk_size)) == RECORDS
    if text is FASTQ:
        assert [one for block in blocks for one in block.qualities.tolist()][:8] == [0, 0, 0, 0, 0, 40, 41, 42]


def test_whole_and_parts(files, monkeypatch):
    (path,) = files(FASTA)
    monkeypatch.setattr(module, "CHUNK_SIZE", 16)
    whole = read_sequences_whole(path)
    assert records([whole]) == RECORDS
    assert records([whole.part(1, 3)]) == RECORDS[1:3]


@pytest.mark.parametrize("chunk_size", [16, 50, 1 << 20])
def test_pairs_in_order(files, monkeypatch, chunk_size):
    queries, targets = files(FASTA, FASTQ + "@five\nA\n+\nI\n")
    monkeypatch.setattr(module, "PAIRS_AT_ONCE", 3)
    found = []
    with pytest.raises(
        InputError, match=r"1\.fa: record 5: has more sequences than .*0\.fa, which has 4; give as many"
    ):
        for block in pairs_in_order(queries, targets, chunk_size):
            found.append(block)
    assert [block.first_target + at for block in found for at in range(len(block.pairs))] == [0, 1, 2, 3]
    pairs = [name for block in found for name in zip(*block.names(), strict=True)]
    assert pairs == [(name, name) for name, _ in RECORDS]


def test_more_queries_than_targets(files):
    queries, targets = files(FASTA, ">a\nA\n")
    with pytest.raises(InputError, match=r"0\.fa: record 2: has more sequences than .*1\.fa, which has 1"):
        list(pairs_in_order(queries, targets))


def test_every_pair(files, monkeypatch):
    queries, targets = files(FASTA, ">a\nA\n>b\nC\n")
    monkeypatch.setattr(module, "PAIRS_AT_ONCE", 5)
    found = list(every_pair(queries, targets))
    assert max(len(block.pairs) for block in found) == 4
    pairs = [name for block in found for name in zip(*block.names(), strict=True)]
    assert pairs == [(name, target) for name, _ in RECORDS for target in "ab"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "no FASTA or FASTQ record in it"),
        ("hello\n", "record 1: begins with 'h', not with > or @"),
        (">x\nAC!T\n", "record 1 (x): letter '!' at position 3 is not an IUPAC base"),
        ("@x\nACGT\n+\nII\n", "record 1 (x): 4 letters and 2 qualities"),
        ("@x\nACGT\n", "record 1 (x): the file ends within the record"),
        (">a\nA\n>x\n" + "A" * (LONGEST + 1), f"record 2 (x): has more than {LONGEST:,} letters; cut it"),
        ("BAM\1", "is BAM or CRAM; give FASTA or FASTQ"),
    ],
)
def test_bad_files(files, text, told):
    (path,) = files(text)
    with pytest.raises(InputError) as caught:
        list(sequence_blocks(path))
    assert f"0.fa: {told}" in str(caught.value)


def test_a_chromosome_is_refused_before_it_was_read(files):
    (path,) = files(">x\n" + ("A" * 99 + "\n") * 40_000)
    taken = []
    with pytest.raises(InputError, match="has more than"):
        list(sequence_blocks(path, 200_000, taken.append))
    assert sum(taken) < 1_000_000


def test_the_longest_is_taken(files):
    (path,) = files(">x\n" + "C" * LONGEST + "\n")
    (block,) = sequence_blocks(path)
    assert np.array_equal(block.sequences[0], np.ones(LONGEST, dtype=np.uint8))
