"""What the page shows is what `pairhmm report` shows of the same run."""

from __future__ import annotations

import json
import re
import shutil
import struct
import subprocess
from pathlib import Path

import numpy as np
import pytest

from pairhmm.models.batch import PRECISIONS
from pairhmm.report import panels
from pairhmm.report.page_writer import unpack
from pairhmm.variants.genotypes import INFORMATIVE

PROGRAM = Path(__file__).with_name("report_data.mjs")
WEB = PROGRAM.parents[2]


@pytest.fixture(scope="module")
def shown(require, tiny):
    """``shown(*arguments)``: the sites and panels of the page, for NA12878 tiny."""
    node = shutil.which("node")
    require("node", node is not None, "no Node: apt install nodejs npm")
    require("node", (WEB / "web" / "node_modules").is_dir(), "web/ has no packages: npm ci in web/")
    require("node", (WEB / "build/web/pairhmm.wasm").is_file(), "no pairhmm.wasm: make build/web/pairhmm.wasm")

    def show(*arguments: object):
        command = [node, PROGRAM, *tiny, *arguments]
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=True, timeout=120)
        return json.loads(done.stdout)

    return show


@pytest.fixture(scope="module")
def reported(tiny, run_cli, tmp_path_factory):
    """The data and the panels of a report of the same run."""
    return report_of(tiny, run_cli, tmp_path_factory.mktemp("report"), "gatk")


def report_of(tiny, run_cli, folder, model):
    reads = ["--model", model, "-f", tiny[2], tiny[0]]
    assert run_cli("call", "--backend", "cpu", "-o", folder / "calls.vcf", *reads).returncode == 0
    assert run_cli("likelihoods", "--backend", "cpu", "-o", folder / "table.tsv", *reads).returncode == 0
    given = ["--calls", folder / "calls.vcf", "--likelihoods", folder / "table.tsv", "--alignments", tiny[0]]
    assert run_cli("report", "-f", tiny[2], *given, "-o", folder / "report.html").returncode == 0
    panels = [read_panel(unpack(line)) for line in parts_of(folder / "report.html")["panels"].split()]
    return data_of(folder / "report.html"), panels


def parts_of(page: Path) -> dict[str, str]:
    return dict(re.findall(r'<script type="text/plain" id="(\w+)">(.*?)</script>', page.read_text(), re.DOTALL))


def data_of(page: Path) -> dict:
    return json.loads(unpack(parts_of(page)["data"]))


def read_panel(data: bytes) -> dict:
    """A panel with its arrays, as report/page/panel_data.js reads it."""
    (length,) = struct.unpack_from("<I", data)
    panel, at = json.loads(data[4 : 4 + length]), 4 + length
    for group in panel["groups"]:
        widths = {"best": 1, "behind": len(panel["haplotypes"]), "flags": 1, "quality": 1}
        for (name, width), kind in zip(widths.items(), ("<i4", "<u2", "u1", "u1"), strict=True):
            count = group["shown"] * width
            group[name] = np.frombuffer(data, kind, count, at)
            at += group[name].nbytes
    return panel


def spelled(haplotype: dict, panel: dict) -> tuple[str, str, str]:
    """A haplotype with its letters. An insertion of a run may be drawn anywhere in it."""
    letters = list(panel["reference"])
    for position, before, after in sorted(haplotype["differences"], reverse=True):
        at = position - panel["origin"]
        assert "".join(letters[at : at + len(before)]) == before
        letters[at : at + len(before)] = after
    return haplotype["name"], haplotype["alleles"], "".join(letters)


def by_read(group: dict) -> tuple[list[tuple[str, int, int]], np.ndarray]:
    """The reads of a group by name, and their scores. Equally clear reads may come in any order."""
    names = list(zip(group["names"].split("\n"), map(int, group["flags"]), map(int, group["quality"]), strict=True))
    order = sorted(range(len(names)), key=names.__getitem__)
    scores = np.concatenate([[group["best"]], np.reshape(group["behind"], (-1, len(names)))]).astype(int)
    return [names[index] for index in order], scores[:, order]


def explained_by_read(group: dict) -> dict[str, tuple[list[int], float, list]]:
    """Of each read that is explained: its two haplotypes, the margin, and the bases that decide."""
    names = group["names"].split("\n")
    return {
        f"{names[read]} {group['flags'][read]}": ([best, second], margin, bases)
        for read, best, second, margin, bases in group["explained"]
    }


