"""SLOW5 and BLOW5: what a sound file says, and that a damaged one says so, whatever is damaged."""

import importlib.util
import os
import struct
import subprocess
import sys
import threading
import zlib
from contextlib import suppress

import numpy as np
import pytest

from pairhmm.errors import InputError
from pairhmm.warp import blow5
from pairhmm.warp.signal_files import read_signals

plain = bytes  # records that are not packed
COLUMNS = "#read_id\tread_group\tdigitisation\toffset\trange\tsampling_rate\tlen_raw_signal\traw_signal"
TYPES = "#char*\tuint32_t\tdouble\tdouble\tdouble\tdouble\tuint64_t\tint16_t*"
DNA = {"experiment_type": "genomic_dna", "sequencing_kit": "sqk-lsk109"}
RAW = {"a": [500, 510, -3], "b": [7] * 40, "c": [100, 32767, -32768, 5]}
SAMPLING = {"read_group": 0, "digitisation": 8192.0, "offset": 6.0, "range": 1400.0, "sampling_rate": 4000.0}


def in_picoamperes(raw, sampling=SAMPLING):
    return [(value + sampling["offset"]) * sampling["range"] / sampling["digitisation"] for value in raw]


def header(run=DNA, auxiliary=()):
    """The lines that both formats have. `auxiliary` is of names and types."""
    said = "".join(f"@{name}\t{value}\n" for name, value in run.items())
    types = "".join(f"\t{kind}" for _, kind in auxiliary)
    return f"{said}{TYPES}{types}\n{COLUMNS}{''.join(f'{chr(9)}{name}' for name, _ in auxiliary)}\n"


def slow5_text(raw=RAW, run=DNA, **changed):
    """SLOW5; `changed` replaces columns of the first read."""
    lines = [f"#slow5_version\t1.0.0\n#num_read_groups\t1\n{header(run)}"]
    for name, values in raw.items():
        row = {
            "read_id": name,
            **SAMPLING,
            "len_raw_signal": len(values),
            "raw_signal": ",".join(map(str, values)),
            **changed,
        }
        changed = {}
        lines.append("\t".join(map(str, row.values())) + "\n")
    return "".join(lines).encode()


def blow5_bytes(raw=RAW, run=DNA, pack=zlib.compress, auxiliary=(), behind=b"", **changed):
    """BLOW5 of plain signals, records packed by zlib; `behind` are the bytes of auxiliary columns of each record."""
    text = header(run, auxiliary).encode()
    packing = 0 if pack is plain else 1
    parts = [struct.pack("<6s3BBIB49xI", b"BLOW5\1", 1, 0, 0, packing, 1, 0, len(text)), text]
    for name, values in raw.items():
        told = {**SAMPLING, "len_raw_signal": len(values), **changed}
        changed = {}
        record = struct.pack("<H", len(name)) + name.encode() + struct.pack("<I4dQ", *told.values())
        packed = pack(record + struct.pack(f"<{len(values)}h", *values) + behind)
        parts += [struct.pack("<Q", len(packed)), packed]
    return b"".join([*parts, b"5WOLB"])


def found(path):
    return {signal.name: signal.values.tolist() for signal in read_signals(str(path))}


def refused(path, data):
    """The error for a file of these bytes."""
    path.write_bytes(data)
    with pytest.raises(InputError) as error:
        found(path)
    assert "\n" not in str(error.value)
    return str(error.value).removeprefix(f"{path}: ")


@pytest.mark.parametrize(
    "data",
    [
        slow5_text(),
        blow5_bytes(),
        blow5_bytes(pack=plain),
        blow5_bytes(
            auxiliary=[("channel", "char*"), ("mux", "uint8_t"), ("end", "enum{a,b}"), ("x", "double*")],
            behind=struct.pack("<Q2sBBQ2d", 2, b"12", 1, 0, 2, 0.5, 1.5),
        ),
    ],
)
def test_sound_files(tmp_path, data):
    path = tmp_path / "x.blow5"
    path.write_bytes(data)
    read = list(read_signals(str(path)))
    assert [signal.name for signal in read] == list(RAW)
    for signal in read:
        assert signal.values == pytest.approx(in_picoamperes(RAW[signal.name]), rel=1e-6)
        assert signal.run == DNA
        assert signal.run is read[0].run


