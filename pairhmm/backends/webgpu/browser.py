"""Writes the kernels for the page as JSON: the text of each variant, sizes and shapes.

    python -m pairhmm.backends.webgpu.browser build/web/gpu.json

`web/src/gpu/` reads it. So no number and no text of a kernel is written again there.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from itertools import groupby, product
from pathlib import Path
from typing import Any

from pairhmm.backends import tiles
from pairhmm.backends.tiles import Shape, Shapes
from pairhmm.backends.webgpu import backend, kernels, layout, long_pairs, rows, runtime, work
from pairhmm.backends.webgpu.kernels import KernelVariant
from pairhmm.backends.webgpu.runtime import WIDTH
from pairhmm.models import scaling

ROWS_OF_TREES = {"forward_tree_rows": ("qualities", "kinds"), "forward_trees": ("qualities", "folded")}
"""The rows of kernels whose sizes depend on them."""


EXTENSION = 0.5
"""Stands for the extension of deletions, which is a number of the batch: JavaScript puts it in."""


def data() -> dict[str, Any]:
    """Everything, in types that JSON has."""
    pieces: dict[str, int] = {}
    variants = {
        name_of(variant): [pieces.setdefault(stripped(text), len(pieces)) for text in kernels.source_pieces(variant)]
        for variant in _variants()
    }
    return {
        "pieces": list(pieces),
        "variants": variants,
        "subgroups": stripped(kernels.subgroups_source(WIDTH)),
        "enableSubgroups": kernels.SUBGROUPS,
        "parts": {"gpu": kernels.PART, "trees": kernels.TREE_PART, "software": kernels.SOFTWARE_PART},
        "work": {"bytes": work.WORK.dtype.itemsize, "at": _offsets()},
        "shapes": _table(layout.shapes(WIDTH)),
        "treeShapes": _table(layout.tree_shapes(WIDTH)),
        "rescuers": [list(shape[:2]) for shape in work.RESCUERS],
        "rescaleSteps": {shape.rows: long_pairs.rescale_steps(shape.rows) for shape in work.RESCUERS},
        "treeRows": {
            rows: {
                "laneEntries": work.lane_entries(rows),
                "madeEntries": [work.made_entries(rows, WIDTH, masked=masked) for masked in (False, True)],
            }
            for rows in sorted({shape.rows for shape in layout.tree_shapes(WIDTH).known if not shape.tall})
        },
        "kinds": {"columns": sum(rows.KIND_COLUMNS.values()), "at": rows.KIND_AT},
        "constants": _constants(),
    }


def stripped(text: str) -> str:
    """A text without comments, indents and empty lines."""
    lines = (line.split("//")[0].strip() for line in text.splitlines())
    return "".join(f"{line}\n" for line in lines if line)


def _variants() -> Iterable[KernelVariant]:
    """All that JavaScript can ask for, with `EXTENSION` for any."""
    ways, extensions = (False, True), (None, EXTENSION)
    for kernel, shapes in _shapes_of_kernels().items():
        for shape, shuffles, extension in product(shapes, ways, extensions):
            for kind in ROWS_OF_TREES.get(kernel, ("qualities", "kinds")):
                for part in _parts(kernel, shape):
                    yield KernelVariant(kernel, shape, WIDTH, shuffles, kind, extension, part=part)


def _parts(kernel: str, shape: Shape) -> set[int]:
    """The columns of an iteration, on a GPU and on a software adapter."""
    if kernel == "forward_scaled":
        return {long_pairs.rescale_steps(shape.rows)}
    return {kernels.TREE_PART if kernel == "forward_trees" else kernels.PART, kernels.SOFTWARE_PART}


def name_of(variant: KernelVariant) -> str:
    """The name of a variant with any extension, as nameOf of web/src/gpu/variants.js."""
    shape, way = variant.shape, "shuffles" if variant.shuffles else "memory"
    extension = "varying" if variant.extension is None else "shared"
    names = variant.kernel, shape.lanes, shape.rows, way, variant.rows, extension, variant.part
    return " ".join(map(str, names))


def _shapes_of_kernels() -> dict[str, list[Shape]]:
    known, of_trees = layout.shapes(WIDTH).known, layout.tree_shapes(WIDTH).known
    return {
        "forward": [shape for shape in known if not shape.tall],
        "forward_tall": list(dict.fromkeys(shape for shape in (*known, *of_trees) if shape.tall)),
        "forward_trees": list(dict.fromkeys(Shape(1, shape.rows) for shape in of_trees if not shape.tall)),
        "forward_tree_rows": [Shape(1, 1)],
        "forward_scaled": [Shape(1, rows) for rows in sorted({shape.rows for shape in work.RESCUERS})],
    }


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
        "haplotypesOfTrees": work.HAPLOTYPES_OF_TREES,
        "columnsOfSum": work.COLUMNS_OF_SUM,
        "lead": work.LEAD,
        "tail": work.TAIL,
        "mostItems": work.MOST_ITEMS,
        "walkers": work.WALKERS,
        "mostTreeTiers": work.MOST_TREE_TIERS,
        "betweenPadding": layout.BETWEEN_PADDING,
        "betweenBytes": layout.BETWEEN_BYTES,
        "mostRescuing": layout.MOST_RESCUING,
        "unfolded": work.UNFOLDED,
        "coarse": work.COARSE,
        "fine": work.FINE,
        "startExponent": scaling.START_EXPONENT,
        "leastKept": rows.LEAST_KEPT,
        "neverOpened": rows.NEVER_OPENED,
        "neverEnded": rows.NEVER_ENDED,
        "qualities": rows.QUALITIES,
        "submitSeconds": backend.SUBMIT_SECONDS,
        "unordered": work.UNORDERED,
    }


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(json.dumps(data(), separators=(",", ":")))
