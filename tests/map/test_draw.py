"""`draw_map` from files of each group to the table and the picture; and bad input."""

import re
import xml.etree.ElementTree as ElementTree
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner

import pairhmm
from pairhmm.errors import InputError, OptionError
from pairhmm.files.hit_table import HIT_COLUMNS
from pairhmm.map.cli import command
from pairhmm.map.sketch.files import write_sketches
from pairhmm.map.sketch.sketches import Scheme, Sketches, planes_of


def clusters(count, slots=1024, seed=1):
    """Sketch values of samples in three clusters; those of a cluster share 70% of their slots with its centre."""
    random = np.random.default_rng(seed)
    centres = random.integers(0, 256, (3, slots))
    noise = random.integers(0, 256, (count, slots))
    return np.where(random.random((count, slots)) < 0.7, centres[np.arange(count) % 3], noise).astype(np.uint32)


def sketch_file(path, names, scheme=None):
    scheme = scheme or Scheme()
    planes = planes_of(clusters(len(names), scheme.slots), scheme.bits)
    ones = np.ones(len(names), dtype=np.int32)
    write_sketches(path, Sketches(scheme, names, planes, 1e5 * ones, ones))
    return str(path)


def names_of(count):
    return [f"s{number:02}" for number in range(count)]


@pytest.fixture
def sketches(tmp_path):
    return sketch_file(tmp_path / "a.sketches", names_of(30))


@pytest.fixture
def sheet(tmp_path):
    path = tmp_path / "sheet.tsv"
    rows = [f"{name}\t{'xyz'[number % 3]}\t" for number, name in enumerate(names_of(30))]
    path.write_text("\n".join(["sample\tbatch\tnote", *rows]) + "\n")
    return str(path)


@pytest.fixture
def calls(tmp_path):
    path = tmp_path / "calls.vcf"
    random = np.random.default_rng(4)
    header = "##fileformat=VCFv4.2\n##contig=<ID=1>\n##FORMAT=<ID=GT,Number=1,Type=String,Description=g>\n"
    head = "\t".join(["#CHROM", "POS", "ID", "REF", "ALT", "QUAL", "FILTER", "INFO", "FORMAT", *names_of(30)])
    rows = []
    for position in range(100, 400):
        alt = random.random(3)
        genotypes = [f"{int(random.random() < alt[n % 3])}/{int(random.random() < alt[n % 3])}" for n in range(29)]
        rows.append("\t".join(["1", str(position), ".", "A", "C", "50", "PASS", ".", "GT", *genotypes, "./."]))
    path.write_text(header + head + "\n" + "\n".join(rows) + "\n")
    return str(path)


def test_clusters_are_neighbours(sketches):
    drawn = pairhmm.draw_map(kmers=sketches, options=pairhmm.MapOptions(neighbours=5))
    assert drawn.names == names_of(30) and drawn.groups == ("kmers",)
    assert (np.diff(drawn.neighbours.offsets) == 5).all()
    owners = np.repeat(np.arange(30), 5)
    assert ((drawn.neighbours.indices % 3) == owners % 3).all()
    between = [
        np.linalg.norm(drawn.exact[n::3].mean(axis=0) - drawn.exact[(n + 1) % 3 :: 3].mean(axis=0)) for n in range(3)
    ]
    within = max(np.linalg.norm(drawn.exact[n::3] - drawn.exact[n::3].mean(axis=0), axis=1).max() for n in range(3))
    assert min(between) > 3 * within
    assert 0.4 < drawn.trust < 1 and 0.7 < drawn.exact_trust <= 1


@pytest.mark.parametrize("backend", ["cpu", "reference"])
def test_the_table_has_what_the_map_has(tmp_path, sketches, calls, sheet, backend):
    drawn = pairhmm.draw_map(
        kmers=sketches, genotypes=calls, sheet=sheet, columns="batch", weights={"sheet": 2}, backend=backend
    )
    pairhmm.write_map(drawn, tmp_path / "p.tsv", tmp_path / "m.svg")
    lines = (tmp_path / "p.tsv").read_text().splitlines()
    assert lines[1] == "##pairhmmMapWeights=kmers=0.25,genotypes=0.25,sheet=0.5"
    assert lines[6] == f"##pairhmmMapTrustworthiness=map:{drawn.trust:.3f},exact:{drawn.exact_trust:.3f}"
    columns = (
        "sample x y exact_x exact_y cell_x cell_y neighbours kmers_x kmers_y genotypes_x genotypes_y sheet_x sheet_y"
    )
    assert lines[7] == "#" + columns.replace(" ", "\t")
    rows = [line.split("\t") for line in lines[8:]]
    assert [row[0] for row in rows] == names_of(30)
    assert float(rows[3][1]) == pytest.approx(drawn.positions[3, 0], rel=1e-5)
    assert rows[29][10:12] == [".", "."] and rows[28][10] != "."
    assert len(rows[0][7].split(",")) == 10
    assert ElementTree.parse(tmp_path / "m.svg").getroot().tag.endswith("svg")
    with pytest.raises(InputError, match=r"m\.png: not a name for pictures; end it in .svg"):
        pairhmm.write_map(drawn, tmp_path / "p.tsv", tmp_path / "m.png")


