"""Compare the genotypes of a call set with those of a truth set."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass

from pairhmm.bench.dosages import Allele, read_dosages


@dataclass(frozen=True, slots=True)
class CallAccuracy:
    """Counts of one class of variants."""

    # Alternate alleles in both sets, in the calls only, and in the truth only
    true_positives: int
    false_positives: int
    false_negatives: int
    same_genotype: int  # True positives with as many copies of the allele as in the truth

    @property
    def precision(self) -> float:
        """Share of the calls that are true; 1 without calls."""
        return _share(self.true_positives, self.true_positives + self.false_positives)

    @property
    def recall(self) -> float:
        """Share of the truth that was called; 1 without truth."""
        return _share(self.true_positives, self.true_positives + self.false_negatives)

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall."""
        return _share(2 * self.true_positives, 2 * self.true_positives + self.false_positives + self.false_negatives)

    @property
    def genotype_concordance(self) -> float:
        """Share of the true positives with the true genotype; 1 without true positives."""
        return _share(self.same_genotype, self.true_positives)

    def as_dict(self) -> dict[str, float]:
        """Counts and ratios under their names."""
        ratios = {name: getattr(self, name) for name in ("precision", "recall", "f1", "genotype_concordance")}
        return asdict(self) | ratios


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 1.0


def compare(
    calls: str | os.PathLike[str],
    truth: str | os.PathLike[str],
    reference: str | os.PathLike[str],
    sample: str | None = None,
) -> dict[str, CallAccuracy]:
    """Compare a sample's genotypes (by default the first) in two VCF or BCF files: ``"snv"`` and ``"indel"``.

    Every alternate allele of a genotype is trimmed and left-aligned before it is looked up in the other file, so that
    it does not matter how either wrote it. Records that a filter failed and genotypes without an alternate allele are
    left out.
    """
    return compare_dosages(*(read_dosages(path, reference, sample) for path in (calls, truth)))


def compare_dosages(called: Mapping[Allele, int], expected: Mapping[Allele, int]) -> dict[str, CallAccuracy]:
    """The same of copies of alleles."""
    by_kind = {}
    for kind, is_snv in (("snv", True), ("indel", False)):
        mine, true = ({a: copies for a, copies in one.items() if a.is_snv == is_snv} for one in (called, expected))
        shared = mine.keys() & true.keys()
        by_kind[kind] = CallAccuracy(
            true_positives=len(shared),
            false_positives=len(mine) - len(shared),
            false_negatives=len(true) - len(shared),
            same_genotype=sum(mine[allele] == true[allele] for allele in shared),
        )
    return by_kind
