"""`scan_files` with tiles: hits, and what they say of each signature."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import pairhmm
from pairhmm.errors import InputError
from pairhmm.scan.base import Patterns, ScanOptions, Tiling
from pairhmm.scan.files import scan_files
from pairhmm.scan.outputs import Reports
from pairhmm.scan.rollup import PRESENT, Rollup, repeated_tiles
from pairhmm.scan.tables import read_coverage
from pairhmm.scan.tiles import TileScanner, load_tiles
from pairhmm.sequences.fastx import open_sequences
from pairhmm.sequences.letters import encode_sets, reverse_complement
from pairhmm.sequences.records import Samples
from pairhmm.sequences.signatures import Signatures
from tests.scan.conftest import table

ONE = ScanOptions(max_mismatches=1)


@pytest.fixture
def viruses(tmp_path, monkeypatch):
    """Three references, of which two share their last 150 letters, and reads of the first one, with differences."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(4)
    shared = "".join(rng.choice(list("ACGT"), 150))
    sequences = {name: "".join(rng.choice(list("ACGT"), 350)) for name in ("a", "b", "c")}
    sequences["a"] += shared
    sequences["b"] += shared
    Path("v.fa").write_text("".join(f">{name}\n{letters}\n" for name, letters in sequences.items()))
    with open_sequences("r.fq") as write:
        for number in range(30):
            begin = int(rng.integers(0, 400))
            read = encode_sets(sequences["a"][begin : begin + 100]).copy()
            read[::23] = 1
            read = reverse_complement(read) if number % 2 else read
            write(f"r{number}", read, np.full(len(read), 30, dtype=np.uint8))
        for number in range(10):
            write(f"n{number}", encode_sets("".join(rng.choice(list("ACGT"), 100))), np.full(100, 20, dtype=np.uint8))
    return sequences


def run(*samples: str, tiling: Tiling = Tiling(31), **more) -> None:  # noqa: B008
    scan_files("v.fa", samples, "out.tsv", **{"options": ONE, "tiling": tiling, **more})


def tables() -> list[bytes]:
    return [Path(name).read_bytes() for name in ("out.tsv", "sum.samples.tsv", "sum.signatures.tsv")]


@pytest.mark.parametrize("step", [1, 7])
def test_chunks_and_the_oracle_give_the_same_tables(viruses, step):
    more = {"tiling": Tiling(31, step), "reports": Reports(summary="sum")}
    run("r.fq", backend="reference", **more)
    expected = tables()
    assert len(table("out.tsv")) > 20
    for chunk_size in (1, 3000, 1 << 20):
        run("r.fq", chunk_size=chunk_size, threads=2, **more)
        assert tables() == expected


def test_places_are_those_of_the_letters(viruses):
    run("r.fq")
    lines = Path("r.fq").read_text().splitlines()
    reads = {name[1:]: letters for name, letters in zip(lines[::4], lines[1::4], strict=True)}
    for row in table("out.tsv"):
        place, virus = int(row["place"]), viruses[row["signature"]]
        tile = encode_sets(virus[place : place + 31])
        tile = reverse_complement(tile) if row["strand"] == "-" else tile
        read = encode_sets(reads[row["record"]][int(row["start"]) : int(row["end"])])
        assert int(np.count_nonzero((tile & read) == 0)) == int(row["mismatches"])


def test_what_is_said_of_each_signature(viruses):
    shutil.copy("r.fq", "s.fq")
    run("r.fq", "s.fq", reports=Reports(summary="sum", multiqc="s_mqc.json"))
    first, second, third, *again = table("sum.signatures.tsv")
    assert [row["signature"] for row in (first, second, third)] == ["a", "b", "c"]
    assert [row["call"] for row in (first, second, third)] == ["present", "weak", "absent"]
    assert len(again) == 3
    assert int(first["reads"]) > 25
    assert float(first["breadth"]) > 0.8
    assert second["ambiguous"] == "1.0000" and second["reason"] == "0 reads of its own"
    assert float(first["quality"]) == 30
    assert 0.95 < float(first["identity"]) < 1
    assert float(first["expected"]) < 0.01
    told = json.loads(Path("s_mqc.json").read_text())
    assert "at least 3 reads" in told["description"]
    row = told["data"]["r"]
    assert row["present"] == "a"
    assert list(row)[-2:] == ["reads_a", "reads_b"]


