"""`consensus`: the sequence of a sample as FASTA, from its calls and the depth of its reads."""

from __future__ import annotations

import logging
import textwrap
from typing import Unpack

from pairhmm.alignments.opening import AlignmentReader
from pairhmm.alignments.primers import read_primers
from pairhmm.alignments.selection import ReadSelection
from pairhmm.arguments import AnyPath, Paths, Texts, path_of, some_paths_of, texts_of
from pairhmm.calling.circles import UnrolledReference
from pairhmm.calling.run_options import EXCLUDED_FLAGS
from pairhmm.consensus.alleles import ContigAlleles, Indel, read_alleles
from pairhmm.consensus.depth import contig_depths, sample_number
from pairhmm.consensus.sequence import Consensus, ConsensusKeywords, ConsensusOptions, make_consensus
from pairhmm.files.destinations import check_apart, kept_apart
from pairhmm.files.formats import FASTA_ENDINGS, require_ending
from pairhmm.files.outputs import open_output
from pairhmm.options import with_keywords
from pairhmm.sequences.fasta import Reference

__all__ = ["consensus"]

log = logging.getLogger(__name__)

LINE = 70
"""Letters a line of FASTA."""
MOST_TOLD = 10
"""The most insertions and deletions of a contig that are told, of those applied and of those left out."""


@kept_apart()
def consensus(
    calls: AnyPath,
    alignments: Paths,
    reference: AnyPath,
    output: AnyPath,
    sample: str | None = None,
    primers: AnyPath | None = None,
    circular: Texts = (),
    options: ConsensusOptions | None = None,
    **keywords: Unpack[ConsensusKeywords],
) -> None:
    """Write the consensus sequence of a sample, contig by contig.

    Contigs on which no position has enough depth are left out.

    Parameters
    ----------
    calls : path
        VCF or BCF. The fraction of an allele is AF of its sample, else of the reads in AD, else of the copies in GT.
        Alleles of records that fail a filter are left out.
    alignments : path or sequence of paths
        BAM or CRAM, sorted by coordinate: where depth is low, the consensus is N.
    reference : path
        FASTA that the reads were aligned to.
    output : path
        FASTA; ``-`` is stdout. A record is named SAMPLE|CONTIG.
    sample : str, optional
        A sample of the calls that have several.
    primers : path, optional
        BED of the primers of a tiling scheme. Bases of reads that come from them don't count as depth.
    circular : str or sequence of str
        Contigs that are circles: reads over the origin count on both sides of it, and alleles over it are applied. The
        alignments then need an index.
    options : ConsensusOptions, optional
    **keywords
        Fields of `ConsensusOptions` by name, such as ``min_depth=20``. They override those of `options`.

    Raises
    ------
    InputError
        For files that can't be used or do not go together, and for a sample that they lack.
    OptionError
        For a value out of range.
    TypeError
        For a keyword that `ConsensusOptions` does not have.

    Examples
    --------
    >>> pairhmm.consensus("calls.vcf.gz", "sample.bam", "ref.fa", "out.fa", iupac_fraction=0.2)  # doctest: +SKIP
    """
    (chosen,) = with_keywords("consensus", keywords, options or ConsensusOptions())
    calls, output, paths = path_of(calls), path_of(output), some_paths_of(alignments, "alignments")
    scheme = path_of(primers)
    require_ending(output, "consensus sequences", FASTA_ENDINGS)
    check_apart((calls, *paths, path_of(reference), scheme), [("-o", output)])
    with Reference(path_of(reference)) as genome:
        selection = _selection(genome, scheme, circular, chosen)
        unrolled = UnrolledReference(genome, selection.circular)
        name, alleles = read_alleles(calls, sample, genome, unrolled)
        with AlignmentReader(paths, genome, bool(unrolled.circles)) as reader, open_output(output) as out:
            number = sample_number(reader, name, calls)
            for chrom, (depth,) in contig_depths(reader, [number], genome, selection, chosen.min_base_quality):
                if depth.max(initial=0) < chosen.min_depth:
                    log.info("%s: no position has a depth of %d, so it is left out", chrom, chosen.min_depth)
                    continue
                bases = genome.fetch(chrom, 0, len(depth))
                made = make_consensus(bases, alleles.get(chrom, ContigAlleles(len(bases))), depth, chosen)
                out.write(f">{name}|{chrom}\n{textwrap.fill(made.letters, LINE)}\n")
                _tell(chrom, made, unrolled.circles.get(chrom, 0))


def _selection(genome: Reference, scheme: str | None, circular: Texts, options: ConsensusOptions) -> ReadSelection:
    primers = None if scheme is None else read_primers(scheme)
    if primers is not None:
        primers.check(genome.contigs)
    return ReadSelection(EXCLUDED_FLAGS, options.min_mapq, circular=texts_of(circular), primers=primers)


def _tell(chrom: str, made: Consensus, circle: int) -> None:
    """Say what was applied and what was left out. `circle`: the bases of the contig, if that is circular."""
    log.info(
        "%s: %d bases, %d of them N by their depth, %d changed, %d ambiguous, %d insertions and deletions",
        *(chrom, len(made.letters), made.masked, made.changed, made.ambiguous, len(made.applied)),
    )
    for indel in made.applied[:MOST_TOLD]:
        log.info("%s: applied", _described(chrom, indel, circle))
    for indel, why in made.left_out[:MOST_TOLD]:
        log.info("%s: left out, because %s", _described(chrom, indel, circle), why)
    untold = max(0, len(made.applied) - MOST_TOLD) + max(0, len(made.left_out) - MOST_TOLD)
    if untold:
        log.info("%s: %d more insertions and deletions are not told of", chrom, untold)


def _described(chrom: str, indel: Indel, circle: int) -> str:
    at = indel.start % circle if circle else indel.start
    deleted = indel.end - indel.start
    changes = [f"deletion of {deleted}"] if deleted else []
    changes += [f"insertion of {len(indel.bases)}"] if indel.bases else []
    frame = "keeps" if indel.keeps_frame else "shifts"
    return f"{chrom}:{at + 1}: {' and '.join(changes)}, fraction {indel.fraction:.3g}, {frame} the frame"
