"""Simulated signals: reads are found where they come from, and what can't be made is one clear line."""

import importlib.util
from pathlib import Path

import pytest

from pairhmm.errors import InputError, OptionError
from pairhmm.simulate.signal import simulate_signal
from pairhmm.simulate.signatures import simulate_signatures
from pairhmm.warp.cutting import CutOptions
from pairhmm.warp.signatures import warp_signatures


@pytest.fixture
def signatures(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    simulate_signatures("v.fa", count=5, min_length=600, max_length=1500, n_ratio=0.0)
    return "v.fa"


def rows(path):
    lines = Path(path).read_text().splitlines()
    return [line.split("\t") for line in lines if not line.startswith("#")]


@pytest.mark.parametrize("ending", [".tsv", ".blow5"])
@pytest.mark.parametrize("levels", ["events", "samples"])
def test_reads_are_found_where_they_come_from(signatures, require, ending, levels):
    require("signal", ending == ".tsv" or importlib.util.find_spec("pyslow5") is not None, "pyslow5 is not installed")
    simulate_signal(signatures, f"r{ending}", write_model="m", truth="t.tsv", reads=30, unrelated=6)
    counts = warp_signatures(signatures, "m", f"r{ending}", "w.tsv", cut=CutOptions(levels))
    assert (counts.reads, counts.short) == (36, 0)
    truth, found = rows("t.tsv"), rows("w.tsv")
    assert [row[1] for row in found] == [row[0] for row in truth]
    ratios = {True: [], False: []}
    for (_, signature, strand, start, end), (_, _, *place, _, _, _, _, ratio) in zip(truth, found, strict=True):
        ratios[signature == "."].append(float(ratio))
        if signature != ".":
            assert place[:2] == [signature, strand]
            assert int(start) - 20 <= int(place[2]) < int(place[3]) <= int(end) + 20
    assert min(ratios[False]) > 1.3 > 1.1 > max(ratios[True])


def test_the_same_options_give_the_same_bytes(signatures):
    for name in ("a", "b"):
        simulate_signal(signatures, f"{name}.tsv", write_model=f"{name}.model", truth=f"{name}.truth.tsv", reads=5)
    for ending in (".tsv", ".model", ".truth.tsv"):
        assert Path(f"a{ending}").read_bytes() == Path(f"b{ending}").read_bytes()
    simulate_signal(signatures, "c.tsv", model="a.model", reads=5)
    assert Path("a.tsv").read_bytes() != b""


def test_signatures_shorter_than_a_read_are_read_whole(signatures):
    Path("short.fa").write_text(">s\nACGTACGTTTGCANNACGT\n")
    simulate_signal("short.fa", "r.tsv", write_model="m", truth="t.tsv", reads=4, unrelated=0)
    assert {tuple(row[3:]) for row in rows("t.tsv")} == {("0", "19")}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"model": None}, "give one of --model and --write-model"),
        ({"write_model": "m", "model": "n"}, "give one of --model and --write-model"),
        ({"write_model": "m", "length": 5}, "a read would be shorter than a 6-mer"),
        ({"write_model": "r.tsv"}, "would be written by --write-model, but is written by -o too"),
    ],
)
def test_what_can_not_be_made(signatures, given, message):
    with pytest.raises(InputError, match=message):
        simulate_signal(signatures, "r.tsv", **given)
    assert not Path("r.tsv").exists()


@pytest.mark.parametrize("given", [{"reads": -1}, {"k": 11}, {"k": 0}, {"length": 0}, {"noise": -1}, {"seed": -1}])
def test_arguments_out_of_range(signatures, given):
    with pytest.raises(OptionError):
        simulate_signal(signatures, "r.tsv", write_model="m", **given)


def test_names_of_other_formats(signatures):
    with pytest.raises(InputError, match=r"not a name for signals; end it in \.tsv, \.slow5 or \.blow5"):
        simulate_signal(signatures, "r.pod5", write_model="m")


def test_files_are_kept(signatures):
    simulate_signal(signatures, "r.tsv", write_model="m", reads=1)
    with pytest.raises(InputError, match="is there already"):
        simulate_signal(signatures, "r.tsv", write_model="n", reads=1)
    simulate_signal(signatures, "r.tsv", write_model="n", reads=1, overwrite=True)
