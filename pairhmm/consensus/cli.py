"""`pairhmm consensus`: the sequence of a sample."""

from __future__ import annotations

from typing import Any

import rich_click as click

from pairhmm.cli.fields import option, output_option
from pairhmm.cli.help_style import CONSENSUS, INPUT, READS, Command
from pairhmm.cli.param_types import INPUT_FILE
from pairhmm.consensus import api
from pairhmm.consensus.sequence import ConsensusOptions

EXAMPLES = (
    "pairhmm consensus -f ref.fa -b sample.bam -o sample.fa calls.vcf.gz",
    "pairhmm consensus -f ref.fa -b sample.bam --iupac-fraction 0.2 calls.vcf.gz",
)

_DEFAULTS = ConsensusOptions()


@click.command("consensus", cls=Command, examples=EXAMPLES)
@click.argument(
    "calls",
    type=INPUT_FILE,
    metavar="CALLS",
    panel=INPUT,
    help="The calls (VCF or BCF): of 'call', with --mixture or without, or of another caller.",
)
@click.option(
    "-b",
    "--alignments",
    multiple=True,
    required=True,
    type=INPUT_FILE,
    metavar="FILE",
    panel=INPUT,
    help="The alignments (BAM or CRAM, sorted by coordinate) that the calls were made from. This option may be"
    " repeated.",
)
@click.option(
    "-f",
    "--reference",
    required=True,
    type=INPUT_FILE,
    metavar="FILE",
    panel=INPUT,
    help="The reference genome (FASTA) that the reads are aligned to.",
)
@option(api.consensus, "sample", metavar="NAME", panel=INPUT, help="The sample, where the calls have several.")
@click.option(
    "--primers",
    type=INPUT_FILE,
    metavar="FILE",
    panel=READS,
    help="Do not count the bases of reads that come from the primers of a tiling scheme (BED: chrom, start, end, name,"
    " pool, strand) as depth.",
)
@option(
    api.consensus,
    "circular",
    type=str,
    multiple=True,
    metavar="NAME",
    panel=READS,
    help="Take this contig for a circle, as 'call --circular' does. This option may be repeated. It needs indexed"
    " alignments.",
)
@option(
    _DEFAULTS,
    "min_depth",
    metavar="N",
    panel=CONSENSUS,
    help="Write N where the depth is lower. Mates that overlap count once.",
)
@option(
    _DEFAULTS,
    "min_fraction",
    metavar="X",
    panel=CONSENSUS,
    help="Write the fewest bases that make up this fraction, the most frequent first; several become an IUPAC code. An"
    " insertion or deletion is applied if it has this fraction, and no other allele has more.",
)
@option(
    _DEFAULTS,
    "iupac_fraction",
    metavar="X",
    panel=CONSENSUS,
    help="Put every base of this fraction into the IUPAC code of its position, too.",
)
@option(
    _DEFAULTS,
    "min_mapq",
    metavar="PHRED",
    panel=READS,
    help="Do not count alignments with a lower mapping quality as depth.",
)
@option(
    _DEFAULTS,
    "min_base_quality",
    metavar="PHRED",
    panel=READS,
    help="Do not count bases with a lower quality as depth.",
)
@output_option("The consensus (FASTA): a record for each contig, named SAMPLE|CONTIG. '-' is stdout.")
def command(
    calls: str,
    alignments: tuple[str, ...],
    reference: str,
    sample: str | None,
    primers: str | None,
    circular: tuple[str, ...],
    output: str,
    **options: Any,
) -> None:
    """Write the consensus sequence of a sample, from its calls and the depth of its reads.

    The fraction of an allele is AF of the sample, else its share of the reads in AD, else of the copies in GT. Alleles
    of records that fail a filter are left out. Messages say which insertions and deletions were applied.
    """
    api.consensus(calls, alignments, reference, output, sample, primers, circular, ConsensusOptions(**options))
