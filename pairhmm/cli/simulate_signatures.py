"""`pairhmm simulate signatures`: random signatures to look for."""

from __future__ import annotations

import rich_click as click

from pairhmm.cli.numbers import Real


@click.command("signatures")
@click.option("-o", "--output", required=True, metavar="FASTA", help="Bgzipped where it ends in .gz; - is stdout.")
@click.option("--count", type=int, default=1000, show_default=True, help="Signatures.")
@click.option("--min-length", type=int, default=3000, show_default=True, help="Bases of the shortest.")
@click.option("--max-length", type=int, default=10_000, show_default=True, help="Bases of the longest.")
@click.option("--n-ratio", type=Real(), default=0.1, show_default=True, help="Probability that a letter is N.")
@click.option("--seed", type=int, default=1, show_default=True, help="Same seed and options, same bytes.")
@click.option("--force", "overwrite", is_flag=True, help="Write over what is there.")
def command(
    output: str, count: int, min_length: int, max_length: int, n_ratio: float, seed: int, overwrite: bool
) -> None:
    """Make random signatures for pairhmm scan; the defaults are those of its reference workload."""
    from pairhmm.commands.simulate_scan import simulate_signatures

    simulate_signatures(
        output,
        count=count,
        min_length=min_length,
        max_length=max_length,
        n_ratio=n_ratio,
        seed=seed,
        overwrite=overwrite,
    )
