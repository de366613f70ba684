"""`pairhmm map sketch` as users run it: formats, names, threads; bad input ends with one line and no output."""

import gzip
import os
from pathlib import Path

import numpy as np
import pysam
import pytest

import pairhmm
from pairhmm.errors import InputError, OptionError
from pairhmm.map.sketch import published
from pairhmm.map.sketch.files import read_sketches
from pairhmm.map.sketch.sketches import Scheme, planes_of, values_of
from pairhmm.sequences.letters import encode_sets
from tests.map.sketch.permutation import dense_slots, frequent, kmer_hashes, minima


def letters(seed, length):
    return "".join(np.random.default_rng(seed).choice(list("ACGT"), length))


def write_alignments(reads, sample):
    groups = [{"ID": "1", "SM": sample}] if isinstance(sample, str) else sample
    header = pysam.AlignmentHeader.from_dict({"HD": {"VN": "1.6"}, "RG": groups})
    for name, mode in (("x.bam", "wb"), ("x.cram", "wc"), ("x.sam", "wh")):
        with pysam.AlignmentFile(name, mode, header=header) as out:
            for number, text in enumerate(reads):
                read = pysam.AlignedSegment(header)
                read.query_name, read.flag, read.query_sequence = f"r{number}", 4, text
                read.query_qualities = pysam.qualitystring_to_array("I" * len(text))
                out.write(read)


@pytest.fixture
def reads(tmp_path, monkeypatch):
    """Reads of a genome at a depth of 10 in every format; the folder is the current one."""
    monkeypatch.chdir(tmp_path)
    genome = letters(1, 2000)
    rng = np.random.default_rng(2)
    found = [genome[at : at + 100] for at in rng.integers(0, 1900, 200)] + [letters(3, 100)]
    text = "".join(f"@r{number}\n{read}\n+\n{'I' * 100}\n" for number, read in enumerate(found))
    Path("x.fq").write_text(text)
    Path("x.fastq.gz").write_bytes(gzip.compress(text.encode()))
    Path("x.fa").write_text("".join(f">r{number}\n{read}\n" for number, read in enumerate(found)))
    write_alignments(found, "NA1")
    return found


def expected_planes(sequences, least, k=21, slots=1024, bits=8):
    hashes = np.concatenate([kmer_hashes(encode_sets(one), k) for one in sequences])
    dense = dense_slots(minima(frequent(hashes, least)[0]), slots)
    return planes_of((dense & np.uint64(2**32 - 1)).astype(np.uint32)[np.newaxis], bits)[0]


@pytest.mark.parametrize("name", ["x.fq", "x.fastq.gz", "x.bam", "x.cram", "x.sam", "x.fa"])
@pytest.mark.parametrize("threads", [1, 2])
def test_every_format(reads, run_cli, name, threads):
    done = run_cli("map", "sketch", "-o", "x.sketches", "-@", threads, name)
    assert done.returncode == 0, done.stderr
    found = read_sketches("x.sketches")
    least = 1 if name == "x.fa" else 2
    assert found.names == ["NA1" if name in ("x.bam", "x.cram", "x.sam") else "x"]
    assert found.least_counts.tolist() == [least]
    assert np.array_equal(found.planes[0], expected_planes(reads, least))
    assert found.scheme == Scheme()
    if least == 2:
        assert found.kmers[0] == pytest.approx(1980, rel=0.05)


def test_stdin_and_stdout(reads, run_cli):
    with open("x.bam", "rb") as file:
        done = run_cli("map", "sketch", "-o", "-", "--sample", "s", "-", stdin=file, text=False)
    assert done.returncode == 0, done.stderr
    Path("y").write_bytes(done.stdout)
    assert read_sketches("y").names == ["s"]
    assert np.array_equal(read_sketches("y").planes[0], expected_planes(reads, 2))


def test_options_reach_the_sketch(reads, run_cli):
    run_cli("map", "sketch", "-o", "y", "--k", 31, "--slots", 128, "--bits", 3, "--min-count", 3, "x.fq")
    found = read_sketches("y")
    assert found.scheme == Scheme("permutation", 31, 128, 3)
    assert found.least_counts.tolist() == [3]
    assert np.array_equal(found.planes[0], expected_planes(reads, 3, 31, 128, 3))


def test_the_published_scheme(reads, run_cli):
    done = run_cli("map", "sketch", "-o", "y", "--scheme", "published", "x.fa")
    assert done.returncode == 0, done.stderr
    found = read_sketches("y")
    hashes = np.concatenate([kmer_hashes(encode_sets(one), 21) for one in reads])
    assert found.scheme == Scheme("published", 21, 128, 31)
    assert np.array_equal(values_of(found.planes)[0], published.signature(published.tokens_of(hashes)))


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_many_files_have_one_result(tmp_path, monkeypatch, threads):
    monkeypatch.chdir(tmp_path)
    genomes = [letters(seed, 3000) for seed in range(15)]
    for number, genome in enumerate(genomes):
        Path(f"g{number}.fna").write_text(f">c\n{genome}\n")
    found = pairhmm.sketch([f"g{number}.fna" for number in range(15)], threads=threads)
    assert found.names == [f"g{number}" for number in range(15)]
    assert np.array_equal(found.planes, [expected_planes([genome], 1) for genome in genomes])