def test_the_picture_begins_with_what_can_be_trusted_more(tmp_path, caplog, sketches):
    caplog.set_level("INFO", "pairhmm")
    drawn = pairhmm.draw_map(kmers=sketches)
    assert drawn.exact_trust > drawn.trust and "the exact scaling comes first" in caplog.text
    for better, first in ((drawn, "Exact scaling"), (replace(drawn, exact_trust=drawn.trust / 2), "Map")):
        pairhmm.write_map(better, tmp_path / "p.tsv", tmp_path / "m.svg")
        titles = re.findall('class="title"[^>]*>([^<]*)<', (tmp_path / "m.svg").read_text())
        assert len(titles) == 2 and titles[0].startswith(first)


def test_positions_are_the_weighted_sum_of_the_groups_columns(sketches, calls):
    drawn = pairhmm.draw_map(kmers=sketches, genotypes=calls, options=pairhmm.MapOptions(alpha=0), weights={"kmers": 3})
    expected = 0.75 * drawn.projections[0] + 0.25 * np.nan_to_num(drawn.projections[1])
    assert drawn.positions == pytest.approx(expected, abs=1e-6)


def test_a_group_without_weight_has_no_neighbours(sketches, calls):
    alone = pairhmm.draw_map(kmers=sketches)
    both = pairhmm.draw_map(kmers=sketches, genotypes=calls, weights={"genotypes": 0})
    assert (both.neighbours.indices == alone.neighbours.indices).all()
    assert both.positions == pytest.approx(alone.positions)
    assert both.exact == pytest.approx(alone.exact)


def test_hits_are_properties(tmp_path):
    path = tmp_path / "hits.tsv"
    rows = [f"s{n}.fq\tr\t1\tsig{n % 2}\t0\t5\t+\t\t\t5\t5\t0\n" for n in range(6)]
    path.write_text("#" + "\t".join(HIT_COLUMNS) + "\n" + "".join(rows))
    drawn = pairhmm.draw_map(hits=path)
    assert drawn.names == [f"s{n}" for n in range(6)]
    assert (drawn.projections[0][0] == drawn.projections[0][2]).all()
    assert drawn.neighbours.indices[:2].tolist() == [2, 4]


def test_hits_are_of_the_samples_of_the_other_inputs(tmp_path):
    """By the sheet's files, by the table's name, by the file's name."""
    sheet = tmp_path / "samples.tsv"
    sheet.write_text("sample\treads\tbatch\na\tr/a_R1.fq.gz,r/a_R2.fq.gz\tx\nb\tlane7.bam\ty\nc\t\tz\nd\t\tz\n")
    tables = {"c.hits.tsv": ["c_1.fq", "c_2.fq"], "all.tsv": ["r/a_R1.fq.gz", "a_R2.fq.gz", "lane7.bam", "d.fq"]}
    for name, files in tables.items():
        rows = [f"{file}\tr\t1\tsig{n}\t0\t5\t+\t\t\t5\t5\t0\n" for n, file in enumerate(files)]
        (tmp_path / name).write_text("#" + "\t".join(HIT_COLUMNS) + "\n" + "".join(rows))
    drawn = pairhmm.draw_map(hits=[tmp_path / name for name in tables], sheet=sheet)
    assert drawn.names == ["c", "a", "b", "d"] and drawn.groups == ("hits", "sheet")


def test_more_than_2000_samples_are_not_scaled(tmp_path, caplog):
    caplog.set_level("INFO", "pairhmm")
    path = sketch_file(tmp_path / "many.sketches", names_of(2001), Scheme(slots=128))
    drawn = pairhmm.draw_map(kmers=path, backend="cpu")
    assert drawn.exact is None and drawn.trust is None
    assert "no exact scaling and no trustworthiness: more than 2000 samples" in caplog.text
    pairhmm.write_map(drawn, tmp_path / "p.tsv")
    assert (tmp_path / "p.tsv").read_text().splitlines()[-1].split("\t")[3:5] == [".", "."]


