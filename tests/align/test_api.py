"""`pairhmm.align`, `align_scores` and `align_files`: the scores of the oracle, in every format."""

import gzip
import re

import numpy as np
import pysam
import pytest

import pairhmm
from pairhmm.align import sequence_blocks
from pairhmm.align.files import align_files
from pairhmm.align.records import best_of_each, without_outer_deletions
from pairhmm.align.scoring import PRESETS, Scoring
from pairhmm.errors import InputError, OptionError
from pairhmm.sequences.letters import decode

QUERIES = {"q1": "GATTACA", "q2": "ACGTNNACGT", "none": "", "q4": "TTTTGGGACGTACGT"}
TARGETS = {"t1": "GATACA", "t2": "ACGTACGT", "t3": "AC", "t4": "CCGGGACGTACGTAAAA"}


def write(path, records):
    path.write_text("".join(f">{name} of it\n{letters}\n" for name, letters in records.items()))
    return str(path)


@pytest.fixture
def files(tmp_path):
    return write(tmp_path / "q.fa", QUERIES), write(tmp_path / "t.fa", TARGETS)


def test_align():
    found = pairhmm.align(list(QUERIES.values()), list(TARGETS.values()), scoring="gatk-read", backend="reference")
    assert [(one.score, one.cigar, one.start, one.end) for one in found] == [
        (30, "2M1I4M", 0, 6),
        (45, "4M2I4M", 0, 8),
        (0, "*", 0, 0),
        (80, "2S13M", 0, 13),
    ]
    (one,) = pairhmm.align("GATTACA", np.array([2, 0, 3], dtype=np.uint8), scoring=Scoring(mode="semi-global"))
    assert (one.start, one.end) == (0, 3)


def test_align_scores():
    queries, targets = ["GATTACA", "GATT"], ["GATACA", "CATT"]
    assert pairhmm.align_scores(queries, targets, scoring="edit").tolist() == [1, 1]
    assert pairhmm.align_scores(queries, targets, scoring="edit", every=True).tolist() == [[1, 4], [3, 1]]
    assert pairhmm.align_scores(queries, targets).tolist() == [0, -1]
    assert pairhmm.align_scores([], []).tolist() == []
    assert pairhmm.align_scores("TAC", "GATTACA", scoring="edit", mode="semi-global").tolist() == [0]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((["A"], ["A", "C"]), "1 queries and 2 targets: give pairs in order, or every=True"),
        (("A!", "A"), "letter '!' at position 2"),
        (("A", ["A" * 100_001]), r"targets\[0\] has more than 100,000 letters"),
    ],
)
def test_wrong_sequences(arguments, told):
    with pytest.raises(ValueError, match=told):
        pairhmm.align(*arguments)


def test_wrong_options():
    with pytest.raises(OptionError, match="scoring='edits' is not one of edit, gatk-haplotype, gatk-read"):
        pairhmm.align("A", "A", scoring="edits")
    with pytest.raises(TypeError, match=r"align\(\) has no option 'matches'; did you mean 'match'"):
        pairhmm.align("A", "A", matches=1)
    with pytest.raises(OptionError, match="threads=0"):
        pairhmm.align("A", "A", threads=0)