def test_the_depth_along_a_signature_is_told(viruses):
    run("r.fq", reports=Reports(summary="sum"))
    first, _, absent = table("sum.signatures.tsv")
    depths = np.array(first["depths"].split(","), dtype=float)
    # 200 parts of 500 letters: of 3 and 2 letters.
    sizes = np.array([len(part) for part in np.array_split(np.arange(500), 200)])
    assert (depths * sizes).sum() / 500 == pytest.approx(float(first["depth"]), rel=1e-3)
    breadth = float(first["breadth"])
    assert breadth <= sizes[depths > 0].sum() / 500 < breadth + 0.02
    assert absent["depths"] == ""


def test_kraken_reports_count_each_read_once(viruses):
    """A read of the common part is of the root. Two files are one sample; records of one taxon are one line."""
    whole = Path("v.fa").read_text()
    Path("v.fa").write_text(whole.replace(">a", ">a|kraken:taxid|10 Virus A, whole").replace(">c", ">c taxid=12 C"))
    shutil.copy("r.fq", "s.fq")
    run("r.fq", "s.fq", reports=Reports(summary="sum"))
    lines = [line.split("\t") for line in Path("sum.kreport").read_text().splitlines()]
    names = [line[5] for line in lines]
    assert names == ["unclassified", "root", "  Virus A, whole"]
    unmatched, root, virus = ([int(count) for count in line[1:3]] for line in lines)
    assert unmatched == [20, 20] and root[0] == 60 and root[1] > 0 and root[1] + virus[1] == 60
    assert [line[3:5] for line in lines] == [["U", "0"], ["R", "1"], ["S", "10"]]
    assert [line[0] for line in lines[:2]] == [" 25.00", " 75.00"]
    Path("v.fa").write_text(whole.replace(">a", ">a taxid=10 A").replace(">b", ">b taxid=10 A"))
    run("r.fq", reports=Reports(summary="sum"))
    assert Path("sum.kreport").read_text().splitlines()[1:] == [
        " 75.00\t30\t0\tR\t1\troot",
        " 75.00\t30\t30\tS\t10\t  taxid=10 A",
    ]


def test_genomes_are_cut_into_tiles(viruses, caplog):
    """Where most are longer than the first reads: the tables are those of tiles of 31."""
    caplog.set_level("INFO", "pairhmm")
    run("r.fq", reports=Reports(summary="sum"))
    expected = tables()
    caplog.clear()
    run("r.fq", reports=Reports(summary="sum"), tiling=None)
    assert tables() == expected
    assert (
        "v.fa: 3 of 3 signatures are longer than the reads (100 letters): cut into tiles, as with --tile 31"
        in caplog.text
    )
    caplog.clear()
    # One genome among short signatures, reads shorter than a tile, and options that such tiles can't have.
    short = "".join(f">s{number}\n{viruses['a'][number : number + 40]}\n" for number in range(3))
    Path("mixed.fa").write_text(Path("v.fa").read_text().split(">b")[0] + short)
    Path("short.fq").write_text(f"@r\n{viruses['a'][:30]}\n+\n{'I' * 30}\n")
    for signatures, sample, options in (
        ("mixed.fa", "r.fq", ONE),
        ("v.fa", "short.fq", ONE),
        ("v.fa", "r.fq", ScanOptions(min_informative=32)),
        ("v.fa", "r.fq", ScanOptions(max_mismatches=6)),
    ):
        scan_files(signatures, sample, "out.tsv", options=options)
    assert "cut into tiles" not in caplog.text