def test_bad_input(tmp_path, sketches, sheet):
    other = sketch_file(tmp_path / "o.sketches", ["t1", "t2"], Scheme(k=31))
    single = sketch_file(tmp_path / "1.sketches", ["alone"])
    comma = sketch_file(tmp_path / "c.sketches", ["a,b", "c"])
    strangers = tmp_path / "strangers.tsv"
    strangers.write_text("sample\tbatch\nq1\tx\nq2\ty\n")
    for wrong, message in (
        ({"kmers": single}, "one sample"),
        ({"kmers": [sketches, other]}, "k 31"),
        ({"kmers": comma}, "comma"),
        ({"kmers": sketches, "sheet": strangers}, "no sample is common"),
        ({"kmers": sketches, "sheet": sheet, "columns": ["depth"]}, "no column 'depth'"),
        ({"kmers": sketches, "sheet": sheet, "colour": "depth"}, "no column 'depth'"),
        ({"kmers": sketches, "colour": "batch"}, "needs a sample sheet"),
        ({}, "no properties"),
    ):
        with pytest.raises(InputError, match=message):
            pairhmm.draw_map(**wrong)
    with pytest.raises(OptionError):
        pairhmm.draw_map(kmers=sketches, weights={"hits": 1})


def test_the_command_line(tmp_path, sketches, sheet):
    table, picture = tmp_path / "p.tsv", tmp_path / "m.svg"
    arguments = ["draw", "--kmers", sketches, "--sheet", sheet, "--colour", "batch", "--weight", "sheet=0"]
    end = CliRunner().invoke(command, [*arguments, "-o", str(table), "--svg", str(picture)])
    assert end.exit_code == 0, end.output
    assert table.read_text().startswith("##pairhmmMapSeed=1\n##pairhmmMapWeights=kmers=1,sheet=0\n")
    assert all(f">{value}</text>" in picture.read_text() for value in "xyz")
    for wrong in (["--weight", "sheet"], ["--weight", "colour=1"], ["--alpha", "2"], ["--quantise", "x"]):
        assert CliRunner().invoke(command, [*arguments, *wrong]).exit_code == 2


def test_noise_has_no_positions_and_no_picture(tmp_path, run_cli):
    random = np.random.default_rng(3)
    ones = np.ones(20, dtype=np.int32)
    for scheme, cure in ((Scheme(), "--bits 16 and --slots 8192 or a smaller --k"), (Scheme(bits=16, slots=8192), "")):
        planes = planes_of(random.integers(0, 1 << scheme.bits, (20, scheme.slots)).astype(np.uint32), scheme.bits)
        write_sketches(tmp_path / "noise.sketches", Sketches(scheme, names_of(20), planes, 1e6 * ones, ones))
        done = run_cli(
            *("map", "draw", "--kmers", "noise.sketches", "-o", "p.tsv", "--svg", "p.svg"),
            cwd=tmp_path,
        )
        assert done.returncode == 0
        assert "no two samples are more alike than chance: no positions" in done.stderr and cure in done.stderr
        assert "trustworthiness" not in done.stderr
        lines = (tmp_path / "p.tsv").read_text().splitlines()
        assert "##pairhmmMapTrustworthiness=map:.,exact:." in lines
        assert [set(line.split("\t")[1:]) for line in lines if not line.startswith("#")] == [{"."}] * 20
        picture = (tmp_path / "p.svg").read_text()
        assert "nothing to draw" in picture and "<path d=" not in picture
    drawn = pairhmm.draw_map(kmers=str(tmp_path / "noise.sketches"))
    assert not drawn.is_above_chance and drawn.trust is None and drawn.exact is None


def test_a_few_common_properties_are_above_chance(tmp_path):
    path = tmp_path / "sheet.tsv"
    path.write_text("sample\tplace\n" + "".join(f"{name}\t{number // 2}\n" for number, name in enumerate(names_of(8))))
    assert pairhmm.draw_map(sheet=str(path)).is_above_chance
    path.write_text("sample\tplace\n" + "".join(f"{name}\t{number}\n" for number, name in enumerate(names_of(8))))
    assert not pairhmm.draw_map(sheet=str(path)).is_above_chance
