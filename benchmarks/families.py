"""Which molecules carry an allele: profiles of families (`--families MI`) beside the best read of each family.

    python benchmarks/families.py --workdir /tmp/families

For each seed, molecules of 150 bases are laid over sites of a simulated genome. At half of the sites, a share of them
(1% to 5%, by site) carries another allele; at the others, none does. A family has 1 to 8 reads of a molecule, with the
tag MI. Base qualities are drawn as `pairhmm simulate` draws them, lowered so that 0.5% of the bases are wrong, and
errors follow them, independently in each read.

`pairhmm likelihoods --model profile` scores every read, and every family's profile, against the reference and against
the allele. A molecule's score is the difference of the two. The table has the area under the precision-recall curve of
the molecules that carry the allele, and the share of them found without any false one. The best read of a family is
chosen in four ways:

    mean quality    the read with the highest mean base quality
    site quality    the read with the highest base quality at the site
    likelihood      the read that fits either haplotype best
    decided         the read whose two scores differ most

For comparison, the last row adds the scores of all reads of a family.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pysam
from numpy.typing import NDArray

import pairhmm
from pairhmm.commands.simulate import simulate
from pairhmm.genomics.sequences import decode, encode
from pairhmm.models.profile import parameters_of
from pairhmm.simulation.reads import ERROR_OF_QUALITY, MIN_QUALITY, draw_qualities

RESULTS = Path(__file__).parent / "results" / "families.json"
CONTIG, READ_LENGTH, MOST_READS, ERROR_RATE = "chr1", 150, 8, 0.005
APART, MARGIN, EDGE = 400, 1_000, 15
"""Bases between sites, before the first site and behind the last, and between a site and the end of a molecule."""
FRACTIONS = (0.01, 0.02, 0.03, 0.04, 0.05)
BEST = ("mean quality", "site quality", "likelihood", "decided")
FAMILY, SUM = "family", "sum of reads"
WAYS = (FAMILY, *BEST, SUM)


def main() -> None:
    """Run the benchmark that the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workdir", type=Path, default=Path("families-work"), help="for the made data")
    parser.add_argument("--sites", type=int, default=200, help="half of them are variant (default: %(default)s)")
    parser.add_argument("--molecules", type=int, default=150, help="at each site (default: %(default)s)")
    parser.add_argument("--parameters", default="normalised", help="(default: %(default)s)")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3], help="(default: 1 2 3)")
    parser.add_argument("--json", type=Path, default=RESULTS, help="(default: %(default)s)")
    options = parser.parse_args()
    rows = [row for seed in options.seeds for row in measured(options, seed)]
    report(rows)
    options.json.parent.mkdir(parents=True, exist_ok=True)
    about = {name: getattr(options, name) for name in ("sites", "molecules", "parameters")}
    options.json.write_text(json.dumps({"about": about, "results": rows}) + "\n")


def measured(options: argparse.Namespace, seed: int) -> list[dict[str, object]]:
    """A row for each way to score the molecules of one seed."""
    data = options.workdir / f"seed{seed}"
    made = Molecules(data, options.sites, options.molecules, seed)
    files = data / "reads.bam", data / "reference.fa", data / "sites.vcf"
    profile = parameters_of(options.parameters)
    reads = ratios(pairhmm.likelihoods(*files, profile=profile, max_depth=10**6))
    families = ratios(pairhmm.likelihoods(*files, profile=profile, max_depth=10**6, families="MI"))
    scores = {FAMILY: made.of_families(families), **made.of_reads(reads)}
    rows = []
    for way in WAYS:
        points = curve(scores[way], made.carries)
        rows.append(
            {
                "seed": seed,
                "way": way,
                "carriers": int(made.carries.sum()),
                "molecules": len(made.carries),
                "area": area(points),
                "recall_without_false": max((recall for recall, precision in points if precision == 1), default=0.0),
                "curve": thinned(points),
            }
        )
    return rows


