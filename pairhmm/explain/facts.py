"""What an explanation says. Positions are 1-based here, as users see them."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, order=True)
class AltAllele:
    """An alternative allele, as VCF writes it."""

    position: int
    ref: str
    alt: str

    def __str__(self) -> str:
        return f"{self.position} {self.ref}>{self.alt}"

    @property
    def is_indel(self) -> bool:
        """Whether it changes the length."""
        return len(self.ref) != len(self.alt)

    def has(self, position: int) -> bool:
        """Whether a position is one of its reference bases, or behind its insertion."""
        return self.position <= position < self.position + len(self.ref) + (len(self.alt) > len(self.ref))


@dataclass(slots=True)
class ReadsThere:
    """The reads of a sample over the position.

    Attributes
    ----------
    over, used : int
        All of them, and those that are used.
    left_out : dict of str to int
        The others by reason.
    """

    over: int = 0
    used: int = 0
    left_out: dict[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class AlleleCount:
    """How a sample's alignments show an allele.

    Attributes
    ----------
    good : int
        Used reads that show it with a base of `--min-base-quality` or more.
    poor : int
        Used reads that show it with a lower one.
    depth : int
        Used reads at the allele's position with a good base, or a deletion of it.
    forward, reverse : int
        Strands of the used reads that show it.
    qualities : list of int
        The base qualities of an SNV's used reads, ascending.
    left_out : dict of str to int
        Reads that are left out and show it, by reason.
    least_count, least_share : int and float
        What a candidate needs: good reads, and their share of the depth.
    """

    good: int = 0
    poor: int = 0
    depth: int = 0
    forward: int = 0
    reverse: int = 0
    qualities: list[int] = field(default_factory=list)
    left_out: dict[str, int] = field(default_factory=dict)
    least_count: int = 1
    least_share: float = 0.0

    @property
    def share(self) -> float:
        """The share of the depth that shows it."""
        return self.good / self.depth if self.depth else 0.0

    @property
    def all_reads(self) -> int:
        """Reads that show it, those left out among them."""
        return self.good + self.poor + sum(self.left_out.values())

    def is_enough(self, more: int = 0) -> bool:
        """Whether the reads make a candidate; `more` reads are added."""
        count = self.good + more
        return count >= self.least_count and count >= self.least_share * (self.depth + more)


@dataclass(slots=True)
class ShownAllele:
    """An allele that alignments show, or that is a candidate.

    Attributes
    ----------
    is_here : bool
        Whether the position lies in its extent; else it is near.
    is_candidate : bool
        Whether discovery finds it in these reads.
    is_listed : bool
        Whether the list of candidates has it.
    samples : dict of str to AlleleCount
    """

    allele: AltAllele
    is_here: bool
    is_candidate: bool = False
    is_listed: bool = False
    samples: dict[str, AlleleCount] = field(default_factory=dict)


@dataclass(slots=True)
class Way:
    """A way of an assembly that leaves the reference and comes back.

    `reads` and `leaving`: how many reads it weighs as, and all ways together where it begins, the reference among them.
    `are_supported`: of each allele, whether enough reads have it.
    """

    reads: float
    leaving: float
    is_united: bool
    alleles: list[AltAllele]
    are_supported: list[bool]


@dataclass(slots=True)
class SampleAssembly:
    """The assembly of a sample's reads in a window. `tried`: each k, and why it was not taken. `k` is 0 without any."""

    k: int
    is_whole: bool
    tried: list[tuple[int, str]]
    ways: list[Way]


@dataclass(slots=True)
class Window:
    """A window of assembly, inclusive.

    `events`, `reads`: of each sample, its clips and gaps, and its reads over them. `explained`: candidates of
    alignments that were dropped, and by how many reads more the ways explain them than not. `changes`: candidates that
    make one of the two `snvs`, in a repeat of another length. `told_by_clips`: candidates that clips tell, and of how
    many reads. The window of either is not assembled, and has nothing else.
    """

    start: int
    end: int
    events: list[int]
    reads: list[int]
    is_active: bool
    samples: list[SampleAssembly]
    explained: list[tuple[AltAllele, int]]
    snvs: list[int]
    changes: list[AltAllele]
    told_by_clips: list[tuple[AltAllele, int]]


