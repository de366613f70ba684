"""Signals from every format, and files that can't be used."""

import importlib.util
import io
import os
import sys
from contextlib import suppress

import numpy as np
import pytest

from pairhmm.errors import InputError
from pairhmm.warp.signal_files import read_signals
from pairhmm.warp.signal_records import SignalRecord, write_text
from pairhmm.warp.slow5 import write_slow5

SIGNALS = {"a": [90.25, 80.5, -3.0], "b": [1.0, 2.0], "c d": [7.75]}


@pytest.fixture
def slow5(require):
    require("signal", importlib.util.find_spec("pyslow5") is not None, "pyslow5 is not installed")


@pytest.fixture
def pod5(require):
    require("signal", importlib.util.find_spec("pod5") is not None, "pod5 is not installed")
    import pod5

    return pod5


def records():
    return (SignalRecord(name, np.array(values)) for name, values in SIGNALS.items())


def found(path):
    return {signal.name: signal.values.tolist() for signal in read_signals(str(path))}


def damaged(path, message):
    """The file's error is one line with its name and this message."""
    with pytest.raises(InputError) as error:
        found(path)
    assert str(error.value).startswith(f"{path}: ")
    assert message in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("ending", [".slow5", ".blow5"])
def test_slow5(slow5, tmp_path, ending):
    path = tmp_path / f"x{ending}"
    write_slow5(path, records(), 4000.0)
    read = found(path)
    assert list(read) == list(SIGNALS)
    for name, values in SIGNALS.items():
        assert read[name] == pytest.approx(values, abs=0.006)


def test_blow5_of_a_sequencer(shared_data):
    read = found(shared_data / "sigfish-sarscov2" / "sp1_dna.blow5")
    assert [len(values) for values in read.values()] == [4365, 5046, 4466, 5197, 4585]
    assert all(50 < np.median(values) < 120 for values in read.values())


CUTS = [0, 3, 60, 66, 200, 1500, 1578, 1600, 5000, 20_000, -6, -5, -1]


@pytest.mark.parametrize("size", CUTS)
def test_blow5_cut_off(shared_data, tmp_path, size):
    path = tmp_path / "x.blow5"
    path.write_bytes((shared_data / "sigfish-sarscov2" / "sp1_dna.blow5").read_bytes()[:size])
    damaged(path, "is cut off")


@pytest.mark.parametrize("size", [0, 10, 70, -1, -9])
def test_slow5_cut_off(slow5, tmp_path, size):
    path = tmp_path / "x.slow5"
    write_slow5(path, records(), 4000.0)
    path.write_bytes(path.read_bytes()[:size])
    damaged(path, "is cut off")


def test_blow5_damaged_inside(shared_data, tmp_path, capsys):
    path = tmp_path / "x.blow5"
    data = bytearray((shared_data / "sigfish-sarscov2" / "sp1_dna.blow5").read_bytes())
    data[12_000:12_050] = bytes(50)
    path.write_bytes(data)
    damaged(path, "record 3: is damaged")
    assert capsys.readouterr().err == ""


def test_not_slow5(tmp_path):
    path = tmp_path / "x.blow5"
    path.write_text("read\t1,2,3\n")
    damaged(path, "its header is damaged")


def write_pod5(pod5, path, **said):
    from datetime import UTC, datetime
    from uuid import UUID

    start = datetime(2026, 1, 1, tzinfo=UTC)
    texts = dict.fromkeys(
        (
            *("acquisition_id", "experiment_name", "flow_cell_id", "flow_cell_product_code", "protocol_name"),
            *("protocol_run_id", "sample_id", "sequencing_kit", "sequencer_position", "sequencer_position_type"),
            *("software", "system_name", "system_type"),
        ),
        "",
    )
    tags = said.pop("context_tags", {})
    run = pod5.RunInfo(
        **{**texts, **said},
        acquisition_start_time=start,
        protocol_start_time=start,
        adc_max=4095,
        adc_min=-4096,
        sample_rate=4000,
        context_tags=tags,
        tracking_id={},
    )
    with pod5.Writer(path) as writer:
        for number, values in enumerate(SIGNALS.values()):
            writer.add_read(
                pod5.Read(
                    read_id=UUID(int=number),
                    pore=pod5.Pore(1, 1, "r9"),
                    calibration=pod5.Calibration(offset=-10.0, scale=0.25),
                    read_number=number,
                    start_sample=0,
                    median_before=0.0,
                    end_reason=pod5.EndReason(pod5.EndReasonEnum.UNKNOWN, False),
                    run_info=run,
                    signal=np.array([value / 0.25 + 10 for value in values], dtype=np.int16),
                )
            )


