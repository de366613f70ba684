"""The options, constants and header lines that the web page shares with the package, as a JavaScript module.

    python -m pairhmm.calling.web_parameters web/src/models/parameters.js

So none of them is written again in web/.
"""

from __future__ import annotations

import json
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any, get_args

import numpy as np

from pairhmm.calling import stutter
from pairhmm.calling.call import MIN_QUALITY
from pairhmm.calling.run_options import MIXTURE, MIXTURE_OF_COPIES, PRESETS, RunOptions
from pairhmm.calling.summary import LONG_READS, MANY_NAMESAKES, MOST
from pairhmm.likelihoods.table import COLUMNS, HAPLOTYPE_COLUMNS
from pairhmm.models import gatk, profile
from pairhmm.models.str_model import TABLES, StrModel
from pairhmm.models.str_parameters import LEAST_COPIES, LIBRARIES, str_model_of
from pairhmm.sequences.tandem_repeats import LONGEST_REPEAT_UNIT, MOST_REPEATS
from pairhmm.variants.call_writer import field_lines, filter_lines, gvcf_lines
from pairhmm.variants.genotypes import (
    INFORMATIVE,
    MANY_UNFIT,
    MAX_GENOTYPES,
    MAX_GQ,
    GenotypeOptions,
    RecordOptions,
)

MAX_CELLS = 50_000_000
"""Cells that the page scores in one call, about: it has less memory."""


def parameters() -> dict[str, Any]:
    """The exports of the module, in types that JSON has."""
    run, genotypes, records = RunOptions(), GenotypeOptions(), RecordOptions()
    groups = run.reads, run.model, run.joining, run.evidence, run.discovery, genotypes
    options: dict[str, Any] = {name: value for group in groups for name, value in _simple(group).items()}
    options |= {"chunk_size": run.chunk_size, "min_qual": MIN_QUALITY, "gvcf": records.gvcf, "mnv": records.mnv}
    options |= {"model": "gatk", "parameters": profile.PRESETS[0], "preset": "illumina"}
    options |= {"circular": run.reads.circular, "max_cells": MAX_CELLS, "stutter": run.stutter}
    return {
        "OPTIONS": _in_javascript(options),
        "READ_PRESETS": {name: _in_javascript(values) for name, values in PRESETS.items()},
        "MIXTURE": _in_javascript(MIXTURE),
        "MIXTURE_OF_COPIES": _in_javascript(MIXTURE_OF_COPIES),
        "PROFILES": {name: _profile(name) for name in profile.PRESETS},
        "STR_TABLES": {name: _tables(name) for name in LIBRARIES},
        "PCR_QUALITIES": {name: gatk.pcr_quality(name).tolist() for name in get_args(gatk.PcrModel)},
        "CORE": _of_the_core(records),
        "LOOK": _in_javascript(_of_the_look()),
        "MAX_GQ": MAX_GQ,
        "FIELD_LINES": list(field_lines()),
        "MIXTURE_FILTER_LINES": list(filter_lines(records, mixture=True)),
        "MIXTURE_FIELD_LINES": list(field_lines(mixture=True)),
        "GVCF_LINES": list(gvcf_lines(records.gq_bands)),
        "LIKELIHOOD_COLUMNS": COLUMNS,
        "HAPLOTYPE_COLUMNS": HAPLOTYPE_COLUMNS,
        "MAX_GENOTYPES": MAX_GENOTYPES,
        "MANY_UNFIT": MANY_UNFIT,
        "INFORMATIVE": INFORMATIVE,
        "LONG_READS": LONG_READS,
        "MANY_NAMESAKES": MANY_NAMESAKES,
        "MOST": MOST,
        "ERROR": gatk.ERROR.tolist(),
    }


def _of_the_core(records: RecordOptions) -> dict[str, Any]:
    """Options of the core that are constants here, by its names (cpu/wasm/run_options.cpp)."""
    constants = {
        "lowest_usable_base_quality": gatk.LOWEST_USABLE_BASE_QUALITY,
        "longest_repeat_unit": LONGEST_REPEAT_UNIT,
        "most_repeats": MOST_REPEATS,
        "gq_bands": list(records.gq_bands),
        "least_copies": LEAST_COPIES,
        "slip_spread": StrModel.__dataclass_fields__["spread"].default,
    }
    return _in_javascript(constants | {f"{name}_without_pcr": table for name, table in _tables(LIBRARIES[0]).items()})


def _of_the_look() -> dict[str, float]:
    """What is looked at of a library, and what follows."""
    return {
        "share": stutter.SHARE,
        "fewest": stutter.FEWEST,
        "most": stutter.MOST,
        "windows": stutter.WINDOWS,
        "of_window": stutter.OF_WINDOW,
        "of_mixture": stutter.OF_MIXTURE,
        "at_once": stutter.AT_ONCE,
        "bases": stutter.BASES,
        "span": stutter.SPAN,
        "indexed": stutter.INDEXED,
        "long": stutter.LONG,
        "excess": stutter.EXCESS,
        "spread_of_long": stutter.SPREAD_OF_LONG,
    }


def _tables(library: str) -> dict[str, list[int]]:
    return {table: np.ravel(getattr(str_model_of(library), table)).tolist() for table in TABLES}


def _simple(options: Any) -> dict[str, bool | int | float | str | None]:
    """The options that are numbers, switches, names or nothing."""
    values = {field.name: getattr(options, field.name) for field in fields(options)}
    return {name: value for name, value in values.items() if isinstance(value, bool | int | float | str | None)}


def _in_javascript(options: Any) -> dict[str, Any]:
    words = {name: name.split("_") for name in options}
    return {first + "".join(map(str.title, rest)): options[name] for name, (first, *rest) in words.items()}


def _profile(name: str) -> dict[str, Any]:
    model = profile.preset(name)
    return {
        "name": name,
        "match": model.match.tolist(),
        "insertion": model.insertion.tolist(),
        "transitions": dict(model.transitions),
        "start": next(key for key, start in profile.STARTS.items() if start == model.start),
    }


def module() -> str:
    """The module's text. Each constant is an export, so that a bundle has only those that it needs."""
    lines = ["// Made by `python -m pairhmm.calling.web_parameters`.\n"]
    for name, value in parameters().items():
        text = json.dumps(value, separators=(",", ":"), allow_nan=False)
        made = f"/* @__PURE__ */ Float64Array.from({text})" if name == "ERROR" else f"/** @type {{any}} */ ({text})"
        lines.append(f"export const {name} = {made};\n")
    return "".join(lines)


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(module())
