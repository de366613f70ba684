"""`map draw`: a map of samples from their sketches, hits, genotypes and sheet, in memory and as files."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from pairhmm.arguments import AnyPath, Paths, Texts, path_of, some_paths_of, texts_of
from pairhmm.engine import Choice
from pairhmm.engine.calibration import DISTANCES, PLACE, is_worth_a_device
from pairhmm.engine.choice import named_devices
from pairhmm.errors import InputError
from pairhmm.files.destinations import check_apart, kept_apart
from pairhmm.files.formats import require_ending
from pairhmm.map.base import EMBEDDERS
from pairhmm.map.device import WORTH_A_DEVICE
from pairhmm.map.embedding import GROUPS, MOST_SAMPLES, MapOptions, SampleMap, make_map, weights_of
from pairhmm.map.map_writer import NAME_SEPARATOR, trust_text, write_picture, write_positions
from pairhmm.map.property_reader import (
    NO_PROPERTIES,
    read_genotype_tokens,
    read_hit_tokens,
    read_kmers,
    read_sheet_columns,
    sheet_tokens,
)
from pairhmm.map.sketch import base as comparing
from pairhmm.map.sketch.base import COMPARERS, Comparer
from pairhmm.map.sketch.pairs import chance_text
from pairhmm.map.sketch.sketches import Scheme, Sketches
from pairhmm.map.tokens import TokenCollector, check_size
from pairhmm.options import check_whole
from pairhmm.plurals import counted

log = logging.getLogger(__name__)


class _Properties(NamedTuple):
    """Properties by group: tokens, the first file, the scheme of sketches, up to 2,000 sketches, and the sheet."""

    groups: dict[str, TokenCollector]
    paths: dict[str, str]
    scheme: Scheme | None
    sketches: Sketches | None
    cells: dict[str, dict[str, str]]


def draw_map(
    *,
    kmers: Paths = (),
    hits: Paths = (),
    genotypes: Paths = (),
    sheet: AnyPath | None = None,
    columns: Texts | None = None,
    colour: str | None = None,
    weights: Mapping[str, float] | None = None,
    options: MapOptions | None = None,
    backend: str | Choice = "auto",
    threads: int = 1,
) -> SampleMap:
    """Place samples in the plane by their properties (docs/map.md).

    Parameters
    ----------
    kmers : path or paths
        Sketch files of one scheme.
    hits : path or paths
        Tables of `pairhmm.scan`.
    genotypes : path or paths
        VCF or BCF.
    sheet : path, optional
        A table with a column `sample`, and others.
    columns : str or strings, optional
        Columns of the sheet that are properties. Without it: all but sample, alignments and reads.
    colour : str, optional
        The column of the sheet that colours the picture.
    weights : mapping of str to float, optional
        Of kmers, hits, genotypes and sheet; 1 for those that it lacks.
    options : MapOptions, optional
    backend : str or Choice
        "auto", or the name of a backend that embeds samples; or that with one device.
    threads : int
        CPU threads.

    Returns
    -------
    SampleMap

    Raises
    ------
    InputError
        For files that can't be used, one sample only, and a group that has no sample in common with the others.
    OptionError
        For an option with a value that it can't have.
    BackendUnavailable
        Where a named backend does not run here.

    Examples
    --------
    >>> drawn = pairhmm.draw_map(kmers="samples.sketches", genotypes="calls.vcf.gz")  # doctest: +SKIP
    >>> drawn.trust, drawn.exact_trust  # doctest: +SKIP
    (0.71, 0.93)
    """
    check_whole("threads", threads, 1)
    chosen = MapOptions() if options is None else options
    read = _read(kmers, hits, genotypes, sheet, columns, colour)
    names = _samples_of(read)
    of_groups = weights_of(list(read.groups), weights or {})
    # Collected tokens are freed group by group: they take more memory than the sets.
    groups = {name: read.groups.pop(name).sets(names) for name in list(read.groups)}
    named, devices = named_devices(backend)
    is_worth = is_worth_a_device(PLACE, len(names) * len(groups), threads, WORTH_A_DEVICE)
    embedder = EMBEDDERS.choose_one(named, devices, is_worth)

    @cache
    def comparer_of(scheme: Scheme) -> Comparer:
        words = comparing.words_of(len(names) ** 2, scheme)
        is_worth = is_worth_a_device(DISTANCES, words, threads, comparing.WORTH_A_DEVICE)
        return COMPARERS.choose_one(named, devices, is_worth)

    # The order of sketches must be that of the map's samples, and each must have one.
    sketches = read.sketches if read.sketches is not None and list(read.sketches.names) == names else None
    drawn = make_map(
        names,
        groups,
        of_groups,
        chosen,
        embedder,
        comparer_of=comparer_of,
        threads=threads,
        sketches={} if sketches is None else {"kmers": sketches},
        colours=None if colour is None else [read.cells.get(name, {}).get(colour, "") for name in names],
        slot_bits=None if read.scheme is None else read.scheme.bits,
    )
    _log_result(drawn, read.scheme)
    return drawn


@kept_apart()
def write_map(drawn: SampleMap, output: AnyPath = "-", svg: AnyPath | None = None) -> None:
    """Write a map as a table (TSV), and as a picture.

    Parameters
    ----------
    drawn : SampleMap
        From `draw_map`.
    output : path
        ``-`` is stdout.
    svg : path, optional

    Raises
    ------
    InputError
        Where a file can't be written.

    Examples
    --------
    >>> pairhmm.write_map(drawn, "positions.tsv", "map.svg")  # doctest: +SKIP
    """
    check_apart([], [("-o", path_of(output)), ("--svg", path_of(svg))])
    if svg is not None:
        require_ending(path_of(svg), "pictures", (".svg",))
        write_picture(path_of(svg), drawn)
    write_positions(path_of(output), drawn)


def _read(
    kmers: Paths, hits: Paths, genotypes: Paths, sheet: AnyPath | None, columns: Texts | None, colour: str | None
) -> _Properties:
    read = _Properties({}, {}, None, None, {})
    if kmers:
        paths = some_paths_of(kmers, "kmers")
        read.groups["kmers"], scheme, sketches = read_kmers(paths, MOST_SAMPLES)
        read, read.paths["kmers"] = read._replace(scheme=scheme, sketches=sketches), paths[0]
    if genotypes:
        paths = some_paths_of(genotypes, "genotypes")
        read.groups["genotypes"], read.paths["genotypes"] = read_genotype_tokens(paths), paths[0]
    if sheet is None:
        if columns or colour:
            raise InputError("--columns" if columns else "--colour", "", "needs a sample sheet", "give --sheet")
    else:
        read = read._replace(cells=_read_sheet(path_of(sheet), columns, colour, read))
    if hits:
        # Who they are of depends on the other inputs.
        paths = some_paths_of(hits, "hits")
        known = {name for collector in read.groups.values() for name in collector.names} | set(read.cells)
        read.groups["hits"], read.paths["hits"] = read_hit_tokens(paths, known, read.cells), paths[0]
        read = read._replace(groups={group: read.groups[group] for group in GROUPS if group in read.groups})
    if not read.groups:
        raise InputError("map draw", "", "no properties", "give --kmers, --hits, --genotypes or --sheet")
    return read


def _read_sheet(path: str, columns: Texts | None, colour: str | None, read: _Properties) -> dict[str, dict[str, str]]:
    """The cells of the sheet; its columns become a group if there are any."""
    known, cells = read_sheet_columns(path)
    wanted = [column for column in known if column not in NO_PROPERTIES] if columns is None else texts_of(columns)
    for column in [*wanted, *([] if colour is None else [colour])]:
        if column not in known:
            raise InputError(path, "", f"has no column {column!r}", f"its columns are {', '.join(known)}")
    if wanted:
        read.groups["sheet"], read.paths["sheet"] = sheet_tokens(cells, wanted), path
    return cells


def _samples_of(read: _Properties) -> list[str]:
    """The samples of all groups, in the order in which they are first named."""
    names = list(dict.fromkeys(name for collector in read.groups.values() for name in collector.names))
    check_size(len(names) * len(read.groups))
    if len(names) < 2:
        rule = f"has one sample, {names[0]!r}" if names else "has no sample"
        raise InputError(next(iter(read.paths.values())), "", rule, "a map needs two samples or more")
    for group, collector in read.groups.items():
        named = set(collector.names)
        others = {name for other, tokens in read.groups.items() if other != group for name in tokens.names}
        if others and not named & others:
            what = f"has {min(named)!r} and others" if named else "has no sample"
            rule = f"{what}; the other groups have {min(others)!r}, and no sample is common"
            raise InputError(read.paths[group], group, rule, "name samples alike in all files")
        lacking = [name for name in names if name not in named]
        if lacking:
            log.info("%s: no properties of %d of %d samples, such as %s", group, len(lacking), len(names), lacking[0])
    for name in names:
        if NAME_SEPARATOR in name:
            path = next(read.paths[group] for group, tokens in read.groups.items() if name in tokens.names)
            raise InputError(path, f"sample {name!r}", "has a comma in its name", "choose another name")
    return names


def _log_result(drawn: SampleMap, scheme: Scheme | None) -> None:
    log.info("%s by %s", counted(len(drawn.names), "sample"), ", ".join(drawn.groups))
    if not drawn.is_above_chance:
        cure = "Give properties that samples have in common" if scheme is None else chance_text(scheme)
        log.warning("no two samples are more alike than chance: no positions. %s", cure)
        return
    if drawn.exact is None:
        log.info("no exact scaling and no trustworthiness: more than %d samples", MOST_SAMPLES)
        return
    trusts = trust_text(drawn.trust), trust_text(drawn.exact_trust)
    first = "exact scaling" if drawn.is_exact_better else "map"
    log.info("trustworthiness of the map %s, of the exact scaling %s (1 is best): the %s comes first", *trusts, first)
