"""The description of a run: its files and regions (`RunInputs`), all its options (`RunOptions`), and presets of these.

Inputs and options are plain data, which can be pickled.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Self

from pairhmm.alignments.molecules import Families
from pairhmm.alignments.sam import DUPLICATE, QC_FAIL, SECONDARY, SUPPLEMENTARY, UNMAPPED
from pairhmm.alignments.selection import ReadSelection
from pairhmm.arguments import AnyPath, Paths, Place, Regions, path_of, regions_of, some_paths_of
from pairhmm.calling.discovery import CandidateOptions
from pairhmm.calling.molecules import MoleculeOptions
from pairhmm.calling.stream import EvidenceOptions
from pairhmm.engine import Choice, check_backend
from pairhmm.errors import InputError, OptionError
from pairhmm.models.gatk import GatkOptions
from pairhmm.models.labels import label_of
from pairhmm.models.profile import ProfileModel
from pairhmm.options import LARGEST, Within, check_choice, check_fields
from pairhmm.sequences.intervals import Interval
from pairhmm.variants.regions import RegionOptions

EXCLUDED_FLAGS = UNMAPPED | SECONDARY | QC_FAIL | DUPLICATE | SUPPLEMENTARY
"""SAM flags of the alignments that are left out by default, as in GATK's HaplotypeCaller."""

MIN_MAPQ = 20
"""Mapping quality (Phred) below which alignments are left out by default, as in GATK's HaplotypeCaller."""


@dataclass(frozen=True, slots=True)
class RunInputs:
    """The files that a run reads, and the regions that it covers. `RunInputs.of` makes it from callers' arguments.

    Attributes
    ----------
    alignments : tuple of str
        BAM or CRAM files, sorted by coordinate. Samples are those of their read groups.
    reference : str
        FASTA that the reads were aligned to.
    candidates : str or None
        VCF or BCF of candidate variants. Haplotypes are combinations of their alleles.
    haplotypes : str or None
        FASTA of the haplotypes of one region. With neither `candidates` nor `haplotypes`, candidates are found in the
        reads.
    regions : tuple of str or (str, int, int)
        ``chr:begin-end`` or ``chr:position``, 1-based inclusive; or contig, start and end, 0-based half-open. They need
        indexed alignments.
    regions_file : str or None
        BED, 0-based half-open. With neither `regions` nor `regions_file`, the run goes over everything.
    intervals : tuple of Interval or None
        Both, once they were read: a pipe can be read once only.
    """

    alignments: tuple[str, ...]
    reference: str
    candidates: str | None = None
    haplotypes: str | None = None
    regions: tuple[str | Place, ...] = ()
    regions_file: str | None = None
    intervals: tuple[Interval, ...] | None = None

    @classmethod
    def of(
        cls,
        alignments: Paths,
        reference: AnyPath,
        candidates: AnyPath | None = None,
        haplotypes: AnyPath | None = None,
        regions: Regions = (),
        regions_file: AnyPath | None = None,
    ) -> Self:
        """Make inputs from paths as text, bytes or path objects. A single alignment file or region needs no list.

        Raises
        ------
        InputError
            Where no alignment file is given, and where both candidates and haplotypes are.
        """
        if candidates is not None and haplotypes is not None:
            rule = f"take the place of the candidates {path_of(candidates)}"
            raise InputError("--haplotypes", path_of(haplotypes), rule, "give one of the two files")
        return cls(
            tuple(some_paths_of(alignments, "alignments")),
            path_of(reference),
            path_of(candidates),
            path_of(haplotypes),
            tuple(regions_of(regions)),
            path_of(regions_file),
        )

    @property
    def candidates_are_discovered(self) -> bool:
        """Whether the candidates are discovered in the reads."""
        return self.candidates is None and self.haplotypes is None

    @property
    def candidates_are_listed(self) -> bool:
        """Whether the candidates are the records of a file."""
        return self.candidates is not None and self.haplotypes is None

    @property
    def files(self) -> tuple[str | None, ...]:
        """Every file that is read, except indexes; None for each that was not given."""
        return (*self.alignments, self.reference, self.candidates, self.haplotypes, self.regions_file)