def test_pod5(pod5, tmp_path):
    path = tmp_path / "x.pod5"
    write_pod5(pod5, path)
    read = found(path)
    assert list(read.values()) == [pytest.approx(values) for values in SIGNALS.values()]
    assert next(iter(read)) == "00000000-0000-0000-0000-000000000000"


@pytest.mark.parametrize("size", [0, 20, 400, -40, -1])
def test_pod5_cut_off(pod5, tmp_path, size):
    path = tmp_path / "x.pod5"
    write_pod5(pod5, path)
    path.write_bytes(path.read_bytes()[:size])
    damaged(path, "is cut off or damaged")


@pytest.mark.parametrize("kind", [np.int16, np.float32, np.float64, np.uint8])
def test_numpy(tmp_path, kind):
    matrix = np.array([[1, 2, 3], [4, 5, 6]], dtype=kind)
    np.save(tmp_path / "x.npy", matrix)
    assert found(tmp_path / "x.npy") == {"1": [1, 2, 3], "2": [4, 5, 6]}
    np.save(tmp_path / "y.npy", matrix[0])
    assert found(tmp_path / "y.npy") == {"1": [1, 2, 3]}
    np.savez(tmp_path / "x.npz", one=matrix[0], two=matrix[1, :2])
    assert found(tmp_path / "x.npz") == {"one": [1, 2, 3], "two": [4, 5]}


@pytest.mark.parametrize("ending", [".npy", ".npz"])
@pytest.mark.parametrize("size", [0, 5, 100, -1, -30])
def test_numpy_cut_off(tmp_path, ending, size):
    path = tmp_path / f"x{ending}"
    (np.save if ending == ".npy" else np.savez)(path, np.arange(300.0))
    path.write_bytes(path.read_bytes()[:size])
    damaged(path, "is not a sound NumPy file")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (np.array([1.0, np.nan]), "row 1: value 2 is nan"),
        (np.array([[1.0, 2.0], [np.inf, 1.0]]), "row 2: value 1 is inf"),
        (np.array(["a"]), "of 1 dimensions and type <U1"),
        (np.zeros((2, 2, 2)), "row 1: an array of 2 dimensions"),
        (np.array(["a", None]), "is not a sound NumPy file"),
    ],
)
def test_arrays_that_are_no_signals(tmp_path, values, message):
    np.save(tmp_path / "x.npy", values, allow_pickle=True)
    damaged(tmp_path / "x.npy", message)


def test_text(tmp_path):
    out = io.StringIO()
    write_text(out, records())
    path = tmp_path / "x.tsv"
    path.write_text(out.getvalue() + "\nempty\t\nlast\t1e2")
    assert found(path) == {**SIGNALS, "empty": [], "last": [100.0]}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("a 1,2", "line 2: not a name, a tab and values; separate values by commas"),
        ("a\t1,x,3", "line 2 (a): 'x' is not a number; repair the line"),
        ("a\t1,,3", "line 2 (a): '' is not a number"),
        ("a\t1,nan", "line 2 (a): value 2 is nan"),
        ("a\x01\t1", "signal 'a\\x01': a name with a tab, a line break or another control character"),
    ],
)
def test_text_that_can_not_be_used(tmp_path, line, message):
    path = tmp_path / "x.tsv"
    path.write_text(f"#name\tvalues\n{line}\n")
    damaged(path, message)


