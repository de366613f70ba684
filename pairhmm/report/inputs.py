"""The files that a report is made of, and which of them need each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any, TypedDict

from pairhmm.arguments import AnyPath, Paths, Texts, path_of, paths_of, texts_of
from pairhmm.errors import InputError
from pairhmm.likelihoods.table import companion

MAP_TABLES = ("map", "distances", "pairs", "sample_checks")
"""Fields of `ReportInputs` that name tables of `pairhmm map`."""
SEVERAL = "This option may be repeated."
IN_ORDER = "Repeat this option once for each --hits, in their order."


def _file(what: str, text: str) -> Any:
    """A file: what it is in the report, and its help text on the command line."""
    return field(default=None, metadata={"what": what, "help": text, "taken": path_of})


def _files(what: str, text: str, repeats: str = SEVERAL) -> Any:
    return field(default=(), metadata={"what": what, "help": f"{text} {repeats}", "taken": paths_of})


def _texts(metavar: str, text: str, repeats: str = SEVERAL) -> Any:
    return field(default=(), metadata={"metavar": metavar, "help": f"{text} {repeats}", "taken": texts_of})


@dataclass(frozen=True, slots=True)
class ReportInputs:
    """The files of a report. At least one must be given that has results: not only a reference or timings.

    Paths may be text, bytes or path objects. A single path needs no list. Each field is the option of `pairhmm report`
    of its name, with the text below.

    Attributes
    ----------
    reference, calls, tiles, targets, signatures, fit, fit_rounds : str or None
        A path.
    map, distances, pairs, sample_checks, sheet : str or None
        A path.
    likelihoods, alignments, hits, scan_summaries, explanations, timings : sequence of str
        Paths.
    circular, hits_samples, info : sequence of str
        Names of contigs and of samples, and keys of INFO.
    """

    reference: str | None = _file("reference", "The reference genome (FASTA).")
    calls: str | None = _file("calls", "The genotypes that 'call' wrote (VCF or BCF).")
    likelihoods: Sequence[str] = _files(
        "likelihoods", "A table that 'likelihoods' wrote, with the table of its haplotypes beside it."
    )
    alignments: Sequence[str] = _files(
        "alignments",
        "The alignments of the reads in --likelihoods: BAM or CRAM with an index. They add strand, mapping quality"
        " and deciding bases to each read. With the calls of 'call --mixture', they show the depth along the genome."
        " Needs -f.",
    )
    tiles: str | None = _file(
        "tiles",
        "The tiles of an amplicon scheme (BED), or its primers if names end in _LEFT and _RIGHT. The report names tiles"
        " without enough depth. Needs --alignments.",
    )
    circular: Sequence[str] = _texts(
        "NAME",
        "A contig that is a circle, as in 'call --circular': reads over its origin count as depth on both sides of it."
        " Needs --alignments.",
    )
    targets: str | None = _file(
        "targets",
        "The targets of a panel or an exome (BED or Picard's interval list). The report tells how much of each has"
        " enough depth (--min-depth, by default 20), and where its gaps are. Needs --alignments and -f.",
    )
    hits: Sequence[str] = _files("hits", "A table that 'scan' wrote.")
    hits_samples: Sequence[str] = _texts("NAME", "The sample of a table of hits.", IN_ORDER)
    scan_summaries: Sequence[str] = _files(
        "signatures seen", "The table PREFIX.signatures.tsv of 'scan --summary'.", IN_ORDER
    )
    signatures: str | None = _file("signatures", "The signatures (FASTA) that 'scan' looked for.")
    explanations: Sequence[str] = _files("explanations", "The explanations of positions (text) that 'explain' wrote.")
    timings: Sequence[str] = _files("", "A benchmark file of Snakemake (TSV).")
    fit: str | None = _file("fit", "The parameters (TOML) that 'fit' wrote.")
    fit_rounds: str | None = _file(
        "fit", "The table that 'fit --rounds' wrote: the likelihood of each round. Needs --fit."
    )
    map: str | None = _file(
        "map",
        "The positions that 'map draw' wrote. The report can redraw the map with other weights.",
    )
    distances: str | None = _file("distances", "The table that 'map distances' wrote.")
    pairs: str | None = _file("pairs", "The table of pairs that 'map relate' wrote.")
    sample_checks: str | None = _file(
        "sample checks", "The table of samples that 'map relate --sample-table' wrote: contamination and flags."
    )
    sheet: str | None = _file(
        "sample sheet",
        "The sample sheet. The report names its samples without results, and results of samples that it lacks.",
    )
    info: Sequence[str] = _texts(
        "KEY",
        "A field of INFO in --calls, for the list of sites. By default, the list shows gene and consequence if the"
        " calls have ANN or CSQ.",
    )

    def __post_init__(self) -> None:
        for option in fields(self):
            value = option.metadata["taken"](getattr(self, option.name))
            object.__setattr__(self, option.name, value if option.default is None else tuple(value))

    def paths(self) -> list[str]:
        """All files that are read, including the companions of tables."""
        return [path for _, path in self._files()] + [companion(path) for path in self.likelihoods]

    def described(self) -> list[tuple[str, str]]:
        """What each file is in the report, and its path."""
        return [(what, path) for what, path in self._files() if what]

    def _files(self) -> list[tuple[str, str]]:
        named = [(field.metadata, getattr(self, field.name)) for field in fields(self)]
        files = [(metadata["what"], value) for metadata, value in named if "what" in metadata]
        single = [(what, value) for what, value in files if isinstance(value, str)]
        return single + [(what, path) for what, value in files if isinstance(value, tuple) for path in value]

    def map_tables(self) -> list[str | None]:
        """The tables of `pairhmm map`, in the order of `MAP_TABLES`."""
        return [getattr(self, name) for name in MAP_TABLES]


class ReportKeywords(TypedDict, total=False):
    """The fields of `ReportInputs`."""

    reference: AnyPath | None
    calls: AnyPath | None
    likelihoods: Paths
    alignments: Paths
    tiles: AnyPath | None
    circular: Texts
    targets: AnyPath | None
    hits: Paths
    signatures: AnyPath | None
    explanations: Paths
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
    one_each = inputs.calls, inputs.targets, inputs.fit, *inputs.map_tables()
    if not any((*one_each, inputs.likelihoods, inputs.hits, inputs.explanations)):
        cure = "give --calls, --likelihoods, --targets, --hits, --fit, --explanations or a table of pairhmm map"
        raise InputError("report", "", "nothing to report", cure)
    if inputs.alignments and inputs.reference is None:
        raise InputError("--alignments", "", "need the reference that they are aligned to", "give it with -f")
    if inputs.alignments and not inputs.likelihoods and inputs.calls is None and inputs.targets is None:
        rule, cure = (
            "tell of the reads of likelihood tables, or of targets",
            "give those with --likelihoods or --targets",
        )
        raise InputError("--alignments", "", rule, cure)
    if inputs.targets is not None and not inputs.alignments:
        raise InputError("--targets", "", "need the depth of reads", "give their --alignments")
    if inputs.tiles is not None and not inputs.alignments:
        raise InputError("--tiles", "", "need the depth of reads", "give their --alignments")
    if inputs.circular and not inputs.alignments:
        raise InputError("--circular", "", "is for the depth of reads", "give their --alignments")
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
