"""Shards of tables: rows that are copied without a look are the same, and have the same faults, as one by one."""

import numpy as np
import pytest

from pairhmm.errors import InputError
from pairhmm.files import shards
from pairhmm.likelihoods.gathered import gather_table
from pairhmm.native import is_compiled

HEADERS = (
    "#name\tchrom\tstart\tend\tscore",
    "##model=x\n#chrom\tstart\tend\tscore\tlast",
    "#name\tscore\tchrom\tstart\tend",
    "#name\tscore\tone\ttwo\tthree",
)
ODD = (
    *("", " \t ", "\t\t\t\t", "a\tb", "q\t1\t2\t3\t4\t5"),
    *("ä\tq\t5\t9\t1", "q\t5\t9\t1\tü", "#\tq\t5\t9\t1", "x\ry\tq\t5\t9\t1"),
)


def random_table(rng, header, odd):
    columns = header.split("\n")[-1][1:].split("\t")
    lines, place = [header], 0
    for _ in range(int(rng.integers(0, 60))):
        place += int(rng.choice([0, 0, 0, 0, 5, 50]))
        values = {"chrom": "q", "start": place, "end": place + 9}
        end = "\r" if odd and rng.random() < 0.02 else ""
        lines.append("\t".join(str(values.get(name, f"v{rng.integers(10**6)}")) for name in columns) + end)
        if odd and rng.random() < 0.02:
            lines.append(str(rng.choice(ODD)))
    return ("\n".join(lines) + ("" if odd and rng.random() < 0.2 else "\n")).encode()


def gathered(paths, destination, samples):
    try:
        gather_table(paths, str(destination), samples)
    except InputError as error:
        return str(error)
    return destination.read_bytes()


@pytest.mark.parametrize("ending", ["tsv", "tsv.gz"])
@pytest.mark.parametrize("header", HEADERS)
@pytest.mark.parametrize("odd", [False, True])
def test_same_as_line_by_line(tmp_path, monkeypatch, require, ending, header, odd):
    require("cpu", is_compiled(), "the compiled part is not installed")
    rng = np.random.default_rng(11)
    faults = 0
    for _ in range(60):
        (tmp_path / "x.tsv").write_bytes(random_table(rng, header, odd))
        samples = ["s"] if rng.random() < 0.5 else []
        made = {}
        for name in ("compiled", "python"):
            with monkeypatch.context() as changed:
                if name == "python":
                    changed.setattr(shards, "is_compiled", lambda: False)
                made[name] = gathered([str(tmp_path / "x.tsv")], tmp_path / f"out.{ending}", samples)
        assert made["compiled"] == made["python"]
        faults += isinstance(made["compiled"], str)
    assert (faults > 0) == odd
