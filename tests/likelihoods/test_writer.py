"""Likelihood tables: one schema in three forms."""

import gzip
import os
import re
from pathlib import Path

import numpy as np
import pysam
import pytest

from pairhmm.errors import InputError
from pairhmm.files.names import printable
from pairhmm.likelihoods import lines, parquet
from pairhmm.likelihoods.reader import LikelihoodTable
from pairhmm.likelihoods.table import COLUMNS, HAPLOTYPE_COLUMNS, Format, companion
from pairhmm.likelihoods.writer import open_likelihoods
from pairhmm.models.batch import PRECISIONS
from pairhmm.variants.haplotypes import Haplotype
from pairhmm.variants.variant import Variant
from tests.likelihoods.rows import FLAGS, prepared_rows, region_of, write_regions


def region(start=10):
    return region_of(
        *("q", start, ["r1", "r2"], np.array([[-1.0, -2.5], [-3.0, -4.0]])),
        samples=["s1", "s2"],
        sample=np.array([0, 1], dtype=np.int32),
        flag=FLAGS[[1, 0]],
        variants=[Variant("q", start + 1, "CG", ("C",))],
        haplotypes=[Haplotype("ACGT", (0,)), Haplotype("ACT", (1,), is_nuisance=True)],
        precision=np.array([[0, 0], [1, 0]], dtype=np.uint8),
    )


REGION = region()
EXPECTED = [
    ["s1", "q", "10", "20", "r1", "1", "q:11-20/0", "-1.000000", "float32", "1"],
    ["s1", "q", "10", "20", "r1", "1", "q:11-20/1", "-2.500000", "float32", "1"],
    ["s2", "q", "10", "20", "r2", "0", "q:11-20/0", "-3.000000", "float64", "1"],
    ["s2", "q", "10", "20", "r2", "0", "q:11-20/1", "-4.000000", "float32", "1"],
]
DESCRIBED = [
    ["q", "10", "20", "q:11-20/0", "ACGT", "0", "12:CG>C", "0"],
    ["q", "10", "20", "q:11-20/1", "ACT", "1", "12:CG>C", "1"],
]


def write(path):
    write_regions(path, [REGION])


def test_tsv(tmp_path):
    path = tmp_path / "x.tsv"
    write(path)
    lines = [line.split("\t") for line in path.read_text().splitlines()]
    assert lines == [["#sample", *COLUMNS[1:]], *EXPECTED]
    described = [line.split("\t") for line in (tmp_path / "x.haplotypes.tsv").read_text().splitlines()]
    assert described == [["##pairhmmModel=gatk"], ["#chrom", *HAPLOTYPE_COLUMNS[1:]], *DESCRIBED]


def test_tabix(tmp_path):
    write(tmp_path / "x.tsv.gz")
    for name, expected in (("x.tsv.gz", EXPECTED), ("x.haplotypes.tsv.gz", DESCRIBED)):
        with pysam.TabixFile(str(tmp_path / name)) as table:
            assert [line.split("\t") for line in table.fetch("q", 19, 20)] == expected
            assert list(table.fetch("q", 20, 30)) == []


