"""`pairhmm simulate samples`: samples with signatures planted in them."""

from __future__ import annotations

import rich_click as click

from pairhmm.cli.numbers import Real


@click.command("samples")
@click.option("--signatures", required=True, metavar="FASTA", help="What is planted.")
@click.option("-o", "--output", required=True, metavar="FASTQ", help="Bgzipped where it ends in .gz; - is stdout.")
@click.option("--truth", metavar="TSV", help="Write what is planted where.")
@click.option("--num-no-virus", type=int, default=1000, show_default=True, help="Samples without a signature.")
@click.option("--num-with-virus", type=int, default=10, show_default=True, help="Samples with some.")
@click.option("--min-viruses", type=int, default=100, show_default=True, help="Signatures of such a sample, at least.")
@click.option("--max-viruses", type=int, default=200, show_default=True, help="And at most.")
@click.option("--min-length", type=int, default=100_000, show_default=True, help="Bases around them, at least.")
@click.option("--max-length", type=int, default=200_000, show_default=True, help="And at most.")
@click.option("--min-phred", type=int, default=10, show_default=True, help="Lowest base quality.")
@click.option("--max-phred", type=int, default=30, show_default=True, help="Highest base quality.")
@click.option("--n-ratio", type=Real(), default=0.1, show_default=True, help="Probability that a letter is N.")
@click.option("--seed", type=int, default=1, show_default=True, help="Same seed and options, same bytes.")
@click.option("--force", "overwrite", is_flag=True, help="Write over what is there.")
def command(
    signatures: str,
    output: str,
    truth: str | None,
    num_no_virus: int,
    num_with_virus: int,
    min_viruses: int,
    max_viruses: int,
    min_length: int,
    max_length: int,
    min_phred: int,
    max_phred: int,
    n_ratio: float,
    seed: int,
    overwrite: bool,
) -> None:
    """Make samples for pairhmm scan, some with signatures in them; the defaults are those of its reference workload."""
    from pairhmm.commands.simulate_scan import simulate_samples

    simulate_samples(
        signatures,
        output,
        truth=truth,
        num_no_virus=num_no_virus,
        num_with_virus=num_with_virus,
        min_viruses=min_viruses,
        max_viruses=max_viruses,
        min_length=min_length,
        max_length=max_length,
        min_phred=min_phred,
        max_phred=max_phred,
        n_ratio=n_ratio,
        seed=seed,
        overwrite=overwrite,
    )
