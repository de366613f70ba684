"""`forward` on files: the table is the same however it is read and written."""

import sys
from functools import partial

import numpy as np
import pytest

from pairhmm.errors import InputError
from pairhmm.forward import batches as pair_batches
from pairhmm.forward import score_lines
from pairhmm.forward.batches import read_batches
from pairhmm.forward.files import forward_files
from pairhmm.forward.pair_texts import read_in, write_in

forward_module = sys.modules["pairhmm.forward.files"]


@pytest.fixture
def table(tmp_path, monkeypatch, require):
    """``table(reads, haplotypes, ...)``: the bytes that `forward_files` writes, by what is compiled or in Python."""
    require("cpu", pair_batches.is_compiled(), "the compiled part is not installed")

    def written(reads, haplotypes=None, *, native=True, block_bytes=1 << 20, reads_per_block=4096, threads=1):
        with monkeypatch.context() as patch:
            patch.setattr(forward_module, "read_batches", partial(read_batches, block_bytes=block_bytes))
            patch.setattr(forward_module, "READS_PER_BLOCK", reads_per_block)
            if not native:
                for module in (pair_batches, score_lines):
                    patch.setattr(module, "is_compiled", lambda: False)
            pairs = forward_files(reads, haplotypes, tmp_path / "table.tsv", backend="cpu", threads=threads)
        found = (tmp_path / "table.tsv").read_bytes()
        assert found.count(b"\n") == pairs + 1
        return found

    return written


def test_groups(table, shared_data, tmp_path):
    path = tmp_path / "odd.in"
    groups = [group for _, group in zip(range(60), read_in(shared_data / "1m.in"), strict=False)]
    write_in(path, groups)
    with open(path, "a") as out:
        out.write("0 1\nACGT\n\n0 0\n1 1\nacgtuRYn IIIIIIII IIIIIIII IIIIIIII ++++++++\nACGTTNNN\n")
    expected = table(path, native=False)
    assert expected.splitlines()[-1].startswith(b"62\t0\t0\t-"), "groups without pairs count"
    for threads in (1, 2):
        for block_bytes in (1, 5000, 1 << 20):
            for native in (True, False):
                assert table(path, native=native, block_bytes=block_bytes, threads=threads) == expected


def test_named_reads(table, tmp_path):
    rng = np.random.default_rng(5)
    reads = ["".join(rng.choice(list("ACGT"), 20)) for _ in range(50)]
    (tmp_path / "reads.fq").write_text("".join(f"@r{i} x\n{read}\n+\n{'I' * 20}\n" for i, read in enumerate(reads)))
    (tmp_path / "haps.fa").write_text("".join(f">h{i}\nTT{read}A\n" for i, read in enumerate(reads[:7])))
    files = (tmp_path / "reads.fq", tmp_path / "haps.fa")
    expected = table(*files, native=False)
    assert expected.splitlines()[8].startswith(b"0\tr1\th0\t-")
    for reads_per_block in (1, 7, 4096):
        assert table(*files, reads_per_block=reads_per_block, threads=2) == expected


def test_no_groups(table, tmp_path):
    path = tmp_path / "empty.in"
    path.write_text("\n")
    assert table(path) == table(path, native=False) == score_lines.HEADER


@pytest.mark.parametrize("native", [True, False])
def test_an_error_in_a_later_block_leaves_no_table(table, tmp_path, native):
    path = tmp_path / "bad.in"
    path.write_text(50 * "1 1\nAC II II II II\nACG\n" + "1 1\nAC II II II\nACG\n")
    with pytest.raises(InputError, match="line 152: not a read and four quality strings"):
        table(path, native=native, block_bytes=100)
    assert not (tmp_path / "table.tsv").exists()
