"""`pairhmm warp` as users run it; bad input ends with code 2, one line, and no output."""

import importlib.util
import os
from pathlib import Path

import numpy as np
import pytest

PLACE_HEADER = "#file\tread\tsignature\tstrand\tstart\tend\tcost\tlevels\tdistance\tnext_cost\tratio"


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Two queries, two targets, a signature of 200 bases, a table of 2-mers, and a read of its reverse strand."""
    monkeypatch.chdir(tmp_path)
    Path("q.tsv").write_text("#name\tvalues\nq1\t5,9\nq2\t1,1,1\n")
    Path("t.tsv").write_text("t1\t0,5,5,9\nt2\t1,4\n")
    rng = np.random.default_rng(1)
    letters = "".join(rng.choice(list("ACGT"), 200))
    Path("v.fa").write_text(f">other\n{''.join(rng.choice(list('ACGT'), 150))}\n>v\n{letters}\n")
    levels = {a + b: round(float(rng.normal(90, 12)), 3) for a in "ACGT" for b in "ACGT"}
    Path("kmers.model").write_text(
        "kmer\tlevel_mean\tlevel_stdv\n" + "".join(f"{kmer}\t{level}\t1.5\n" for kmer, level in levels.items())
    )
    turned = letters[::-1].translate(str.maketrans("ACGT", "TGCA"))
    read = [levels[turned[at : at + 2]] for at in range(40, 140) for _ in range(3)]
    Path("reads.tsv").write_text(f"r\t{','.join(map(str, read))}\nshort\t1,2\n")


def test_pairs_in_order(files, run_cli):
    done = run_cli("warp", "q.tsv", "t.tsv")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "##scale=1 normalise=none mode=global",
        "#query\ttarget\tcost\tstart\tend",
        "q1\tt1\t5\t0\t4",
        "q2\tt2\t3\t0\t2",
    ]
    assert "pairhmm: backend cpu" in done.stderr
    assert "pairhmm: levels are 16-bit integers: 1 per unit of the signals\n" in done.stderr
    assert "pairhmm: 2 pairs\n" in done.stderr


@pytest.mark.parametrize("backend", ["cpu", "reference"])
def test_each_onto_each(files, run_cli, backend):
    done = run_cli(
        "-q", "warp", "--all", "--mode", "subsequence", "q.tsv", "t.tsv", "-o", "o.tsv", "--backend", backend
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert Path("o.tsv").read_text().splitlines()[2:] == [
        "q1\tt1\t0\t2\t4",
        "q1\tt2\t6\t1\t2",
        "q2\tt1\t3\t0\t1",
        "q2\tt2\t0\t0\t1",
    ]


def test_a_band(files, run_cli):
    done = run_cli("-q", "warp", "--band", "1", "q.tsv", "t.tsv")
    assert done.stdout.splitlines() == [
        "##scale=1 normalise=none mode=global band=1",
        "#query\ttarget\tcost\tstart\tend",
        "q1\tt1\t.\t.\t.",
        "q2\tt2\t3\t0\t2",
    ]


def test_stdin_and_scales(files, run_cli):
    text = "a\t0.5,1.5\n"
    done = run_cli("warp", "-", "t.tsv", input=text + "b\t1,1e6\n", text=True)
    assert done.stdout.splitlines()[0] == "##scale=0.0078125 normalise=none mode=global"
    done = run_cli("warp", "--normalise", "median", "--scale", "10", "-", "q.tsv", input=text * 2, text=True)
    assert "levels are 16-bit integers: 10 per deviation of a signal (median)" in done.stderr
    done = run_cli("warp", "--scale", "100", "-", "q.tsv", input="a\t500,1.5\nb\t1\n", text=True)
    assert "1 levels are out of range at scale 100 and were clipped; lower --scale" in done.stderr


def test_reads_onto_signatures(files, run_cli):
    given = ("--signatures", "v.fa", "--model", "kmers.model", "--levels", "samples", "--skip", "0", "--first", "300")
    done = run_cli("warp", *given, "reads.tsv")
    assert done.returncode == 0, done.stderr
    settings, header, row = done.stdout.splitlines()
    assert settings == "##scale=64 normalise=z-score levels=samples skip=0 first=300 k=2"
    assert header == PLACE_HEADER
    assert row.split("\t")[:4] == ["reads.tsv", "r", "v", "-"]
    start, end = map(int, row.split("\t")[4:6])
    assert abs(start - (200 - 141)) <= 2 and abs(end - (200 - 40)) <= 2
    assert float(row.split("\t")[-1]) > 2
    assert "1 read set aside, with fewer than 30 samples: short ..." in done.stderr
    assert "pairhmm: 2 reads, 1 placed" in done.stderr
    every = run_cli("-q", "warp", *given, "--all", "reads.tsv").stdout.splitlines()[2:]
    assert [line.split("\t")[2] for line in every] == ["other", "v"]
    assert every[1] == row


@pytest.fixture
def sars(shared_data, require, tmp_path, monkeypatch):
    """Five reads of SARS-CoV-2, their table of levels, the genome, and where minimap2 puts them."""
    require("signal", importlib.util.find_spec("pyslow5") is not None, "pyslow5 is not installed")
    monkeypatch.chdir(tmp_path)
    folder = shared_data / "sigfish-sarscov2"
    truth = {}
    for line in (folder / "sp1_dna.minimap2.paf").read_text().splitlines():
        fields = line.split("\t")
        truth[fields[0]] = (fields[4], int(fields[7]), int(fields[8]))
    genome = "".join((folder / "nCoV-2019.reference.fasta").read_text().splitlines()[1:])
    return folder, truth, genome


@pytest.mark.parametrize("options", [(), ("--normalise", "median"), ("--levels", "samples"), ("-@", "2")])
@pytest.mark.parametrize("parts", [1, 30])
def test_real_reads_are_found(sars, run_cli, parts, options):
    folder, truth, genome = sars
    size = -(-len(genome) // parts)
    begins = {f"part_{at}": at * size for at in range(parts)}
    Path("parts.fa").write_text("".join(f">{name}\n{genome[at : at + size]}\n" for name, at in begins.items()))
    (model,) = folder.glob("*.model")
    done = run_cli("-q", "warp", "--signatures", "parts.fa", "--model", model, folder / "sp1_dna.blow5", *options)
    assert done.returncode == 0, done.stderr
    found = [line.split("\t") for line in done.stdout.splitlines() if not line.startswith("#")]
    assert [row[1] for row in found] == list(truth)
    right = 0
    for _, read, part, strand, start, end, *_, ratio in found:
        true_strand, true_start, true_end = truth[read]
        begin = begins[part]
        is_near = begin + int(start) > true_start - 500 and begin + int(end) < true_end + 500
        right += strand == true_strand and is_near
        assert float(ratio) > 1.1
    assert right == 5


SIGNATURES = ("--signatures", "v.fa", "--model", "kmers.model")

SLOW5 = (
    "#slow5_version\t1.0.0\n#num_read_groups\t1\n@experiment_type\tgenomic_dna\n@sequencing_kit\tsqk-lsk109\n"
    "#char*\tuint32_t\tdouble\tdouble\tdouble\tdouble\tuint64_t\tint16_t*\n"
    "#read_id\tread_group\tdigitisation\toffset\trange\tsampling_rate\tlen_raw_signal\traw_signal\n"
    f"r\t0\t8192\t0\t8192\t4000\t300\t{','.join(['90', '70', '100'] * 100)}\n"
)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("\t0\t8192\t0", "\t0\t0\t0", "reads.slow5: record 1 (r): digitisation is 0"),
        (
            "type\tgenomic_dna",
            "type\trna",
            "reads.slow5: read r: is of direct RNA (experiment_type rna): its current runs from the 3' end, which warp"
            " does not support (docs/warp.md); give reads of DNA or cDNA",
        ),
        ("sqk-lsk109", "sqk-rna004", "read r: is of direct RNA (sequencing_kit sqk-rna004)"),
    ],
)
def test_slow5_that_can_not_be_used(files, run_cli, old, new, message):
    Path("reads.slow5").write_bytes(SLOW5.replace(old, new).encode())
    given = ("warp", *SIGNATURES, "--levels", "samples", "--skip", "0", "--first", "300", "reads.slow5")
    done = run_cli(*given)
    # On stdout, too, nothing stands before the error.
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr.splitlines()[-1]
    assert message in bad(run_cli, *given[1:])


def test_a_table_of_another_pore(files, run_cli):
    Path("reads.slow5").write_text(SLOW5.replace("lsk109", "lsk114"))
    Path("kmers.model").write_text("#kit\tr9.4_450bps\n" + Path("kmers.model").read_text())
    given = ("warp", *SIGNATURES, "--levels", "samples", "--skip", "0", "--first", "300")
    done = run_cli(*given, "reads.slow5", "reads.slow5")
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("reads.slow5: reads of pore R10, and a table of levels of pore R9\n") == 1
    Path("reads.slow5").write_text(SLOW5)
    assert "of pore" not in run_cli(*given, "reads.slow5").stderr


def test_nothing_on_stdout_before_an_error_in_the_first_reads(files, run_cli):
    Path("reads.tsv").write_text("r\t1,b\n")
    done = run_cli("warp", *SIGNATURES, "reads.tsv")
    assert (done.returncode, done.stdout) == (2, "")
    done = run_cli("warp", *SIGNATURES, "missing.tsv")
    assert (done.returncode, done.stdout) == (2, "")


def test_a_file_name_that_is_not_utf8(files, run_cli):
    name = os.fsdecode(b"x\xff.tsv")
    Path("reads.tsv").rename(name)
    done = run_cli("warp", *SIGNATURES, "--levels", "samples", "--skip", "0", "--first", "300", name)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[2].startswith("x\ufffd.tsv\tr\t")
    Path(name).write_text("#nothing\n")
    done = run_cli("warp", *SIGNATURES, name)
    assert "x\ufffd.tsv: no read in it" in done.stderr


def bad(run_cli, *arguments, code=2):
    """The one line of a run that ends with an error. No output is left."""
    done = run_cli("warp", *arguments, "-o", "out.tsv")
    assert done.returncode == code
    assert not Path("out.tsv").exists()
    lines = [line for line in done.stderr.splitlines() if "error" in line.lower()]
    assert len(lines) == 1, done.stderr
    return lines[0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("q1\t\nq2\t1\n", "q.tsv: signal q1: has no levels; remove it"),
        ("q1\t1\n", "q.tsv: has 1 signals, fewer than t.tsv; give as many, or --all for each onto each"),
        ("q1\t1\nq2\t2\nq3\t3\n", "t.tsv: has 2 signals, fewer than q.tsv"),
        ("q1\t1,a\n", "q.tsv: line 1 (q1): 'a' is not a number"),
        ("", "q.tsv: has 0 signals, fewer than t.tsv"),
    ],
)
def test_signals_that_can_not_be_used(files, run_cli, text, message):
    Path("q.tsv").write_text(text)
    assert message in bad(run_cli, "q.tsv", "t.tsv")


def test_files_without_signals(files, run_cli):
    Path("none.tsv").write_text("#name\tvalues\n")
    assert "none.tsv: no signal in it; check the file" in bad(run_cli, "none.tsv", "none.tsv")
    assert "none.tsv: no signal in it; check the file" in bad(run_cli, "--all", "q.tsv", "none.tsv")
    assert "none.tsv: no signal in it; check the file" in bad(run_cli, "--all", "none.tsv", "q.tsv")


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("v.fa", ">v\nA\n", "v.fa: every signature is shorter than a 2-mer; give longer ones"),
        ("v.fa", ">v\nACQT\n", "v.fa: record 1 (v)"),
        ("v.fa", "", "v.fa: no signature in it"),
        ("kmers.model", "kmer\tlevel_mean\tlevel_stdv\nAA\t1\t1\n", "kmers.model: 15 of 16 2-mers are missing: AC is"),
        ("reads.tsv", "r\t1,b\n", "reads.tsv: line 1 (r): 'b' is not a number"),
    ],
)
def test_signatures_and_tables_that_can_not_be_used(files, run_cli, name, text, message):
    Path(name).write_text(text)
    assert message in bad(run_cli, *SIGNATURES, "reads.tsv")


def test_a_file_that_is_cut_off_late_leaves_no_output(files, sars, run_cli, tmp_path):
    folder, _, _ = sars
    (tmp_path / "cut.blow5").write_bytes((folder / "sp1_dna.blow5").read_bytes()[:-3000])
    assert "cut.blow5: is cut off: its end marker is missing" in bad(run_cli, *SIGNATURES, "cut.blow5")
    Path("reads.tsv").write_text(Path("reads.tsv").read_text() + "late\t1,")
    assert "reads.tsv: line 3 (late): '' is not a number" in bad(run_cli, *SIGNATURES, "reads.tsv")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("q.tsv",), "Name two files: QUERIES and TARGETS."),
        (("q.tsv", "t.tsv", "q.tsv"), "Name two files: QUERIES and TARGETS."),
        (("--signatures", "v.fa", "reads.tsv"), "--signatures needs --model."),
        (("--model", "kmers.model", "q.tsv", "t.tsv"), "--model needs --signatures."),
        (("--skip", "5", "q.tsv", "t.tsv"), "--skip needs --signatures."),
        ((*SIGNATURES, "--band", "5", "reads.tsv"), "--band does not go with --signatures."),
        ((*SIGNATURES, "--mode", "global", "reads.tsv"), "--mode does not go with --signatures."),
        (("--mode", "subsequence", "--band", "5", "q.tsv", "t.tsv"), "band=5 is for mode"),
        (("q.tsv", "missing.tsv"), "missing.tsv: No such file or directory; check the path"),
        (("q.tsv", "t.tsv", "--device", "0", "--backend", "cpu"), "--device: backend cpu computes on the CPU"),
        (("-", "-"), "stdin is named more than once"),
    ],
)
def test_usage(files, run_cli, arguments, message):
    assert message in bad(run_cli, *arguments)


def test_outputs_do_not_replace_inputs(files, run_cli):
    done = run_cli("warp", "q.tsv", "t.tsv", "-o", "t.tsv")
    assert (done.returncode, "would be written by -o, but is the input t.tsv" in done.stderr) == (2, True)
    done = run_cli("warp", *SIGNATURES, "reads.tsv", "-o", "kmers.model")
    assert (done.returncode, "would be written by -o, but is the input kmers.model" in done.stderr) == (2, True)