@pytest.mark.parametrize("every", [False, True])
@pytest.mark.parametrize("chunk_size", [16, 1 << 20])
def test_tables(files, tmp_path, every, chunk_size, monkeypatch):
    monkeypatch.setattr(sequence_blocks, "PAIRS_AT_ONCE", 3)
    expected = [
        (query, target)
        for number, query in enumerate(QUERIES)
        for target in (TARGETS if every else [list(TARGETS)[number]])
    ]
    letters = [(QUERIES[query], TARGETS[target]) for query, target in expected]
    for name, scoring in [*PRESETS.items(), ("affine", Scoring())]:
        found = pairhmm.align(*zip(*letters, strict=True), scoring=scoring)
        lines = [
            f"{query}\t{target}\t{one.score}\t{one.cigar}\t{one.start}\t{one.end}"
            for (query, target), one in zip(expected, found, strict=True)
        ]
        given = {"scoring": name if name in PRESETS else scoring, "every": every, "chunk_size": chunk_size}
        assert align_files(*files, tmp_path / "x.tsv.gz", cigars=True, threads=2, **given) == len(expected)
        header, *rows = gzip.decompress((tmp_path / "x.tsv.gz").read_bytes()).decode().splitlines()
        assert header == "#query\ttarget\tscore\tcigar\ttarget_start\ttarget_end"
        assert rows == lines
        align_files(*files, tmp_path / "x.tsv", **given)
        scores = [line.rsplit("\t", 3)[0] + "\t.\t.\t." for line in lines]
        assert (tmp_path / "x.tsv").read_text().splitlines() == [header, *scores]


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """A folder with files of many pairs; the pairs; the qualities of the queries."""
    folder, rng = tmp_path_factory.mktemp("many"), np.random.default_rng(3)
    kept = []
    for _ in range(60):
        target = rng.integers(0, 5, rng.integers(1, 50)).astype(np.uint8)
        begin, end = np.sort(rng.integers(0, len(target) + 1, 2)).tolist()
        parts = (target[begin:end], rng.integers(0, 4, rng.integers(1, 9)), target[end + 2 :])
        query = np.concatenate(parts[: int(rng.integers(2, 4))][:: int(rng.choice([-1, 1]))]).astype(np.uint8)
        kept.append((decode(query), decode(target)))
    qualities = ["".join(map(chr, rng.integers(33, 73, len(query)))) for query, _ in kept]
    (folder / "q.fq").write_text("".join(f"@q{n}\n{kept[n][0]}\n+\n{letters}\n" for n, letters in enumerate(qualities)))
    (folder / "t.fa").write_text("".join(f">t{n}\n{target}\n" for n, (_, target) in enumerate(kept)))
    return folder, kept, qualities


@pytest.mark.parametrize("ending", ["sam", "bam"])
@pytest.mark.parametrize("name", ["gatk-read", "edit", "gatk-haplotype"])
def test_sam(many, name, ending):
    folder, pairs, qualities = many
    out = folder / f"x.{ending}"
    align_files(folder / "q.fq", folder / "t.fa", out, scoring=name, provenance={"VN": "1"})
    expected = pairhmm.align(*zip(*pairs, strict=True), scoring=name)
    with pysam.AlignmentFile(str(out)) as opened:
        assert opened.header.to_dict()["PG"] == [{"ID": "pairhmm", "PN": "pairhmm", "VN": "1"}]
        assert opened.references == tuple(f"t{n}" for n in range(len(pairs)))
        records = list(opened)
    for number, (record, one, (query, target)) in enumerate(zip(records, expected, pairs, strict=True)):
        assert (record.query_name, record.query_sequence) == (f"q{number}", query)
        assert record.query_qualities_str == qualities[number]
        if "M" not in one.cigar:
            assert record.is_unmapped
            continue
        leading, trailing = (re.search(pattern, one.cigar) for pattern in (r"^(\d+)D", r"(\d+)D$"))
        outer = [int(found[1]) if found else 0 for found in (leading, trailing)]
        assert record.cigarstring == re.sub(r"^\d+D|(?<=[MIS])\d+D$", "", one.cigar)
        assert (record.reference_name, record.reference_start) == (f"t{number}", one.start + outer[0])
        assert record.reference_end == one.end - outer[1]
        differing = sum(
            1
            for at, place in record.get_aligned_pairs()
            if (at is None or place is None or query[at] != target[place])
            and (place is not None or not _clipped(record, at))
        )
        assert record.get_tag("NM") == differing
        assert record.get_tag("AS") == (-one.score if name == "edit" else one.score)


def _clipped(record, at):
    return not record.query_alignment_start <= at < record.query_alignment_end


def test_paf(many):
    folder, pairs, _ = many
    align_files(folder / "q.fq", folder / "t.fa", folder / "x.paf", scoring="gatk-read")
    expected = pairhmm.align(*zip(*pairs, strict=True), scoring="gatk-read")
    rows = [line.split("\t") for line in (folder / "x.paf").read_text().splitlines()]
    for number, (row, one, (query, target)) in enumerate(zip(rows, expected, pairs, strict=True)):
        assert row[:2] == [f"q{number}", str(len(query))]
        if not re.search("[MID]", one.cigar):
            assert row[2:] == ["0", "0", "*", "*", "0", "0", "0", "0", "0", "0"]
            continue
        lengths = {kind: sum(map(int, re.findall(rf"(\d+){kind}", one.cigar))) for kind in "MID"}
        clips = [int(found[1]) if (found := re.search(p, one.cigar)) else 0 for p in (r"^(\d+)S", r"(\d+)S$")]
        assert row[2:4] == [str(clips[0]), str(len(query) - clips[1])]
        assert row[4:9] == ["+", f"t{number}", str(len(target)), str(one.start), str(one.end)]
        assert int(row[10]) == sum(lengths.values())
        assert int(row[9]) + int(row[12].removeprefix("NM:i:")) == int(row[10])
        assert row[13] == f"AS:i:{one.score}"
        assert row[14] == "cg:Z:" + re.sub(r"\d+S", "", one.cigar)


