"""The compiled part: kernels, walks over alignments, text. Arrays are C-contiguous; the caller has checked shapes."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

ANY: int
CODE_OF_N: int
LEAST_SUM: float
PHRED_OFFSET: int
ROW_SIZE: int
HIT_WORDS: int
INFORMATIVE: float
MAX_GQ: int
MAX_QUAL: float

def levels() -> list[tuple[str, bool]]: ...
def threads_refused() -> int: ...

class Batch:
    def __init__(
        self,
        group_read: NDArray[np.int64],
        group_hap: NDArray[np.int64],
        group_pair: NDArray[np.int64],
        read_offset: NDArray[np.int64],
        hap_offset: NDArray[np.int64],
        hap: NDArray[np.uint8],
        start_match: float,
        start_deletion: float,
        /,
    ) -> None: ...
    def set_qualities(
        self,
        base: NDArray[np.uint8],
        base_quality: NDArray[np.uint8],
        insertion_quality: NDArray[np.uint8],
        deletion_quality: NDArray[np.uint8],
        gap_quality: NDArray[np.uint8],
        error: NDArray[np.float64],
        /,
    ) -> None: ...
    def set_rows(self, rows: NDArray[np.float64], /) -> None: ...
    def set_profiles(self, rows: NDArray[np.float64], kinds: NDArray[np.uint16], /) -> None: ...

def forward(
    level: str, batch: Batch, skip_read: NDArray[np.uint8], threads: int, scores: NDArray[np.float64], /
) -> None: ...
def computed_cells(batch: Batch, longest: int, /) -> int: ...
def forward_pairs(
    level: str,
    batch: Batch,
    reads: NDArray[np.int64],
    haplotypes: NDArray[np.int64],
    threads: int,
    scores: NDArray[np.float64],
    /,
) -> None: ...

class Reads:
    def __init__(
        self,
        start: NDArray[np.int64],
        sample: NDArray[np.int32],
        base_offset: NDArray[np.int64],
        base: NDArray[np.uint8],
        quality: NDArray[np.uint8],
        cigar_offset: NDArray[np.int64],
        cigar: NDArray[np.uint32],
    ) -> None: ...
    def cut(
        self,
        read: NDArray[np.int64],
        start: NDArray[np.int64],
        end: NDArray[np.int64],
        slack: NDArray[np.int64],
        first: NDArray[np.int64],
        last: NDArray[np.int64],
    ) -> None: ...
    def bases_from_end(
        self,
        read: NDArray[np.int64],
        read_offset: NDArray[np.int64],
        position: NDArray[np.int64],
        position_offset: NDArray[np.int64],
        from_end: NDArray[np.int32],
    ) -> None: ...
    def over(self, intervals: Sequence[tuple[int, int]], is_over: NDArray[np.bool_]) -> None: ...
    def covered(self) -> list[tuple[int, int]]: ...
    def carried_alleles(
        self,
        read: NDArray[np.int64],
        read_end: NDArray[np.int64],
        reference_start: int,
        reference: NDArray[np.uint8],
        begin: NDArray[np.int64],
        end: NDArray[np.int64],
        allele_offset: NDArray[np.int64],
        anchor: NDArray[np.int64],
        deleted: NDArray[np.int64],
        inserted_offset: NDArray[np.int64],
        inserted: NDArray[np.uint8],
        change_offset: NDArray[np.int64],
        position: NDArray[np.int64],
        was: NDArray[np.uint8],
        now: NDArray[np.uint8],
        unknown: int,
        carried: NDArray[np.int16],
    ) -> None: ...

class Discovery:
    def __init__(
        self,
        samples: int,
        min_base_quality: int,
        min_snv_count: int,
        min_indel_count: int,
        min_snv_fraction: float,
        min_indel_fraction: float,
        assembles: bool,
    ) -> None: ...
    def limit_to(self, places: Sequence[tuple[int, int]]) -> None: ...
    def add(
        self,
        reads: Reads,
        window_start: NDArray[np.int64],
        window_offset: NDArray[np.int64],
        letters: NDArray[np.uint8],
    ) -> None: ...
    def windows(self, frontier: int) -> list[tuple[int, int]]: ...
    def assemble(
        self,
        reads: Reads,
        window_start: NDArray[np.int64],
        window_offset: NDArray[np.int64],
        letters: NDArray[np.uint8],
    ) -> None: ...
    def take(self) -> list[tuple[int, int, bool, bytes, int]]: ...
    @property
    def settled(self) -> int: ...
    def reset(self) -> None: ...

LONGEST_WINDOW: int

def assembled_alleles(
    start: int,
    reference: NDArray[np.uint8],
    offset: NDArray[np.int64],
    letters: NDArray[np.uint8],
    min_snv_count: int,
    min_indel_count: int,
    min_snv_fraction: float,
    min_indel_fraction: float,
) -> list[tuple[int, int, bool, bytes, int]]: ...
def gather(
    source: NDArray[np.uint8], start: NDArray[np.int64], offset: NDArray[np.int64], target: NDArray[np.uint8]
) -> None: ...
def classify_repeats(
    offset: NDArray[np.int64],
    base: NDArray[np.uint8],
    most: int,
    longest_unit: int,
    kind: NDArray[np.uint8],
) -> None: ...
def prepare_base_qualities(
    offset: NDArray[np.int64],
    most: NDArray[np.uint8],
    quality: NDArray[np.uint8],
    threshold: int,
    lowest: int,
    prepared: NDArray[np.uint8],
) -> None: ...
def cap_indel_qualities(
    offset: NDArray[np.int64],
    base: NDArray[np.uint8],
    table: NDArray[np.uint8],
    longest_unit: int,
    insertion: NDArray[np.uint8],
    deletion: NDArray[np.uint8],
) -> None: ...
def join_reads(
    reads: Reads,
    read: NDArray[np.int64],
    first: NDArray[np.int64],
    last: NDArray[np.int64],
    offset: NDArray[np.int64],
    fragment: NDArray[np.int64],
    family: NDArray[np.int64],
    end: NDArray[np.uint8],
    order: NDArray[np.int64],
    join_mates: bool,
) -> tuple[
    NDArray[np.int64],
    NDArray[np.int64],
    NDArray[np.int64],
    NDArray[np.int64],
    NDArray[np.int64],
    NDArray[np.uint8],
    tuple[int, int, int, int],
]: ...
def join_rows(
    source_offset: NDArray[np.int64],
    source: NDArray[np.int64],
    probability: NDArray[np.float64],
    joined: NDArray[np.float64],
) -> None: ...
def join_kinds(
    source_offset: NDArray[np.int64],
    source: NDArray[np.int64],
    probability: NDArray[np.float64],
    kind: NDArray[np.uint16],
    joined_kind: NDArray[np.uint16],
) -> NDArray[np.float64]: ...

class Family:
    def __init__(self, father: int, mother: int, children: list[int]) -> None: ...

class Genotypes:
    def __init__(self, alleles: int, ploidy: int, table: NDArray[np.int16], prior: NDArray[np.float64]) -> None: ...

class SiteReads:
    def __init__(
        self,
        log10: NDArray[np.float64],
        set_aside: NDArray[np.bool_],
        start: NDArray[np.int64],
        end: NDArray[np.int64],
        sample: NDArray[np.int32],
        fragment: NDArray[np.int64],
        first: int,
        last: int,
        allele_of: list[int],
        alleles: int,
        samples: int,
        score_floor: float,
        floor: float,
    ) -> None: ...
    def call(
        self, sample: int, genotypes: Genotypes
    ) -> tuple[tuple[int, ...] | None, tuple[int, ...], int, int, tuple[int, ...], float, int]: ...
    def call_together(
        self, genotypes: list[Genotypes], theta: list[float], families: list[Family]
    ) -> tuple[list[tuple[tuple[int, ...] | None, tuple[int, ...], int, int, tuple[int, ...], float, int]], float]: ...
    def statistics(
        self, flag: NDArray[np.uint16], mapq: NDArray[np.uint8], from_end: NDArray[np.int32], column: int
    ) -> tuple[list[tuple[int, ...]], float, float, float | None, float | None, float | None]: ...
    def depths(self, sample: int) -> list[int]: ...
    def with_alleles(self, kept: list[int]) -> SiteReads: ...
    def with_non_reference(self) -> SiteReads: ...
    def rows(self, sample: int) -> list[float]: ...

class ReferenceConfidence:
    def __init__(self, min_base_quality: int) -> None: ...
    def add(
        self,
        reads: Reads,
        read_end: NDArray[np.int64],
        fragment: NDArray[np.uint32],
        window_start: NDArray[np.int64],
        window_offset: NDArray[np.int64],
        letters: NDArray[np.uint8],
    ) -> None: ...
    def take(
        self, begin: int, end: int, limits: list[int], haploid: bool
    ) -> list[tuple[int, int, int, int, int, int, int, int]]: ...

class Phaser:
    def __init__(self) -> None: ...
    def add(self, reads: SiteReads, sample: int, one: int, other: int) -> tuple[int, bool]: ...

def number_names(text: bytes, end: NDArray[np.int64], number: NDArray[np.int64]) -> None: ...

class Copier:
    def __init__(self, threads: int) -> None: ...
    def begin(self, values: NDArray[np.uint8], target: NDArray[np.uint8], packed: bool) -> int: ...
    def wait(self, number: int) -> None: ...

def device_scores(
    group_read: NDArray[np.int64],
    group_haplotype: NDArray[np.int64],
    group_pair: NDArray[np.int64],
    sums: NDArray[np.uint32],
    kept_log10: NDArray[np.float64],
    kept_added: NDArray[np.uint32],
    coarse_bits: int,
    fine_unit: float,
    codes: tuple[int, int, int, int],
    team: Team,
    log10: NDArray[np.float64],
    precision: NDArray[np.uint8],
) -> bool: ...

class GroupsText:
    groups: int
    reads: int
    haplotypes: int
    bases: int
    letters: int
    end: int
    lines: int
    is_broken: bool
    def __init__(self, text: NDArray[np.uint8], is_end: bool) -> None: ...
    def unpack(
        self,
        codes: NDArray[np.uint8],
        threads: int,
        group_read: NDArray[np.int64],
        group_haplotype: NDArray[np.int64],
        read_offset: NDArray[np.int64],
        haplotype_offset: NDArray[np.int64],
        haplotypes: NDArray[np.uint8],
        columns: NDArray[np.uint8],
    ) -> bool: ...

def score_lines(
    first_group: int,
    group_read: NDArray[np.int64],
    group_haplotype: NDArray[np.int64],
    group_pair: NDArray[np.int64],
    read_names: list[str] | None,
    haplotype_names: list[str] | None,
    log10: NDArray[np.float64],
    precision: NDArray[np.uint8],
    precision_names: list[str],
    first: int,
    end: int,
    threads: int,
) -> list[bytes]: ...
def alike_lines(text: bytes, fields: int, place: int, before: int, at: int) -> tuple[int, int]: ...
def likelihood_lines(
    place: str,
    samples: list[str],
    sample: NDArray[np.int32],
    names: bytes,
    name_end: NDArray[np.int64],
    mate: NDArray[np.uint8],
    haplotypes: list[str],
    log10: NDArray[np.float64],
    precision: NDArray[np.uint8],
    precision_names: list[str],
    joined: NDArray[np.int64] | None,
) -> bytes: ...
def joined_crc32(first: int, second: int, second_bytes: int) -> int: ...
def runs_crc32(values: NDArray[np.uint8], end: NDArray[np.int64], count: NDArray[np.int64]) -> int: ...
def encoded_runs(code: NDArray[np.int32], count: NDArray[np.int64], width: int) -> bytes: ...
def packed_cycles(code: NDArray[np.int32], end: NDArray[np.int64], count: NDArray[np.int64], width: int) -> bytes: ...

_Digits = tuple[Sequence[NDArray[np.uint8]], Sequence[int], int, int]
_Part = NDArray[np.uint8] | NDArray[np.int64] | _Digits

class Team:
    def __init__(self, threads: int) -> None: ...
    def rouse(self) -> None: ...

def copy_scores(
    team: Team,
    log10: NDArray[np.float64],
    precision: NDArray[np.uint8],
    unscored: int,
    to_log10: NDArray[np.float64],
    to_precision: NDArray[np.uint8],
) -> bool: ...
def touch(team: Team, memory: NDArray[np.uint8]) -> None: ...
def write_all(
    team: Team,
    buffer: NDArray[np.uint8],
    at: Sequence[int],
    arrays: Sequence[_Part],
    send: Callable[[int, int], None],
) -> None: ...

TierNumbers = tuple[int, int, int, int, int, int, int, int]
TreeNumbers = tuple[tuple[int, int, int, int, int, int], tuple[int, int, int, int], NDArray[np.uint32]]

def pack_two_bits(
    team: Team, codes: NDArray[np.uint8], words: NDArray[np.uint32], unknown: NDArray[np.uint32]
) -> bool: ...
def pack_four_bits(team: Team, codes: NDArray[np.uint8], words: NDArray[np.uint32]) -> None: ...

class PairTasks:
    slots: int
    first_task: list[int]
    first_slot: list[int]
    longest_rows: list[int]
    longest_columns: list[int]
    def __init__(
        self,
        team: Team,
        queries: tuple[NDArray[np.int64], NDArray[np.int32], int],
        targets: tuple[NDArray[np.int64], NDArray[np.int32], int],
        unknown: NDArray[np.uint32] | None,
        rows: list[int],
        pairs_of_task: list[int],
        rows_are: int,
        fits: tuple[int, int, int],
    ) -> None: ...
    def left(self) -> NDArray[np.int32]: ...
    def write(self, team: Team, pairs: NDArray[np.uint32], index: NDArray[np.uint32]) -> None: ...

class Packer:
    def __init__(self, team: Team) -> None: ...
    def pack(
        self,
        buffer: NDArray[np.uint8],
        behind: NDArray[np.uint8],
        at: Sequence[int],
        arrays: Sequence[_Part],
        send: Callable[[int, int], None],
        group_read: NDArray[np.int64],
        group_haplotype: NDArray[np.int64],
        read_offset: NDArray[np.int64],
        haplotype_offset: NDArray[np.int64],
        letters: NDArray[np.uint8],
        skip_read: NDArray[np.uint8],
        shape_of_length: NDArray[np.uint8],
        reads_of_shape: NDArray[np.int64],
        rows_of_shape: NDArray[np.int64],
        family_of_shape: NDArray[np.uint8],
        tier_cells: int,
        item_sizes: tuple[int, int, int],
        haplotypes_each: NDArray[np.int64],
        places: tuple[int, int, int],
        most_haplotypes: int,
        columns_of_sum: int,
        lead: int,
        tail: int,
        tell: Callable[[list[TierNumbers], TreeNumbers | None], object],
    ) -> None: ...

class TreeStreams:
    of_group: NDArray[np.uint8]
    trees: NDArray[np.uint8]
    places: NDArray[np.uint8]
    events: NDArray[np.uint8]
    joins: NDArray[np.uint8]
    streams: NDArray[np.uint8]
    columns: NDArray[np.uint32]
    sizes: tuple[int, int, int, int]
    def __init__(
        self,
        group_haplotype: NDArray[np.int64],
        haplotype_offset: NDArray[np.int64],
        letters: NDArray[np.uint8],
        most_haplotypes: int,
        team: Team,
        columns_of_sum: int = 0,
        lead: int = 0,
        tail: int = 0,
    ) -> None: ...

class Scanner:
    def __init__(
        self,
        level: str,
        letters: NDArray[np.uint8],
        offset: NDArray[np.int64],
        signature: NDArray[np.int64],
        strand: NDArray[np.int64],
        least_total: NDArray[np.int64],
        max_mismatches: int,
        min_informative: int,
        every_match: bool,
    ) -> None: ...
    def scan(
        self,
        letters: NDArray[np.uint8],
        qualities: NDArray[np.uint8] | None,
        offset: NDArray[np.int64],
        carried: int,
        threads: int,
        totals: NDArray[np.int64],
    ) -> tuple[int, NDArray[np.int64]]: ...

class TileScanner:
    def __init__(
        self,
        level: str,
        letters: NDArray[np.uint8],
        offset: NDArray[np.int64],
        signature: NDArray[np.int64],
        strand: NDArray[np.int64],
        length: int,
        step: int,
        least_total: int,
        max_mismatches: int,
        min_informative: int,
        every_match: bool,
        masked: NDArray[np.int64],
    ) -> None: ...
    def scan(
        self,
        letters: NDArray[np.uint8],
        qualities: NDArray[np.uint8] | None,
        offset: NDArray[np.int64],
        carried: int,
        threads: int,
        totals: NDArray[np.int64],
    ) -> tuple[int, NDArray[np.int64], NDArray[np.int64]]: ...

def low_complexity(letters: NDArray[np.uint8], offset: NDArray[np.int64], length: int) -> NDArray[np.int64]: ...
def scan_index(
    letters: NDArray[np.uint8], offset: NDArray[np.int64], max_mismatches: int
) -> tuple[int, int, NDArray[np.int64], NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint32]]: ...

_SampleBlock = tuple[
    NDArray[np.uint8],
    NDArray[np.uint8] | None,
    NDArray[np.int64],
    bytes,
    NDArray[np.int64],
    int,
    int,
    int,
    bool,
]

_AlignmentBlock = tuple[
    int,
    bytes,
    NDArray[np.int64],
    NDArray[np.int32],
    NDArray[np.uint16],
    NDArray[np.uint8],
    NDArray[np.int64],
    NDArray[np.int64],
    NDArray[np.int64],
    NDArray[np.uint8],
    NDArray[np.uint8],
    NDArray[np.int64],
    NDArray[np.uint32],
    NDArray[np.int64],
    bytes,
    NDArray[np.int64],
    bytes,
    NDArray[np.int64],
    NDArray[np.int32],
    NDArray[np.int32],
    NDArray[np.int32],
    NDArray[np.uint8],
    NDArray[np.uint8],
]

class AlignmentParser:
    reads: int
    has_met: bool
    goal: tuple[int, int]
    place: tuple[bytes, int, int]
    def __init__(
        self,
        rank: NDArray[np.int32],
        length: NDArray[np.int64],
        excluded_flags: int,
        min_mapq: int,
        default_quality: int,
        sample_of_group: dict[str, int],
        default_sample: int,
        tag: str,
        jump: int,
        indel_tags: bool,
    ) -> None: ...
    def set_window(
        self,
        contig: int,
        start: int,
        end: int,
        seen: int,
        part_start: NDArray[np.int64],
        part_end: NDArray[np.int64],
        may_jump: bool,
    ) -> None: ...
    def set_goals(self, contig: NDArray[np.int32], start: NDArray[np.int64], end: NDArray[np.int64]) -> None: ...
    def parse(self, data: NDArray[np.uint8], at: int, limit: int, room: int) -> tuple[str, int]: ...
    def take(self) -> _AlignmentBlock: ...
    def left_out(self) -> NDArray[np.int64]: ...

class HtslibReader:
    header: bytes
    kind: str
    is_done: bool
    is_damaged: bool
    def __init__(self, functions: dict[str, int], path: str, index: str, reference: str, threads: int) -> None: ...
    def query(self, contig: int, start: int, end: int) -> bool: ...
    def parse(self, parser: AlignmentParser, room: int) -> str: ...
    def take_reads(self, room: int) -> _SampleBlock: ...

class SampleText:
    problem: tuple[str, int, bytes, int, int]
    def __init__(self, set_of_letter: NDArray[np.uint8], overlap: int, longest_held: int) -> None: ...
    def feed(self, text: NDArray[np.uint8]) -> bool: ...
    def take(self) -> _SampleBlock: ...

def take_bam_header(data: NDArray[np.uint8]) -> tuple[int, bool]: ...
def take_bam_reads(data: NDArray[np.uint8]) -> tuple[_SampleBlock, int, bool]: ...
def hit_lines(
    file: str,
    hits: NDArray[np.int64],
    record: NDArray[np.int64],
    names: bytes,
    name_end: NDArray[np.int64],
    name: NDArray[np.int64],
    signatures: list[str],
    length: NDArray[np.int64],
    has_qualities: bool,
    has_place: bool,
) -> bytes: ...

class _Kmers:
    seen: int
    def add(self, letters: NDArray[np.uint8], offset: NDArray[np.int64], first: int, end: int) -> None: ...
    def clear(self) -> None: ...

class AllKmers(_Kmers):
    def __init__(self, k: int) -> None: ...
    def sketch(self, slots: int, bits: int) -> tuple[NDArray[np.uint64], float]: ...
    def minima(self) -> NDArray[np.uint64]: ...

class FrequentKmers(_Kmers):
    def __init__(self, k: int, least: int, most: int) -> None: ...
    def sketch(self, slots: int, bits: int) -> tuple[NDArray[np.uint64], float]: ...
    def minima(self) -> NDArray[np.uint64]: ...

class FrequentTokens(_Kmers):
    kmers: float
    def __init__(self, k: int, least: int, most: int, factor: int, shift: int) -> None: ...
    def tokens(self) -> NDArray[np.uint32]: ...

class PairSet:
    def __init__(
        self,
        read: NDArray[np.int64],
        hap: NDArray[np.int64],
        read_offset: NDArray[np.int64],
        hap_offset: NDArray[np.int64],
        letter: NDArray[np.uint8],
        symbol: NDArray[np.int32],
        place: NDArray[np.int32],
        emission: NDArray[np.float64],
        transition: NDArray[np.float64],
        start_match: float,
        start_deletion: float,
        /,
    ) -> None: ...

def expected_counts(
    level: str,
    set: PairSet,
    symbols: int,
    places: int,
    block: int,
    threads: int,
    counts: NDArray[np.float64],
    log10: NDArray[np.float64],
) -> None: ...
def posteriors(
    level: str,
    set: PairSet,
    at: NDArray[np.int64],
    threads: int,
    match: NDArray[np.float64],
    insertion: NDArray[np.float64],
    deletion: NDArray[np.float64],
    log10: NDArray[np.float64],
) -> None: ...

class AlignScoring:
    def __init__(self, match: int, mismatch: int, gap_open: int, gap_extend: int, mode: str, overhang: str) -> None: ...

class AlignPairs:
    def __init__(
        self,
        queries: NDArray[np.uint8],
        query_offset: NDArray[np.int64],
        targets: NDArray[np.uint8],
        target_offset: NDArray[np.int64],
        query: NDArray[np.int32],
        target: NDArray[np.int32],
        /,
    ) -> None: ...

def align_scores(
    level: str, pairs: AlignPairs, scoring: AlignScoring, threads: int, scores: NDArray[np.int32]
) -> None: ...
def align_pairs(
    level: str, pairs: AlignPairs, scoring: AlignScoring, threads: int
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32], NDArray[np.uint32], NDArray[np.int64]]: ...
def warp(
    level: str,
    query_levels: NDArray[np.int16],
    query_offset: NDArray[np.int64],
    target_levels: NDArray[np.int16],
    target_offset: NDArray[np.int64],
    query: NDArray[np.int32],
    target: NDArray[np.int32],
    anywhere: bool,
    band: int,
    threads: int,
    costs: NDArray[np.int64],
    starts: NDArray[np.int32],
    ends: NDArray[np.int32],
    /,
) -> None: ...
def sign_samples(
    level: str,
    tokens: NDArray[np.uint32],
    offsets: NDArray[np.int64],
    factors: NDArray[np.uint32],
    summands: NDArray[np.uint32],
    threads: int,
    signatures: NDArray[np.uint32],
    /,
) -> None: ...
def project_samples(
    level: str,
    tokens: NDArray[np.uint32],
    offsets: NDArray[np.int64],
    factors: NDArray[np.uint32],
    summands: NDArray[np.uint32],
    matrix: NDArray[np.float32],
    threads: int,
    positions: NDArray[np.float32],
    /,
) -> None: ...
def blend_positions(
    start: NDArray[np.float32],
    indices: NDArray[np.int32],
    offsets: NDArray[np.int64],
    alpha: float,
    passes: int,
    threads: int,
    positions: NDArray[np.float32],
    /,
) -> None: ...
def compare_levels() -> list[tuple[str, bool]]: ...
def equal_slots(
    level: str,
    queries: NDArray[np.uint64],
    targets: NDArray[np.uint64],
    threads: int,
    found: NDArray[np.uint16],
    /,
) -> None: ...
def nearest_sketches(
    level: str,
    queries: NDArray[np.uint64],
    targets: NDArray[np.uint64],
    threads: int,
    nearest: NDArray[np.int32],
    equal: NDArray[np.uint16],
    /,
) -> None: ...
def distance_lines(
    samples: bytes,
    sample_end: NDArray[np.int64],
    others: bytes,
    other_end: NDArray[np.int64],
    sample: NDArray[np.int32],
    other: NDArray[np.int32],
    equal: NDArray[np.uint16],
    heads: bytes,
    head_end: NDArray[np.int64],
    containment: NDArray[np.float64],
    ani: NDArray[np.float64],
    threads: int,
) -> list[bytes]: ...
