"""What the page needs to assemble and run the same kernels: templates, declarations, sizes and shapes, as JSON.

    python -m pairhmm.backends.webgpu.browser build/web/gpu.json

`web/src/gpu/` reads it. So no number and no text of a kernel is written again there.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from importlib.resources import files
from itertools import groupby
from pathlib import Path
from typing import Any

from pairhmm.backends import tiles
from pairhmm.backends.tiles import Shape, Shapes
from pairhmm.backends.webgpu import backend, kernels, kinds, layout, runtime, strips, tables, tree_layout, work
from pairhmm.backends.webgpu.kernels import KernelVariant
from pairhmm.backends.webgpu.runtime import WIDTH
from pairhmm.models import scaling

KEPT_COMMENTS = ("// needs ", "// gives: ", "//#")
"""Comments of a template that mean something to who assembles it."""


ROWS_OF_TREES = {"forward_tree_rows": ("qualities", "kinds"), "forward_trees": ("qualities", "folded")}
"""The rows of kernels whose sizes depend on them."""


def data() -> dict[str, Any]:
    """Everything, in types that JSON has."""
    variants = {_name(variant): kernels.parts(variant) for variant in _variants()}
    names = list(dict.fromkeys(name for parts in variants.values() for name in parts.numbers))
    return {
        "modules": {name: stripped(kernels.read(name)) for name in _modules()},
        "shared": {name: stripped(text) for name, text in kernels.shared().items()},
        "names": names,
        "switches": [name for name in names if not any(name in parts.declarations for parts in variants.values())],
        "variants": {
            name: {
                "root": parts.root,
                "numbers": [parts.numbers.get(number) for number in names],
                "others": "".join(text for name, text in parts.declarations.items() if name not in parts.numbers),
            }
            for name, parts in variants.items()
        },
        "subgroups": stripped(kernels.subgroups_source(WIDTH)),
        "enableSubgroups": kernels.SUBGROUPS,
        "parts": {"gpu": kernels.PART, "trees": kernels.TREE_PART, "software": kernels.SOFTWARE_PART},
        "work": {"bytes": work.WORK.dtype.itemsize, "at": _offsets()},
        "shapes": _table(layout.shapes(WIDTH)),
        "treeShapes": _table(layout.tree_shapes(WIDTH)),
        "rescuers": [list(shape[:2]) for shape in work.RESCUERS],
        "rescaleSteps": {shape.rows: strips.rescale_steps(shape.rows) for shape in work.RESCUERS},
        "treeRows": {
            rows: {
                "laneEntries": tree_layout.lane_entries(rows),
                "madeEntries": [tree_layout.made_entries(rows, WIDTH, masked=masked) for masked in (False, True)],
            }
            for rows in sorted({shape.rows for shape in layout.tree_shapes(WIDTH).known if not shape.tall})
        },
        "kindColumns": kinds.COLUMNS,
        "stripItem": list(work.STRIP_ITEM),
        "stripResult": list(work.STRIP_RESULT),
        "constants": _constants(),
    }


def stripped(text: str) -> str:
    """A template or a text without comments, indents and empty lines."""
    lines = (line.strip() for line in text.splitlines())
    kept = (line if line.startswith(KEPT_COMMENTS) else line.split("//")[0].rstrip() for line in lines)
    return "".join(f"{line}\n" for line in kept if line)


def _variants() -> Iterable[KernelVariant]:
    """A variant for each kernel, shape and segment; those of trees for each kind of rows, too.

    What JavaScript adds to it are shuffles, extension and the other kinds of rows.
    """
    for kernel, shapes in _shapes_of_kernels().items():
        yield from (
            KernelVariant(kernel, shape, WIDTH, False, rows, None)
            for shape in shapes
            for rows in ROWS_OF_TREES.get(kernel, ("qualities",))
        )
    for kernel in ("forward_long_rows", "forward_long", "forward_join"):
        for segment in (8, 16, 32):
            yield KernelVariant(kernel, strips.LONG, strips.LONG.lanes, False, "folded", None, segment)


def _shapes_of_kernels() -> dict[str, list[Shape]]:
    known, of_trees = layout.shapes(WIDTH).known, layout.tree_shapes(WIDTH).known
    return {
        "forward": [shape for shape in known if not shape.tall],
        "forward_tall": list(dict.fromkeys(shape for shape in (*known, *of_trees) if shape.tall)),
        "forward_trees": list(dict.fromkeys(Shape(1, shape.rows) for shape in of_trees if not shape.tall)),
        "forward_tree_rows": [Shape(1, 1)],
        "forward_scaled": [Shape(1, rows) for rows in sorted({shape.rows for shape in work.RESCUERS})],
    }


def _name(variant: KernelVariant) -> str:
    name = f"{variant.kernel} {variant.shape.lanes}x{variant.shape.rows}"
    if variant.kernel in ROWS_OF_TREES:
        return f"{name} {variant.rows}"
    return name + f" {variant.segment}" * variant.is_long


def _modules() -> list[str]:
    folder = files("pairhmm") / "shaders" / "forward"
    return sorted(f"forward/{entry.name}" for entry in folder.iterdir() if entry.name not in ("subgroups.wgsl",))


def _offsets() -> dict[str, int]:
    """First byte of each field of `Work`."""
    fields = work.WORK.dtype.fields
    assert fields is not None
    return {name: int(place[1]) for name, place in fields.items()}


def _table(shapes: Shapes) -> dict[str, Any]:
    return {
        "known": [[shape.lanes, shape.rows, int(shape.tall)] for shape in shapes.known],
        "ofLength": [[int(shape), len(list(same))] for shape, same in groupby(shapes.of_length.tolist())],
        "family": shapes.family.tolist(),
        "tierCells": shapes.tier_cells,
        "itemSizes": list(shapes.item_sizes),
    }


def _constants() -> dict[str, int | float]:
    return {
        "width": WIDTH,
        "workStride": runtime.WORK_STRIDE,
        "mostDispatches": runtime.MOST_DISPATCHES,
        "padding": tiles.PADDING,
        "alignment": tiles.ALIGNMENT,
        "haplotypesOfTrees": tree_layout.HAPLOTYPES_OF_TREES,
        "columnsOfSum": tree_layout.COLUMNS_OF_SUM,
        "lead": tree_layout.LEAD,
        "tail": tree_layout.TAIL,
        "mostItems": tree_layout.MOST_ITEMS,
        "walkers": tree_layout.WALKERS,
        "mostTreeTiers": work.MOST_TREE_TIERS,
        "betweenPadding": layout.BETWEEN_PADDING,
        "betweenBytes": layout.BETWEEN_BYTES,
        "mostRescuing": layout.MOST_RESCUING,
        "unfolded": work.UNFOLDED,
        "coarse": work.COARSE,
        "fine": work.FINE,
        "startExponent": scaling.START_EXPONENT,
        "leastKept": kinds.LEAST_KEPT,
        "neverOpened": kinds.NEVER_OPENED,
        "neverEnded": tables.NEVER_ENDED,
        "qualities": tables.QUALITIES,
        "submitSeconds": backend.SUBMIT_SECONDS,
        "stepSeconds": backend.STEP_SECONDS,
        "polls": backend.POLLS,
        "leastCut": tiles.LEAST_CUT,
        "longSteps": strips.STEPS,
        "longLanes": strips.LONG.lanes,
        "longRows": strips.LONG.rows,
        "unordered": work.UNORDERED,
        "unfinished": work.UNFINISHED,
    }


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(json.dumps(data(), separators=(",", ":")))
