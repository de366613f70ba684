"""`scan` of letters in memory: signatures in samples, scored by base quality."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray

from pairhmm.errors import OptionError
from pairhmm.options import check_whole, with_keywords
from pairhmm.scan.base import (
    LONGEST_TILE,
    REVERSE,
    SHORTEST_TILE,
    Patterns,
    ScanOptions,
    Tiling,
    choose,
    with_match_counts,
)
from pairhmm.scan.tiles import check_tiling, load_tiles
from pairhmm.sequences.letters import PhredValues, encode_sets, phred
from pairhmm.sequences.records import Samples
from pairhmm.sequences.signatures import Signatures

_DEFAULTS = ScanOptions()


@dataclass(frozen=True, slots=True)
class ScanHit:
    """A signature in a sample."""

    sample: str
    signature: str
    start: int  # in the sample, 0-based half-open
    end: int
    strand: str  # ``+`` or ``-``
    score: int | None  # sum of the Phred qualities under it; None without qualities
    mean: float | None  # `score` by the signature's length
    matches: int  # of the signature in the sample
    informative: int  # columns where neither side is N
    mismatches: int
    # Where the match begins in its signature, 0-based, on the forward strand. None unless signatures are cut into
    # tiles.
    place: int | None = None


class ScanKeywords(TypedDict, total=False):
    """The fields of `ScanOptions`."""

    both_strands: bool
    max_mismatches: int
    min_informative: int
    min_score: float
    min_mean: float
    every_match: bool


def scan(
    signatures: Mapping[str, str],
    samples: Mapping[str, str],
    qualities: Mapping[str, PhredValues] | None = None,
    *,
    options: ScanOptions = _DEFAULTS,
    tile: int | None = None,
    step: int = 1,
    mask: bool = True,
    backend: str = "auto",
    device: int | None = None,
    threads: int = 1,
    **keywords: Unpack[ScanKeywords],
) -> list[ScanHit]:
    """Find every signature that occurs in each sample.

    Parameters
    ----------
    signatures, samples : mapping of str to str
        Names and letters: A C G T U and IUPAC codes, in any case; N matches anything on either side.
    qualities : mapping of str to sequence of int or str, optional
        Phred qualities of each sample, one a letter: numbers, or characters as in FASTQ (Phred+33).
    options : ScanOptions
        What counts as a match, and whether every match is given or the best of each signature in each sample.
    tile : int, optional
        Cut signatures into tiles of so many letters. A match of a tile is a match of its signature. By default, a match
        is the whole signature.
    step : int
        A tile begins at every `step`-th letter.
    mask : bool
        Tiles of low complexity, such as runs of A, are not searched for (docs/scan.md).
    **keywords
        Fields of `ScanOptions` by name, such as ``max_mismatches=1``. They override those of `options`.
    backend : str
        "auto", or the name of a backend that scans.
    device : int, optional
        GPU, as `pairhmm devices` numbers them; the first without one.
    threads : int
        CPU threads.

    Returns
    -------
    list of ScanHit
        In the order of samples, signatures and places.

    Raises
    ------
    ValueError
        For letters outside IUPAC, empty signatures, qualities that are out of range or not one a letter, thresholds
        on qualities where there are none, and tiles that are longer than every signature.
    OptionError
        For an option with a value that it can't have.
    InputError
        For tiles that are too short for `max_mismatches` or `min_informative`.
    TypeError
        For signatures or samples without names, and for a keyword that no option has.
    BackendUnavailable
        Where a named backend does not run here.

    Examples
    --------
    >>> [(hit.signature, hit.start) for hit in pairhmm.scan({"a": "ACGTTGCAACCA"}, {"s": "TTTACGTTGCAACCATT"})]
    [('a', 3)]

    Tiles of 12 letters find the part of a signature that is in a sample.

    >>> hits = pairhmm.scan({"a": "GGCATACGTTGCAACCAGTC"}, {"s": "TTTACGTTGCAACCATT"}, tile=12)
    >>> [(hit.start, hit.place, hit.matches) for hit in hits]
    [(2, 4, 2)]
    """
    (options,) = with_keywords("scan", keywords, options)
    check_whole("threads", threads, 1)
    _check_named("signatures", signatures)
    _check_named("samples", samples)
    if not all(signatures.values()):
        raise ValueError("a signature has no letters")
    if qualities is None and options.needs_qualities:
        raise ValueError("min_score and min_mean need qualities")
    packed = Signatures.of(list(signatures), [encode_sets(letters) for letters in signatures.values()])
    values = None
    if qualities is not None:
        values = [_qualities_of(name, letters, qualities) for name, letters in samples.items()]
    arrays = Samples.of([encode_sets(letters) for letters in samples.values()], values)
    tiling = None if tile is None else _tiling_of(packed, tile, step, mask, options)
    patterns = Patterns.of(packed, options, tiling)
    if tiling is None:
        scanner = choose(backend, device, patterns, options, len(arrays.letters), threads)
    else:
        scanner = load_tiles(backend, patterns, options, tiling)
    hits = scanner.scan(arrays, threads).hits
    if options.every_match:
        hits = with_match_counts(hits)
    names = list(samples)
    return [_hit(names[hit["segment"]], packed, hit, qualities is not None, tiling) for hit in hits]


def _tiling_of(signatures: Signatures, tile: int, step: int, mask: bool, options: ScanOptions) -> Tiling:
    check_whole("tile", tile, SHORTEST_TILE, LONGEST_TILE)
    check_whole("step", step, 1)
    tiling = Tiling(tile, step, mask)
    check_tiling(tiling, options)
    if signatures.lengths.max(initial=0) < tile:
        raise OptionError("tile", tile, "is longer than every signature")
    return tiling


def _check_named(what: str, value: object) -> None:
    if not isinstance(value, Mapping):
        raise TypeError(f"{what} is of type {type(value).__name__}: give letters by name, such as {{'a': 'ACGT'}}")


def _qualities_of(sample: str, letters: str, qualities: Mapping[str, PhredValues]) -> NDArray[np.uint8]:
    if sample not in qualities:
        raise ValueError(f"sample {sample!r} has no qualities: give those of every sample, or none")
    values = phred(qualities[sample], f"qualities[{sample!r}]")
    if len(values) != len(letters):
        raise ValueError(f"sample {sample!r} has {len(values)} qualities for {len(letters)} letters")
    return values


def _hit(sample: str, signatures: Signatures, hit: np.void, has_qualities: bool, tiling: Tiling | None) -> ScanHit:
    signature, start, total = int(hit["signature"]), int(hit["start"]), int(hit["total"])
    length = int(signatures.lengths[signature]) if tiling is None else tiling.length
    return ScanHit(
        sample=sample,
        signature=signatures.names[signature],
        start=start,
        end=start + length,
        strand="-" if hit["strand"] == REVERSE else "+",
        score=total if has_qualities else None,
        mean=total / length if has_qualities else None,
        matches=int(hit["matches"]),
        informative=int(hit["informative"]),
        mismatches=int(hit["mismatches"]),
        place=None if tiling is None else int(hit["place"]),
    )