@dataclass(frozen=True, slots=True)
class RunOptions:
    """All options of a run. The defaults are those of the commands.

    Attributes
    ----------
    reads : ReadSelection
        Which alignments are used.
    model : GatkOptions
        How reads are prepared for the pair-HMM, and the gap qualities of GATK's model.
    profile : ProfileModel or None
        The parameters of the profile model; None for GATK's model.
    molecules : MoleculeOptions
        Which reads of a molecule become one profile.
    joining : RegionOptions
        How candidates are joined into regions.
    evidence : EvidenceOptions
        Limits on haplotypes and depth.
    discovery : CandidateOptions
        Thresholds of an allele seen in reads for becoming a candidate.
    padding : int
        Bases by which requested regions are extended on either side.
    stutter : bool
        Whether some reads are looked at first: where repeats stutter in them, the run takes an STR model, unless
        options say what gaps are like. Genotypes expect errors of one strand as often as these reads show them.
    backend : str or Choice
        The name of a backend, or a backend with its devices.
    threads : int
    chunk_size : int
        Approximate number of reads that are held at once. It changes no result.
    """

    reads: ReadSelection = field(default_factory=lambda: ReadSelection(EXCLUDED_FLAGS, MIN_MAPQ))
    model: GatkOptions = field(default_factory=GatkOptions)
    profile: ProfileModel | None = None
    molecules: MoleculeOptions = field(default_factory=MoleculeOptions)
    joining: RegionOptions = field(default_factory=RegionOptions)
    evidence: EvidenceOptions = field(default_factory=EvidenceOptions)
    discovery: CandidateOptions = field(default_factory=CandidateOptions)
    padding: Annotated[int, Within(0)] = 0
    stutter: bool = True
    backend: str | Choice = "auto"
    threads: Annotated[int, Within(1)] = 1
    chunk_size: Annotated[int, Within(1)] = 20_000

    def __post_init__(self) -> None:
        check_backend(self.backend)
        check_fields(self)
        if self.molecules.are_on and self.profile is None:
            name = "join_mates" if self.molecules.join_mates else "families"
            raise OptionError(name, getattr(self.molecules, name), "needs the profile model: reads become profiles")

    @staticmethod
    def keyword_meant(name: str) -> str | None:
        """The argument that takes the place of another tool's option, or of one of the command line."""
        from pairhmm.calling.foreign_names import keyword_of

        return keyword_of(name)

    @property
    def model_text(self) -> str:
        """The model for headers of outputs (`pairhmm.models.labels`), and which reads were joined.

        Such as ``gatk``, ``gatk (FILE)``, ``gatk, gap_quality=5`` or ``profile (NAME), mates joined``.
        """
        model = label_of(self.model, self.profile)
        return f"{model}, {self.molecules}" if self.molecules.are_on else model


# Long reads have errors that base qualities do not tell, so that a best score says little of where a read belongs: none
# is set aside, and mapping qualities do not cap base qualities. Their gaps are frequent, and not those of PCR.
_LONG: Mapping[str, Any] = {
    "pcr_indel_model": "none",
    "cap_by_mapping_quality": False,
    "error_rate": None,
}

PRESETS: Mapping[str, Mapping[str, Any]] = {
    "illumina": {},
    "hifi": {**_LONG, "insertion_quality": 30, "deletion_quality": 30},
    "ont": {
        **_LONG,
        "insertion_quality": 22,
        "deletion_quality": 19,
        "gap_quality": 5,
        "base_quality_threshold": None,
        "min_snv_fraction": 0.2,
        "min_indel_fraction": 0.2,
    },
}
"""The values of each preset, by the names of options. Others have their defaults, which are those of short reads."""

MIXTURE: Mapping[str, Any] = {"max_depth": LARGEST, "base_quality_threshold": None, "min_flank": 0}
"""The values that options have for a mixture where they are not given.

A low quality says how often errors show a rare allele: one that is lower still would take the allele for errors. And
regions end where the next one's candidates begin: reads that show more than one of these would fit no haplotype, and
they would be those of rare haplotypes.
"""

MIXTURE_OF_COPIES: Mapping[str, Any] = {**MIXTURE, "score_floor": 6.0}
"""The same where molecules were copied: copies that agree speak more clearly against a haplotype than a read can."""


def mixture_defaults(given: Collection[str], families: Families) -> dict[str, Any]:
    """The values that options have for a mixture, without those whose names were given."""
    values = MIXTURE if families == "none" else MIXTURE_OF_COPIES
    return {name: value for name, value in values.items() if name not in given}


def preset_options(name: str) -> Mapping[str, Any]:
    """The options of a preset, as keywords of `pairhmm.call` and `pairhmm.likelihoods`.

    Parameters
    ----------
    name : {"illumina", "hifi", "ont"}

    Returns
    -------
    mapping of str to object
        Values by the names of options; empty for "illumina".

    Raises
    ------
    OptionError
        For another name.

    Examples
    --------
    >>> pairhmm.preset_options("hifi")["insertion_quality"]
    30
    """
    check_choice("preset", name, tuple(PRESETS))
    return dict(PRESETS[name])