def test_a_named_pipe(tmp_path):
    for name, data in (("x.slow5", slow5_text()), ("x.blow5", blow5_bytes())):
        os.mkfifo(tmp_path / name)
        threading.Thread(target=(tmp_path / name).write_bytes, args=(data,), daemon=True).start()
        assert list(found(tmp_path / name)) == list(RAW)


@pytest.mark.parametrize("signal_press", ["none", "svb_zd", "ex_zd"])
@pytest.mark.parametrize("record_press", ["none", "zlib", "zstd"])
def test_what_pyslow5_packs(require, tmp_path, record_press, signal_press):
    require("signal", importlib.util.find_spec("pyslow5") is not None, "pyslow5 is not installed")
    if record_press == "zstd":
        require("signal", importlib.util.find_spec("pyarrow") is not None, "pyarrow is not installed")
    rng = np.random.default_rng(5)
    signals = {
        "steps": np.cumsum(rng.integers(-200, 201, 3000)).clip(-30_000, 30_000),
        "noise": rng.normal(500, 40, 2001).astype(int),
        "even": rng.integers(0, 100, 999) * 8,
        "one": [5],
        "a_step": [5, 3000],
        "no_step": [5, 3000, 3000],
    }
    path = tmp_path / "x.blow5"
    np.savez(tmp_path / "raw.npz", **{name: np.array(raw, dtype=np.int16) for name, raw in signals.items()})
    # Its writer of ex-zd frees memory twice now and then, when all is written: a process of its own, that leaves early.
    program = """
import os, sys, numpy, pyslow5
file = pyslow5.Open(sys.argv[2], "w", rec_press=sys.argv[3], sig_press=sys.argv[4])
file.write_header({"experiment_type": "genomic_dna"})
for name, raw in numpy.load(sys.argv[1]).items():
    record = file.get_empty_record()
    record.update(read_id=name, read_group=0, digitisation=8192.0, offset=6.0, range=1400.0, sampling_rate=4000.0)
    record.update(len_raw_signal=len(raw), signal=raw)
    file.write_record(record)
file.close()
os._exit(0)
"""
    given = (tmp_path / "raw.npz", path, record_press, signal_press)
    if subprocess.run([sys.executable, "-c", program, *given], stderr=subprocess.DEVNULL, check=False).returncode:
        pytest.skip("pyslow5 could not write the file")
    read = found(path)
    assert list(read) == list(signals)
    for name, raw in signals.items():
        assert read[name] == pytest.approx(in_picoamperes(raw), rel=1e-6)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"digitisation": 0}, "record 1 (a): digitisation is 0, so that its samples have no meaning"),
        ({"digitisation": "nan"}, "record 1 (a): digitisation is nan"),
        ({"digitisation": "x"}, "record 1 (a): digitisation is 'x', not a number; repair or remove the read"),
        ({"range": -1}, "record 1 (a): range is -1"),
        ({"offset": "inf"}, "record 1 (a): offset is inf"),
        ({"sampling_rate": 0}, "record 1 (a): sampling_rate is 0"),
        ({"range": "1e300"}, "record 1 (a): value 1 is inf"),
        ({"read_group": 1}, "record 1 (a): read_group is 1, and the header has 1 (from 0)"),
        ({"read_group": -1}, "record 1 (a): read_group is '-1', not a whole number"),
        ({"len_raw_signal": 10}, "record 1 (a): len_raw_signal is 10, and its signal has 3 samples"),
        ({"len_raw_signal": 2}, "record 1 (a): len_raw_signal is 2, and its signal has 3 samples"),
        ({"len_raw_signal": 10**30}, "not a whole number"),
        ({"raw_signal": "1,2,40000"}, "record 1 (a): sample 3 is 40000, beyond 16 bits"),
        ({"raw_signal": "1,,2"}, "record 1 (a): raw_signal is not whole numbers with commas between them"),
        ({"raw_signal": "1_0,2,3"}, "record 1 (a): raw_signal is not whole numbers"),
        ({"raw_signal": "1,2," + "9" * 5000}, "record 1 (a): raw_signal is not whole numbers"),
        ({"raw_signal": "1,2,3\t4"}, "record 1: has 9 fields where the header names 8"),
        ({"read_id": ""}, "record 1: has no name"),
    ],
)
def test_fields_of_text(tmp_path, changed, message):
    assert message in refused(tmp_path / "x.slow5", slow5_text(**changed))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (b"\n", b"\r\n", "line 1: ends in CR and LF, which SLOW5 does not allow; convert the file by dos2unix"),
        (b"slow5_version\t1", b"slow5_version\t7", "header: is of SLOW5's version 7.0.0"),
        (b"groups\t1", b"groups\t2", "@experiment_type has 1 values for 2 read groups"),
        (b"groups\t1", b"groups\t0", "num_read_groups is '0'"),
        (b"groups\t1", b"groups\t" + b"9" * 5000, "num_read_groups is '99"),
        (b"#num_read_groups\t1\n", b"", "its second line is not num_read_groups"),
        (b"int16_t*", b"int32_t*", "it names no columns"),
        (b"\traw_signal\n", b"\n", "it names no columns"),
    ],
)
def test_headers_of_text(tmp_path, old, new, message):
    assert message in refused(tmp_path / "x.slow5", slow5_text().replace(old, new))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (blow5_bytes(digitisation=0.0), "record 1 (a): digitisation is 0"),
        (blow5_bytes(range=float("nan")), "record 1 (a): range is nan"),
        (blow5_bytes(read_group=3), "record 1 (a): read_group is 3"),
        (blow5_bytes(len_raw_signal=10), "record 1: is damaged (53 bytes, and a column ends at byte 67)"),
        (blow5_bytes(len_raw_signal=2), "record 1: is damaged (53 bytes where its columns have 51)"),
        (blow5_bytes(len_raw_signal=2**63), "record 1: is damaged"),
        (blow5_bytes(pack=lambda record: b""), "is damaged: the next record would have 0 bytes"),
        (blow5_bytes(behind=b"x"), "record 1: is damaged"),
        (blow5_bytes(auxiliary=[("x", "double*")], behind=b"\xff" * 16), "record 1: is damaged"),
        (blow5_bytes(auxiliary=[("x", "int128_t")], behind=b"\xff" * 16), "which SLOW5 does not have"),
        (blow5_bytes()[:6] + b"\2" + blow5_bytes()[7:], "header: is of SLOW5's version 2.0.0"),
        (blow5_bytes()[:9] + b"\7" + blow5_bytes()[10:], "header: is compressed by methods 7 and 0"),
        (blow5_bytes()[:64] + b"\xff\xff\xff\xff" + blow5_bytes()[68:], "header: is cut off, or its header is damaged"),
        (blow5_bytes() + b"5WOLB", "after record 3: is damaged: the next record would have"),
    ],
)
def test_blow5_that_can_not_be_used(tmp_path, data, message):
    assert message in refused(tmp_path / "x.blow5", data)