def test_records_that_are_samples(tmp_path, monkeypatch, run_cli):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("pairhmm.map.sketch.api.CHUNK_SIZE", 1000)
    records = {"a": letters(1, 90), "b": letters(2, 5000), "c": letters(3, 40), "d": letters(4, 3000)}
    Path("x.fa").write_text("".join(f">{name} more\n{text}\n" for name, text in records.items()))
    found = pairhmm.sketch("x.fa", each_record=True, slots=256)
    assert found.names == list("abcd")
    assert np.array_equal(found.planes, [expected_planes([text], 1, slots=256) for text in records.values()])
    run_cli("map", "sketch", "-o", "y", "--each-record", "--slots", 256, "x.fa")
    assert np.array_equal(read_sketches("y").planes, found.planes)


def test_a_sheet_names_samples(reads, run_cli):
    half = Path("x.fq").read_text().splitlines(keepends=True)
    Path("1.fq").write_text("".join(half[:400]))
    Path("2.fq").write_text("".join(half[400:]))
    Path("s.tsv").write_text("sample\talignments\treads\nn1\tx.bam\t1.fq,2.fq\nn2\tx.bam\t\n")
    done = run_cli("map", "sketch", "-o", "y", "--sheet", "s.tsv")
    assert done.returncode == 0, done.stderr
    found = read_sketches("y")
    assert found.names == ["n1", "n2"]
    assert np.array_equal(found.planes, [expected_planes(reads, 2)] * 2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("empty.fa",), "empty.fa: has no k-mer: no 21 letters in a row are A, C, G or T"),
        (("ns.fa",), "ns.fa: has no k-mer"),
        (("once.fq",), "once.fq: none of 80 k-mers is seen 2 times or more; give --min-count 1"),
        (("x.fa", "x.fa"), "x.fa: is given twice; name each file once"),
        (("x.fa", "link.fa"), "link.fa: is given twice, as x.fa too"),
        (("x.fa", "other/x.fa"), "other/x.fa: sample 'x': x.fa has it too; rename one"),
        (("--each-record", "two.fa"), "two.fa: sample 'a': two records have it"),
        (("--each-record", "ns.fa"), "ns.fa: record 1 (n): has no k-mer"),
        (("--sample", "s", "x.fa", "once.fq"), "once.fq: sample 's' has reads in one file and FASTA in another"),
        (("cut.fq.gz",), "cut.fq.gz: is cut off"),
        (("cut.bam",), "cut.bam: is cut off"),
        (("none.fa",), "none.fa: No such file"),
        (("text.txt",), "begins with 'h', not with > or @"),
        (("rgs.bam",), "rgs.bam: has reads of 2 samples: a, b; divide it"),
        (("--k", "32", "x.fa"), "'--k': 32"),
        (("--k", "0", "x.fa"), "'--k': 0"),
        (("--slots", "1000", "x.fa"), "slots=1000 is not a power of two"),
        (("--slots", "64", "x.fa"), "'--slots': 64"),
        (("--bits", "17", "x.fa"), "bits=17 is more than 16"),
        (("--scheme", "published", "--slots", "256", "x.fa"), "scheme='published' has 128 slots of 31 bits"),
        (("--sheet", "s.tsv"), "s.tsv: line 2: no file of the sample"),
        (("--sheet", "s.tsv", "x.fa"), "FILES or --sheet is needed, and not both"),
        ((), "FILES or --sheet is needed, and not both"),
        (("--sample", "s", "--each-record", "x.fa"), "--sample does not go with"),
    ],
)
@pytest.mark.parametrize("threads", [1, 3])
def test_bad_input_is_one_line(reads, run_cli, arguments, message, threads):
    for name, text in {
        "empty.fa": "",
        "ns.fa": f">n\n{'N' * 50}{'A' * 20}\n",
        "once.fq": f"@r\n{letters(9, 100)}\n+\n{'I' * 100}\n",
        "two.fa": f">a\n{letters(9, 100)}\n>a\n{letters(8, 100)}\n",
        "text.txt": "hello\n",
        "s.tsv": "sample\treads\nn1\t\n",
    }.items():
        Path(name).write_text(text)
    Path("other").mkdir()
    Path("other/x.fa").write_text(f">a\n{letters(9, 100)}\n")
    os.symlink("x.fa", "link.fa")
    Path("cut.fq.gz").write_bytes(Path("x.fastq.gz").read_bytes()[:-100])
    Path("cut.bam").write_bytes(Path("x.bam").read_bytes()[:-28])
    os.rename("x.bam", "x0.bam")
    write_alignments([letters(1, 100)], [{"ID": "1", "SM": "a"}, {"ID": "2", "SM": "b"}])
    os.rename("x.bam", "rgs.bam")
    done = run_cli("-q", "map", "sketch", "-o", "y.sketches", "-@", threads, *arguments)
    assert done.returncode == 2
    assert message in " ".join(done.stderr.replace("│", " ").split())
    assert "Traceback" not in done.stderr
    assert not Path("y.sketches").exists()


def test_names_of_a_mapping_and_options_by_keyword(reads):
    found = pairhmm.sketch({"a": ["x.fq"], "b": "x.bam"}, k=15, min_count=1)
    assert found.names == ["a", "b"] and found.scheme.k == 15 and found.least_counts.tolist() == [1, 1]
    assert np.array_equal(found.planes[0], found.planes[1])
    with pytest.raises(OptionError, match="k=32"):
        pairhmm.sketch("x.fq", k=32)
    with pytest.raises(TypeError, match="did you mean 'min_count'"):
        pairhmm.sketch("x.fq", min_counts=2)
    with pytest.raises(InputError, match="no file is named"):
        pairhmm.sketch([])
