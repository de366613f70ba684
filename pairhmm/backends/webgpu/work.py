"""Layouts that host and kernels share: the `Work` block of a dispatch, trees, lists of pairs to rescue, flags."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pairhmm.backends.tiles import LETTERS, SentTrees, Shape, Tier, rescuer_of
from pairhmm.backends.webgpu.templates import Field, Record
from pairhmm.models.batch import Qualities

MOST_TREE_TIERS = 6
"""Most tiers that one dispatch walks trees for: one for each number of lanes, 1 to 32."""

WORK = Record(
    "Work",
    Field(
        "tiers",
        f"array<vec4<u32>, {2 * MOST_TREE_TIERS}>",
        "of trees.wgsl: the words of TREE_TIER of each tier; of scaled.wgsl: those of LISTED of each list",
    ),
    Field("read_offset", "u32", "u32[reads + 1] first position of a read"),
    Field("read_group", "u32", "u32[reads]"),
    Field("group_read", "u32", "u32[groups + 1] first read of a group"),
    Field("group_haplotype", "u32", "u32[groups + 1] first haplotype of a group"),
    Field("group_pair", "u32", "u32[groups + 1] first score of a group; scores are row-major (read, haplotype)"),
    Field("haplotype_offset", "u32", "u32[haplotypes + 1] first letter of a haplotype"),
    Field("order", "u32", "u32[reads] reads by tile"),
    Field(
        "letters",
        "u32",
        "of bytes 0..4, or of flags.wgsl two bytes each; 31 before the first and `widest` + 48 from the last on may be "
        "read",
    ),
    Field("rows", "u32", "of rows_*.wgsl: f32[positions][12] folded, f64[positions][4] of profiles, u32[kinds][17]"),
    Field("kinds", "u32", "u16[positions] of rows_kinds.wgsl: which of its rows each position has"),
    Field("constants", "u32", "f32[][2] of rows_profiles.wgsl"),
    *(
        field
        for name in Qualities.__dataclass_fields__
        for field in (
            Field(name, "u32", "bytes of rows_qualities.wgsl"),
            Field(f"{name}_step", "u32", "1, or 0 where one value stands for all positions"),
            Field(f"{name}_least", "u32", "of rows_qualities.wgsl, where it is a digit: the digit's least value,"),
            Field(f"{name}_radix", "u32", "how many values it has,"),
            Field(f"{name}_per_radix", "f32", "and one over that"),
        )
    ),
    Field("digit_bytes", "u32", "of the number in `bases` whose digits all five are, the base lowest; 0 for bytes"),
    Field("start_match", "f32", "M[0,0]"),
    Field("start_deletion", "f32", "D[0,0] in units of 1 / haplotype length"),
    Field("kept", "u32", "in `out`: i32[reads][2] log10 of what the scores are relative to; of strips their result"),
    Field("unordered", "u32", "in `out`: not 0 where the lanes of a read do not follow each other in one subgroup"),
    Field("items", "u32", "u32[items][2] first read of a tile (an index into order), block of haplotypes"),
    Field("first_item", "u32", "of this dispatch"),
    Field("end_item", "u32", "one past its last item; of scaled.wgsl: how many lists it takes"),
    Field("last", "u32", "one past the last read in order that has this shape"),
    Field("haplotypes_each", "u32", "of a block"),
    Field("rescuer", "u32", "which of the lists takes the pairs that are too small for this arithmetic"),
    Field("list", "u32", "where that list begins; of tall.wgsl: where the columns between strips begin"),
    Field("between", "u32", "of tall.wgsl: columns between strips that an item has"),
    Field("front", "u32", "of long.wgsl: the step up to which the first strip goes, a multiple of RESCALE_STEPS"),
    Field("behind", "u32", "of long.wgsl: steps that each strip stays behind the one above, such a multiple too"),
    Field("polls", "u32", "of long.wgsl: how often a strip looks for what is not there yet"),
    Field("of_group", "u32", "of trees.wgsl: u32[groups][2] a group's first pair of trees, and how many it has"),
    Field("trees", "u32", "of trees.wgsl: u32[trees][9], the words of TREE"),
    Field("places", "u32", "of trees.wgsl: u32[haplotypes][4], the words of PLACE"),
    Field("events", "u32", "of trees.wgsl: u32 EVENT_FLAGS times each node with a flag, and its flags"),
    Field("joins", "u32", "of trees.wgsl: u16 left leaf of each join, with LAST_JOIN; in units of two bytes"),
    Field("streams", "u32", "of trees.wgsl: bytes, one a node"),
    Field("counter", "u32", "of trees.wgsl, scaled.wgsl: the word of `listed` that counts the items that were taken"),
    Field("walkers", "u32", "of trees.wgsl: workgroups, each of which has scratch memory"),
    Field("scratch", "u32", "of trees.wgsl: entries of 16 bytes that a workgroup has; it begins with open branches"),
    Field("left_leaves", "u32", "of trees.wgsl: its first entry of left leaves,"),
    Field("ended", "u32", "of sums of left leaves,"),
    Field("started", "u32", "of right leaves,"),
    Field("joined", "u32", "and of joins"),
    Field("made", "u32", "of tree_tasks.wgsl: the first entry of what tree_rows.wgsl makes for the dispatch,"),
    Field("made_entries", "u32", "for each of its items"),
    Field("lane_rows", "u32", "of tree_rows.wgsl: rows of a lane"),
    Field("nothing", "u32", "0, which compilers do not know (pairs.wgsl)"),
)
"""The uniform block of a dispatch: where the arrays of a batch lie in their buffer, and what is to be done.