def test_constants_are_those_of_the_report(shown):
    assert shown()["constants"] == {
        "perLog10": panels.PER_LOG10,
        "impossible": panels.IMPOSSIBLE,
        "unknownBest": panels.UNKNOWN_BEST,
        "informative": INFORMATIVE,
        "precisions": list(PRECISIONS),
    }


def test_sites_are_those_of_the_report(shown, reported):
    own, (report, _) = shown()["sites"], reported
    for one in (own, report["sites"]):
        # Panels are numbered apart: the report leaves out those without a site.
        one["panels"] = [[alleles for _, alleles in panels] for panels in one["panels"]]
    assert own == report["sites"]


def test_sites_of_a_mixture(shown, tiny, run_cli, tmp_path):
    """Each has its fractions and their intervals."""
    calls, page = tmp_path / "calls.vcf", tmp_path / "report.html"
    mixture = ["--mixture", "--backend", "cpu", "-f", tiny[2], "-o", calls, tiny[0]]
    assert run_cli("call", *mixture).returncode == 0
    assert run_cli("report", "-f", tiny[2], "--calls", calls, "-o", page).returncode == 0
    own, expected = shown("1e9", "gatk", "mixture")["sites"], data_of(page)["sites"]
    # The report has no panels of these calls alone.
    assert any(own.pop("panels")) and not any(expected.pop("panels"))
    assert own == expected
    assert all(own["calls"][0]["ciaf"])


def test_panels_are_those_of_the_report(shown, reported):
    check_panels(shown()["panels"], reported[1], 15)


def test_panels_of_the_profile_model(shown, tiny, run_cli, tmp_path):
    """The page takes the preset that the command line takes."""
    _, expected = report_of(tiny, run_cli, tmp_path, "profile")
    check_panels(shown("1e9", "profile")["panels"], expected, 15)


def check_panels(found, expected, count):
    own = {(one["chrom"], one["start"], one["end"]): one for one in found}
    assert len(expected) == count
    compared = 0
    for panel in expected:
        mine = own[panel["chrom"], panel["start"], panel["end"]]
        for name in ("origin", "reference", "variants"):
            assert mine[name] == panel[name]
        assert [spelled(one, mine) for one in mine["haplotypes"]] == [
            spelled(one, panel) for one in panel["haplotypes"]
        ]
        for group, wanted in zip(mine["groups"], panel["groups"], strict=True):
            for name in ("sample", "reads", "shown", "chosen", "undecided"):
                assert group[name] == wanted[name], name
            assert group["sums"] == pytest.approx(wanted["sums"], abs=0.02)
            (names, values), (others, expected) = by_read(group), by_read(wanted)
            assert names == others
            assert np.abs(values - expected).max() <= 1  # the table has six digits of a score
            mine_explained, theirs = explained_by_read(group), explained_by_read(wanted)
            # Of reads whose margins differ by less than the table's digits, either may be the fourth.
            margins = sorted(margin for _, margin, _ in mine_explained.values())
            assert margins == pytest.approx(sorted(margin for _, margin, _ in theirs.values()), abs=0.011)
            for name in mine_explained.keys() & theirs.keys():
                (haplotypes, margin, bases), (others, other_margin, other_bases) = mine_explained[name], theirs[name]
                compared += 1
                assert haplotypes == others
                assert margin == pytest.approx(other_margin, abs=0.011)
                assert [base[:3] for base in bases] == [base[:3] for base in other_bases]
                for base, other in zip(bases, other_bases, strict=True):
                    assert base[3:] == pytest.approx(other[3:], abs=0.011)
    assert compared >= 40


def test_the_oldest_panels_go_where_memory_is_short(shown):
    whole, short = shown(), shown(20_000)
    assert short["bytes"] <= 20_000 < whole["bytes"]
    held = [panel is not None for panel in short["panels"]]
    assert held == sorted(held) and held[-1] and not held[0]
    assert short["sites"]["pos"] == whole["sites"]["pos"]
    shown_panels = [bool(panels) for panels in short["sites"]["panels"]]
    assert shown_panels == sorted(shown_panels) and not shown_panels[0] and shown_panels[-1]
