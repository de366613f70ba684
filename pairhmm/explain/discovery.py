"""What the alignments at a position show, and what discovery makes of it: cpu/calling/local_evidence.hpp.

All coordinates are 0-based half-open, but those of the facts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pairhmm.calling.discovery import CandidateOptions
from pairhmm.explain.facts import AlleleCount, AltAllele, ReadsThere, SampleAssembly, ShownAllele, Way, Window
from pairhmm.explain.reads import LocalReads
from pairhmm.native import native

SECTIONS = ("Reads", "Alleles of alignments", "Assembly")
"""The titles of the text."""


Reason = tuple[str, str] | None
"""The code of `REASONS` and the text of what keeps a position from being called."""


@dataclass(frozen=True, slots=True)
class PositionEvidence:
    """What is seen at a position.

    Attributes
    ----------
    reads, alleles, windows
        The reads of each sample, alleles, and windows of assembly.
    text : dict of str to list of str
        The same in words.
    reasons : tuple
        What keeps each of them from a call, by code and text.
    """

    reads: dict[str, ReadsThere]
    alleles: list[ShownAllele]
    windows: list[Window]
    text: dict[str, list[str]]
    reasons: tuple[Reason, Reason, Reason]


def evidence_at(
    position: int,
    reads: LocalReads,
    listed: Iterable[AltAllele],
    is_listed_run: bool,
    options: CandidateOptions,
    reference: native.ReferenceBases,
    circle: int,
) -> PositionEvidence:
    """What the reads around a position show there. `listed`: alleles around it, in a run over a list.

    On a circle of so many bases (0: on none), the position and these alleles are unrolled.
    """
    samples, used = list(reads.samples), reads.used
    there, alleles, windows, text, reasons = native.local_evidence(
        used.chrom,
        reads.block.aligned,
        reads.reasons,
        used.native,
        samples,
        position,
        [(one.position - 1, one.ref, one.alt) for one in listed],
        is_listed_run,
        options,
        reference,
        circle,
    )
    spell = _Speller(used.chrom, reference)
    return PositionEvidence(
        {name: ReadsThere(*counts) for name, counts in zip(samples, there, strict=True)},
        [_shown(samples, *fields) for fields in alleles],
        [spell.window(fields) for fields in windows],
        dict(zip(SECTIONS, text, strict=True)),
        reasons,
    )


def _shown(
    samples: list[str], allele: tuple[int, str, str], is_here: bool, is_candidate: bool, is_listed: bool, counts: Any
) -> ShownAllele:
    position, ref, alt = allele
    of_samples = {name: AlleleCount(*one) for name, one in zip(samples, counts, strict=True)}
    return ShownAllele(AltAllele(position + 1, ref, alt), is_here, is_candidate, is_listed, of_samples)


class _Speller:
    """Makes facts of what native code decided on windows: alleles are spelled with the reference's letters."""

    def __init__(self, chrom: str, reference: native.ReferenceBases) -> None:
        self._chrom, self._reference = chrom, reference

    def window(self, fields: Mapping[str, Any]) -> Window:
        return Window(
            start=fields["start"] + 1,
            end=fields["end"],
            events=fields["events"],
            reads=fields["reads"],
            is_active=fields["is_active"],
            samples=[self._assembly(one) for one in fields["samples"]],
            explained=[(self._allele(allele), reads) for allele, reads in fields["explained"]],
            snvs=[position + 1 for position in fields["twins"]] if fields["changes"] else [],
            changes=[self._allele(allele) for allele in fields["changes"]],
            told_by_clips=[(self._allele(allele), reads) for allele, reads in fields["told_by_clips"]],
        )

    def _assembly(self, fields: Mapping[str, Any]) -> SampleAssembly:
        ways = [
            Way(
                reads=one["reads"],
                leaving=one["leaving"],
                is_united=one["is_united"],
                alleles=[self._allele(allele) for allele in one["alleles"]],
                are_supported=one["are_supported"],
            )
            for one in fields["ways"]
        ]
        return SampleAssembly(fields["k"], fields["is_whole"], fields["tried"], ways)

    def _allele(self, fields: tuple[int, int, bool, str]) -> AltAllele:
        position, ref_length, is_indel, letters = fields
        ref = self._reference.fetch(self._chrom, position, position + ref_length + is_indel)
        return AltAllele(position + 1, ref, ref[0] + letters if is_indel else letters)


def _reads_of(shown: ShownAllele) -> int:
    return sum(one.all_reads for one in shown.samples.values())
