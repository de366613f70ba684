"""The verb `scan`: in memory, and from files in chunks of any size."""

from __future__ import annotations

import json
import shutil
from operator import attrgetter, itemgetter
from pathlib import Path

import numpy as np
import pytest

import pairhmm
from pairhmm.errors import InputError
from pairhmm.files.outputs import open_output
from pairhmm.scan.api import ScanHit
from pairhmm.scan.base import ScanOptions, Tiling
from pairhmm.scan.files import scan_files
from pairhmm.scan.outputs import Reports, ScanCounts
from pairhmm.sequences.fastx import open_sequences
from pairhmm.sequences.letters import decode_sets, encode_sets
from tests.scan.conftest import table


def test_hits_in_memory():
    hits = pairhmm.scan(
        {"v": "ACGTAC", "w": "GTACGT"},
        {"a": "TTACGTACGTAC", "b": "TTT"},
        {"a": [10] * 6 + [20] * 6, "b": [1, 2, 3]},
        options=ScanOptions(min_informative=6),
    )
    assert hits == [
        ScanHit("a", "v", 6, 12, "+", 120, 20.0, 3, 6, 0),
        ScanHit("a", "w", 6, 12, "-", 120, 20.0, 3, 6, 0),
    ]
    (first, *_) = pairhmm.scan(
        {"v": "ACGTAC"}, {"a": "ACGTAC"}, options=ScanOptions(min_informative=6, every_match=True)
    )
    assert (first.score, first.mean, first.matches) == (None, None, 1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (({"v": ""}, {"a": "AC"}), "a signature has no letters"),
        (({"v": "A"}, {"a": "A*"}), "letter '\\*' at position 2"),
        (({"v": "A"}, {"a": "AC"}, {"a": [1]}), "sample 'a' has 1 qualities for 2 letters"),
    ],
)
def test_what_is_wrong_in_memory(arguments, message):
    with pytest.raises(ValueError, match=message):
        pairhmm.scan(*arguments)
    with pytest.raises(ValueError, match="need qualities"):
        pairhmm.scan({"v": "A"}, {"a": "AC"}, options=ScanOptions(min_mean=3))