def test_parquet(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    write(tmp_path / "x.parquet")
    table = parquet.read_table(tmp_path / "x.parquet").to_pylist()
    assert [list(row) for row in table] == [list(COLUMNS)] * 4
    assert [[str(value) for value in row.values()][:7] for row in table] == [line[:7] for line in EXPECTED]
    assert [row["log10_likelihood"] for row in table] == REGION.log10.reshape(-1).tolist()
    described = parquet.read_table(tmp_path / "x.haplotypes.parquet").to_pylist()
    assert [[str(value) for value in row.values()] for row in described] == DESCRIBED


@pytest.mark.parametrize("ending", [".parquet", ".tsv.gz", ".tsv"])
@pytest.mark.parametrize("joined", [False, True])
def test_how_regions_come_changes_no_byte(tmp_path, monkeypatch, joined, ending):
    if ending == ".parquet":
        pytest.importorskip("pyarrow")
    monkeypatch.setattr(parquet, "ROWS_PER_GROUP", 40)
    monkeypatch.setattr(lines, "DEEP", 40)
    rng = np.random.default_rng(3)
    regions = [random_region(rng, 20 * number, joined) for number in range(30)]
    assert {one.log10.size < 40 for one in regions} == {True, False}
    made = []
    for number, (pieces, threads) in enumerate(
        (([[one] for one in regions], 1), ([regions[:7], regions[7:8], [], regions[8:]], 1), ([regions], 3))
    ):
        folder = tmp_path / str(number)
        folder.mkdir()
        path = folder / f"x{ending}"
        with open_likelihoods(path, threads=threads) as out:
            for piece in pieces:
                for prepared in prepared_rows(piece, Format.of(str(path))):
                    out.append(prepared.packed() if ending != ".tsv" and threads > 1 else prepared)
        made.append({file.name: file.read_bytes() for file in folder.iterdir()})
    assert made == [made[0]] * 3
    if ending == ".tsv.gz":
        with pysam.TabixFile(str(path), encoding="utf-8") as table:
            last = regions[-1].region
            found = list(table.fetch(last.chrom, last.start, last.start + 1))
            assert sum(f"\t{last.start}\t{last.end}\t" in line for line in found) == regions[-1].log10.size


def random_region(rng, start, joined):
    reads, haplotypes = int(rng.integers(0, 30)), int(rng.integers(1, 9))
    scores = rng.choice(
        [rng.normal(-5, 100), -1e-7, -0.0, 0.5e-6, -2.5e-6, -np.inf, -123456.7890125], (reads, haplotypes)
    )
    names = [f"r{rng.integers(10**6)}" + "ß" * int(rng.integers(2)) for _ in range(reads)]
    return region_of(
        *(f"chr{start // 1000}", start, names, scores),
        end=start + int(rng.integers(1, 900)),
        samples=["one", "zwei ä", "three"],
        sample=rng.integers(0, 3, reads, dtype=np.int32),
        flag=FLAGS[rng.integers(0, 3, reads)],
        precision=rng.integers(0, 3, (reads, haplotypes), dtype=np.uint8),
        reads=rng.integers(1, 9, reads) if joined else None,
    )


def expected_rows(evidence):
    """Each row of the table, one by one."""
    region = evidence.region
    place = f"{region.chrom}:{region.haplotype_start + 1}-{region.haplotype_end}"
    for read, name in enumerate(evidence.names):
        for column in range(len(evidence.haplotypes)):
            sample, mate = evidence.sample_names[read], FLAGS.tolist().index(evidence.flag[read])
            pair = (float(evidence.log10[read, column]), PRECISIONS[evidence.precision[read, column]])
            reads = 1 if evidence.reads is None else int(evidence.reads[read])
            yield (sample, region.chrom, region.start, region.end, name, mate, f"{place}/{column}", *pair, reads)


@pytest.mark.parametrize("joined", [False, True])
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("name", ["x.tsv", "x.tsv.gz", "x.parquet"])
def test_every_row_is_as_python_formats_it(tmp_path, monkeypatch, name, threads, joined):
    rng = np.random.default_rng(3)
    regions = [random_region(rng, start, joined) for start in range(0, 5000, 40)]
    expected = [row for one in regions for row in expected_rows(one)]
    monkeypatch.setattr(parquet, "ROWS_PER_GROUP", 1000)
    if name.endswith(".parquet"):
        pytest.importorskip("pyarrow")
    write_regions(tmp_path / name, regions, threads=threads)
    if name.endswith(".parquet"):
        from pyarrow.parquet import read_table

        columns = read_table(tmp_path / name).to_pydict().values()
        assert list(zip(*columns, strict=True)) == expected
        return
    data = (tmp_path / name).read_bytes()
    text = (gzip.decompress(data) if name.endswith(".gz") else data).decode()
    lines = ["\t".join(f"{one:.6f}" if isinstance(one, float) else str(one) for one in row) for row in expected]
    assert text.splitlines()[1:] == lines


def test_parquet_without_pyarrow(tmp_path, monkeypatch):
    def missing(path):
        raise InputError(path, "", "Parquet needs pyarrow", "pip install 'pairhmm[parquet]'")

    monkeypatch.setattr(parquet, "pyarrow_for", missing)
    with pytest.raises(InputError, match="pip install"):
        write(tmp_path / "x.parquet")
    assert os.listdir(tmp_path) == []


def test_companion():
    assert companion("a/b.tsv.gz") == "a/b.haplotypes.tsv.gz"
    assert companion("b.parquet") == "b.haplotypes.parquet"


def test_contigs_too_long_for_tbi(tmp_path):
    far = 600_000_000
    (tmp_path / "x.tsv.gz.tbi").write_text("of an earlier run")
    write_regions(tmp_path / "x.tsv.gz", [region(far)])
    assert not (tmp_path / "x.tsv.gz.tbi").exists()
    with pysam.TabixFile(str(tmp_path / "x.tsv.gz"), index=str(tmp_path / "x.tsv.gz.csi")) as table:
        assert len(list(table.fetch("q", far, far + 1))) == len(EXPECTED)


@pytest.mark.parametrize("name", ["x.tsv", "x.tsv.gz", "x.parquet"])
def test_no_region_at_all_is_a_valid_table(tmp_path, name):
    with open_likelihoods(tmp_path / name):
        pass
    if name.endswith(".parquet"):
        parquet = pytest.importorskip("pyarrow.parquet")
        assert parquet.read_table(tmp_path / name).column_names == list(COLUMNS)
    else:
        opened = gzip.open if name.endswith(".gz") else open
        with opened(tmp_path / name, "rt") as lines:
            assert lines.read() == "#" + "\t".join(COLUMNS) + "\n"


def test_a_device_has_no_companion():
    write("/dev/null")
    assert not os.path.exists("/dev/null.haplotypes")


def test_pandas_reads_a_table_as_documented(tmp_path):
    """docs/formats.md: the header line keeps its `#` for tabix."""
    pandas = pytest.importorskip("pandas")
    formats = Path(__file__).parents[2] / "docs" / "formats.md"
    if not formats.exists():
        pytest.skip("a wheel has no documents")
    path = tmp_path / "likelihoods.tsv.gz"
    write(path)
    (call,) = re.findall(r"pandas\.read_csv.*", formats.read_text())
    table = eval(call.replace("likelihoods.tsv.gz", str(path)), {"pandas": pandas})
    assert tuple(table.columns) == COLUMNS and len(table) == REGION.log10.size
    with pysam.TabixFile(str(path)) as indexed:
        assert list(indexed.header) == ["#" + "\t".join(COLUMNS)]


MODELS = ("gatk", "profile (normalised)", "profile (a\tb.toml)")


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("name", ["x.tsv", "x.tsv.gz", "x.parquet"])
def test_the_model_is_named(tmp_path, name, model):
    if name.endswith(".parquet"):
        pytest.importorskip("pyarrow")
    write_regions(tmp_path / name, [REGION], model)
    table = LikelihoodTable(str(tmp_path / name))
    assert table.model() == (model if name.endswith(".parquet") else printable(model))
    (haplotypes,) = table.haplotypes()
    (region,) = table.regions(lambda _: haplotypes)
    assert region.names == ["r1", "r2"]
    if name == "x.tsv":
        assert (tmp_path / name).read_text().startswith("#sample\t")
        first = (tmp_path / "x.haplotypes.tsv").read_text().splitlines()[0]
        assert first == f"##pairhmmModel={printable(model)}"


def test_tabix_shows_the_model(tmp_path):
    write_regions(tmp_path / "x.tsv.gz", [REGION], MODELS[1])
    with pysam.TabixFile(str(tmp_path / "x.haplotypes.tsv.gz")) as companion:
        assert list(companion.header) == [f"##pairhmmModel={MODELS[1]}", "#" + "\t".join(HAPLOTYPE_COLUMNS)]
    with pysam.TabixFile(str(tmp_path / "x.tsv.gz")) as table:
        assert list(table.header) == ["#" + "\t".join(COLUMNS)]
        assert [line.split("\t") for line in table.fetch("q", 19, 20)] == EXPECTED
