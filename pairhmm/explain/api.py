"""`explain`: why positions are called, or not."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Unpack

from pairhmm import engine
from pairhmm.arguments import AnyPath, Paths, Regions, Texts, texts_of
from pairhmm.calling.call import MIN_QUALITY, check_names
from pairhmm.calling.keywords import CallKeywords
from pairhmm.calling.opening import OpenFiles, open_files
from pairhmm.calling.region_choice import listed_candidates
from pairhmm.calling.run_options import RunInputs, RunOptions
from pairhmm.calling.stutter import seen as with_seen_errors
from pairhmm.calling.targets import PADDING, requested_intervals
from pairhmm.engine.device_pool import Devices
from pairhmm.errors import InputError
from pairhmm.explain.discovery import evidence_at
from pairhmm.explain.facts import AltAllele, Explanation
from pairhmm.explain.reads import leftmost_alleles_of, local_reads
from pairhmm.explain.scoring import CallSettings, LocalCall
from pairhmm.explain.verdict import SeenPosition, verdict
from pairhmm.native import native, require_compiled
from pairhmm.options import check_number, with_keywords
from pairhmm.sequences.fasta import Reference
from pairhmm.sequences.intervals import Interval, parse_region
from pairhmm.variants.genotypes import GenotypeOptions, RecordOptions
from pairhmm.variants.variant import MAX_SHIFT


def explain(
    alignments: Paths,
    reference: AnyPath,
    positions: Texts,
    candidates: AnyPath | None = None,
    regions: Regions = (),
    regions_file: AnyPath | None = None,
    options: RunOptions | None = None,
    genotypes: GenotypeOptions | None = None,
    min_quality: float = MIN_QUALITY,
    records: RecordOptions | None = None,
    **keywords: Unpack[CallKeywords],
) -> list[Explanation]:
    """Explain why `call` has a variant at positions, or has none.

    The reads around each position go through `call` with the same options. What each step decides is told.

    Parameters
    ----------
    alignments, reference, candidates, regions, regions_file, options, genotypes
        As for `pairhmm.call`. Alignments need an index.
    positions : str or sequence of str
        ``chr:position``, 1-based; several in one text are separated by commas.
    min_quality, records
        As for `pairhmm.write_calls`.
    **keywords
        As for `pairhmm.call`.

    Returns
    -------
    list of Explanation
        One a position, in the order in which they were asked for.

    Raises
    ------
    InputError, OptionError, TypeError, BackendUnavailable, CompiledPartMissing
        As for `pairhmm.call`; InputError also for a text that is no position of the reference.

    Examples
    --------
    >>> for one in pairhmm.explain("sample.bam", "ref.fa", "chr1:10,004"):  # doctest: +SKIP
    ...     print(one.verdict.text)
    """
    chosen, genotyping = with_keywords("explain", keywords, options or RunOptions(), genotypes or GenotypeOptions())
    check_number("min_quality", min_quality, 0)
    if genotyping.mixture:
        cure = "see the fractions, QUAL and FILTER of its records"
        raise InputError("--mixture", "", "genotypes are explained, and a mixture has none", cure)
    require_compiled("reading alignments")
    inputs = RunInputs.of(alignments, reference, candidates, None, regions, regions_file)
    settings = CallSettings(inputs, chosen, genotyping, records or RecordOptions(), min_quality)
    return list(_explained(settings, texts_of(positions)))


def _explained(settings: CallSettings, positions: list[str]) -> Iterator[Explanation]:
    inputs, devices = settings.inputs, engine.choose(settings.options.backend)
    with Reference(inputs.reference) as genome:
        places = [place for text in positions for place in parse_positions(text, genome.contigs)]
        asked = requested_intervals(inputs, genome, settings.options.padding, settings.options.reads.circular)
    around = replace(inputs, regions=(), regions_file=None, intervals=tuple(places))
    with open_files(around, settings.options) as files:
        check_names(settings.genotypes, files.reader.samples)
        files, options = with_seen_errors(files._replace(requested=asked), settings.options)
        for place in places:
            yield _explanation(files, devices, replace(settings, inputs=around, options=options), place)


def parse_positions(text: str, contigs: Mapping[str, int]) -> list[Interval]:
    """The positions in a text: ``chr:position``, several with commas between them.

    Raises InputError for anything else, and for a position that the reference lacks.
    """
    places = []
    for part in re.split(r",(?=[^,]*:)", text):
        place = parse_region(part, contigs, "POSITION")
        if place.end - place.start != 1:
            raise InputError("POSITION", part, "not one position", "write chr:position, 1-based")
        places.append(place)
    return places


def _explanation(files: OpenFiles, devices: Devices, settings: CallSettings, place: Interval) -> Explanation:
    options, inputs, genome = settings.options, settings.inputs, files.genome
    (unrolled,), reach = genome.second_turns([place]), PADDING + MAX_SHIFT
    length = genome.contigs[place.chrom]
    around = Interval(place.chrom, max(0, unrolled.start - reach), min(length, unrolled.end + reach))
    reads = local_reads(files, options, around)
    reference = native.ReferenceBases(genome.fetch)
    listed = _listed(files, inputs, around, reference)
    circle = genome.on_contig(place.chrom)
    found = evidence_at(
        unrolled.start, reads, listed, inputs.candidates_are_listed, options.discovery, reference, circle
    )
    anchors = {one.allele.position for one in found.alleles if one.is_here and (one.is_candidate or one.is_listed)}
    call = LocalCall(files, devices, settings, place, anchors)
    regions, sites = call.regions_and_sites(reads)
    seen = SeenPosition(
        position=place.end,
        is_asked=call.is_asked(place.start),
        is_listed_run=inputs.candidates_are_listed,
        reads=found.reads,
        alleles=found.alleles,
        windows=found.windows,
        regions=regions,
        sites=sites,
        reasons=found.reasons,
        options=options,
        min_quality=settings.min_quality,
    )
    why = verdict(seen, call.sites_with)
    return Explanation(
        place.chrom, place.end, why, found.reads, found.alleles, found.windows, regions, sites, found.text
    )


def _listed(files: OpenFiles, inputs: RunInputs, around: Interval, reference: native.ReferenceBases) -> set[AltAllele]:
    """The alleles of listed candidates around a position."""
    if inputs.candidates is None:
        return set()
    reader = listed_candidates(inputs.candidates, files.genome, files.contigs, skip_unknown=True)
    near = (one for one in reader if one.chrom == around.chrom and around.start <= one.pos < around.end)
    return {allele for variant in near for allele in leftmost_alleles_of(variant, reference)}
