"""Outputs that are inputs, indices or companions of inputs, or other outputs: refused before anything is opened."""

import pytest

CALL = ("call", "-f", "ref.fa")
LIKELIHOODS = ("likelihoods", "-f", "ref.fa")
SCAN = ("scan", "--signatures", "ref.fa")
REPORT = ("report", "--calls", "calls.vcf.gz")
SCATTER = ("scatter", "-f", "ref.fa", "-n", "2", "reads.bam", "-o", "pieces")
SAMPLES = ("simulate", "samples", "--signatures", "ref.fa")

# Arguments, the output that is refused, and what it is said to be. test_cli_option_files.py has the plain pairs of an
# input and an output.
CASES = [
    ((*CALL, "reads.bam", "-o", "reads.bam.bai"), "reads.bam.bai", "an index of the input reads.bam"),
    ((*CALL, "reads.bam", "-o", "ref.fa.fai"), "ref.fa.fai", "an index of the input ref.fa"),
    ((*CALL, "symbolic.vcf", "-o", "reads.bam.csi"), "reads.bam.csi", "an index of the input symbolic.vcf"),
    ((*CALL, "reads.bam", "-v", "x.vcf.gz.tbi", "-o", "x.vcf.gz"), "x.vcf.gz.tbi", "the input x.vcf.gz.tbi"),
    ((*CALL, "-", "-o", "reads.bam"), "reads.bam", "the input -"),
    (
        (*LIKELIHOODS, "reads.bam", "--haplotypes", "t.haplotypes.tsv", "-r", "chr1:1-9", "-o", "t.tsv"),
        *("t.haplotypes.tsv", "the input t.haplotypes.tsv"),
    ),
    ((*SCAN, "p.samples.tsv", "-o", "x", "--summary", "p"), "p.samples.tsv", "--summary, but is the input"),
    ((*SCAN, "reads.fastq.gz", "-o", "a_mqc.json", "--multiqc", "./a_mqc.json"), "./a_mqc.json", "written by -o too"),
    ((*SCAN, "reads.fastq.gz", "-o", "p.samples.tsv", "--summary", "p"), "p.samples.tsv", "written by -o too"),
    ((*REPORT, "-o", "calls.vcf.gz.tbi"), "calls.vcf.gz.tbi", "an index of the input calls.vcf.gz"),
    (("report", "--likelihoods", "t.tsv", "-o", "t.haplotypes.tsv"), "t.haplotypes.tsv", "the input t.haplotypes.tsv"),
    (
        (*REPORT, "-o", "m/pairhmm_general_mqc.json", "--mqc", "m"),
        *("m/pairhmm_general_mqc.json", "--mqc, but is written by -o too"),
    ),
    (("gather", "t.tsv", "u.tsv", "-o", "t.haplotypes.tsv"), "t.haplotypes.tsv", "the input t.haplotypes.tsv"),
    ((*SCATTER, "-R", "pieces/1-of-2.bed"), "pieces/1-of-2.bed", "the input pieces/1-of-2.bed"),
    ((*SAMPLES, "-o", "x.fq", "--truth", "x.fq"), "x.fq", "--truth, but is written by -o too"),
    ((*SAMPLES, "-o", "-", "--truth", "-"), "-", "--truth, but is written by -o too"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Files that a command would not get to read."""
    folder = tmp_path_factory.mktemp("destinations")
    for name in ("pieces", "m"):
        (folder / name).mkdir()
    for name in {argument for arguments, _, _ in CASES for argument in arguments if "." in argument}:
        if not name.startswith("./") and name != "symbolic.vcf":
            (folder / name).write_text("kept")
    for name in ("x.in", "reads.bam.bai", "calls.vcf.gz.tbi", "ref.fa.fai", "t.haplotypes.tsv", "p.samples.tsv"):
        (folder / name).write_text("kept")
    (folder / "symbolic.vcf").symlink_to("reads.bam")
    return folder


def contents(folder):
    return {path: path.read_text() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.mark.parametrize(("arguments", "output", "what"), CASES, ids=lambda case: "")
def test_refused_and_nothing_is_touched(folder, run_cli, arguments, output, what):
    before = contents(folder)
    with open(folder / "reads.bam") as stdin:
        done = run_cli(*arguments, cwd=folder, stdin=stdin)
    assert done.returncode == 2
    assert done.stderr.startswith(f"pairhmm: error: {output}: would be written by ")
    assert what in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert contents(folder) == before


def test_stdout_that_is_an_input(folder, run_cli):
    with open(folder / "x.in", "a") as stdout:
        done = run_cli("forward", "x.in", cwd=folder, capture_output=False, stdout=stdout, stderr=-1)
    assert done.returncode == 2
    assert "-: would be written by -o, but is the input x.in" in done.stderr


def test_devices_and_other_names_are_no_clash(tmp_path, run_cli):
    (tmp_path / "x.in").write_text("1 1\nA I I I +\nA\n")
    for output in ("/dev/null", tmp_path / "x.tsv", tmp_path / "x.tsv"):
        assert run_cli("forward", tmp_path / "x.in", "-o", output).returncode == 0
    sizes = ("--count", "3", "--min-length", "30", "--max-length", "40")
    assert run_cli("simulate", "signatures", *sizes, "-o", tmp_path / "s.fa").returncode == 0
    none = ("--num-no-virus", "1", "--num-with-virus", "0", "--min-viruses", "1", "--max-viruses", "1")
    done = run_cli(
        "simulate", "samples", "--signatures", tmp_path / "s.fa", *none, "-o", "/dev/null", "--truth", "/dev/null"
    )
    assert done.returncode == 0, done.stderr
