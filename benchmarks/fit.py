"""Fits: parameters found again from simulated reads, the time that takes, and real reads that a fit did not see.

    python benchmarks/fit.py --workdir /tmp/fit

Simulated: `pairhmm simulate --profile-errors` draws reads of 150 from known parameters, for each seed; `pairhmm fit`
takes 100,000 of them, on one thread and without being told the variants. The table has the largest relative error of
the transitions (MI and MD are means over the copies of repeats) and of the emissions over 1 in 1,000, and the seconds
of the whole command: its CPU time, which other work on the machine changes little, and the clock's.

Real: the reads of NA12878 on a piece of chromosome 22 and on 100 kb of chromosome 20 (the folder of reference data, or
`PAIRHMM_SHARED_DATA`) that lie where nothing varies. Each half of the region is scored under the parameters that were
fitted to the other; the table has the gain in log10 likelihood over the first parameters (with the same start), a
thousand reads.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from processes import SHARED, run
from tables import parser, write

from pairhmm.calling.opening import open_run
from pairhmm.calling.run_options import RunInputs, RunOptions
from pairhmm.fit.collecting import collect_plain
from pairhmm.fit.fit import fit_gatk, fit_profile
from pairhmm.fit.gatk_model import GatkFit
from pairhmm.fit.maximisation import log10_likelihood
from pairhmm.fit.pairs import FitPairs
from pairhmm.fit.profile_model import ProfileFit, parameter_names
from pairhmm.models.gatk import GatkOptions
from pairhmm.models.profile import preset, read_parameters
from pairhmm.sequences.letters import HIGHEST_QUALITY

READS, COUNTED = 100_000, 1e-3
REAL = {
    "NA12878 chr22 tiny": ("na12878-chr22-tiny/NA12878.chr22.tiny.bam", "na12878-chr22-tiny/q.fa", ()),
    "NA12878 chr20 100 kb": (
        "na12878-chr20-100kb/NA12878_S1.chr20.10_10p1mb.bam",
        "na12878-chr20-100kb/ucsc.hg19.chr20.unittest.fasta.gz",
        "chr20:10,000,001-10,100,000",
    ),
}
TRUE = """start = "anywhere"
[match]
A = [0.9930, 0.0004, 0.0015, 0.0004, 0.25]
C = [0.0040, 0.9972, 0.0004, 0.0012, 0.25]
G = [0.0015, 0.0004, 0.9961, 0.0004, 0.25]
T = [0.0015, 0.0020, 0.0020, 0.9980, 0.25]
[insertion]
A = 0.4
C = 0.1
G = 0.1
T = 0.4
[transitions]
MM = 0.997
MI = 0.001
MD = 0.002
IM = 0.7
II = 0.3
DM = 0.6
DD = 0.4
"""


def main() -> None:
    """Run the benchmark that the command line asks for."""
    options = parser(__doc__, "fit-work")
    options.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3], help="(default: 1 2 3)")
    given = options.parse_args()
    found = [simulated(given.workdir / f"seed{seed}", seed) for seed in given.seeds]
    write(given.output, {"simulated": found, "unseen": [row for name in REAL for row in held_out(name)]})


def simulated(folder: Path, seed: int) -> dict[str, Any]:
    """A fit to reads from known parameters: its largest relative errors, and its seconds."""
    folder.mkdir(parents=True, exist_ok=True)
    true, fitted = folder / "true.toml", folder / "fitted.toml"
    true.write_text(TRUE)
    if not (folder / "data" / "reads.bam.bai").exists():
        made = ("--length", "500000", "--coverage", "34", "--snvs", "425", "--indels", "75", "--seed", str(seed))
        run("simulate", "-o", folder / "data", *made, "--profile-errors", true, "--force")
    data = folder / "data"
    cost = run("fit", "-f", data / "reference.fa", data / "reads.bam", "-o", fitted, "--max-reads", READS)
    models = read_parameters(true), read_parameters(fitted)
    emissions = (ProfileFit.of(model).probabilities() for model in models)
    transition_error, transition = worst(*(model.transitions for model in models))
    emission_error, emission = worst(*({n: p for n, p in named(one) if "eps" in n} for one in emissions), COUNTED)
    errors = {"transition": (transition, transition_error), "emission": (emission, emission_error)}
    return {"seed": seed, **errors, "CPU s": cost.cpu, "wall s": cost.wall}


def named(probabilities: Mapping[str, NDArray[np.float64]]) -> Iterator[tuple[str, float]]:
    """The parameters of distributions, by their names."""
    for key, values in probabilities.items():
        yield from zip(parameter_names(key), values.tolist(), strict=True)


def worst(expected: Mapping[str, float], found: Mapping[str, float], least: float = 0.0) -> tuple[float, str]:
    """The largest relative error of parameters above `least`, and whose it is."""
    return max((abs(found[name] / value - 1), name) for name, value in expected.items() if value > least)


def held_out(name: str) -> list[dict[str, float | str]]:
    """What each half of some real reads gains from a fit to the other half, by model."""
    alignments, reference, regions = REAL[name]
    if not (SHARED / alignments).exists():
        print(f"no {SHARED / alignments}: left out", file=sys.stderr)
        return []
    options = RunOptions()
    with open_run(RunInputs.of(SHARED / alignments, SHARED / reference, regions=regions), options) as opened:
        pairs = collect_plain(opened, opened.stream.fetch, options.model, READS).sample()
    # Reads of one half share no site with those of the other: a variant that discovery missed is in one of them.
    halves = [pairs.take(np.arange(first, end)) for first, end in pairwise((0, len(pairs) // 2, len(pairs)))]
    rows: list[dict[str, float | str]] = []
    for seen, unseen in (halves, halves[::-1]):
        rows.append({"data": name, "reads": len(unseen), **gains(seen, unseen)})
    return rows


def gains(seen: FitPairs, unseen: FitPairs) -> dict[str, float]:
    """log10 likelihood a thousand unseen reads, less that of the first parameters."""
    profile, gatk = preset("normalised"), GatkOptions()
    fitted = fit_profile(seen, profile).model
    by_copies, chosen, _ = fit_gatk(seen, gatk)
    models = {
        "profile": (fitted, ProfileFit.of(replace(profile, start=fitted.model.start))),
        "gatk by copies": (by_copies.model, GatkFit.of(gatk)),
        "gatk by copies, rounded": (rounded(by_copies.model), GatkFit.of(gatk)),
        "gatk options": (GatkFit.of(chosen), GatkFit.of(gatk)),
    }
    return {
        name: sum(sign * log10_likelihood(one, unseen, 1) for sign, one in zip((1, -1), both, strict=True))
        * 1000
        / len(unseen)
        for name, both in models.items()
    }


def rounded(fit: GatkFit) -> GatkFit:
    """The model with whole Phred qualities, as `--parameters` takes them."""

    def whole(rate: NDArray[np.float64] | float) -> NDArray[np.float64]:
        return 10 ** (-np.minimum(np.rint(-10 * np.log10(rate)), HIGHEST_QUALITY) / 10)

    return replace(fit, insertion=whole(fit.insertion), deletion=whole(fit.deletion), gap=float(whole(fit.gap)))


if __name__ == "__main__":
    main()