Offsets are in 32-bit words, except those of letters, in letters, and of qualities, in bytes.
"""


def copy_of(work: NDArray[np.void]) -> NDArray[np.void]:
    """A copy of a `Work`. NumPy's own takes 20 us, because it copies field by field."""
    copied: NDArray[np.void] = np.frombuffer(bytearray(work.tobytes()), dtype=WORK.dtype)[0]
    return copied


RESCUERS = (Shape(4, 10), Shape(8, 10), Shape(16, 10), Shape(32, 10), Shape(32, 20))
"""The shapes that rescue pairs of all other shapes, in place of those of `pairhmm.backends.tiles`.

Lanes of few rows take less memory of a workgroup, so more of them are at work.
"""

NO_LIST = 0xFFFFFFFF
"""In place of a rescuer's number: the CPU scores pairs that hold no sum."""

LISTED = ("rescuer", "list", "lanes")
"""Words of a list of pairs to rescue: which one it is, its first pair in the buffer of lists, and lanes of a read. A
zero follows them."""

STRIP_ITEM = ("read", "haplotype", "half", "strip", "border")
"""Words of a work item of long.wgsl, which is a strip. `half` is 0 for left ones and 1 for right ones. `border` is the
first word of the border below the strip."""

STRIP_RESULT = ("coarse", "fine", "unfit", "beyond", "beyond_exponent", "crossing", "crossing_exponent")
"""Words that the kernels return for each strip: log10 of what its rows are relative to, in two parts; flags; and what
it adds to its pair's sum, each the bits of a float32 and an exponent of 2.

`beyond` is what ends in a left half, or begins in a right half: their last strips have it. `crossing` is what goes from
a row of a left half's strip to the right half.
"""

COARSE, FINE = 16, 32
"""Binary digits behind the point of the two parts of such a logarithm: their units are 2^-16 and 2^-32."""

TREE = (
    *("left", "right", "left_nodes", "right_nodes", "left_events", "right_events"),
    *("first_join", "first_place", "places"),
)
PLACE = ("haplotype", "join", "left_leaf", "right_leaf")
TREES_OF_GROUP = 2
"""Words of a pair of trees, of a haplotype's place in them, and of a group's pairs
(`cpu/packing/tree_streams.hpp`)."""

TREE_TIER = ("end", "first_item", "lanes", "last", "rescuer", "list")
"""Words of a tier in the dispatch of several: one past its last item among those of the dispatch, its first item among
those of the batch, and fields of `Work`. Zeros follow them."""

