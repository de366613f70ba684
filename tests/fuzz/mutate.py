"""Changes to bytes and to text: every one is drawn from the generator that is given, and from nothing else."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from numpy.random import Generator

Item = TypeVar("Item")

EXTREMES = (0, 1, -1, 2, 127, 128, 255, 256, 32767, 65535, 65536, 2**28, 2**29, 2**31 - 1, 2**31, 2**32 - 1, -(2**31))
_NUMBERS = """0 00 -0 -1 +1 1.5 1e3 1e400 1e-400 nan inf -inf 1_0 0x10 127 128 255 256 65536 268435455 536870912
2147483647 2147483648 -2147483648 4294967296 9223372036854775807 9223372036854775808 -9223372036854775809
18446744073709551616 \u0663 \u00b2"""
_WORDS = """. * - \u00e9 \ufeff \u2028 %s%n ../x <DEL> <X> *,A N n = Q A,C,G,T A,A a > @ # #CHROM [1:2[A ' " </script> &
1:2-3 / | a;b=c chr1 True {} []"""
_BYTES = (b"", b" ", b"\t", b"\t\t", b"\n", b"\r", b"\x00", b"\x0b", b"\x1b[31m", b"\xff\xfe")
_LONG = (b"9" * 400, b"7" * 5000, b"ACGT" * 64, b"A" * 3000)
HOSTILE_FIELDS = (*(word.encode() for word in f"{_NUMBERS} {_WORDS}".replace("\n", " ").split(" ")), *_BYTES, *_LONG)


def pick(rng: Generator, items: Sequence[Item]) -> Item:
    """One of `items`."""
    return items[int(rng.integers(len(items)))]


def chance(rng: Generator, share: float) -> bool:
    """True in that share of the draws."""
    return bool(rng.random() < share)


def change_bytes(rng: Generator, data: bytes, most: int = 4) -> bytes:
    """`data` after one to `most` changes of any kind."""
    for _ in range(int(rng.integers(1, most + 1))):
        data = pick(rng, _BYTE_CHANGES)(rng, data)
    return data


def _span(rng: Generator, data: bytes) -> tuple[int, int]:
    start = int(rng.integers(len(data) + 1))
    return start, min(len(data), start + int(2 ** (rng.random() * 12)))


def _flip(rng: Generator, data: bytes) -> bytes:
    if not data:
        return data
    at = int(rng.integers(len(data)))
    return data[:at] + bytes([data[at] ^ 1 << int(rng.integers(8))]) + data[at + 1 :]


def _set_byte(rng: Generator, data: bytes) -> bytes:
    at = int(rng.integers(len(data) + 1))
    return data[:at] + bytes([int(rng.integers(256))]) + data[at + 1 :]


def _set_integer(rng: Generator, data: bytes) -> bytes:
    at, width = int(rng.integers(len(data) + 1)), pick(rng, (1, 2, 4, 8))
    value = pick(rng, EXTREMES) % (1 << 8 * width)
    return data[:at] + value.to_bytes(width, "little") + data[at + width :]


def _cut_out(rng: Generator, data: bytes) -> bytes:
    start, end = _span(rng, data)
    return data[:start] + data[end:]


def _double(rng: Generator, data: bytes) -> bytes:
    start, end = _span(rng, data)
    return data[:end] + data[start:end] * int(rng.integers(1, 4)) + data[end:]


def _splice(rng: Generator, data: bytes) -> bytes:
    (start, end), (at, _) = _span(rng, data), _span(rng, data)
    return data[:at] + data[start:end] + data[at + end - start :]


def _clear(rng: Generator, data: bytes) -> bytes:
    start, end = _span(rng, data)
    return data[:start] + pick(rng, (b"\0", b"\xff", b"A", b"\n")) * (end - start) + data[end:]


def _insert(rng: Generator, data: bytes) -> bytes:
    at = int(rng.integers(len(data) + 1))
    return data[:at] + pick(rng, (rng.bytes(int(rng.integers(1, 20))), pick(rng, HOSTILE_FIELDS))) + data[at:]


def cut_off(rng: Generator, data: bytes) -> bytes:
    """The front of `data`."""
    return data[: int(rng.integers(len(data) + 1))]


_BYTE_CHANGES: tuple[Callable[[Generator, bytes], bytes], ...] = (
    *(_flip, _flip, _set_byte, _set_integer, _set_integer, _cut_out, _double, _splice, _clear, _insert, cut_off),
)


def change_text(rng: Generator, text: bytes, separator: bytes = b"\t", most: int = 3) -> bytes:
    """Text of lines and fields after one to `most` changes."""
    for _ in range(int(rng.integers(1, most + 1))):
        if chance(rng, 0.15):
            text = change_bytes(rng, text, 1)
        elif chance(rng, 0.1):
            text = pick(rng, _WHOLE_CHANGES)(text)
        else:
            text = _change_line(rng, text, separator)
    return text


_WHOLE_CHANGES: tuple[Callable[[bytes], bytes], ...] = (
    lambda text: b"",
    lambda text: b"\n",
    lambda text: text.replace(b"\n", b"\r\n"),
    lambda text: text.replace(b"\n", b"\r"),
    lambda text: b"\xef\xbb\xbf" + text,
    lambda text: text.rstrip(b"\n"),
    lambda text: text + b"\n\n",
    lambda text: text + text,
    lambda text: text.replace(b"\t", b" "),
    lambda text: text.decode("latin-1").encode("utf-16"),
    lambda text: text.replace(b"\n", b"\n\n"),
    lambda text: text.upper(),
    lambda text: text.lower(),
)


def _change_line(rng: Generator, text: bytes, separator: bytes) -> bytes:
    lines = text.split(b"\n")
    at = int(rng.integers(len(lines)))
    kind = int(rng.integers(10))
    if kind == 0:
        del lines[at]
    elif kind == 1:
        lines.insert(at, lines[at])
    elif kind == 2:
        other = int(rng.integers(len(lines)))
        lines[at], lines[other] = lines[other], lines[at]
    elif kind == 3:
        lines.insert(at, pick(rng, HOSTILE_FIELDS))
    else:
        lines[at] = _change_fields(rng, lines[at], separator)
    return b"\n".join(lines)


def _change_fields(rng: Generator, line: bytes, separator: bytes) -> bytes:
    fields = line.split(separator)
    at = int(rng.integers(len(fields)))
    kind = int(rng.integers(8))
    if kind == 0:
        del fields[at]
    elif kind == 1:
        fields.insert(at, pick(rng, HOSTILE_FIELDS))
    elif kind == 2:
        fields[at] = change_bytes(rng, fields[at], 1)
    elif kind == 3:
        other = int(rng.integers(len(fields)))
        fields[at], fields[other] = fields[other], fields[at]
    else:
        fields[at] = pick(rng, HOSTILE_FIELDS)
    return separator.join(fields)
