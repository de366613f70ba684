"""The page opens the tables of `pairhmm map`, and shows what `pairhmm report` shows of them."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from pairhmm.report.inputs import ReportInputs
from pairhmm.report.map import read_map_tables
from tests.report.cohort_tables import write_tables

READER = Path(__file__).parents[2] / "web/src/page/cohort/reading.js"
PROGRAM = Path(__file__).with_name("cohort_data.mjs")
TEXT = "document.querySelector(arguments[0])?.textContent ?? ''"


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """The four tables of a cohort of 60 samples."""
    return write_tables(tmp_path_factory.mktemp("tables"))


@pytest.fixture(scope="module")
def read(require):
    """``read(*paths)``: the page's data of tables, and its problems."""
    node = shutil.which("node")
    require("node", node is not None, "no Node: apt install nodejs npm")
    require("node", READER.is_file(), "not a checkout: the page's modules are not here")

    def run(*paths: Path):
        done = subprocess.run([node, PROGRAM, *paths], capture_output=True, text=True, check=True, timeout=60)
        found = json.loads(done.stdout)
        return found["report"], found["problems"]

    return run


def reported(**given):
    """What a report has of tables."""
    return json.loads(json.dumps(read_map_tables(ReportInputs(**given), (), []).for_page({})))


def test_the_page_has_the_data_of_the_report(read, tables):
    given = {"map": str(tables.map), "distances": str(tables.distances), "pairs": str(tables.pairs)}
    found, problems = read(tables.map, tables.distances, tables.pairs, tables.checks)
    assert problems == []
    assert found == reported(**given, sample_checks=str(tables.checks))


def test_a_table_alone(read, tables):
    for name, path in (("map", tables.map), ("distances", tables.distances), ("pairs", tables.pairs)):
        assert read(path) == (reported(**{name: str(path)}), [])


def test_many_pairs_and_distances(read, tmp_path):
    """More pairs than are drawn, and more samples than a heatmap has."""
    pairs, distances = tmp_path / "pairs.tsv", tmp_path / "distances.tsv"
    names = [f"s{number}" for number in range(520)]
    with pairs.open("w") as out:
        print(
            "#sample_1 sample_2 sites concordance ibs0 ibs2 shared_hets relatedness expected found flags".replace(
                " ", "\t"
            ),
            file=out,
        )
        for number in range(45_000):
            relation = "siblings" if number % 1000 == 0 else "unrelated"
            row = [names[number % 520], names[number * 7 % 519], number, ".", 3, 4, 5, -0.25, ".", relation, "."]
            print(*row, sep="\t", file=out)
    with distances.open("w") as out:
        print("#sample_1\tsample_2\tjaccard\tmash_distance\tcontainment\tani", file=out)
        for number in range(3000):
            row = [names[number % 520], names[(number * 11 + 1) % 520], 0.5, (number * 37 % 101) / 997, 0.25, "."]
            print(*row, sep="\t", file=out)
    assert read(pairs, distances) == (reported(pairs=str(pairs), distances=str(distances)), [])


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (lambda text: "", "positions.tsv: is empty; give a table that pairhmm map wrote"),
        (lambda text: text.replace("exact_x", "other"), "positions.tsv: is no table of pairhmm map"),
        (lambda text: text[:-30], "fields where the header has"),
        (lambda text: text.replace("##pairhmmMapAlpha=0.3", "##pairhmmMapAlpha=x"), "Alpha: is 'x', which is not a n"),
        (lambda text: text + text.splitlines()[-1] + "\n", "stands in it twice; give the table of one run"),
        (lambda text: text[: text.rindex("F15-child2\t")], "a neighbour of"),
    ],
)
def test_bad_tables_are_one_line(read, tables, tmp_path, change, line):
    path = tmp_path / "positions.tsv"
    path.write_text(change(tables.map.read_text()))
    found, problems = read(path)
    assert found is None
    (problem,) = problems
    assert line in problem and "\n" not in problem


def test_two_tables_of_a_kind_and_other_samples(read, tables, tmp_path):
    second = tmp_path / "second.tsv"
    second.write_text(tables.map.read_text())
    found, problems = read(tables.map, second)
    assert found["map"] and problems == ["second.tsv: positions.tsv is such a table already; remove one of them"]
    lines = tables.checks.read_text().splitlines(keepends=True)
    second.write_text("".join(lines[:-2]))
    _, problems = read(tables.pairs, second)
    assert problems == [
        "pairs.tsv: has sample F15-child1 and 1 more, which second.tsv does not have; give tables of the same samples"
    ]


def test_tables_are_shown_without_a_run(page, tables):
    page.give([tables.map, tables.distances, tables.pairs, tables.checks])
    page.wait("document.documentElement.dataset.tables")
    flags = [one.text for one in page.driver.find_elements("css selector", "#cohort .flag")]
    assert flags == ["6 samples: swap?", "4 samples: duplicate", "2 samples: contaminated"]
    # Flags are on the first screen.
    assert page.js("document.querySelector('#cohort .flags').getBoundingClientRect().bottom") < 900
    assert "trustworthiness 0.713" in page.js(TEXT, "#cohort .map")
    pictures = "[...document.querySelectorAll('.map canvas')].map((one) => one.toDataURL()).join()"
    before = page.js(pictures)
    slide = "(input.value = 0, input.dispatchEvent(new Event('input')))"
    page.js(f"((input) => {slide})(document.querySelector('.sliders input'))")
    captions = "[...document.querySelectorAll('.map figcaption')]"
    page.wait(f"{captions}.some((one) => one.textContent.includes('not known'))")
    assert page.js(pictures) != before
    assert page.js("document.querySelectorAll('#cohort .tree canvas').length") == 2
    page.js("document.getElementById('setup').open = true")
    for _ in range(4):
        page.driver.find_element("css selector", "[aria-label='Tables of a cohort'] .remove").click()
    page.wait("document.getElementById('cohort').childElementCount === 0")


def test_a_bad_table_is_one_line_on_the_page(page, tmp_path):
    path = tmp_path / "other.tsv"
    path.write_text("a\tb\n1\t2\n")
    page.give([path])
    assert page.problem() == (
        "other.tsv: is no table of pairhmm map; give one of map draw, map distances or map relate"
    )


def test_tables_where_nothing_is_above_chance(read, tmp_path):
    distances, positions = tmp_path / "distances.tsv", tmp_path / "positions.tsv"
    distances.write_text("#sample_1\tsample_2\tjaccard\tmash_distance\tcontainment\tani\na\tb\t.\t.\t.\t.\n")
    positions.write_text(
        "##pairhmmMapWeights=kmers=1\n##pairhmmMapAlpha=0.3\n##pairhmmMapPasses=5\n"
        "##pairhmmMapTrustworthiness=map:.,exact:.\n"
        "#sample\tx\ty\texact_x\texact_y\tcell_x\tcell_y\tneighbours\tkmers_x\tkmers_y\n"
        + "".join(f"{name}\t.\t.\t.\t.\t.\t.\t.\t.\t.\n" for name in "ab")
    )
    found, problems = read(positions, distances)
    assert problems == [] and found == reported(map=str(positions), distances=str(distances))
    assert found["map"]["places"] is None and found["distances"]["nearest"] == []
