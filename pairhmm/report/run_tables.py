"""A fit, and the times of a run's jobs, in a report."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pairhmm.report.fits import ReportedFit, ReportedRound, read_fit, read_rounds
from pairhmm.report.inputs import ReportInputs
from pairhmm.report.parts import ReportPart
from pairhmm.report.timings import Timing, read_timings


@dataclass(frozen=True, slots=True)
class Fit(ReportPart):
    """Parameters of `pairhmm fit`, None without them, and the rounds of the fit."""

    fit: ReportedFit | None = None
    rounds: Sequence[ReportedRound] = ()

    def for_page(self, samples: Mapping[str, int]) -> dict[str, Any]:
        fit = self.fit
        if fit is None:
            return {"fit": None}
        return {
            "fit": {
                "model": fit.model,
                "source": fit.source,
                "reads": fit.reads,
                "log10": fit.log10,
                "firstLog10": fit.first_log10,
                "basis": fit.basis,
                "estimates": [[one.name, one.probability, one.error, one.count] for one in fit.estimates],
                "rounds": [[one.pairs, one.number, one.reads, one.log10_per_read] for one in self.rounds],
            }
        }


def read_reported_fit(inputs: ReportInputs, known: Collection[str], notes: list[str]) -> Fit:
    """Read the parameters and the rounds of a fit."""
    if inputs.fit is None:
        return Fit()
    return Fit(read_fit(inputs.fit), () if inputs.fit_rounds is None else read_rounds(inputs.fit_rounds))


@dataclass(frozen=True, slots=True)
class Timings(ReportPart):
    """Times and memory of jobs."""

    jobs: Sequence[Timing]

    def for_page(self, samples: Mapping[str, int]) -> dict[str, Any]:
        return {"timings": [[job.name, job.seconds, job.cpu_seconds, job.megabytes] for job in self.jobs]}


def read_reported_timings(inputs: ReportInputs, known: Collection[str], notes: list[str]) -> Timings:
    """Read the benchmark files of Snakemake."""
    return Timings(read_timings(inputs.timings))