@dataclass(slots=True)
class ScoredHaplotypes:
    """A region of candidates that share reads; `start` and `end` are inclusive.

    Attributes
    ----------
    candidates : list of str
        Each as position, REF and ALT, with its role.
    haplotypes, left_out : int
        Haplotypes, and those that the cap left out.
    is_over : bool
        Whether there are more of these than were counted.
    reads : int
        Reads that were scored.
    capped : dict of str to int
        Reads of each sample that the depth limit left out.
    set_aside : dict of str to int
        Reads of each sample that fit no haplotype.
    used_all_the_same : int
        Those of them that genotypes use, because they are many.
    """

    start: int
    end: int
    candidates: list[str]
    haplotypes: int
    left_out: int
    is_over: bool
    reads: int
    capped: dict[str, int]
    set_aside: dict[str, int]
    used_all_the_same: int


@dataclass(slots=True)
class WeighedGenotype:
    """A genotype of a sample: log10 prior and likelihood, posterior probability, and the share of other sources.

    The share is that of P(reads | genotype) which is not of reads that are all the sample's.
    """

    genotype: str
    prior: float
    likelihood: float
    posterior: float
    other_sources: float


@dataclass(slots=True)
class CalledSample:
    """The call of a sample.

    `best_without`: the best genotype without each of the other sources of reads, where that is another one.
    """

    genotype: str
    depth: int
    depths: list[int]
    quality: int
    genotypes: list[WeighedGenotype]
    best_without: dict[str, str]


@dataclass(slots=True)
class ExplainedSite:
    """A candidate that was genotyped.

    Attributes
    ----------
    alleles : list of AltAllele
    record : str or None
        Its line of the VCF; None where it has none.
    quality : float
        QUAL.
    filter : str
    text : list of str
        All of it in words.
    """

    alleles: list[AltAllele]
    record: str | None
    quality: float
    filter: str
    samples: dict[str, CalledSample]
    text: list[str] = field(default_factory=list, repr=False)

    @property
    def has_alternative(self) -> bool:
        """Whether some sample has an alternative allele."""
        return any(is_alternative(one.genotype) for one in self.samples.values())

    @property
    def is_called(self) -> bool:
        """Whether there is a record of it, with an alternative allele of a sample."""
        return self.record is not None and self.has_alternative


def is_alternative(genotype: str) -> bool:
    """Whether a genotype has an alternative allele."""
    return any(allele not in "0." for allele in genotype.replace("|", "/").split("/"))


@dataclass(slots=True)
class Verdict:
    """Whether the position is called, and why.

    Attributes
    ----------
    reason : str
        One of `pairhmm.explain.verdict.REASONS`.
    text : str
    cures : list of str
        Options with which it is called.
    """

    is_called: bool
    reason: str
    text: str
    cures: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Explanation:
    """Why a position is called, or not.

    Attributes
    ----------
    chrom, position : str and int
    verdict : Verdict
    reads : dict of str to ReadsThere
        By sample.
    alleles : list of ShownAllele
        Those here first, those with most reads before others.
    windows : list of Window
        Of assembly, over the position.
    regions : list of ScoredHaplotypes
    sites : list of ExplainedSite
    text : dict of str to list of str
        `reads`, `alleles` and `windows` in words: lines by the titles of their sections.
    """

    chrom: str
    position: int
    verdict: Verdict
    reads: dict[str, ReadsThere]
    alleles: list[ShownAllele]
    windows: list[Window]
    regions: list[ScoredHaplotypes]
    sites: list[ExplainedSite]
    text: dict[str, list[str]] = field(default_factory=dict, repr=False)
