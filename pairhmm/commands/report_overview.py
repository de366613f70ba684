"""What the first screen of a report says: what was called, on what, by what, and whether all samples are there."""

from __future__ import annotations

import re
from typing import Any

from pairhmm.commands.report_found import Found

_DAY = re.compile(r"(\d{4})-?(\d{2})-?(\d{2})")


def overview(found: Found) -> dict[str, Any]:
    """The first screen's figures (`report_page/overview.js`)."""
    return {
        "calls": _calls(found),
        "reference": next(iter(_said(found, "reference")), None),
        "dates": [_day(date) for date in _said(found, "fileDate")],
        "callers": _said(found, "source"),
        "backends": _said(found, "pairhmmBackend"),
        "sheet": _sheet(found),
    }


def _calls(found: Found) -> dict[str, Any] | None:
    cohort = found.cohort
    if cohort is None:
        return None
    return {
        "records": cohort.records,
        "passed": cohort.passed,
        "failed": sorted(cohort.failed.items()),
        "called": sum(one.called for one in cohort.figures),
        "missing": sum(one.missing for one in cohort.figures),
        "missingSites": cohort.uncalled_sites,
        "thin": sum(one.thin for one in cohort.figures),
        "thinSites": cohort.thin_sites,
        "minDepth": cohort.min_depth,
    }


def _said(found: Found, key: str) -> list[str]:
    """The values of a line of the calls' header, each once. A reference that was given comes first."""
    given = [path for what, path in found.inputs if what == key == "reference"]
    return list(dict.fromkeys([*given, *(value for _, name, value in found.provenance if name == key)]))


def _day(text: str) -> str:
    """A date as 2026-11-24, if it is one."""
    parts = _DAY.fullmatch(text)
    return "-".join(parts.groups()) if parts else text


def _sheet(found: Found) -> dict[str, Any] | None:
    """The samples of the sheet that have no results, and those with results that it does not have."""
    if found.sheet is None:
        return None
    known, listed = set(found.samples), set(found.sheet)
    return {
        "samples": len(found.sheet),
        "missing": [sample for sample in found.sheet if sample not in known],
        "unknown": [sample for sample in found.samples if sample not in listed],
    }
