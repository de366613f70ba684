"""The outputs of pieces put together are those of the whole."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pysam
import pysam.bcftools
import pytest

from pairhmm.calling.gather import gather
from pairhmm.errors import InputError
from pairhmm.files.text_lines import read_lines
from pairhmm.likelihoods.mixture_table import open_haplotypes
from pairhmm.likelihoods.reader import LikelihoodTable
from tests.likelihoods.rows import region_of, write_regions

HEADER = """\
##fileformat=VCFv4.3
##contig=<ID=a,length=900>
##contig=<ID=b,length=90>
##FORMAT=<ID=GT,Number=1,Type=String,Description="x">
"""
COLUMNS = "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\tone\n"


def bgzipped(path: Path, text: str) -> str:
    with pysam.BGZFile(str(path), "wb") as out:
        out.write(text.encode())
    return str(path)


def record(chrom: str, pos: int) -> str:
    return f"{chrom}\t{pos}\t.\tA\tC\t50.00\tPASS\t.\tGT\t0/1\n"


@pytest.fixture
def calls(tmp_path):
    """Two pieces, an empty one between them, plain and bgzipped."""
    (tmp_path / "3.vcf").write_text(HEADER + COLUMNS + record("b", 7))
    return [
        bgzipped(tmp_path / "1.vcf.gz", HEADER + COLUMNS + record("a", 5) + record("a", 800)),
        bgzipped(tmp_path / "2.vcf.gz", HEADER + COLUMNS),
        str(tmp_path / "3.vcf"),
    ]


def in_bcf(path: str, output: Path, raw: bool = True) -> str:
    packed = output.with_suffix(".packed")
    pysam.bcftools.view("--no-version", "-Ob", "-o", str(packed), path, catch_stdout=False)
    output.write_bytes(gzip.decompress(packed.read_bytes()) if raw else packed.read_bytes())
    return str(output)


@pytest.mark.parametrize(("raw", "ending"), [(True, ".vcf"), (True, ".bcf"), (False, ".bcf"), (False, ".vcf.gz")])
def test_calls_in_bcf(calls, tmp_path, raw, ending):
    """BCF is known by its first bytes, compressed or not."""
    pieces = [in_bcf(path, tmp_path / f"piece{number}{ending}", raw) for number, path in enumerate(calls)]
    gather(pieces, str(tmp_path / "bcf.vcf"))
    gather(calls, str(tmp_path / "text.vcf"))
    lines = [(tmp_path / name).read_text().splitlines() for name in ("bcf.vcf", "text.vcf")]
    records = [[line.replace("50.00", "50") for line in one if not line.startswith("##")] for one in lines]
    assert records[0] == records[1]
    assert set(HEADER.splitlines()) <= set(lines[0])


def test_bcf_that_is_damaged(calls, tmp_path):
    path = Path(in_bcf(calls[0], tmp_path / "x.bcf"))
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(InputError, match=r"x.bcf: after a:5: can't be read; the file may be cut off"):
        gather([str(path)], str(tmp_path / "all.vcf"))
    assert not (tmp_path / "all.vcf").exists()


@pytest.mark.parametrize("name", ["all.vcf", "all.vcf.gz", "all.bcf"])
def test_calls(calls, tmp_path, name):
    output = tmp_path / name
    gather(calls, str(output))
    with pysam.VariantFile(str(output)) as found:
        assert [(one.chrom, one.pos) for one in found] == [("a", 5), ("a", 800), ("b", 7)]
        if name != "all.vcf":
            assert [one.pos for one in found.fetch("a", 700, 900)] == [800]
    if name == "all.vcf":
        assert output.read_text() == HEADER + COLUMNS + record("a", 5) + record("a", 800) + record("b", 7)


TABLE = "#chrom\tstart\tend\thaplotype\n"


@pytest.mark.parametrize("name", ["all.tsv", "all.tsv.gz"])
def test_tables(tmp_path, name):
    (tmp_path / "1.tsv").write_text(TABLE + "a\t1\t5\tx\n")
    second = bgzipped(tmp_path / "2.tsv.gz", TABLE + "a\t3\t9\ty\nb\t0\t2\tz\n")
    output = tmp_path / name
    gather([str(tmp_path / "1.tsv"), second], str(output))
    opened = gzip.open if name.endswith(".gz") else open
    with opened(output, "rt") as text:
        assert text.read() == TABLE + "a\t1\t5\tx\na\t3\t9\ty\nb\t0\t2\tz\n"
    if name.endswith(".gz"):
        with pysam.TabixFile(str(output)) as table:
            assert [row.split("\t")[3] for row in table.fetch("a", 5, 6)] == ["y"]


@pytest.mark.parametrize("ending", [".tsv", ".tsv.gz", ".parquet"])
def test_a_region_of_a_mixture_at_a_cut(tmp_path, ending):
    if ending == ".parquet":
        pytest.importorskip("pyarrow")
    regions = ((0, 5), (10, 30)), ((10, 30),), ((10, 30), (40, 45)), ((40, 50),)
    pieces = [str(tmp_path / f"{number}{ending}") for number in range(len(regions))]
    for path, chosen in zip((*pieces, str(tmp_path / f"whole{ending}")), (*regions, sum(regions, ())), strict=True):
        with open_haplotypes(path) as table:
            for start, end in dict.fromkeys(chosen):
                for sample, share in (("x", 0.75), ("x", 0.25), ("y", 1.0)):
                    table.append(f"{sample}\ta\t{start}\t{end}\th\tAC\t.\t{share}\t0.1\t1.0\t30.5\t9\n")
    gather(pieces, str(tmp_path / f"all{ending}"))
    gathered, whole = (tmp_path / f"{name}{ending}" for name in ("all", "whole"))
    if ending == ".parquet":
        from pyarrow import parquet

        assert parquet.read_table(gathered).equals(parquet.read_table(whole))
    else:
        assert "\n".join(read_lines(str(gathered))) == "\n".join(read_lines(str(whole)))


def test_samples_of_tables(tmp_path):
    for name in ("x", "y"):
        (tmp_path / name).write_text(f"#file\thits\n{name}.fq\t3\n")
    paths = [str(tmp_path / "x"), str(tmp_path / "y")]
    gather(paths, str(tmp_path / "all.tsv"), ["one", "two"])
    assert (tmp_path / "all.tsv").read_text() == "#sample\tfile\thits\none\tx.fq\t3\ntwo\ty.fq\t3\n"
    with pytest.raises(InputError, match="1 names for 2 files"):
        gather(paths, str(tmp_path / "all.tsv"), ["one"])
    with pytest.raises(InputError, match="has a column of that name"):
        gather([str(tmp_path / "all.tsv")], str(tmp_path / "again.tsv"), ["one"])


def test_parquet(tmp_path, require):
    pytest.importorskip("pyarrow")
    from pyarrow import parquet, table

    pieces = [
        likelihood_table(tmp_path / f"{number}.parquet", names) for number, names in enumerate((["p", "q"], [], ["q"]))
    ]
    gather(pieces, str(tmp_path / "all.parquet"))
    # The gathered file is as good as a piece.
    gather([str(tmp_path / "all.parquet")], str(tmp_path / "again.parquet"))
    again = parquet.read_table(tmp_path / "again.parquet").to_pydict()
    assert again["read_name"] == ["p", "q", "q"]
    assert again["log10_likelihood"] == [-1.0] * 3
    parquet.write_table(table({"other": [1]}), pieces[1])
    with pytest.raises(InputError, match=r"1.parquet: has no column sample"):
        gather(pieces, str(tmp_path / "all.parquet"))
    Path(pieces[1]).write_text("PAR1")
    with pytest.raises(InputError, match=r"1.parquet: can't be read as Parquet"):
        gather(pieces, str(tmp_path / "none.parquet"))
    assert not (tmp_path / "none.parquet").exists()


@pytest.mark.parametrize("ending", [".tsv", ".tsv.gz", ".parquet"])
def test_pieces_of_one_model(tmp_path, ending):
    if ending == ".parquet":
        pytest.importorskip("pyarrow")
    models = {"1": "profile (normalised)", "2": "profile (normalised)", "3": "gatk", "4": "profile (own.toml)"}
    for name, model in models.items():
        likelihood_table(tmp_path / f"{name}{ending}", [name], model)
    one, same, *others = (str(tmp_path / f"{name}{ending}") for name in models)
    gather([one, same], str(tmp_path / f"all{ending}"))
    companions = [one.replace(ending, f".haplotypes{ending}") for one in (one, same)]
    gather(companions, str(tmp_path / f"all.haplotypes{ending}"))
    assert LikelihoodTable(str(tmp_path / f"all{ending}")).model() == "profile (normalised)"
    for other in others:
        for pieces in ([one, other], [other, one]):
            with pytest.raises(InputError, match=r"(its model is|says) .*profile \(normalised\)"):
                gather(pieces, str(tmp_path / f"none{ending}"))
    assert not (tmp_path / f"none{ending}").exists()


def likelihood_table(path, names, model="gatk"):
    regions = [region_of("a", 0, names, np.full((len(names), 1), -1.0), end=9)] if names else []
    write_regions(path, regions, model)
    return str(path)


CASES = {
    "other_samples": (HEADER + COLUMNS.replace("one", "two"), r"x.vcf: its samples are not those of .*1.vcf.gz"),
    "other_contigs": (HEADER.replace("90", "91") + COLUMNS, r"x.vcf: its contigs are not those of"),
    "behind": (HEADER + COLUMNS + record("a", 4), r"x.vcf: a:4: not behind the piece before it"),
    "two_lines_of_columns": (HEADER + "#CHROM\n" + COLUMNS, r"x.vcf: line 5: '#CHROM' within the header"),
    "no_vcf": ("text\n", r"x.vcf: not a VCF file"),
}


@pytest.mark.parametrize("case", CASES)
def test_pieces_that_do_not_fit(calls, tmp_path, case):
    text, message = CASES[case]
    (tmp_path / "x.vcf").write_text(text)
    with pytest.raises(InputError, match=message):
        gather([*calls[:1], str(tmp_path / "x.vcf")], str(tmp_path / "all.vcf.gz"))
    assert not (tmp_path / "all.vcf.gz").exists()


def test_a_piece_given_twice_would_count_double(calls, tmp_path):
    with pytest.raises(InputError, match=r"3.vcf: is given twice; name each file once"):
        gather([calls[2], calls[2]], tmp_path / "out.vcf")


@pytest.mark.parametrize("kind", ["plain", "bcf"])
def test_calls_to_stdout_are_vcf(calls, tmp_path, run_cli, kind):
    """Their headers differ, as those of shards do."""
    first = in_bcf(calls[0], tmp_path / "1.bcf") if kind == "bcf" else calls[0]
    Path(calls[2]).write_text(HEADER.replace("VCFv4.3", "VCFv4.3\n##fileDate=20260101") + COLUMNS + record("b", 7))
    done = run_cli("gather", first, *calls[1:])
    assert done.returncode == 0, done.stderr
    rows = [line.split("\t")[:2] for line in done.stdout.splitlines() if not line.startswith("#")]
    assert rows == [["a", "5"], ["a", "800"], ["b", "7"]]
    done = run_cli("gather", *calls, "-o", str(tmp_path / "out.tsv"))
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "out.tsv: not a name for calls; end it in .vcf, .vcf.gz or .bcf" in done.stderr


def test_a_piece_that_is_missing_or_cut_off(tmp_path):
    with pytest.raises(InputError, match=r"none.tsv: No such file or directory; check the path"):
        gather([str(tmp_path / "none.tsv")], str(tmp_path / "all.tsv"))
    text = HEADER + COLUMNS + "".join(record("a", position) for position in range(1, 900))
    whole = Path(bgzipped(tmp_path / "x.vcf.gz", text)).read_bytes()
    (tmp_path / "x.vcf.gz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InputError, match=r"x.vcf.gz: is cut off"):
        gather([str(tmp_path / "x.vcf.gz")], str(tmp_path / "all.vcf"))
    assert not (tmp_path / "all.vcf").exists()


def test_both_verbs_as_commands(run_cli, tmp_path):
    """From nothing to gathered calls; what goes with `call` goes with `scatter`."""
    assert run_cli("simulate", "-o", tmp_path, "--length", 8000, "--coverage", 12).returncode == 0
    reads = ["-f", tmp_path / "reference.fa", tmp_path / "reads.bam"]
    done = run_cli("scatter", "-n", 3, "-o", tmp_path / "new" / "pieces", "--min-mapq", 10, *reads)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    names = [f"{number}-of-3" for number in (1, 2, 3)]
    assert sorted(path.stem for path in (tmp_path / "new" / "pieces").iterdir()) == names
    whole = run_cli("call", "--no-version", "--min-mapq", 10, *reads)
    for name in names:
        bed, out = tmp_path / "new" / "pieces" / f"{name}.bed", tmp_path / f"{name}.vcf.gz"
        assert run_cli("call", "--no-version", "--min-mapq", 10, "-R", bed, "-o", out, *reads).returncode == 0
    done = run_cli("gather", "-o", tmp_path / "all.vcf", *(tmp_path / f"{name}.vcf.gz" for name in names))
    assert (done.returncode, done.stderr) == (0, "")
    assert whole.stdout.count("\nchr1") > 3
    assert (tmp_path / "all.vcf").read_text() == whole.stdout
    done = run_cli("scatter", "-n", 3, "-o", tmp_path, "--haplotypes", "x.fa", *reads)
    assert done.returncode == 2 and "one region" in done.stderr


def test_gathered_calls_tell_of_the_run(run_cli, tmp_path):
    assert run_cli("simulate", "-o", tmp_path, "--length", 4000, "--coverage", 8).returncode == 0
    given = ["-f", tmp_path / "reference.fa", tmp_path / "reads.bam"]
    places = {"1": "chr1:1-1500", "2": "chr1:1501-2500", "3": "chr1:2501-4000"}
    for name, place in places.items():
        assert run_cli("call", "-r", place, "-o", tmp_path / f"{name}.vcf", *given).returncode == 0
    output = tmp_path / "all.vcf"
    assert run_cli("gather", "-o", output, *(tmp_path / f"{name}.vcf" for name in places)).returncode == 0
    (command,) = (line for line in output.read_text().splitlines() if line.startswith("##pairhmmCommand="))
    outputs = f"{{{tmp_path / '1.vcf'},...,{tmp_path / '3.vcf'}}}"
    said = f"call -r {{chr1:1-1500,...,chr1:2501-4000}} -o {outputs} {' '.join(map(str, given))}"
    assert command == f"##pairhmmCommand={said}"
    with pysam.VariantFile(str(output)) as calls:
        assert [one.value for one in calls.header.records if one.key == "pairhmmCommand"] == [said]


ROWS = {
    "width": ("a\t1\t5\tx\ty\n", r"x.tsv: line 2: 5 fields where the header has 4"),
    "place": ("a\t1\t5x\tx\n", r"x.tsv: line 2: '5x' is not a position"),
    "beyond": (f"a\t1\t{2**31}\tx\n", r"x.tsv: line 2: '2147483648' is not a position"),
    "backwards": ("a\t5\t1\tx\n", r"x.tsv: line 2: its interval ends at 1, before its start at 5"),
    "order": ("a\t5\t9\tx\na\t4\t9\tx\n", r"x.tsv: line 3: starts at 4, before the row above it; .* or write .tsv"),
    "apart": ("a\t5\t9\tx\nb\t4\t9\tx\na\t6\t9\tx\n", r"x.tsv: line 4: the rows of contig 'a' are not together"),
}


@pytest.mark.parametrize("case", ROWS)
def test_rows_that_an_index_can_not_have(tmp_path, case):
    rows, message = ROWS[case]
    (tmp_path / "x.tsv").write_text(TABLE + rows)
    with pytest.raises(InputError, match=message):
        gather([str(tmp_path / "x.tsv")], str(tmp_path / "all.tsv.gz"))
    assert [path.name for path in tmp_path.iterdir()] == ["x.tsv"]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("a\t5\n", "line 6: 2 fields where the header has 10"),
        (record("c", 5), "line 6: its header has no contig 'c'"),
        (record("a", 5).replace("5", "1_0", 1), "line 6: '1_0' is not a position"),
    ],
)
def test_records_that_are_none(tmp_path, row, message):
    (tmp_path / "x.vcf").write_text(HEADER + COLUMNS + row)
    with pytest.raises(InputError, match=message):
        gather([str(tmp_path / "x.vcf")], str(tmp_path / "all.vcf"))
    assert not (tmp_path / "all.vcf").exists()
