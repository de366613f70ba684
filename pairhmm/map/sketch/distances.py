"""`map distances`: Jaccard index, Mash distance, containment and ANI of sketches, in memory and as a table."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Annotated, BinaryIO

import numpy as np
from numpy.typing import NDArray

from pairhmm.arguments import AnyPath, Paths, path_of, some_paths_of
from pairhmm.engine import Choice
from pairhmm.engine.calibration import DISTANCES, is_worth_a_device
from pairhmm.engine.choice import named_devices
from pairhmm.errors import InputError
from pairhmm.files.destinations import check_apart, kept_apart
from pairhmm.files.formats import TEXT_TABLE, require_ending
from pairhmm.files.outputs import open_binary_output
from pairhmm.map.sketch.base import COMPARERS, WORTH_A_DEVICE, words_of
from pairhmm.map.sketch.files import check_one_scheme, open_collection, scheme_text
from pairhmm.map.sketch.pairs import (
    UNRELATED,
    ComparedPairs,
    SketchSource,
    chance_text,
    distances_of,
    every_pair,
    jaccard,
    least_above_chance,
    least_equal,
    mash_distance,
    nearest_pairs,
)
from pairhmm.map.sketch.sketches import Scheme, Sketches
from pairhmm.native import native, require_compiled
from pairhmm.options import Within, check_number, check_whole
from pairhmm.plurals import counted
from pairhmm.sequences.arrays import Names

COLUMNS = ("sample_1", "sample_2", "jaccard", "mash_distance", "containment", "ani")


class DistanceTable:
    """A table of pairs of queries and targets that is being written."""

    def __init__(self, out: BinaryIO, queries: SketchSource, targets: SketchSource, threads: int) -> None:
        self._out, self._threads, self.pairs = out, threads, 0
        self._queries, self._targets = queries, targets
        self._names = Names.of(queries.names), Names.of(targets.names)
        self._heads = Names.of(_heads(queries.scheme))
        out.write(("#" + "\t".join(COLUMNS) + "\n").encode())

    def add(self, block: ComparedPairs) -> None:
        """Write a row for each pair."""
        kmers, other_kmers = self._queries.kmers[block.query], self._targets.kmers[block.target]
        distances = distances_of(block.equal, kmers, other_kmers, self._queries.scheme)
        names, others = self._names
        self._out.writelines(
            native.distance_lines(
                *(names.text, names.end, others.text, others.end, block.query, block.target, block.equal),
                *(self._heads.text, self._heads.end, distances.containment, distances.ani, self._threads),
            )
        )
        self.pairs += len(block.equal)

    def add_unknown(self, block: ComparedPairs) -> None:
        """Write a row without figures for each pair."""
        queries, targets = self._queries.names, self._targets.names
        rows = zip(block.query.tolist(), block.target.tolist(), strict=True)
        self._out.writelines(f"{queries[query]}\t{targets[target]}\t.\t.\t.\t.\n".encode() for query, target in rows)
        self.pairs += len(block.equal)


@contextmanager
def open_distances(
    destination: str | Path, queries: SketchSource, targets: SketchSource, threads: int
) -> Iterator[DistanceTable]:
    """Open a table of distances (TSV); ``-`` is stdout."""
    require_ending(destination, "tables of distances", TEXT_TABLE)
    require_compiled("map distances")
    with open_binary_output(destination) as out:
        yield DistanceTable(out, queries, targets, threads)


def _heads(scheme: Scheme) -> list[str]:
    """The columns jaccard and mash_distance for each number of equal slots, with six digits as Mash has them."""
    index = jaccard(np.arange(scheme.slots + 1), scheme)
    both = zip(index.tolist(), mash_distance(index, scheme.k).tolist(), strict=True)
    return [f"{alike:.6g}\t{distance:.6g}" for alike, distance in both]


log = logging.getLogger(__name__)

MOST_NEAREST = 10_000
# Pairs that are held until one is above chance. They take 10 bytes each.
_MOST_HELD = 1 << 22


@dataclass(frozen=True, slots=True)
class SampleDistances:
    """Pairs of samples and how alike they are; all arrays have one value a pair (docs/map.md).

    Attributes
    ----------
    sample_1, sample_2 : list of str
    jaccard, mash_distance, containment, ani : ndarray, shape (pairs,), float64
        NaN throughout if no pair is above chance.
    """

    sample_1: list[str]
    sample_2: list[str]
    jaccard: NDArray[np.float64]
    mash_distance: NDArray[np.float64]
    containment: NDArray[np.float64]
    ani: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.sample_1)


def distances(
    sketches: Sketches,
    queries: Sketches | None = None,
    *,
    nearest: int | None = None,
    max_distance: float = UNRELATED,
    backend: str | Choice = "auto",
    threads: int = 1,
) -> SampleDistances:
    """Compare sketches: each two of a collection, or queries with a collection.

    Parameters
    ----------
    sketches : Sketches
        The collection, as `pairhmm.sketch` makes it.
    queries : Sketches, optional
        Samples that are compared with the collection. Without them, each two of the collection are compared.
    nearest : int, optional
        Only so many of the nearest samples of each one. Without it, every pair.
    max_distance : float
        Pairs with a larger Mash distance are left out.
    backend : str or Choice
        "auto", or the name of a backend that compares sketches; or that with one device.
    threads : int
        CPU threads.

    Returns
    -------
    SampleDistances
        With queries, sample_1 is the query. With `nearest`, sample_1 is the sample whose nearest ones follow, nearest
        first.

    Raises
    ------
    ValueError
        For one sample without queries, no sample, and sketches of different schemes.
    OptionError
        For an option with a value that it can't have.
    BackendUnavailable
        Where a named backend does not run here.

    Examples
    --------
    >>> pairhmm.distances(pairhmm.sketch(["a.fa", "b.fa"])).mash_distance  # doctest: +SKIP
    array([0.02227658])
    """
    _check_options(nearest, max_distance, threads)
    for some in (sketches, queries):
        if some is not None and not len(some):
            raise ValueError("no sketch: a distance needs two samples")
    if queries is None and len(sketches) < 2:
        raise ValueError("one sketch: a distance needs two samples")
    if queries is not None and queries.scheme != sketches.scheme:
        raise ValueError(
            f"sketches of different schemes: {scheme_text(queries.scheme)}, and {scheme_text(sketches.scheme)}"
        )
    first = sketches if queries is None else queries
    wanted, is_known = _above_chance(
        lambda: _pairs(sketches, queries, nearest, max_distance, backend, threads), sketches, queries, max_distance
    )
    blocks = list(wanted)
    query, target, equal = (
        np.concatenate([getattr(block, name) for block in blocks]) for name in ("query", "target", "equal")
    )
    columns = distances_of(equal, first.kmers[query], sketches.kmers[target], sketches.scheme)
    return SampleDistances(
        [first.names[index] for index in query.tolist()],
        [sketches.names[index] for index in target.tolist()],
        *(columns if is_known else (np.full_like(column, np.nan) for column in columns)),
    )


@kept_apart()
def write_distances(
    sketches: Paths,
    output: AnyPath = "-",
    *,
    queries: AnyPath | None = None,
    nearest: Annotated[int | None, Within(1, MOST_NEAREST)] = None,
    max_distance: Annotated[float, Within(0, UNRELATED)] = UNRELATED,
    backend: str | Choice = "auto",
    threads: int = 1,
) -> int:
    """Write the distances of samples in sketch files as a table (docs/map.md).

    Parameters
    ----------
    sketches : path or paths
        Sketch files: the collection.
    output : path
        TSV; ``-`` is stdout.
    queries : path, optional
        A sketch file of samples that are compared with the collection. Without it, each two of the collection are
        compared.
    nearest, max_distance, backend, threads
        As `distances`.

    Returns
    -------
    int
        Pairs written.

    Raises
    ------
    InputError
        For files that can't be used, files of different schemes, and one sample without queries. No output is left.
    OptionError
        For an option with a value that it can't have.
    BackendUnavailable
        Where a named backend does not run here.

    Examples
    --------
    >>> pairhmm.write_distances("samples.sketches", "distances.tsv", max_distance=0.05)  # doctest: +SKIP
    """
    _check_options(nearest, max_distance, threads)
    paths, output = some_paths_of(sketches, "sketches"), path_of(output)
    query_path = None if queries is None else path_of(queries)
    check_apart([*paths, query_path], [("-o", output)])
    with ExitStack() as stack:
        collection = stack.enter_context(open_collection(paths))
        asked = None
        if query_path is not None:
            asked = stack.enter_context(open_collection(query_path))
            check_one_scheme([paths[0], query_path], [collection.files[0], asked.files[0]])
        elif len(collection) < 2:
            raise InputError(paths[0], "", "has one sample", "add sketches: a distance needs two samples")
        pairs, is_known = _above_chance(
            lambda: _pairs(collection, asked, nearest, max_distance, backend, threads), collection, asked, max_distance
        )
        with open_distances(output, asked or collection, collection, threads) as table:
            for block in pairs:
                if is_known:
                    table.add(block)
                else:
                    table.add_unknown(block)
    log.info(counted(table.pairs, "pair"))
    return table.pairs


def _check_options(nearest: int | None, max_distance: float, threads: int) -> None:
    check_whole("threads", threads, 1)
    check_number("max_distance", max_distance, 0, UNRELATED)
    if nearest is not None:
        check_whole("nearest", nearest, 1, MOST_NEAREST)


def _above_chance(
    pairs: Callable[[], Iterator[ComparedPairs]],
    collection: SketchSource,
    queries: SketchSource | None,
    max_distance: float,
) -> tuple[Iterator[ComparedPairs], bool]:
    """The pairs, and whether any is above chance. If none is, all distances are noise, which a warning says.

    Blocks that were looked at are held. If they become too many, pairs are compared again.
    """
    source = collection if queries is None else queries
    compared = len(source) * (len(collection) - 1) // 2 if queries is None else len(source) * len(collection)
    least_own, least = (least_above_chance(each.scheme, each.kmers, compared) for each in (source, collection))
    blocks, seen, count = pairs(), list[ComparedPairs](), 0
    for block in blocks:
        if count <= _MOST_HELD:
            seen.append(block)
        count += len(block.equal)
        if (block.equal >= np.maximum(least_own[block.query], least[block.target])).any():
            return (chain(seen, blocks) if count <= _MOST_HELD else pairs()), True
    if least_equal(max_distance, collection.scheme) > max(least_own.max(), least.max()):
        # Pairs that are above chance may have been left out.
        return iter(seen), True
    log.warning("no two samples are more alike than chance: no distances. %s", chance_text(collection.scheme))
    if max_distance < UNRELATED:
        nothing = np.empty(0, dtype=np.int32)
        return iter([ComparedPairs(nothing, nothing, np.empty(0, dtype=np.uint16))]), False
    return (iter(seen) if count <= _MOST_HELD else pairs()), False


def _pairs(
    collection: SketchSource,
    queries: SketchSource | None,
    nearest: int | None,
    max_distance: float,
    backend: str | Choice,
    threads: int,
) -> Iterator[ComparedPairs]:
    """The pairs that are wanted, once a comparer has been chosen."""
    count, scheme = len(collection), collection.scheme
    pairs = count * (count - 1) // 2 if queries is None else len(queries) * count
    is_worth = is_worth_a_device(DISTANCES, words_of(pairs, scheme), threads, WORTH_A_DEVICE)
    comparer = COMPARERS.choose_one(*named_devices(backend), is_worth)
    least = least_equal(max_distance, scheme)
    source, others = (collection, None) if queries is None else (queries, collection)
    if nearest is None:
        return every_pair(source, others, comparer, least, threads)
    return nearest_pairs(source, others, nearest, comparer, least, threads)