NODE = {"LETTER": 7, "RESTORE": 8, "POP": 16, "SAVE": 32, "LEAF": 64, "SUM": 128}
LAST_JOIN = 0x8000
"""Bits of a node's byte, and the bit of a right leaf's last join (`cpu/packing/tree_streams.hpp`)."""

EVENT_FLAGS, EVENT = 16, {name: NODE[name] // NODE["RESTORE"] for name in ("POP", "SAVE", "LEAF")}
"""A node's factor in its event, and bits of an event. Lanes look at nodes with that of SAVE: some end a sum."""

MADE = ("from_deletion", "from_insertion", "extend_insertion", "from_below", "emissions")
"""Arrays that tree_rows.wgsl makes for the rows of an item. Behind the emissions, one array for each letter (with
masks, one array), comes the extension of a deletion, where it is not one number for the batch."""

TASK_ENTRIES, MASK_ENTRIES = 2, 3
"""Entries of 16 bytes of a lane's task, and of its masks where it has them, before those arrays."""

UNFOLDED, UNSCALED, UNORDERED, UNFINISHED, UNTURNED = 1, 2, 4, 8, 16
"""Flags that say why a read or a strip has no scores.

UNFOLDED: its rows do not fold. UNSCALED: its rows are beyond the range of lanes with exponents. UNORDERED: its lanes do
not follow each other in one subgroup. UNFINISHED: the strip is not done. UNTURNED: its rows have no backward form, for
trees; lanes with exponents may hold them.
"""


def indices(prefix: str, names: tuple[str, ...]) -> dict[str, int]:
    """Constants that give the index of each name in a tuple of words."""
    return {f"{prefix}_{name}".upper(): index for index, name in enumerate(names)}


HAPLOTYPES_OF_TREES = 64
"""Most haplotypes of a pair of trees. A workgroup keeps up to 5 kB of each left half while it walks the trees."""

COLUMNS_OF_SUM = 256
"""Columns of a path that are added to one sum. Where a sum ends, lanes take single steps."""

LEAD = TAIL = 31
"""Letters of the path before each node that restores, and of the left half behind each right leaf
(`cpu/packing/tree_streams.hpp`): one for each lane of a read but one."""

WALKERS = 2112
"""Most workgroups of a dispatch that walks trees. They take items from a list, and more of them than a large GPU works
on at once only need more scratch memory."""

TREE_ROWS = dict.fromkeys((1, 2, 4, 8, 16), (12, 19)) | {32: range(10, 20)}
"""Rows that a lane may own, by the lanes of a read. Tiers with the same number of rows share a dispatch, and the sum of
a join depends on the rows of a lane: few numbers serve all lengths. Each further one costs a dispatch, whose end is
idle time. Tall reads take theirs from the last entry."""

MASKED_TREE_ROWS = TREE_ROWS | {32: (*TREE_ROWS[32], 20, 24, 28, 32)}
"""The same where masks leave room in the memory of a workgroup (emissions.wgsl): reads of up to 1,024 bases."""

MOST_ITEMS = (1 << 16) - 1
"""Most items of a dispatch that walks trees: products of two ranks fit 32 bits (tree_tasks.wgsl)."""

ENTRY_BYTES, EVENT_BYTES = 16, 4
"""Bytes of an entry of scratch memory, and of an event. The joins follow the events."""


LONG_RUNS = 24
"""Columns between two events, on average, from which on a walk's loop has longer iterations. 20 copies of 1m have 14,
s150 has 40, and s150 with one haplotype a group has 176."""


def has_long_runs(trees: SentTrees) -> bool:
    """Whether trees have few events among their columns."""
    events = (trees.joins - trees.events) // EVENT_BYTES
    return int(trees.columns.sum()) >= LONG_RUNS * events


def quads_of(rows: int) -> int:
    """Fours of a lane's rows."""
    return -(-rows // 4)


def lane_entries(rows: int) -> int:
    """Entries of a lane in a slot: S and D of its rows, in fours, and what goes down between lanes."""
    return 2 * quads_of(rows) + 1


def made_entries(rows: int, width: int, *, masked: bool) -> int:
    """Entries that tree_rows.wgsl makes for an item: tasks of its lanes, and arrays of their rows, in fours."""
    arrays = len(MADE) - 1 + (1 if masked else LETTERS) + 1  # the last one is of extensions
    return width * (TASK_ENTRIES + MASK_ENTRIES * masked + arrays * quads_of(rows))


def launches(tiers: Sequence[Tier], subgroup: int) -> list[list[Tier]]:
    """Tiers that share a dispatch: those with one number of rows, whose lanes lie in a subgroup or do not.

    The tiers with the longest items come first.
    """
    by_shape: dict[tuple[int, bool], list[Tier]] = {}
    for tier in sorted(tiers, key=lambda tier: -tier.longest):
        by_shape.setdefault((tier.shape.rows, tier.shape.lanes <= subgroup), []).append(tier)
    return list(by_shape.values())


def list_of(shape: Shape) -> int:
    """The list of pairs that lanes with exponents rescue; `NO_LIST` where the CPU does."""
    last = RESCUERS[-1]
    if shape.tall or shape.lanes * shape.rows > last.lanes * last.rows:
        return NO_LIST
    return rescuer_of(shape, RESCUERS)


def put_tiers(work: NDArray[np.void], tiers: Sequence[Tier], list_at: Sequence[int]) -> None:
    """Write to a `Work` the tiers that share its dispatch (`TREE_TIER`)."""
    words, end = [], 0
    for tier in tiers:
        end += tier.items
        rescuer = list_of(tier.shape)
        at = 0 if rescuer == NO_LIST else list_at[rescuer]
        words.append((end, tier.first_item, tier.shape.lanes, tier.last, rescuer, at, 0, 0))
    # At once, because NumPy takes long for each assignment.
    work["tiers"].reshape(MOST_TREE_TIERS, -1)[: len(words)] = words


def part_of(work: NDArray[np.void], part: int, parts: int) -> NDArray[np.void]:
    """A copy of a `Work` for one of `parts` parts of its dispatch. Each part has its share of every tier."""
    share = copy_of(work)
    tiers = work["tiers"].reshape(MOST_TREE_TIERS, -1).astype(np.int64)
    end, first = (tiers[:, TREE_TIER.index(name)] for name in ("end", "first_item"))
    items = np.diff(end, prepend=0).clip(0)  # tiers that are not there end at 0
    taken = items * (part + 1) // parts - items * part // parts
    first += items * part // parts
    tiers = tiers[taken > 0]
    tiers[:, TREE_TIER.index("end")] = np.cumsum(taken[taken > 0])
    share["tiers"] = 0
    share["tiers"][: 2 * len(tiers)] = tiers.reshape(-1, 4)
    share["first_item"], share["end_item"] = 0, taken.sum()
    return share


def put_trees(work: NDArray[np.void], trees: SentTrees) -> None:
    """Write to a `Work` where the arrays of trees lie."""
    work["of_group"], work["trees"], work["places"] = trees.of_group // 4, trees.trees // 4, trees.places // 4
    work["events"], work["joins"], work["streams"] = trees.events // 4, trees.joins // 2, trees.streams


def put_scratch(work: NDArray[np.void], rows: int, width: int, trees: SentTrees) -> int:
    """Write to a `Work` what a workgroup of `width` lanes has in its scratch memory; returns its bytes."""
    numbers, of_slot, sizes = width // 4, width * lane_entries(rows), trees.sizes
    work["left_leaves"] = left_leaves = of_slot * sizes.open_branches
    work["ended"] = ended = left_leaves + of_slot * sizes.left_leaves
    work["started"] = started = ended + numbers * sizes.left_leaves
    work["joined"] = joined = started + numbers * sizes.right_leaves
    work["scratch"] = scratch = joined + numbers * sizes.joins
    return ENTRY_BYTES * scratch
