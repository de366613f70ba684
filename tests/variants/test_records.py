"""A damaged index beside a VCF, a BCF or a table changes nothing: records are read from the beginning."""

import gzip
from pathlib import Path

import numpy as np
import pysam
import pytest

import pairhmm
from pairhmm.variants.candidates import indexed_contigs
from pairhmm.variants.records import open_variants

HEADER = "##fileformat=VCFv4.2\n##contig=<ID=a,length=900>\n##contig=<ID=b,length=900>\n##contig=<ID=c,length=900>\n"
COLUMNS = "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n"
RECORDS = "".join(f"{chrom}\t{pos}\t.\tA\tC\t.\t.\t.\n" for chrom in "ac" for pos in (5, 90, 800))
KINDS = [".vcf.gz.tbi", ".vcf.gz.csi", ".bcf.csi"]


def write_calls(folder, kind):
    """Calls with an index of a kind."""
    text = folder / "calls.vcf"
    text.write_text(HEADER + COLUMNS + RECORDS)
    path = folder / f"calls{kind[:-4]}"
    with pysam.VariantFile(str(text)) as records, pysam.VariantFile(str(path), "w", header=records.header) as out:
        for record in records:
            out.write(record)
    pysam.tabix_index(str(path), preset="bcf" if "bcf" in kind else "vcf", force=True, csi=kind.endswith("csi"))
    return path, folder / f"calls{kind}"


def damaged(rng, index):
    """Some bits of the packed or of the unpacked bytes."""
    data = bytearray(gzip.decompress(index) if rng.random() < 0.6 else index)
    is_packed = bytes(data) == index
    for at in rng.integers(0, len(data), int(rng.integers(1, 4))).tolist():
        data[at] ^= 1 << int(rng.integers(8))
    return bytes(data) if is_packed else gzip.compress(bytes(data), mtime=0)


@pytest.mark.parametrize("kind", KINDS)
def test_the_index_is_not_read(tmp_path, kind, capfd):
    path, index = write_calls(tmp_path, kind)
    assert index.exists()
    with open_variants(str(path)) as records:
        assert records.index is None
        assert [(one.chrom, one.pos) for one in records] == [(c, pos) for c in "ac" for pos in (5, 90, 800)]
    assert not capfd.readouterr().err


@pytest.mark.parametrize("kind", KINDS)
def test_contigs_that_an_index_names(tmp_path, kind):
    path, index = write_calls(tmp_path, kind)
    assert indexed_contigs(str(path)) == ([] if "bcf" in kind else ["a", "c"])
    rng, sound = np.random.default_rng(9), index.read_bytes()
    for _ in range(200):
        index.write_bytes(damaged(rng, sound))
        assert isinstance(indexed_contigs(str(path)), list)
    index.unlink()
    assert indexed_contigs(str(path)) == []


def test_no_reader_opens_variants_with_their_index():
    package = Path(pairhmm.__file__).parent
    users = [path.name for path in package.rglob("*.py") if "pysam.VariantFile(" in path.read_text()]
    assert users == ["records.py"]


@pytest.mark.parametrize("kind", KINDS)
def test_commands_beside_a_damaged_index(tmp_path, run_cli, kind):
    """Lists of candidates, and calls of a report."""
    genome, reads = tmp_path / "ref.fa", tmp_path / "reads.bam"
    genome.write_text("".join(f">{chrom}\n{'A' * 900}\n" for chrom in "abc"))
    header = {"HD": {"VN": "1.6", "SO": "coordinate"}, "SQ": [{"SN": chrom, "LN": 900} for chrom in "abc"]}
    with pysam.AlignmentFile(str(reads), "wb", header=header) as out:
        for number, start in ((0, 60), (0, 70), (2, 780)):
            read = pysam.AlignedSegment(out.header)
            read.query_name, read.reference_id, read.reference_start = f"r{number}.{start}", number, start
            read.query_sequence, read.query_qualities, read.cigartuples = "A" * 50, [30] * 50, [(0, 50)]
            read.mapping_quality, read.flag = 60, 0
            out.write(read)
    path, index = write_calls(tmp_path, kind)
    sound, rng = index.read_bytes(), np.random.default_rng(17)
    listed, page = tmp_path / "listed.vcf", tmp_path / "report.html"
    made = []
    for number in range(5):
        index.write_bytes(damaged(rng, sound) if number else sound)
        call = ("call", "--backend", "cpu", "--no-version", "-f", genome, "-v", path, "-o", listed, reads)
        for arguments in (call, ("report", "-f", genome, "--calls", path, "-o", page)):
            Path(arguments[-1] if arguments[0] == "report" else listed).unlink(missing_ok=True)
            result = run_cli(*arguments)
            assert result.returncode == 0, result.stderr
        made.append((listed.read_bytes(), page.read_bytes()))
    assert len(set(made)) == 1
