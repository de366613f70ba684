"""The files that a report is made of, and which of them need each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypedDict

from pairhmm.errors import InputError
from pairhmm.interface.arguments import AnyPath, Paths, Texts, path_of, paths_of, texts_of
from pairhmm.io.likelihoods.table import companion

MAP_TABLES = ("map", "distances", "pairs", "sample_checks")
"""Fields of `ReportInputs` that name tables of `pairhmm map`."""


@dataclass(frozen=True, slots=True)
class ReportInputs:
    """The files of a report. At least one must be given that has results: not only a reference or timings.

    Paths may be text, bytes or path objects. A single path needs no list.

    Attributes
    ----------
    reference : str or None
        FASTA.
    calls : str or None
        VCF or BCF.
    likelihoods : sequence of str
        Tables of `pairhmm likelihoods`, each with its companion beside it.
    alignments : sequence of str
        BAM or CRAM with their indexes, for the strand and the mapping quality of each read. They need `reference`.
    hits : sequence of str
        Tables of `pairhmm scan`.
    signatures : str or None
        FASTA of the signatures that were scanned for.
    timings : sequence of str
        Benchmark files of Snakemake.
    hits_samples : sequence of str
        The sample of each of `hits`. Without them, samples are named by the tables.
    scan_summaries : sequence of str
        Tables ``PREFIX.signatures.tsv`` of `pairhmm scan --tile --summary`: one for each of `hits`, in their order.
    fit : str or None
        Parameters (TOML) that `pairhmm fit` wrote.
    fit_rounds : str or None
        The table of rounds of that fit.
    map : str or None
        The positions that `pairhmm map draw` wrote.
    distances : str or None
        The table of `pairhmm map distances`.
    pairs, sample_checks : str or None
        The tables of pairs and of samples of `pairhmm map relate`.
    sheet : str or None
        The sample sheet: which samples should be there.
    info : sequence of str
        Fields of INFO that the list of sites shows. Without them, gene and consequence of ANN or CSQ.
    """

    reference: str | None = None
    calls: str | None = None
    likelihoods: Sequence[str] = ()
    alignments: Sequence[str] = ()
    hits: Sequence[str] = ()
    signatures: str | None = None
    timings: Sequence[str] = ()
    hits_samples: Sequence[str] = ()
    scan_summaries: Sequence[str] = ()
    fit: str | None = None
    fit_rounds: str | None = None
    map: str | None = None
    distances: str | None = None
    pairs: str | None = None
    sample_checks: str | None = None
    sheet: str | None = None
    info: Sequence[str] = ()

    def __post_init__(self) -> None:
        for name in ("reference", "calls", "signatures", "fit", "fit_rounds", "sheet", *MAP_TABLES):
            object.__setattr__(self, name, path_of(getattr(self, name)))
        for name in ("likelihoods", "alignments", "hits", "scan_summaries", "timings"):
            object.__setattr__(self, name, tuple(paths_of(getattr(self, name))))
        for name in ("hits_samples", "info"):
            object.__setattr__(self, name, tuple(texts_of(getattr(self, name))))

    def paths(self) -> list[str | None]:
        """All files that are read, including the companions of tables."""
        tables = (*self.likelihoods, *map(companion, self.likelihoods))
        single = self.reference, self.calls, self.signatures, self.fit, self.fit_rounds, self.sheet, *self.map_tables()
        return [*single, *tables, *self.alignments, *self.hits, *self.scan_summaries, *self.timings]

    def map_tables(self) -> list[str | None]:
        """The tables of `pairhmm map`, in the order of `MAP_TABLES`."""
        return [getattr(self, name) for name in MAP_TABLES]


class ReportKeywords(TypedDict, total=False):
    """The fields of `ReportInputs`."""

    reference: AnyPath | None
    calls: AnyPath | None
    likelihoods: Paths
    alignments: Paths
    hits: Paths
    signatures: AnyPath | None
    timings: Paths
    hits_samples: Texts
    scan_summaries: Paths
    fit: AnyPath | None
    fit_rounds: AnyPath | None
    map: AnyPath | None
    distances: AnyPath | None
    pairs: AnyPath | None
    sample_checks: AnyPath | None
    sheet: AnyPath | None
    info: Texts


def check_inputs(inputs: ReportInputs) -> None:
    """Require that there is something to report, and that no file is given without those that it needs.

    Raises
    ------
    InputError
    """
    one_each = inputs.calls, inputs.fit, *inputs.map_tables()
    if not any(one_each) and not inputs.likelihoods and not inputs.hits:
        cure = "give --calls, --likelihoods, --hits, --fit or a table of pairhmm map"
        raise InputError("report", "", "nothing to report", cure)
    if inputs.alignments and inputs.reference is None:
        raise InputError("--alignments", "", "need the reference that they are aligned to", "give it with -f")
    if inputs.alignments and not inputs.likelihoods:
        raise InputError("--alignments", "", "tell of the reads of likelihood tables", "give those with --likelihoods")
    if inputs.hits_samples and len(inputs.hits_samples) != len(inputs.hits):
        rule = f"{len(inputs.hits_samples)} names for {len(inputs.hits)} tables"
        raise InputError("--hits-sample", "", rule, "name the sample of each --hits once, in their order")
    if inputs.scan_summaries and len(inputs.scan_summaries) != len(inputs.hits):
        rule = f"{len(inputs.scan_summaries)} summaries for {len(inputs.hits)} tables"
        raise InputError("--scan-summary", "", rule, "give one for each --hits, in their order")
    if inputs.signatures is not None and not inputs.hits:
        raise InputError("--signatures", "", "say more of hits", "give those with --hits")
    if inputs.info and inputs.calls is None:
        raise InputError("--info", "", "names fields of calls", "give those with --calls")
    if inputs.fit_rounds is not None and inputs.fit is None:
        raise InputError("--fit-rounds", "", "are those of a fit", "give its parameters with --fit")


def described(inputs: ReportInputs) -> list[tuple[str, str]]:
    """A description and the path of each file."""
    single = (
        ("sample sheet", inputs.sheet),
        ("reference", inputs.reference),
        ("calls", inputs.calls),
        ("signatures", inputs.signatures),
        ("fit", inputs.fit),
        ("fit", inputs.fit_rounds),
        ("map", inputs.map),
        ("distances", inputs.distances),
        ("pairs", inputs.pairs),
        ("sample checks", inputs.sample_checks),
    )
    several = (
        ("likelihoods", inputs.likelihoods),
        ("alignments", inputs.alignments),
        ("hits", inputs.hits),
        ("signatures seen", inputs.scan_summaries),
    )
    named = [(what, path) for what, path in single if path is not None]
    return named + [(what, path) for what, paths in several for path in paths]