def test_files_that_are_not_there(tmp_path):
    for ending in (".blow5", ".pod5", ".npz", ".tsv"):
        damaged(tmp_path / f"x{ending}", "No such file or directory; check the path")


def test_a_missing_library_is_one_line_with_its_cure(monkeypatch, tmp_path):
    for name in ("pod5", "pyslow5"):
        monkeypatch.setitem(sys.modules, name, None)
    path = tmp_path / "x.pod5"
    path.write_bytes(b"any")
    damaged(path, "needs the library pod5, which does not load")
    damaged(path, "; pip install 'pairhmm[signal]'")
    with pytest.raises(InputError, match="needs the library pyslow5, which does not load"):
        write_slow5(tmp_path / "x.blow5", records(), 4000.0)


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data.replace(b"}", b" ", 1),
        lambda data: data.replace(b"(2, 8)", b"(99999999999, 8)"),
        lambda data: data.replace(b"(2, 8)", b"(99999999999, 0)"),
        lambda data: data.replace(b"<f4", b"<U9"),
        lambda data: data.replace(b"<f4", b"|O8"),
        lambda data: data.replace(b"False", b"None "),
        lambda data: data.replace(b"'descr'", b"((((((("),
        lambda data: data[:8] + b"\xff\xff" + data[10:],
        lambda data: data[:6] + b"\x09" + data[7:],
        lambda data: b"PK\x03\x04" + data[4:],
    ],
)
def test_numpy_with_a_header_that_is_broken(tmp_path, change):
    np.save(tmp_path / "x.npy", np.zeros((2, 8), np.float32))
    data = (tmp_path / "x.npy").read_bytes()
    changed = change(data).ljust(len(data))[: len(data)]
    (tmp_path / "x.npy").write_bytes(changed)
    damaged(tmp_path / "x.npy", "")


def test_columns_first_and_several_in_one(tmp_path):
    np.save(tmp_path / "x.npy", np.asfortranarray([[1.0, 2.0], [3.0, 4.0]]))
    assert found(tmp_path / "x.npy") == {"1": [1, 2], "2": [3, 4]}
    with open(tmp_path / "y.npy", "wb") as out:
        np.savez(out, a=np.zeros(2))
    damaged(tmp_path / "y.npy", "is not a sound NumPy file")


def test_a_pipe_where_a_file_is_needed(tmp_path):
    for ending in (".npy", ".pod5"):
        os.mkfifo(tmp_path / f"x{ending}")
        damaged(tmp_path / f"x{ending}", "is a pipe or a device, and this format needs random access; give a file")


def test_what_pod5_says_of_a_run(pod5, tmp_path):
    path = tmp_path / "x.pod5"
    write_pod5(pod5, path, sequencing_kit="SQK-RNA004", context_tags={"experiment_type": "rna"})
    read = list(read_signals(str(path)))
    assert read[0].run == {"sequencing_kit": "SQK-RNA004", "experiment_type": "rna"}
    assert read[0].run is read[-1].run


@pytest.mark.parametrize("seed", range(3))
def test_pod5_of_changed_bytes_ends_in_a_line_or_is_read(pod5, tmp_path, seed):
    path = tmp_path / "x.pod5"
    write_pod5(pod5, path)
    sound = path.read_bytes()
    rng = np.random.default_rng(seed)
    for _ in range(60):
        data = bytearray(sound)
        for _ in range(rng.integers(1, 9)):
            data[rng.integers(len(data))] = rng.integers(256)
        path.write_bytes(data)
        with suppress(InputError):
            found(path)


@pytest.mark.parametrize("error", [TypeError, KeyError, OverflowError, AssertionError])
def test_whatever_pod5_raises_is_one_line(pod5, tmp_path, monkeypatch, error):
    path = tmp_path / "x.pod5"
    write_pod5(pod5, path)

    def fail(_):
        raise error("None // 4")

    monkeypatch.setattr(pod5.Reader, "reads", fail)
    damaged(path, "is cut off or damaged (")
