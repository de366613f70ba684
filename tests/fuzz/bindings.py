"""The compiled functions, called as the package calls them: offsets that fit, and any values in them."""

from __future__ import annotations

import struct
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from mutate import EXTREMES, HOSTILE_FIELDS, chance, change_bytes, change_text, pick
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from pairhmm._cpu import ReferenceBases, RegionSource
    from pairhmm.alignments.blocks import ReadBlock
    from pairhmm.models.batch import PairBatch


def run_binding(name: str, seed: int) -> None:
    """Call one of `BINDINGS` with what is drawn from a seed; what it raises is a finding."""
    BINDINGS[name](np.random.default_rng(seed))


def _offsets(lengths: ArrayLike) -> NDArray[np.int64]:
    """Where items of these lengths begin, laid end to end, and where the last one ends."""
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def _lengths(rng: Generator, count: int, most: int, least: int = 0) -> NDArray[np.int64]:
    return _offsets(rng.integers(least, most + 1, count))


def _require(holds: Any, told: str) -> None:
    if not holds:
        raise AssertionError(told)


def _bytes(rng: Generator, size: int, most: int = 256) -> NDArray[np.uint8]:
    return rng.integers(0, most, size, dtype=np.uint8)


def _reads(rng: Generator) -> None:
    """Reads of any CIGAR that spells their bases, and places of any size."""
    from pairhmm.alignments.blocks import ReadBlock
    from pairhmm.native import native
    from pairhmm.sequences.arrays import Names

    count, samples = int(rng.integers(0, 12)), int(rng.integers(1, 4))
    cigars = [_cigar(rng) for _ in range(count)]
    bases = [sum(one >> 4 for one in cigar if one & 15 in (0, 1, 4, 7, 8)) for cigar in cigars]
    start = np.sort(rng.integers(0, 300, count)).astype(np.int64) + pick(rng, (0, 0, 0, 2**31 - 400, 10**9))
    base_offset = _offsets(bases)
    cigar_offset = _offsets([len(cigar) for cigar in cigars])
    packed = np.array([one for cigar in cigars for one in cigar], dtype=np.uint32)
    size = int(base_offset[-1])
    block = ReadBlock(
        *("chr1", Names.of([f"r{number}" for number in rng.integers(0, 5, count)])),
        *(rng.integers(0, samples, count, dtype=np.int32), rng.integers(0, 256, count, dtype=np.uint16)),
        *(_bytes(rng, count), start, start + 1, base_offset, _bytes(rng, size, 5)),
        *(_bytes(rng, size), cigar_offset, packed),
        indel_quals=pick(rng, (None, _bytes(rng, 2 * size).reshape(2, size))),
    )
    origin = int(start[0]) if count else 0
    if count:
        least, ploidy = int(rng.integers(0, 60)), rng.integers(1, 3, 1, dtype=np.int32)
        interval = [np.array([place]) for place in (origin + int(rng.integers(0, 50)), origin + 1000)]
        unit = pick(rng, ("ACGT", "AAC", "N"))

        def fetch(_: str, begin: int, end: int) -> str:
            return unit * min(1 + (end - begin) // len(unit), 10**5)

        walk = native.ReferenceWalk(
            native.ReferenceBases(fetch), ["chr1"], np.zeros(1, np.int32), *interval, ploidy, least, [1, 20], ()
        )
        walk.add("chr1", block.native, block.end, block.names.text, block.names.end)
        lines = native.RecordLines()
        lines.add_rest(walk)
        _require(lines.take_all().count("\n") <= 1000, "more blocks than positions")
    _regions(rng, block, samples)
    if count:
        chosen = np.sort(rng.integers(0, count, 6)).astype(np.int64)
        first, last = np.empty((2, 6), dtype=np.int64)
        begin = origin + int(rng.integers(-50, 400))
        block.native.cut(chosen, begin, begin + int(rng.integers(0, 200)), int(rng.integers(0, 50)), first, last)
        lengths = np.diff(base_offset)[chosen]
        is_inside = (first >= 0) & (first <= last) & (last <= lengths)
        _require(is_inside.all(), f"slices {first} to {last} of reads of {lengths}")
        block.take(chosen)
        _join(rng, block, chosen, first, last)


def _regions(rng: Generator, block: ReadBlock, samples: int) -> None:
    """Regions of the candidates that reads show, and of listed ones of any alleles."""
    from pairhmm.calling.discovery import CandidateOptions
    from pairhmm.native import native
    from pairhmm.variants.regions import RegionOptions
    from pairhmm.variants.variant import Variant

    origin = int(block.start[0]) if len(block) else 0
    # Reads lie in their contig.
    length = int(max([origin, *block.end])) + int(rng.integers(1, 1000))

    def fetch(chrom: str, start: int, end: int) -> str:
        return rng.choice(np.frombuffer(b"ACGTN", np.uint8), max(0, min(length, end) - start)).tobytes().decode()

    def allele() -> str:
        return "".join(rng.choice(list("ACGTN"), int(rng.integers(0, 8))))

    listed = [
        Variant("chr1", int(at), allele(), tuple(allele() for _ in range(int(rng.integers(0, 4)))))
        for at in np.sort(origin + rng.integers(-10, 1200, int(rng.integers(0, 12))))
    ]
    known = (
        *(native.ReferenceBases(fetch), [("chr1", length)], samples),
        CandidateOptions(int(rng.integers(0, 60)), 1, 1, rng.random(), rng.random(), chance(rng, 0.7)),
        RegionOptions(join_distance=int(rng.integers(0, 100)), max_span=int(rng.integers(1, 500))),
    )
    for source in (native.DiscoveredRegions(*known), native.ListedRegions(*known, iter(listed))):
        _stream(rng, block, known[0], source)


def _stream(rng: Generator, block: ReadBlock, reference: ReferenceBases, source: RegionSource) -> None:
    """All regions, with any scores: each has its alleles and haplotypes."""
    from pairhmm.calling.molecules import MoleculeOptions
    from pairhmm.calling.scored_region import Evidence
    from pairhmm.calling.stream import EvidenceOptions
    from pairhmm.models.gatk import GatkOptions
    from pairhmm.native import native

    molecules = pick(rng, (None, MoleculeOptions(True), MoleculeOptions(families="MI")))
    options = EvidenceOptions(int(rng.integers(2, 20)), int(rng.integers(1, 20)), int(rng.integers(1, 10**6)))
    model = GatkOptions(error_rate=pick(rng, (None, 0.02)))
    stream = native.RegionStream(reference, source, options, model, molecules, None)
    block.molecules = pick(rng, (None, [str(number or "") for number in rng.integers(0, 3, len(block))]))
    seen = set()
    for step in (lambda: stream.push("chr1", block.aligned), stream.finish):
        step()
        for batch in iter(stream.next, None):
            letters, offset, group = batch.letters()
            pairs = int(np.diff(group) @ np.array(batch.reads_of, dtype=np.int64))
            _require(len(offset) == group[-1] + 1 and offset[-1] == len(letters), f"haplotypes at {offset}")
            for region in stream.scored(batch, rng.random(pairs) * -9, _bytes(rng, pairs, 3)):
                one = Evidence.of(region, [], molecules is not None)
                where = one.region
                # Ends that are trimmed are not of their reads any more, so some lie beside the candidates.
                _require(bool((one.start <= one.end).all()), f"{one}")
                _require(one.from_end.shape == (len(one.names), len(where.variants)), f"{one}")
                _require((where.core_start, where.variants) not in seen, f"{where} again")
                seen.add((where.core_start, where.variants))


def _edges(rng: Generator, total: int, parts: int) -> NDArray[np.int64]:
    """Where each of some parts begins, and where the last one ends."""
    return np.array([0, *np.sort(rng.integers(0, total + 1, parts - 1)), total] if parts else [0], dtype=np.int64)


def _join(
    rng: Generator, block: ReadBlock, chosen: NDArray[np.int64], first: NDArray[np.int64], last: NDArray[np.int64]
) -> None:
    """Any reads of any molecules: each base is in one column at most, and each read in one profile."""
    from pairhmm.calling.scoring import preparation
    from pairhmm.models.gatk import GatkOptions
    from pairhmm.models.profile import preset

    count = len(chosen)
    offset = _offsets(last - first)
    (member_offset, member, column_offset, source_offset, source, ends, *_), profiles = block.aligned.join(
        chosen, first, last, _edges(rng, count, 2), chance(rng, 0.5)
    )
    _require(len(profiles.start) == len(ends), f"{len(profiles.start)} profiles with {len(ends)} ends")
    if sorted(member.tolist()) != list(range(count)) or len(set(source.tolist())) != len(source):
        raise AssertionError(f"profiles of {member} with bases {source}")
    if (
        not (np.diff(member_offset) > 0).all()
        or not (np.diff(source_offset) > 0).all()
        or len(ends) != len(member_offset) - 1
    ):
        raise AssertionError(f"profiles at {member_offset}, columns at {source_offset}")
    if column_offset[-1] != len(source_offset) - 1 or (
        len(source) and (source.min() < 0 or source.max() >= offset[-1])
    ):
        raise AssertionError(f"columns at {column_offset} of bases {source}")
    bases = _bytes(rng, int(offset[-1]), 15), _bytes(rng, int(offset[-1]), 128)
    joined = column_offset, source_offset, source
    prepared = preparation(GatkOptions(), preset("normalised")).prepare(
        *(offset, *bases, _bytes(rng, count), None, joined)
    )
    rows = prepared.profiles.probabilities.reshape(-1, 4)
    _require(np.allclose(rows.sum(axis=1), 1), f"rows {rows}")


def _cigar(rng: Generator) -> list[int]:
    operations = rng.integers(0, 9, int(rng.integers(1, 8)))
    lengths = [pick(rng, (0, 1, 1, 2, 5, 30, 100)) for _ in operations]
    long = pick(rng, (1, 1, 1, 1000))
    return [
        (length * (long if operation in (2, 3) else 1)) << 4 | int(operation)
        for length, operation in zip(lengths, operations, strict=True)
    ]


def _batch(rng: Generator) -> PairBatch:
    """One group, of qualities or of any rows."""
    from pairhmm.models.batch import PairBatch, Qualities, Start

    reads, haplotypes = int(rng.integers(1, 20)), int(rng.integers(1, 6))
    read_offset, haplotype_offset = _lengths(rng, reads, pick(rng, (3, 40, 600)), 1), _lengths(rng, haplotypes, 300, 1)
    bases, most = int(read_offset[-1]), pick(rng, (128, 128, 60))
    groups = np.array([0, reads], dtype=np.int64), np.array([0, haplotypes], dtype=np.int64)
    letters = _bytes(rng, int(haplotype_offset[-1]), 5)
    arrays = (*groups, read_offset, haplotype_offset, letters)
    if chance(rng, 0.3):
        return PairBatch(*arrays, Start(1.0, 0.5), rows=rng.random((bases, 12)) * pick(rng, (1, 1e-3, 0)))
    columns = [_bytes(rng, bases, most) for _ in range(4)]
    if chance(rng, 0.5):
        columns[3][:] = pick(rng, (0, 10, 127))
    return PairBatch(*arrays, Start(0.0, 1.0), Qualities(_bytes(rng, bases, 5), *columns))


def _forward(rng: Generator) -> None:
    """Batches of every quality and length, at every level of SIMD: all of one mind."""
    from pairhmm.backends.cpu import CpuBackend
    from pairhmm.native import native

    batch = _batch(rng)
    if batch.qualities is not None and chance(rng, 0.4):
        batch = replace(batch, flags=_bytes(rng, len(batch.haplotypes), 256))
    skip = rng.random(batch.reads) < pick(rng, (0, 0.5, 1))
    pairs = np.arange(batch.pairs, dtype=np.int64)
    wide = []
    for level, runs in native.levels():
        if runs:
            backend = CpuBackend(native, level)
            fast, exact = backend.forward(batch, skip, int(rng.integers(1, 4))), backend.forward_pairs(batch, pairs, 2)
            scored = np.isfinite(fast.log10)
            np.testing.assert_allclose(fast.log10[scored], exact.log10[scored], rtol=1e-6, atol=1e-4, err_msg=level)
            wide.append(exact.log10)
    for other in wide[1:]:
        np.testing.assert_allclose(other, wide[0], rtol=1e-9, atol=1e-9)


class _Memory:
    """Host memory that a batch is packed into, for no device."""

    def __init__(self) -> None:
        from pairhmm.backends import tiles
        from pairhmm.native import native

        self.packer = native.Packer(tiles.team())

    def begin(self, size: int, behind: int) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
        return np.zeros(behind, dtype=np.uint8), np.zeros(size - behind, dtype=np.uint8)

    def send(self, first: int, end: int) -> None:
        pass


def _tiles(rng: Generator) -> None:
    """Batches as devices take them."""
    from pairhmm.backends.cuda import layout as cuda
    from pairhmm.backends.webgpu import layout as webgpu

    batch = _batch(rng)
    skip = rng.random(batch.reads) < pick(rng, (0, 0.5, 1))
    cuda.pack(batch, skip, int(np.diff(batch.read_offset).max()), _Memory())
    webgpu.pack(batch, skip, 32, 8, 1 << 30, _Memory())


def _tables(rng: Generator) -> None:
    from pairhmm.native import native

    text = b"".join(rng.choice([b"\t", b"\n", b"a", b"q\t5\t9\t", bytes([200])], int(rng.integers(0, 300))).tolist())
    at, before = (int(rng.integers(0, len(text) + 1)) for _ in range(2))
    native.alike_lines(text, int(rng.integers(1, 8)), int(rng.integers(-1, 5)), before, at)


def _sample_text(rng: Generator) -> None:
    """FASTA and FASTQ in pieces of any size."""
    from pairhmm.native import native
    from pairhmm.sequences.letters import SET_OF_LETTER

    record = pick(rng, (b">a b\nACGTN\nAC\n", b"@a\nACGT\n+\nIIII\n", b"@\n\n+\n\n"))
    text = change_text(rng, record * int(rng.integers(1, 6)), b"\n", 4)
    reader = native.SampleText(SET_OF_LETTER, int(rng.integers(0, 6)), pick(rng, (1, 4, 16, 2**62)))
    at = 0
    while at <= len(text):
        piece = text[at : at + int(rng.integers(1, 12))]
        if not reader.feed(np.frombuffer(piece, dtype=np.uint8).copy()):
            kind, *_ = reader.problem
            assert kind
            return
        _check_block(reader.take())
        if not piece:
            return
        at += len(piece)


def _check_block(block: tuple) -> None:
    letters, qualities, offset, names, name_end, *_ = block
    if (len(offset) and offset[-1] != len(letters)) or (len(name_end) and name_end[-1] > len(names)):
        raise AssertionError("offsets that do not fit")
    _require(qualities is None or len(qualities) == len(letters), "qualities that do not fit")


def _alignments(rng: Generator) -> None:
    """Records of any bytes, from any place on, under any rules: blocks whose offsets fit, of reads inside the data."""
    from pairhmm.files.bgzf import block_reader
    from pairhmm.files.bgzip import PackedText
    from pairhmm.native import native

    name, tags = b"read\0", b"RGZa\0MIi\1\0\0\0MCZ4M\0" + b"CGBI\2\0\0\0" + struct.pack("<II", 1 << 4, 3 << 4)
    records = b""
    for start in range(3):
        cigar = pick(rng, ((4 << 4,), (4 << 4 | 4, 9 << 4 | 3), ()))
        body = struct.pack("<iiBBHHHiiii", 0, start, len(name), 60, 0, len(cigar), 0, 4, -1, -1, 0) + name
        body += struct.pack(f"<{len(cigar)}I", *cigar) + b"\x12\x48" + b"IIII" + tags
        records += struct.pack("<i", len(body)) + body
    data = b"".join(PackedText.of(change_bytes(rng, records, 6)).blocks)
    rank, length = np.array([0, -1, 1], np.int32), np.array([100, 5, 2**31 - 1])
    parser = native.AlignmentParser(
        *(rank, length, pick(rng, (4, 0xF04)), pick(rng, (0, 61)), pick(rng, (-1, 30)), pick(rng, (50, 127))),
        *(
            pick(rng, ({}, {"a": 1})),
            pick(rng, (-1, 0)),
            pick(rng, ("", "MI", "MC", "CG")),
            pick(rng, (0, 200_000)),
            chance(rng, 0.5),
            chance(rng, 0.5),
            pick(rng, ([], [1, 0, 1])),
            pick(rng, ([], [(0, 1, 3, False), (0, 2, 9, True), (2, 0, 1, False)])),
        ),
    )
    places = np.sort(rng.integers(0, 6, (2, 3)), axis=0).astype(np.int64)
    if chance(rng, 0.4):
        parser.set_window(pick(rng, (0, 2)), *map(int, places[:, 0]), -1, places[0], places[1], chance(rng, 0.5))
    if chance(rng, 0.4):
        parser.set_goals(pick(rng, (np.zeros(3, np.int32), np.array([0, 0, 1], np.int32))), places[0], places[1])
    stream = native.BamStream(int(rng.integers(len(records))), pick(rng, (None, int(rng.integers(2 * len(records))))))
    reader = block_reader(lambda at, size: data[at : at + size])
    for _ in range(20):
        stop = stream.parse(parser, pick(rng, (1, 9)), reader)
        if stop in ("full", "jump", "more"):
            _check_alignments(parser.take())


def _check_alignments(block: tuple) -> None:
    _, names, name_end, sample, flag, mapq, start, end, base_offset, bases, quals, cigar_offset, cigar, *rest = block
    odd, groups, group_end, tags, tag_end, *_, insertion, deletion, unfit = rest
    of_reads = (name_end, sample, flag, mapq, start, end, base_offset[1:], cigar_offset[1:])
    _require(len(set(map(len, of_reads))) == 1, "arrays of different lengths")
    _require((base_offset[-1], cigar_offset[-1]) == (len(bases), len(cigar)), "offsets that do not fit")
    _require(len(quals) == len(bases), "qualities that do not fit")
    _require(len(insertion) in (0, len(bases)) and len(deletion) == len(insertion), "indel qualities that do not fit")
    _require(len(group_end) == len(odd) and len(tag_end) in (0, len(flag)), "texts that do not fit")
    for text, ends in ((names, name_end), (groups, group_end), (tags, tag_end)):
        _require(len(text) == (ends[-1] if len(ends) else 0), "texts that do not fit")
    _require(not len(bases) or bases.max() <= 14, "a code of no letter")
    _require(-1 <= unfit < len(flag), "a read that is not there")


def _scanner(rng: Generator) -> None:
    """Patterns and samples of any letters, under any rules."""
    from pairhmm.native import native

    count, segments = int(rng.integers(0, 5)), int(rng.integers(1, 6))
    offset, ends = _lengths(rng, count, pick(rng, (1, 20, 200)), 1), _lengths(rng, segments, 300)
    letters = pick(rng, (_bytes(rng, int(offset[-1]), 16), np.full(int(offset[-1]), 15, np.uint8)))
    samples = _bytes(rng, int(ends[-1]), 16)
    rules = (int(pick(rng, (0, 1, 3, 500, 2**40))), int(pick(rng, (0, 12, 500))), chance(rng, 0.5))
    strand = rng.integers(0, 2, count).astype(np.int64)
    least = rng.integers(0, 50, count).astype(np.int64)
    native.scan_index(letters, offset, rules[0])
    for level, runs in native.levels():
        if runs:
            scanner = native.Scanner(level, letters, offset, np.arange(count, dtype=np.int64), strand, least, *rules)
            qualities = pick(rng, (None, _bytes(rng, len(samples))))
            carried = int(rng.integers(0, ends[1] + 1))
            scanner.scan(samples, qualities, ends, carried, int(rng.integers(1, 4)), np.empty(segments, np.int64))


def _prepared(rng: Generator) -> None:
    """Reads of any letters and qualities, for models of any parameters."""
    from pairhmm.models.gatk import ERROR
    from pairhmm.models.profile import CALL_PROBABILITIES
    from pairhmm.native import native

    reads, copies, unit = int(rng.integers(0, 6)), int(rng.integers(1, 21)), int(rng.integers(1, 9))
    offset = _lengths(rng, reads, 60, 1)
    size = int(offset[-1])
    bases = pick(rng, (_bytes(rng, size, 15), np.zeros(size, np.uint8)))
    own = pick(rng, (None, _bytes(rng, 2 * size)))
    tables = [_bytes(rng, size, 128) for size in pick(rng, ((0, 0, 0), (copies * unit,) * 3))]
    made = native.ReadPreparation(
        *(chance(rng, 0.5), pick(rng, (None, 18)), 6, *_bytes(rng, 3, 128).tolist(), copies, unit),
        *(_bytes(rng, pick(rng, (0, copies + 1)), 128), *tables, ERROR, 0.0, 1.0),
    )
    if chance(rng, 0.5):
        rows = rng.random(7 * pick(rng, (1, copies))) / 2
        made.set_profile(CALL_PROBABILITIES.ravel(), rng.random(20), rng.random(4), rows)
    prepared = made.prepare(offset, bases, _bytes(rng, size, 128), _bytes(rng, reads), own, None)
    groups = (np.array([0, count], dtype=np.int64) for count in (reads, 2, 2 * reads))
    letters = _lengths(rng, 2, 100, 1)
    level = pick(rng, [name for name, runs in native.levels() if runs])
    made.score(prepared, *groups, letters, _bytes(rng, int(letters[-1]), 5), level, 500, int(rng.integers(1, 3)))


def _genotypes(rng: Generator) -> None:
    """Reads with scores of any size, over candidates with any alleles."""
    from pairhmm.native import native
    from pairhmm.variants.haplotypes import Haplotype
    from pairhmm.variants.regions import Region
    from pairhmm.variants.variant import Variant

    reads, haplotypes, samples = int(rng.integers(0, 30)), int(rng.integers(1, 9)), int(rng.integers(1, 4))
    scores = -rng.integers(0, 100, (reads, haplotypes)) / 8.0
    scores[rng.random(scores.shape) < 0.1] = pick(rng, (0.0, -300.0, -1e7, -np.inf, np.inf, np.nan))
    variants = tuple(
        Variant(
            "c", 10 + place, *pick(rng, (("A", ("C", "G")), ("A", ("C",)), ("ACG", ("A", "*")), ("A", ("AA",) * 29)))
        )
        for place in range(int(rng.integers(0, 4)))
    )
    alleles = [[int(rng.integers(-1, len(one.alts) + 1)) for one in variants] for _ in range(haplotypes)]
    start = rng.integers(0, 20, reads)
    region = native.ScoredRegion(
        Region("c", 0, 99, 0, 99, 0, 99, variants, tuple((one.pos, pick(rng, (10, 11, 40))) for one in variants)),
        [Haplotype("A", tuple(own), "", chance(rng, 0.1)) for own in alleles],
        *(b"r" * reads, np.sort(rng.integers(0, reads + 1, reads)), rng.integers(0, samples, reads).astype(np.int32)),
        *(
            rng.integers(0, 4096, reads).astype(np.uint16),
            _bytes(rng, reads),
            start,
            start + rng.integers(0, 20, reads),
        ),
        *(start, rng.integers(-1, 300, (reads, len(variants))).astype(np.int32), scores),
        *(np.zeros(scores.shape, np.uint8), rng.random(reads) < 0.2, None, None, None),
    )
    table = ["s"] * samples, ["x"], chance(rng, 0.5), pick(rng, (None, 4.5)), False
    native.ScoredRegions([region]).table_columns(*table)
    native.ScoredRegions([region]).table_lines(*table, int(rng.integers(0, 999)), int(rng.integers(0, 99)))
    floor, prior = pick(rng, (None, 0.0, 4.5, 300.0)), pick(rng, (1e-12, 1e-3, 0.1))
    ploidies = [(int(pick(rng, (0, 1, 2, 3, 20))), [("c", 11, 12, 1)]) for _ in range(samples)]
    families = [(0, 1, [2])] if samples == 3 and chance(rng, 0.5) else []
    flags = [chance(rng, 0.5) for _ in range(3)]
    genotyper = native.Genotyper(
        prior, prior, ploidies, families, floor, *flags, [pick(rng, (0.0, 0.03, 0.5))] * samples
    )
    for _, quality, called, _, known, _ in genotyper.genotype(region.on_listed_alleles()):
        _require(len(called) == samples and quality >= 0, "a site without genotypes")
        for one in called:
            _require(not np.isnan(one[5]) and min(0, one[3], *one[4]) == 0, "a genotype that is no number")
        _require(np.isfinite([known["FS"], known["SOR"]]).all(), "strands that are no numbers")


def _public(rng: Generator) -> None:
    """The Python functions, with values that no one should give: taken, or refused with a sentence."""
    import pairhmm

    lists = ([300], [-1] * 4, [float("nan")] * 4, [], [20] * 4, np.zeros((2, 2)))
    values = (*EXTREMES, *lists, None, "IIII", "", b"II", 20)
    names = ("base_quality", "insertion_quality", "deletion_quality", "gap_quality")
    given = {name: pick(rng, values) for name in names if chance(rng, 0.6)}
    texts = ("ACGT", "", "acgun", "AC-T", b"ACGT", "ACGT" * 50, pick(rng, HOSTILE_FIELDS))
    haplotypes = [pick(rng, texts) for _ in range(int(rng.integers(0, 3)))]
    with suppress(ValueError, TypeError, OverflowError, pairhmm.PairhmmError):
        read = pairhmm.make_read("ACGT", base_quality=[30] * 4)
        if chance(rng, 0.6):
            read = pairhmm.make_read(pick(rng, texts), **given)
        scores = pairhmm.forward([read] * int(rng.integers(0, 3)), pick(rng, (haplotypes, haplotypes, "ACGT")))
        _require(not np.isnan(scores).any(), "a score that is no number")


BINDINGS: dict[str, Callable[[Generator], None]] = {
    function.__name__.lstrip("_"): function
    for function in (
        *(_reads, _forward, _tiles, _tables, _sample_text, _alignments),
        *(_scanner, _prepared, _genotypes, _public),
    )
}
