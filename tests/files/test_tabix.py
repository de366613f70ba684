"""The index that is made while a table is written finds the rows that htslib's own index finds."""

import shutil

import numpy as np
import pysam
import pytest

from pairhmm.files.bgzip import BgzipText, index_table
from pairhmm.files.tabix import TableIndex


def write_table(path, intervals, rng):
    with BgzipText(path) as text:
        index = TableIndex(text, 1)
        text.write("#name\tchrom\tstart\tend\n")
        for chrom, start, end in intervals:
            rows = int(rng.integers(1, 300))
            lines = "".join(f"r{rng.integers(10**9)}\t{chrom}\t{start}\t{end}\n" for _ in range(rows))
            text.write(lines)
            index.add((chrom, start, end, rows, len(lines)))
    index.write(path)


def random_intervals(rng, span):
    intervals = []
    for chrom in ("a", "b:1", "c"):
        starts = np.sort(rng.integers(0, span, 200))
        lengths = rng.choice([1, 100, 20_000, span // 3], 200, p=[0.2, 0.7, 0.08, 0.02])
        intervals += [(chrom, int(start), int(start + length)) for start, length in zip(starts, lengths, strict=True)]
    return intervals


@pytest.mark.parametrize("span", [30_000, 5_000_000, 400_000_000])
def test_same_rows_as_with_the_index_of_htslib(tmp_path, span):
    rng = np.random.default_rng(span)
    path, other = tmp_path / "x.gz", tmp_path / "y.gz"
    intervals = random_intervals(rng, span)
    write_table(path, intervals, rng)
    shutil.copyfile(path, other)
    index_table(other, 1, span)
    with pysam.TabixFile(str(path)) as ours, pysam.TabixFile(str(other)) as theirs:
        assert ours.contigs == theirs.contigs and list(ours.header) == list(theirs.header)
        places = [(chrom, start, end) for chrom, start, end in intervals[::20]]
        places += [(str(rng.choice(ours.contigs)), one, one + 500) for one in rng.integers(0, span, 50).tolist()]
        for place in [*places, *((contig,) for contig in ours.contigs)]:
            assert list(ours.fetch(*place)) == list(theirs.fetch(*place))


def test_a_table_without_rows(tmp_path):
    path = tmp_path / "x.gz"
    write_table(path, [], np.random.default_rng(1))
    with pysam.TabixFile(str(path)) as table:
        assert table.contigs == [] and list(table.header) == ["#name\tchrom\tstart\tend"]