@pytest.fixture
def workload(tmp_path, monkeypatch):
    """Signatures, FASTQ and FASTA of samples with some of them on both strands; the folder is the current one."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(8)
    signatures = ["".join(rng.choice(list("ACGTN"), size, p=[0.24] * 4 + [0.04])) for size in (15, 40, 90, 200, 600)]
    signatures += [signatures[1][5:30], "ACGTACGTACGTACGT"]
    with open_sequences("sig.fa") as write:
        for number, signature in enumerate(signatures):
            write(f"v{number}", encode_sets(signature), None)
    complement = str.maketrans("ACGTN", "TGCAN")
    with open_sequences("x.fq") as with_quality, open_sequences("x.fa") as without:
        for number in range(12):
            pieces = []
            for _ in range(rng.integers(0, 8)):
                pieces.append("".join(rng.choice(list("ACGTN"), rng.integers(0, 300))))
                chosen = signatures[rng.integers(0, len(signatures))].replace("N", "A")
                pieces.append(chosen if rng.random() < 0.5 else chosen.translate(complement)[::-1])
            letters = encode_sets("".join(pieces))
            with_quality(f"s{number % 10}", letters, rng.integers(0, 60, len(letters)).astype(np.uint8))
            without(f"s{number % 10}", letters, None)


def run(samples, name="out.tsv", **more) -> ScanCounts:
    return scan_files("sig.fa", samples, name, **more)


@pytest.mark.parametrize("every_match", [False, True])
@pytest.mark.parametrize("max_mismatches", [0, 2])
def test_files_give_what_memory_gives(workload, every_match, max_mismatches):
    options = ScanOptions(every_match=every_match, max_mismatches=max_mismatches)
    counts = run(["x.fq"], options=options)
    text = Path("x.fq").read_text().splitlines()
    # Names are not unique there, numbers are.
    letters = {str(number): line for number, line in enumerate(text[1::4], start=1)}
    qualities = {str(number): [ord(c) - 33 for c in line] for number, line in enumerate(text[3::4], start=1)}
    head = Path("sig.fa").read_text().splitlines()
    signatures = {name[1:]: line for name, line in zip(head[::2], head[1::2], strict=True)}
    expected = pairhmm.scan(signatures, letters, qualities, options=options, backend="reference")
    assert len(expected) > 20
    columns = ("number", "signature", "start", "end", "strand", "sum", "mean", "matches", "informative", "mismatches")
    fields = ("sample", "signature", "start", "end", "strand", "score", "mean", "matches", "informative", "mismatches")
    shown = [
        [f"{value:.3f}" if isinstance(value, float) else str(value) for value in attrgetter(*fields)(hit)]
        for hit in expected
    ]
    assert [list(itemgetter(*columns)(row)) for row in table()] == shown
    assert {row["file"] for row in table()} == {"x.fq"}
    assert all(row["record"] == f"s{(int(row['number']) - 1) % 10}" for row in table())
    assert (counts.files, counts.reads, counts.hits) == (1, 12, len(expected))
    assert counts.bases == sum(map(len, letters.values()))


@pytest.mark.parametrize(
    ("options", "per_file"),
    [
        (ScanOptions(), False),
        (ScanOptions(), True),
        (ScanOptions(max_mismatches=3), False),
        (ScanOptions(max_mismatches=3), True),
        (ScanOptions(every_match=True), False),
    ],
)
@pytest.mark.parametrize("source", ["x.fq", "x.fa"])
def test_chunks_and_threads_change_nothing(workload, options, per_file, source):
    written = []
    shutil.copy(source, f"again_{source}")
    for chunk_size, threads in ((1 << 20, 1), (700, 2), (97, 3)):
        reports = Reports(summary="sum", multiqc="a_mqc.json")
        run(
            [source, f"again_{source}"],
            options=options,
            per_file=per_file,
            reports=reports,
            chunk_size=chunk_size,
            threads=threads,
        )
        names = ("out.tsv", "sum.samples.tsv", "sum.signatures.tsv", "a_mqc.json")
        written.append([Path(name).read_bytes() for name in names])
    assert all(files == written[0] for files in written)


def test_a_file_as_a_sample_has_the_best_of_its_records(workload):
    run(["x.fq"])
    by_record = table()
    run(["x.fq"], per_file=True)
    found = table()
    assert [row["signature"] for row in found] == sorted({row["signature"] for row in by_record})
    for row in found:
        rivals = [one for one in by_record if one["signature"] == row["signature"]]
        best = max(rivals, key=lambda one: int(one["sum"]))
        assert row == best | {"matches": str(sum(int(one["matches"]) for one in rivals))}


def test_lines_of_the_assignment(workload):
    run(["x.fq"])
    rows = table()
    text = Path("x.fq").read_text().splitlines()
    hashes = [sum(ord(c) - 33 for c in line) % 97 for line in text[3::4]]
    run(["x.fq"], reports=Reports(assignment=True))
    assert Path("out.tsv").read_text().splitlines() == [
        f"{row['record']}: {row['signature']} ({row['mean']}) [{hashes[int(row['number']) - 1]}]" for row in rows
    ]


def test_summaries(workload):
    run(["x.fq"], options=ScanOptions(every_match=True), reports=Reports(summary="sum", multiqc="a_mqc.json"))
    rows, samples, signatures = table(), table("sum.samples.tsv"), table("sum.signatures.tsv")
    assert [row["sample"] for row in samples] == [f"s{number % 10}" for number in range(12)]
    assert [int(row["hits"]) for row in samples] == [
        sum(row["number"] == str(number) for row in rows) for number in range(1, 13)
    ]
    for number, sample in enumerate(samples, start=1):
        own = [row for row in rows if row["number"] == str(number)]
        best = max(own, key=lambda row: int(row["sum"]), default={"signature": "", "sum": "", "mean": ""})
        assert itemgetter("best_signature", "sum", "mean")(sample) == itemgetter("signature", "sum", "mean")(best)
    letters = Path("sig.fa").read_text().splitlines()[1::2]
    for signature, text in zip(signatures, letters, strict=True):
        own = [row for row in rows if row["signature"] == signature["signature"]]
        known = len(text) - text.count("N")
        assert (int(signature["length"]), int(signature["informative"])) == (len(text), known)
        assert int(signature["hits"]) == len(own)
        assert int(signature["reads"]) == len({row["number"] for row in own})
        assert signature["depth"] == f"{sum(int(row['informative']) for row in own) / known:.4f}"
        assert float(signature["breadth"]) <= 1
    shown = json.loads(Path("a_mqc.json").read_text())
    assert shown["plot_type"] == "table" and set(shown["headers"]) == set(shown["data"]["x"])
    assert shown["data"]["x"]["reads"] == 12 and shown["data"]["x"]["hits"] == len(rows)


def test_breadth_counts_letters_that_some_hit_shows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("sig.fa").write_text(">v\nAACCGGTANN\n")
    Path("x.fa").write_text(">a\nTAACCNNNNTTT\n>b\nNNNNNGTAAA\n>c\nTNNTACCGNNT\n")
    run(["x.fa"], options=ScanOptions(min_informative=3), reports=Reports(summary="sum"))
    (row,) = table("sum.signatures.tsv")
    # a shows columns 0-3, b 5-7, c (the other strand) 3-7 and 0.
    assert (row["reads"], row["breadth"], row["depth"]) == ("3", "1.0000", f"{13 / 8:.4f}")


def test_a_file_without_records_is_told(workload, caplog):
    Path("none.fq").write_text("")
    counts = run(["none.fq"], reports=Reports(summary="sum"))
    assert (counts.reads, counts.hits) == (0, 0)
    assert "none.fq: no record in it" in caplog.text
    assert table() == [] and table("sum.samples.tsv") == []


def test_what_is_skipped_is_counted(workload, caplog):
    Path("sig.fa").write_text(">a\n" + "N" * 40 + "\n>b\nACGTACGTACGTAC\n>b\nACGNNNNNNNN\n>b.2\nCCCCCCCCCCCCCC\n")
    Path("e.fq").write_text("@x\n\n+\n\n@y\nACGTACGTACGTAC\n+\nIIIIIIIIIIIIII\n@z\n\n+\n\n")
    run(["e.fq"])
    assert "sig.fa: 2 signatures skipped, with fewer than 12 letters other than N (--min-informative): a" in caplog.text
    assert "names that occur more than once are numbered: b" in caplog.text
    assert "e.fq: 2 of 3 records are empty" in caplog.text
    assert [(row["record"], row["signature"]) for row in table()] == [("y", "b")]


def test_signatures_that_are_longer_than_all_records_are_told_of(workload, caplog):
    Path("y.fa").write_text(">y\nACGTACGTACGTACGTACGT\n")
    run(["y.fa"])
    told = "y.fa: 5 of 7 signatures are longer than every record (20 letters) and can't match: --tile 31 cuts them"
    assert told in caplog.text
    caplog.clear()
    run(["y.fa"], tiling=Tiling(15))
    assert "longer than every record" not in caplog.text


def test_signature_names_are_made_unique(workload, tmp_path):
    Path("sig.fa").write_text("".join(f">{name}\nACGTACGTACGTA\n" for name in ("b", "b", "b.2", "b", "c")))
    Path("y.fa").write_text(">y\nACGTACGTACGTA\n")
    run(["y.fa"])
    assert [row["signature"] for row in table()] == ["b", "b.3", "b.2", "b.4", "c"]


def test_missing_qualities_leave_scores_empty_and_are_said_once(workload, caplog):
    shutil.copy("x.fa", "again.fa")
    run(["x.fa", "again.fa"], reports=Reports(summary="sum"))
    assert {(row["sum"], row["mean"]) for row in table()} == {("", "")}
    assert {(row["sum"], row["mean"]) for row in table("sum.samples.tsv")} == {("", "")}
    assert caplog.text.count("no base qualities") == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"reports": Reports(assignment=True)}, "x.fa: its records have no qualities, which --assignment-format needs"),
        ({"reports": Reports(multiqc="a.json")}, "--multiqc: a.json: MultiQC finds files whose names end in _mqc.json"),
    ],
)
def test_what_does_not_go_together(workload, arguments, message):
    with pytest.raises(InputError, match=message):
        run(["x.fa"], **arguments)
    assert not [path for path in Path().iterdir() if path.name not in {"sig.fa", "x.fa", "x.fq"}]


def test_bytes_read_are_told(workload):
    told = []
    run(["x.fq", "x.fa"], watch=told.append)
    assert sum(told) == Path("x.fq").stat().st_size + Path("x.fa").stat().st_size


def test_sequences_are_written_as_they_are_read(tmp_path):
    with open_sequences(tmp_path / "x.fq.gz") as write, open_output(tmp_path / "y"):
        write("a", encode_sets("ACGTN"), np.arange(5, dtype=np.uint8))
    from pairhmm.alignments.record_blocks import sample_blocks

    (block,) = sample_blocks(str(tmp_path / "x.fq.gz"), 1 << 10, 0, None, lambda _: None)
    assert decode_sets(block.samples.letters) == "ACGTN" and block.samples.qualities.tolist() == [0, 1, 2, 3, 4]