def test_the_best_target_of_a_query_is_primary(files, tmp_path):
    align_files(files[1], files[1], tmp_path / "x.bam", every=True, scoring="gatk-read")
    with pysam.AlignmentFile(str(tmp_path / "x.bam")) as records:
        primary = [record for record in records if not record.is_secondary]
    assert [(record.query_name, record.reference_name) for record in primary] == [
        ("t1", "t1"),
        ("t2", "t2"),
        ("t3", "t1"),  # the first of those with equal scores
        ("t4", "t4"),
    ]


def test_a_query_without_an_alignment_is_one_record(tmp_path):
    queries = write(tmp_path / "q.fa", {"none": "", "other": "AAAA", "one": "CC"})
    targets = write(tmp_path / "t.fa", {"far": "GGGG", "near": "TTCCTT"})
    align_files(queries, targets, tmp_path / "x.sam", every=True, scoring="gatk-read")
    with pysam.AlignmentFile(str(tmp_path / "x.sam")) as records:
        found = [(record.query_name, record.reference_name, record.flag) for record in records]
    assert [one for one in found if one[0] == "none"] == [("none", None, 4)]
    assert ("one", "near", 0) in found
    assert sum(flag in (0, 4) for _, _, flag in found) == 3


def test_best_of_each():
    query, scores = np.array([0, 0, 0, 2, 2], dtype=np.int32), np.array([1, 3, 3, -5, -7], dtype=np.int32)
    assert best_of_each(query, scores).tolist() == [False, True, False, True, False]
    assert best_of_each(query[:0], scores[:0]).tolist() == []


def test_outer_deletions():
    assert without_outer_deletions(3, [(2, 4), (0, 5), (2, 1), (0, 1), (2, 2)]) == (7, [(0, 5), (2, 1), (0, 1)], 6)
    assert without_outer_deletions(3, [(0, 5)]) == (3, [(0, 5)], 0)


@pytest.mark.parametrize(
    ("targets", "told"),
    [
        ({"t": "A", "u": "C", "v": "A", "t2": ""}, r"record 4 \(t2\): an empty sequence can't stand in SAM"),
        ([("t", "A"), ("u", "C"), ("v", "A"), ("u", "C")], r"record 4 \(u\): has the name of record 2"),
    ],
)
def test_targets_that_sam_can_not_have(files, tmp_path, targets, told):
    records = targets.items() if isinstance(targets, dict) else targets
    (tmp_path / "t.fa").write_text("".join(f">{name}\n{letters}\n" for name, letters in records))
    with pytest.raises(InputError, match=told):
        align_files(*files, tmp_path / "x.sam")
    assert not (tmp_path / "x.sam").exists()
    assert align_files(*files, tmp_path / "x.paf") == 4


def test_no_half_output(files, tmp_path):
    (tmp_path / "t.fa").write_text(">t\nA\n")
    with pytest.raises(InputError, match=r"record 2: has more sequences than .*t\.fa, which has 1"):
        align_files(*files, tmp_path / "x.tsv")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["q.fa", "t.fa"]


def test_what_can_not_be_written(files, tmp_path):
    beyond = Scoring(mode="gatk", overhang="ignore")
    with pytest.raises(InputError, match="PAF and SAM can't hold a query beyond its target"):
        align_files(*files, tmp_path / "x.paf", scoring=beyond)
    assert align_files(*files, tmp_path / "x.tsv", scoring=beyond, cigars=True) == 4
    with pytest.raises(InputError, match="stdin is named twice"):
        align_files("-", "-", tmp_path / "x.tsv")
    with pytest.raises(InputError, match="give a file, or write TSV or PAF"):
        align_files(files[0], "-", tmp_path / "x.sam")
    with pytest.raises(InputError, match="would be written by -o, but is the input"):
        align_files(*files, files[0])