def test_samples_of_any_read_length_have_the_same_columns(viruses):
    """Reads of 100 letters have signatures of 120 cut into tiles, and reads of 150 match them whole."""
    Path("v.fa").write_text("".join(f">{name}\n{letters[:120]}\n" for name, letters in viruses.items()))
    letters = viruses["b"]
    for name, reads in (("short", [letters[:100], letters[10:110]]), ("long", [letters[:150]] * 2)):
        Path(f"{name}.fq").write_text("".join(f"@r\n{read}\n+\n{'I' * len(read)}\n" for read in reads))
        scan_files("v.fa", f"{name}.fq", f"{name}.hits.tsv", reports=Reports(summary=name))
    for kind in ("hits", "signatures"):
        pairhmm.gather([f"{name}.{kind}.tsv" for name in ("short", "long")], f"{kind}.tsv", ["x", "y"])
    rows = table("signatures.tsv")
    counted = {(row["sample"], row["signature"]): (row["reads"], row["hits"], row["informative"]) for row in rows}
    assert counted["x", "b"] == counted["y", "b"] == ("2", "2", "120")
    assert counted["x", "a"] == counted["y", "a"] == ("0", "0", "120")
    assert {row["sample"]: row["place"] for row in table("hits.tsv")} == {"x": "10", "y": "0"}
    # Only tiles have calls.
    assert {(row["sample"], row["call"] == "") for row in rows} == {("x", False), ("y", True)}
    assert {seen.signature for _, seen in read_coverage("short.signatures.tsv", None)} == {"a", "b", "c"}
    assert list(read_coverage("long.signatures.tsv", None)) == []


def test_the_least_breadth_is_asked_for(viruses):
    run("r.fq", reports=Reports(summary="sum", min_breadth=1))
    assert [row["call"] for row in table("sum.signatures.tsv")] == ["weak", "weak", "absent"]
    assert table("sum.signatures.tsv")[0]["reason"] == "breadth below 1"


def test_breadth_and_depth_count_letters_once():
    """Two runs of one read that overlap, on either strand, cover their letters once."""
    rng = np.random.default_rng(5)
    virus = rng.choice(np.array([1, 2, 4, 8], dtype=np.uint8), 300)
    read = virus[100:200].copy()
    read[[40, 50]] ^= 15  # what a letter is not: two columns that differ
    signatures, tiling = Signatures.of(["v"], [virus]), Tiling(31)
    for letters in (read, reverse_complement(read)):
        samples = Samples.of([letters])
        runs = load_tiles("reference", Patterns.of(signatures, ONE, tiling), ONE, tiling).scan(samples, 1).runs
        assert len(runs) == 2
        rollup = Rollup(signatures, tiling, ONE, 0.01)
        rollup.add(samples, runs)
        (seen,) = rollup.rows()
        assert (seen.reads, seen.ambiguous, seen.quality) == (1, 0.0, None)
        assert seen.breadth == seen.depth == pytest.approx(100 / 300)
        assert seen.call != PRESENT


def test_candidates_are_aligned_with_gaps(viruses, run_cli):
    """Reads with an insertion and a deletion, on both strands: aligned to their part, nothing else differs."""
    with open_sequences("g.fq") as write:
        for number, begin in enumerate((0, 60, 400)):
            letters = viruses["a"][begin : begin + 100]
            read = encode_sets(letters[:33] + letters[35:70] + "ACG" + letters[70:])
            write(
                f"g{number}", reverse_complement(read) if number == 1 else read, np.full(len(read), 30, dtype=np.uint8)
            )
    run("g.fq", reports=Reports(candidates="c"), options=ScanOptions())
    assert Path("c.parts.fa").read_text().count(">a:") == 3
    done = run_cli("align", "--mode", "semi-global", "--cigar", "c.reads.fq", "c.parts.fa", "-o", "c.tsv")
    assert done.returncode == 0, done.stderr
    cigars = [line.split("\t")[3] for line in Path("c.tsv").read_text().splitlines()[1:]]
    assert len(cigars) == 3
    for cigar in cigars:
        assert cigar.count("I") == cigar.count("D") == 1 and "2D" in cigar and "3I" in cigar
    with pytest.raises(InputError, match="--candidates"):
        scan_files("v.fa", ["g.fq"], "out.tsv", reports=Reports(candidates="c"))


def test_tiles_that_occur_again_are_counted():
    once = "ACGTTGCATTAGGCATCGGA"
    signatures = Signatures.of(["a", "b"], [encode_sets(once + "A" * 25), encode_sets("CC" + once)])
    # Of b, the tiles that lie within the letters of a; of a, these and the seven tiles of A.
    assert repeated_tiles(signatures, Tiling(20), both_strands=True) == (26 + 3, 7 + 2, 2)
    signatures = Signatures.of(["a", "b"], [encode_sets(once), reverse_complement(encode_sets(once))])
    assert repeated_tiles(signatures, Tiling(11), both_strands=True) == (20, 20, 20)
    assert repeated_tiles(signatures, Tiling(11), both_strands=False) == (20, 0, 0)