class Molecules:
    """Simulated molecules and their reads, as files in a folder.

    Attributes
    ----------
    carries : bool[molecules]
        Whether each molecule carries the allele of its site.
    family : int64[reads]
        The molecule of each read.
    mean_quality, site_quality : float64[reads]
        Mean base quality, and the one at the site.
    """

    def __init__(self, folder: Path, sites: int, per_site: int, seed: int) -> None:
        rng = np.random.default_rng(seed)
        length = 2 * MARGIN + APART * sites
        simulate(folder, length=length, coverage=1, snvs=0, indels=0, seed=seed, overwrite=True)
        with pysam.FastaFile(str(folder / "reference.fa")) as fasta:
            genome = encode(fasta.fetch(CONTIG))
        site = MARGIN + APART * np.arange(sites)
        alt = (genome[site] + rng.integers(1, 4, sites, dtype=np.uint8)) % 4
        fraction = np.where(np.arange(sites) % 2, rng.choice(FRACTIONS, sites), 0.0)
        write_sites(folder / "sites.vcf", site, genome[site], alt, length)
        at = np.repeat(np.arange(sites), per_site)
        self.carries: NDArray[np.bool_] = rng.random(len(at)) < fraction[at]
        start = site[at] - rng.integers(EDGE, READ_LENGTH - EDGE, len(at))
        reverse = rng.random(len(at)) < 0.5
        letters = genome[start[:, None] + np.arange(READ_LENGTH)]
        carriers = np.flatnonzero(self.carries)
        letters[carriers, (site[at] - start)[carriers]] = alt[at[carriers]]
        self.family = np.repeat(np.arange(len(at)), rng.integers(1, MOST_READS + 1, len(at)))
        quals = lowered(draw_qualities(rng, len(self.family), READ_LENGTH, np.zeros(len(self.family), dtype=bool)))
        quals[reverse[self.family]] = quals[reverse[self.family], ::-1]
        codes = letters[self.family]
        wrong = rng.random(codes.shape) < ERROR_OF_QUALITY[quals]
        codes[wrong] = (codes[wrong] + rng.integers(1, 4, int(wrong.sum()), dtype=np.uint8)) % 4
        self.error_rate = float(wrong.mean())
        self.mean_quality = quals.mean(axis=1)
        self.site_quality = quals[np.arange(len(quals)), (site[at] - start)[self.family]].astype(np.float64)
        write_reads(folder / "reads.bam", length, self.family, start, reverse, codes, quals)

    def of_families(self, scored: dict[str, tuple[float, float]]) -> NDArray[np.float64]:
        """The score of each molecule by its family's profile."""
        by_molecule = {int(name.split(":")[0]): ratio for name, (_, ratio) in scored.items()}
        return np.array([by_molecule[molecule] for molecule in range(len(self.carries))])

    def of_reads(self, scored: dict[str, tuple[float, float]]) -> dict[str, NDArray[np.float64]]:
        """The score of each molecule by its best read, for each meaning of best, and by all its reads."""
        fit, ratio = np.array([scored[read_name(self.family, read)] for read in range(len(self.family))]).T
        keys = dict(zip(BEST, (self.mean_quality, self.site_quality, fit, np.abs(ratio)), strict=True))
        found = {}
        for name, key in keys.items():
            # The last read of each family is its best one.
            order = np.lexsort((key, self.family))
            last = np.flatnonzero(np.diff(self.family[order], append=-1))
            found[name] = ratio[order[last]]
        found[SUM] = np.bincount(self.family, ratio)
        return found


