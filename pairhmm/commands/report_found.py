"""The contents of a run's outputs, as a report takes them."""

from __future__ import annotations

from dataclasses import dataclass, field

from pairhmm.commands.report_map import MapTables
from pairhmm.commands.report_panels import Panels
from pairhmm.io.report.fits import ReportedFit, ReportedRound
from pairhmm.io.report.timings import Timing
from pairhmm.reporting.cohort import Cohort
from pairhmm.reporting.hits import Hits
from pairhmm.reporting.sites import ReportedSite
from pairhmm.scanning.batch import Signatures
from pairhmm.scanning.rollup import SignatureSeen


@dataclass(slots=True)
class Found:
    """Everything that a report shows.

    Attributes
    ----------
    sites : list of ReportedSite
        Sites that are shown.
    seen_sites : int
        Number of sites in the calls; without calls, of those that are shown.
    panels : Panels
    cohort : Cohort or None
        None without calls.
    hits : Hits or None
        None without tables of hits.
    scanned : list of str
        Samples of the scan, those without a hit too.
    seen : list of (str, SignatureSeen)
        Sample, and what tiles say of a signature that has reads, the most abundant of each sample first.
    signatures : Signatures or None
    timings : list of Timing
    fit : ReportedFit or None
    rounds : list of ReportedRound
        Of the fit.
    tables : MapTables
        Of `pairhmm map`.
    provenance : list of (str, str, str)
        File, key and value of header lines.
    models : list of (str, str)
        Each file of scores or calls, and the model that it names, with its parameters.
    inputs : list of (str, str)
        What a file is, and its path.
    notes : list of str
        What is missing or left out.
    info : list of str
        Names of the chosen fields of INFO.
    sheet : list of str or None
        Samples of the sheet; None without a sheet.
    """

    sites: list[ReportedSite] = field(default_factory=list)
    seen_sites: int = 0
    panels: Panels = field(default_factory=lambda: Panels([]))
    cohort: Cohort | None = None
    hits: Hits | None = None
    scanned: list[str] = field(default_factory=list)
    seen: list[tuple[str, SignatureSeen]] = field(default_factory=list)
    signatures: Signatures | None = None
    timings: list[Timing] = field(default_factory=list)
    fit: ReportedFit | None = None
    rounds: list[ReportedRound] = field(default_factory=list)
    tables: MapTables = field(default_factory=MapTables)
    provenance: list[tuple[str, str, str]] = field(default_factory=list)
    models: list[tuple[str, str]] = field(default_factory=list)
    inputs: list[tuple[str, str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    info: list[str] = field(default_factory=list)
    sheet: list[str] | None = None

    @property
    def samples(self) -> list[str]:
        """Samples of the calls, of the likelihoods, of the scan and of the map's tables, each once."""
        return list(dict.fromkeys([*self.panels.samples, *self.scanned, *self.tables.samples]))
