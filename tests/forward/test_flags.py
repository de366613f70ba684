"""Partially determined haplotypes from files and in memory: what is read, what is refused, and published scores."""

from __future__ import annotations

import numpy as np
import pytest

import pairhmm
from pairhmm.errors import InputError
from pairhmm.forward.pair_texts import read_partially_determined
from pairhmm.models.partially_determined import Deletion, deletions, flags_of

# Of the published files (../shared/data/pdhmm), with their scores.
PUBLISHED = """\
# hap-bases\thap-pd-bases\tread-bases\tread-qual\tread-ins-qual\tread-del-qual\tgcp\texpected-result
T\t[-68]\tca\try\tqX\tC7\t1u\t-1.408817e+01
TT\t[-86, 16]\ttgGG\t82F4\t>XMX\t2mCc\tngo3\t-1.145527e+01
G\t[99]\tga\t]S\t%4\tBx\t/6\t-1.917644e+00
AA\t[74, 92]\tgTA\t@4_\tt)U\tcr|\tu3J\t-4.678117e+00
CT\t[44, 62]\taC\t55\tem\tMN\tV:\t-5.255282e+00
CC\t[73, 115]\tAC\t(B\t5N\tpG\tak\t-3.979685e-01
TC\t[31, 26]\tCA\t-X\tDA\tD=\tME\t-3.227960e+00
CC\t[56, -50]\tCAGA\t72zM\tfX5}\tY%>/\tmrIH\t-8.601376e+00
"""


@pytest.fixture
def published(tmp_path):
    path = tmp_path / "published.txt"
    path.write_text(PUBLISHED)
    return path


@pytest.fixture(params=["reference", "cpu", "webgpu"])
def backend(request, require_backend):
    require_backend(request.param)
    return request.param


def test_published_scores(published, backend):
    result = pairhmm.validate(published, model="pdhmm", backend=backend)
    assert result.holds
    assert result.pairs == 8


@pytest.mark.parametrize(("name", "pairs"), [("pdhmm_syn_990_1_2.txt", 990), ("pdhmm_syn_199_68_51.txt", 199)])
def test_all_published_scores(shared_data, name, pairs, backend):
    """They have seven digits, so that those of -100 are within 5e-5."""
    result = pairhmm.validate(shared_data / "pdhmm" / name, model="pdhmm", backend=backend, tolerance=5e-5)
    assert result.holds
    assert result.pairs == pairs


def test_python_has_the_scores_of_the_file(published):
    for pair in read_partially_determined(published):
        line = PUBLISHED.splitlines()[pair.line - 1].split("\t")
        read = pairhmm.make_read(line[2], *line[3:7], keep_case=True)
        score = pairhmm.forward(read, line[0], flags=[int(flag) for flag in line[1][1:-1].split(",")])
        assert score[0, 0] == pytest.approx(pair.expected, abs=1e-5)


def test_the_command(published, tmp_path, run_cli):
    done = run_cli("-q", "forward", "--model", "pdhmm", published)
    assert (done.returncode, done.stderr) == (0, "")
    rows = [line.split("\t") for line in done.stdout.splitlines()[1:]]
    assert [row[:3] for row in rows] == [[str(group), "0", "0"] for group in range(8)]
    assert [float(row[3]) for row in rows] == pytest.approx(
        [float(line.split("\t")[7]) for line in PUBLISHED.splitlines()[1:]], abs=1e-5
    )
    unscored = tmp_path / "unscored.txt"
    unscored.write_text("".join(line.rpartition("\t")[0] + "\n" for line in PUBLISHED.splitlines()[1:]))
    assert run_cli("-q", "forward", "--model", "pdhmm", unscored).stdout == done.stdout


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("T [0] A I I I I", "line 1: not 8 columns with [flags] as the second"),
        ("T 0 A I I I I -1", "line 1: not 8 columns with [flags] as the second"),
        ("T T [0] A I I I I -1", "line 1: not 8 columns with [flags] as the second"),
        ("TT [0] A I I I I -1", "line 1: flags: 1 for 2 letters"),
        ("T [256] A I I I I -1", "line 1: flags: not whole numbers from -128 to 255"),
        ("T [x] A I I I I -1", "line 1: flags: invalid literal"),
        ("T [0] A I I I I x", "line 1: 'x' is not a number"),
        ("T [0] ! I I I I -1", "line 1: letter '!' at position 1 is not an IUPAC base"),
        ("T [0] A II I I I -1", "line 1: 2 base qualities for 1 bases"),
    ],
)
def test_bad_lines(tmp_path, line, message):
    path = tmp_path / "bad.txt"
    path.write_text(line + "\n")
    with pytest.raises(InputError) as error:
        list(read_partially_determined(path))
    assert message in str(error.value)


def test_the_other_model_is_told(published):
    with pytest.raises(InputError, match="haplotypes with flags need --model pdhmm"):
        pairhmm.validate(published, backend="reference")


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ([[0, 0, 0], [0, 0]], "flags are of 2 haplotypes, and there are 1"),
        ([0, 0], r"flags\[0\]: 2 for 3 letters"),
        ([0, 0, 300], r"flags\[0\]: not whole numbers"),
        ([0, 0, 0.5], r"flags\[0\]: not whole numbers"),
    ],
)
def test_bad_flags(flags, message):
    with pytest.raises(ValueError, match=message):
        pairhmm.forward(pairhmm.make_read("ACG", 30), "ACG", flags=flags, backend="reference")


def test_flags_are_of_gatks_model():
    model = pairhmm.models.profile.preset("normalised")
    with pytest.raises(ValueError, match="flags are of GATK's model"):
        pairhmm.forward(np.eye(4), "ACG", flags=[0, 0, 0], model=model, backend="reference")


def test_case_counts():
    read, lower = pairhmm.make_read("ACG", 30), pairhmm.make_read("acg", 30, keep_case=True)
    upper_beside_upper, upper_beside_lower = (
        pairhmm.forward(read, letters, flags=[0, 0, 0], backend="reference")[0, 0] for letters in ("ACG", "acg")
    )
    assert upper_beside_lower < upper_beside_upper - 5
    assert pairhmm.forward(lower, "acg", flags=[0, 0, 0], backend="reference")[0, 0] == upper_beside_upper


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ([0, 2, 0, 4, 0], [Deletion(1, 4, False)]),
        ([0, 6, 0, 0], [Deletion(1, 2, False)]),
        ([0, 4, 4, 0], [Deletion(1, 2, False), Deletion(2, 3, False)]),
        ([0, 2, 2, 4, 0], [Deletion(1, 4, False)]),
        ([0, 2, 4, 0, 2], [Deletion(1, 3, True)]),
        ([0, 2, 4, 2, 4, 2], [Deletion(1, 3, True), Deletion(3, 5, False)]),
        ([0, 0, 2, 0], []),
    ],
)
def test_deletions(flags, expected):
    assert deletions(flags_of(flags, len(flags))) == expected