def test_what_can_not_be_tiled(viruses):
    with pytest.raises(InputError, match="every signature has fewer letters than a tile of 999"):
        scan_files("r.fq", ["r.fq"], "out.tsv", tiling=Tiling(999))


def test_tiles_in_memory(viruses):
    """Letters in memory have the hits of the same letters in files."""
    reads = {f"r{at}": viruses["a"][at : at + 100] for at in (0, 150, 300)}
    with open_sequences("r.fq") as write:
        for name, letters in reads.items():
            write(name, encode_sets(letters), np.full(100, 30, dtype=np.uint8))
    run("r.fq", options=ScanOptions(max_mismatches=1))
    qualities = {name: [30] * 100 for name in reads}
    hits = pairhmm.scan(viruses, reads, qualities, tile=31, max_mismatches=1)
    expected = [
        [row[name] for name in ("record", "signature", "start", "matches", "place")] for row in table("out.tsv")
    ]
    assert [[hit.sample, hit.signature, *map(str, (hit.start, hit.matches, hit.place))] for hit in hits] == expected
    stepped = pairhmm.scan(viruses, reads, tile=31, step=31)
    assert [hit.place % 31 for hit in stepped] == [0] * len(stepped) and len(stepped) >= 3
    assert pairhmm.scan({"n": "N" * 40}, reads, tile=31) == []

    with pytest.raises(ValueError, match="tile=31 is longer than every signature"):
        pairhmm.scan({"v": "ACGT" * 7}, {"s": "ACGT"}, tile=31)
    with pytest.raises(ValueError, match="step=0"):
        pairhmm.scan(viruses, {"s": "ACGT"}, tile=31, step=0)
    with pytest.raises(InputError, match="needs tiles of at least 20 letters"):
        pairhmm.scan(viruses, {"s": "ACGT"}, tile=19, max_mismatches=3)


def test_tiles_of_low_complexity(viruses, caplog):
    caplog.set_level("INFO")
    with open("v.fa", "a") as out:
        out.write(f">tail\n{viruses['c'][::-1]}{'A' * 40}\n>low\n{'AC' * 30}\n")
    Path("poly.fq").write_text("".join(f"@p{number}\n{'A' * 80}\n+\n{'I' * 80}\n" for number in range(9)))
    run("poly.fq", reports=Reports(summary="sum"))
    assert table("out.tsv") == []
    masked = {row["signature"]: int(row["masked"]) for row in table("sum.signatures.tsv")}
    assert masked["low"] == 30 and masked["a"] == 0
    assert 10 <= masked["tail"] < 40
    told = f"{sum(masked.values())} tiles of low complexity are not searched for (--no-mask searches for them)"
    assert told in caplog.messages
    assert "v.fa: 1 signature skipped, with no tile but those of low complexity (--no-mask): low ..." in caplog.messages
    run("poly.fq", reports=Reports(summary="sum"), tiling=Tiling(31, mask=False))
    assert [row["signature"] for row in table("out.tsv")] == ["tail"] * 9
    assert {row["masked"] for row in table("sum.signatures.tsv")} == {"0"}
    Path("v.fa").write_text(f">low\n{'AC' * 30}\n")
    with pytest.raises(InputError, match=r"every signature has no tile but those of low complexity: .* give --no-mask"):
        run("poly.fq")
    assert pairhmm.scan({"t": "A" * 40}, {"r": "A" * 80}, tile=31) == []
    assert len(pairhmm.scan({"t": "A" * 40}, {"r": "A" * 80}, tile=31, mask=False)) == 1


def test_blocks_that_are_found_in_parts_give_the_same_tables(viruses, monkeypatch):
    run("r.fq", reports=Reports(summary="sum", candidates="ca"))
    whole = [*tables(), Path("ca.reads.fq").read_bytes(), Path("ca.parts.fa").read_bytes()]
    some = TileScanner.scan_some
    monkeypatch.setattr(
        TileScanner, "scan_some", lambda self, samples, threads: some(self, samples.take(0, 1), threads)
    )
    run("r.fq", reports=Reports(summary="sum", candidates="ca"))
    assert [*tables(), Path("ca.reads.fq").read_bytes(), Path("ca.parts.fa").read_bytes()] == whole
