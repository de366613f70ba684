"""Outputs that are named pipes: each is written with what a file would have, and stays. Nothing is put beside it."""

import gzip
import importlib.util
import os
import threading

import pysam
import pytest

CALL = ("call", "--no-version", "-f", "reference.fa", "reads.bam", "-o")
LIKELIHOODS = ("likelihoods", "-f", "reference.fa", "-v", "truth.vcf.gz", "reads.bam", "-o")
SCAN = ("scan", "--signatures", "signature.fa", "reads_1.fastq.gz")
TILED = (*SCAN, "-o", "hits.tsv", "--tile", "31")

# Arguments before the name of the output, and the names that it takes.
OUTPUTS = [
    (CALL, ("x.vcf", "x.vcf.gz", "x.bcf")),
    (LIKELIHOODS, ("x.tsv", "x.tsv.gz", "x.parquet")),
    (("gather", "truth.vcf.gz", "-o"), ("x.vcf", "x.vcf.gz", "x.bcf")),
    (("gather", "table.tsv", "-o"), ("x.tsv", "x.tsv.gz")),
    (("profiles", "-f", "reference.fa", "-r", "chr1:1000-2000", "reads.bam", "-o"), ("x.tsv", "x.tsv.gz", "x.profile")),
    (("align", "signature.fa", "signature.fa", "-o"), ("x.tsv", "x.tsv.gz", "x.paf.gz", "x.sam", "x.bam")),
    ((*SCAN, "-o"), ("x.tsv",)),
    ((*SCAN, "-o", "hits.tsv", "--multiqc"), ("x_mqc.json",)),
    (("map", "sketch", "reads_1.fastq.gz", "-o"), ("x.sketches",)),
    (("report", "--calls", "truth.vcf.gz", "-o"), ("x.html",)),
    (("simulate", "signatures", "--count", "3", "-o"), ("x.fa", "x.fa.gz")),
    (("simulate", "signal", "--signatures", "signature.fa", "--write-model", "m.tsv", "--force", "-o"), ("x.tsv",)),
]
CASES = [(arguments, name) for arguments, names in OUTPUTS for name in names]


@pytest.fixture(scope="module")
def demo(tmp_path_factory, run_cli):
    folder = tmp_path_factory.mktemp("special") / "demo"
    assert run_cli("simulate", "-o", folder, "--length", 6_000).returncode == 0
    with pysam.FastaFile(str(folder / "reference.fa")) as fasta:
        (folder / "signature.fa").write_text(f">s\n{fasta.fetch('chr1', 100, 160)}\n")
    assert run_cli(*LIKELIHOODS, "table.tsv", cwd=folder).returncode == 0
    return folder


def through_pipe(run_cli, folder, arguments, name):
    """What a command writes to a named pipe, and how it ended."""
    os.mkfifo(folder / name)
    read = []
    reader = threading.Thread(target=lambda: read.append((folder / name).read_bytes()), daemon=True)
    reader.start()
    before = {path.name for path in folder.iterdir()}
    done = run_cli(*arguments, name, cwd=folder, timeout=60)
    reader.join(10)
    try:
        assert (folder / name).is_fifo()
        # What other options of the command name may be new.
        assert {path.name for path in folder.iterdir()} - before <= {"hits.tsv", "m.tsv"}
    finally:
        (folder / name).unlink()
    return b"".join(read), done


def text_of(content, name):
    return gzip.decompress(content) if name.endswith((".gz", ".bcf", ".bam")) else content


@pytest.mark.parametrize(("arguments", "name"), CASES, ids=lambda value: value if isinstance(value, str) else value[0])
def test_a_pipe_gets_what_a_file_would(demo, run_cli, arguments, name):
    if name.endswith(".parquet") and importlib.util.find_spec("pyarrow") is None:
        pytest.skip("pyarrow is not installed")
    content, done = through_pipe(run_cli, demo, arguments, name)
    assert done.returncode == 0, done.stderr
    assert run_cli(*arguments, name, cwd=demo).returncode == 0
    expected = (demo / name).read_bytes()
    for path in [*demo.glob(f"{name}*"), *demo.glob("x.haplotypes*")]:
        path.unlink()
    assert len(content) > 20
    assert text_of(content, name) == text_of(expected, name)
    has_index = arguments in (CALL, LIKELIHOODS) or arguments[0] == "gather"
    if has_index and name.endswith((".gz", ".bcf")):
        assert f"{name} is not a regular file: it gets no index" in done.stderr
    if arguments is LIKELIHOODS:
        assert f"{name} is not a regular file: no table of haplotypes is written beside it" in done.stderr


@pytest.mark.parametrize(("option", "written"), [("--summary", ".samples.tsv"), ("--candidates", ".reads.fq")])
def test_a_pipe_in_place_of_a_prefix(demo, run_cli, option, written):
    content, done = through_pipe(run_cli, demo, (*TILED, option), "x")
    assert done.returncode == 0, done.stderr
    assert run_cli(*TILED, option, "y", cwd=demo).returncode == 0
    assert content == (demo / f"y{written}").read_bytes()
    assert "x is not a regular file: x." in done.stderr


@pytest.mark.parametrize("name", ["x.vcf.gz", "x.bcf"])
def test_a_device_behind_a_link_stays(tmp_path, demo, run_cli, name):
    try:
        os.mknod(tmp_path / "null", 0o20666, os.makedev(1, 3))
        (tmp_path / "null").write_bytes(b"nothing")
    except PermissionError:
        pytest.skip("devices can't be made here")
    (tmp_path / name).symlink_to("null")
    done = run_cli(*CALL, tmp_path / name, cwd=demo)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "null").is_char_device()
    assert sorted(os.listdir(tmp_path)) == sorted(["null", name])