def lowered(quals: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Qualities so much lower that their promised errors are `ERROR_RATE` on average."""
    lower = np.arange(20)
    rates = [ERROR_OF_QUALITY[np.maximum(quals.astype(int) - by, MIN_QUALITY)].mean() for by in lower]
    by = int(np.argmin(np.abs(np.array(rates) - ERROR_RATE)))
    return np.maximum(quals.astype(int) - by, MIN_QUALITY).astype(np.uint8)


def read_name(family: NDArray[np.int64], read: int) -> str:
    """The name of a read: its molecule, and its number."""
    return f"{family[read]}:{read}"


def write_sites(
    path: Path, site: NDArray[np.int64], ref: NDArray[np.uint8], alt: NDArray[np.uint8], length: int
) -> None:
    """Write the sites as candidates."""
    lines = ["##fileformat=VCFv4.3", f"##contig=<ID={CONTIG},length={length}>"]
    lines.append("#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO")
    for at, one, other in zip(site.tolist(), decode(ref), decode(alt), strict=True):
        lines.append(f"{CONTIG}\t{at + 1}\t.\t{one}\t{other}\t.\t.\t.")
    path.write_text("\n".join(lines) + "\n")


def write_reads(
    path: Path,
    length: int,
    family: NDArray[np.int64],
    start: NDArray[np.int64],
    reverse: NDArray[np.bool_],
    codes: NDArray[np.uint8],
    quals: NDArray[np.uint8],
) -> None:
    """Write the reads as BAM with its index."""
    header = {
        "HD": {"VN": "1.6", "SO": "coordinate"},
        "SQ": [{"SN": CONTIG, "LN": length}],
        "RG": [{"ID": "1", "SM": "sample"}],
    }
    with pysam.AlignmentFile(str(path), "wb", header=header) as bam:
        for read in np.argsort(start[family], kind="stable").tolist():
            molecule = int(family[read])
            record = pysam.AlignedSegment(bam.header)
            record.query_name = read_name(family, read)
            record.flag = 16 if reverse[molecule] else 0
            record.reference_id, record.reference_start = 0, int(start[molecule])
            record.mapping_quality, record.cigartuples = 60, [(0, READ_LENGTH)]
            record.query_sequence = decode(codes[read])
            record.query_qualities = pysam.qualitystring_to_array("".join(map(chr, (quals[read] + 33).tolist())))
            record.set_tags([("RG", "1"), ("MI", str(molecule))])
            bam.write(record)
    pysam.index(str(path))


def ratios(evidence: Iterable[pairhmm.Evidence]) -> dict[str, tuple[float, float]]:
    """Of each row of a likelihood table: its best score, and by how much the allele scores above the reference."""
    found = {}
    for one in evidence:
        (with_allele,) = (k for k, haplotype in enumerate(one.haplotypes) if any(haplotype.alleles))
        reference = 1 - with_allele
        for name, scores in zip(one.names, one.log10, strict=True):
            found[name] = float(scores.max()), float(scores[with_allele] - scores[reference])
    return found


def curve(scores: NDArray[np.float64], carries: NDArray[np.bool_]) -> list[tuple[float, float]]:
    """Recall and precision at each score, from the highest; molecules of one score count together."""
    rounded = np.round(scores, 6)
    order = np.argsort(-rounded, kind="stable")
    ends = np.flatnonzero(np.diff(rounded[order], append=-np.inf))
    true = np.cumsum(carries[order])[ends]
    return list(zip((true / carries.sum()).tolist(), (true / (ends + 1)).tolist(), strict=True))


def area(points: Sequence[tuple[float, float]]) -> float:
    """The area under a precision-recall curve as a sum of steps (average precision)."""
    recall, precision = np.array(points).T
    return float((np.diff(recall, prepend=0.0) * precision).sum())


def thinned(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Points for a figure: some 50 of those at which recall grows, with four digits."""
    grows = [point for point, before in zip(points, [(0.0, 1.0), *points], strict=False) if point[0] > before[0]]
    kept = [*grows[:: 1 + len(grows) // 50], grows[-1]]
    return [(round(recall, 4), round(precision, 4)) for recall, precision in kept]


def report(rows: Sequence[dict[str, object]]) -> None:
    """Print the table."""
    print("| seed | score of a molecule | carriers | molecules | area | recall without a false one |")
    print("|---|---|---|---|---|---|")
    for row in rows:
        about = f"{row['seed']} | {row['way']} | {row['carriers']} | {row['molecules']}"
        print(f"| {about} | {row['area']:.4f} | {row['recall_without_false']:.3f} |")


if __name__ == "__main__":
    main()
