"""The tables of `pairhmm map` in a report: data of the page, figures for MultiQC, and what is refused."""

import json

import pytest

from tests.report.cohort_tables import write_tables

DISTANCES = "#sample_1\tsample_2\tjaccard\tmash_distance\tcontainment\tani\n"
PAIRS = "#sample_1\tsample_2\tsites\tconcordance\tibs0\tibs2\tshared_hets\trelatedness\texpected\tfound\tflags\n"
CHECKS = "#sample\tsites\tdepth\theterozygosity\tcontamination\tcontamination_low\tcontamination_high\tflags\n"
POSITIONS = (
    "##pairhmmMapWeights=kmers=1\n##pairhmmMapAlpha=0.3\n##pairhmmMapPasses=5\n"
    "#sample\tx\ty\texact_x\texact_y\tcell_x\tcell_y\tneighbours\tkmers_x\tkmers_y\n"
)


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    return write_tables(tmp_path_factory.mktemp("cohort"))


def test_the_tables_are_in_the_page(reported, tables):
    data = reported(*tables.arguments)
    assert data["samples"] == tables.samples
    assert data["flags"]["flags"] == [["swap?", 6, 28], ["duplicate", 4, 2], ["contaminated", 2, 0]]
    heatmap = data["distances"]["heatmap"]
    assert len(heatmap["mash"]) == len(heatmap["ani"]) == 60 * 59 // 2
    pairs = data["pairs"]
    assert pairs["count"] == 60 * 59 // 2 and pairs["standing"] == 38
    assert all(row[10] or row[8] != row[9] for row in pairs["rows"][: pairs["standing"]])
    assert all(("duplicate" in row[10]) == (row[11] is not None) for row in pairs["rows"])
    placed = data["map"]
    assert placed["groups"] == ["kmers", "genotypes", "sheet"] and placed["weights"] == [0.5, 0.3, 0.2]
    assert placed["trustworthiness"] == {"map": 0.713, "exact": 0.934}
    assert placed["offsets"][-1] == len(placed["neighbours"]) == 240


def test_each_table_is_enough(reported, tables):
    for option, path in (("--map", tables.map), ("--pairs", tables.pairs), ("--sample-checks", tables.checks)):
        assert sorted(reported(option, path)["samples"]) == sorted(tables.samples)


def test_without_every_pair_there_is_no_heatmap(reported, tables, tmp_path):
    lines = tables.distances.read_text().splitlines(keepends=True)
    (tmp_path / "some.tsv").write_text("".join(lines[:-1]))
    found = reported("--distances", "some.tsv")["distances"]
    assert found["heatmap"] is None and len(found["nearest"]) == 180


def test_of_very_many_samples_the_nearest_are_shown(reported, tmp_path):
    rows = [f"s{one}\ts{one + step}\t0.9\t0.00{step}\t0.9\t0.99\n" for one in range(600) for step in (1, 2)]
    (tmp_path / "many.tsv").write_text(DISTANCES + "".join(rows))
    found = reported("--distances", "many.tsv")["distances"]
    assert found["heatmap"] is None and len(found["samples"]) == 602
    assert found["nearest"][:2] == [[0, 1, 0.001, 0.99, 0.9, 0.9], [0, 2, 0.002, 0.99, 0.9, 0.9]]


def test_of_very_many_pairs_those_that_stand_out_are_shown(reported, tmp_path):
    names = [(one, other) for one in range(250) for other in range(one)]
    found = {(7, 3): ("identical", "duplicate"), (9, 1): ("siblings", ".")}
    rows = []
    for one, other in names:
        relation = found.get((one, other), ("unrelated", "."))
        rows.append("\t".join([f"s{one}", f"s{other}", "9", "0.5", "1", "8", "4", "0.1", ".", *relation]))
    (tmp_path / "many.tsv").write_text(PAIRS + "\n".join(rows) + "\n")
    pairs = reported("--pairs", "many.tsv")["pairs"]
    assert pairs["count"] == 31125 and pairs["standing"] == 1 and 10_000 < len(pairs["rows"]) <= 20_000
    assert [row[9] for row in pairs["rows"][:3]] == ["identical", "siblings", "unrelated"]


def test_multiqc_rows_are_the_samples(reported, tables, tmp_path):
    reported(*tables.arguments, "--mqc", "mqc")
    general = json.loads((tmp_path / "mqc" / "pairhmm_general_mqc.json").read_text())
    assert list(general["data"]) == tables.samples
    assert general["data"]["F02-mother"]["flags"] == "duplicate"
    assert general["data"]["F02-mother"]["nearest"] == "F07-mother"
    assert general["data"]["F04-child1"] | {"nearest": "", "distance": 0} == {
        "contamination": 0.04,
        "flags": "none",
        "nearest": "",
        "distance": 0,
    }
    headers = {key: value for column in general["pconfig"] for key, value in column.items()}
    assert "format" not in headers["flags"] and headers["distance"]["format"] == "{:,.5f}"


BAD = {
    "no columns": ("--distances", "#sample_1\tsample_2\tjaccard\n", "bad: line 1: has no column mash_distance, "),
    "empty": ("--pairs", "", "bad: is empty"),
    "a short line": ("--pairs", PAIRS + "a\tb\n", "bad: line 2: 2 fields where the header has 11"),
    "no number": ("--distances", DISTANCES + "a\tb\t1\tx\t1\t1\n", "bad: line 2: mash_distance 'x' is not a number"),
    "unknown distance": ("--distances", DISTANCES + "a\tb\t1\t.\t1\t1\n", "bad: line 2: mash_distance is missing"),
    "twice": ("--sample-checks", CHECKS + 2 * ("a" + "\t." * 7 + "\n"), "bad: line 3: sample a stands in it twice"),
    "no neighbour": ("--map", POSITIONS + "a\t1\t1\t.\t.\t0\t0\tb\t1\t1\n", "bad: b, a neighbour of a, has no line"),
    "no alpha": ("--map", POSITIONS.replace("Alpha", "Other"), "bad: ##pairhmmMapAlpha: is missing"),
    "no weight": ("--map", POSITIONS.replace("=1", "=x"), "bad: ##pairhmmMapWeights: 'kmers=x' is no name and number"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_tables(refused, tmp_path, name):
    option, content, expected = BAD[name]
    (tmp_path / "bad").write_text(content)
    assert refused(option, "bad").startswith(expected)


def test_samples_that_the_run_does_not_have(refused, make_run, tables):
    run = make_run(2, 8)
    said = refused("--calls", run.calls, "--distances", tables.distances)
    assert "has sample F01-father and 59 more, which the run does not have; give tables of the same" in said


def test_samples_that_the_checks_do_not_have(refused, tables, tmp_path):
    (tmp_path / "one.tsv").write_text(CHECKS + "F01-father" + "\t." * 7 + "\n")
    said = refused("--pairs", tables.pairs, "--sample-checks", "one.tsv")
    assert "has sample F01-mother and 58 more, which one.tsv does not have" in said