def test_a_record_that_unpacks_to_too_much(tmp_path, monkeypatch):
    monkeypatch.setattr(blow5, "_LONGEST_RECORD", 1 << 20)
    bomb = zlib.compress(bytes(2 << 20))
    message = refused(tmp_path / "x.blow5", blow5_bytes(pack=lambda record: bomb))
    assert "record 1: is damaged (it unpacks to more than 1,048,576 bytes)" in message


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", ["slow5", "plain", "zlib"])
def test_changed_bytes_end_in_a_line_or_are_read(tmp_path, kind, seed):
    sound = {"slow5": slow5_text(), "plain": blow5_bytes(pack=plain), "zlib": blow5_bytes()}[kind]
    rng = np.random.default_rng((seed, len(kind)))
    path = tmp_path / f"x.{'slow5' if kind == 'slow5' else 'blow5'}"
    for _ in range(100):
        data = bytearray(sound)
        for _ in range(rng.integers(1, 6)):
            at = int(rng.integers(len(data)))
            data[at : at + int(rng.integers(0, 3))] = rng.integers(0, 256, rng.integers(0, 3), dtype=np.uint8).tobytes()
        path.write_bytes(data)
        with suppress(InputError):
            read = found(path)
            # Records of zlib have a checksum.
            assert kind != "zlib" or read == {name: pytest.approx(in_picoamperes(raw)) for name, raw in RAW.items()}
