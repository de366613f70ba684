"""Inputs as users have them: lists of files, some of the samples, files of regions, and assemblies."""

import re

import pysam
import pytest

from pairhmm.simulate.api import simulate


@pytest.fixture(scope="module")
def samples(tmp_path_factory):
    """Two samples of one genome."""
    folder = tmp_path_factory.mktemp("samples")
    size = {"length": 12_000, "coverage": 20, "snvs": 20, "indels": 3, "genome_seed": 1}
    return [simulate(folder / name, sample=name, seed=seed, **size) for seed, name in enumerate(("one", "two"))]


@pytest.fixture
def records(samples, run_cli, tmp_path):
    """``records(*options)``: the calls of a run without its header."""

    def run(*options):
        done = run_cli("call", "-f", samples[0].reference, *options, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        return [line for line in done.stdout.splitlines() if not line.startswith("##")]

    return run


def both(samples, tmp_path):
    """One file with the reads of both samples."""
    path = tmp_path / "both.bam"
    pysam.merge("-f", str(path), *(str(sample.bam) for sample in samples))
    pysam.index(str(path))
    return path


def test_a_list_of_alignments(records, samples, tmp_path):
    (tmp_path / "bams.txt").write_text(f"{samples[1].bam}\n\n")
    named = records(samples[0].bam, samples[1].bam)
    assert records("--bam-list", "bams.txt", samples[0].bam) == named
    assert records("--bam-list", "bams.txt") == records(samples[1].bam) != named


@pytest.mark.parametrize("name", ["one", "two"])
def test_the_reads_of_some_samples(records, samples, tmp_path, name):
    alone = records(samples[name == "two"].bam)
    assert len(alone) > 10
    assert records("-s", name, both(samples, tmp_path)) == alone
    assert records("-s", name, samples[0].bam, samples[1].bam) == alone


def test_both_samples_by_name_are_all(records, samples, tmp_path):
    assert records("-s", "two,one", both(samples, tmp_path)) == records(both(samples, tmp_path))


def test_names_with_commas(samples, records, run_cli, tmp_path):
    renamed = tmp_path / "renamed.bam"
    with pysam.AlignmentFile(samples[0].bam) as reads:
        header = reads.header.to_dict()
        header["RG"][0]["SM"] = "one,two"
        with pysam.AlignmentFile(renamed, "wb", header=header) as out:
            for read in reads:
                out.write(read)
    pysam.index(str(renamed))
    assert records("-s", '"one,two"', renamed, samples[1].bam) == records(renamed)
    assert records("-s", 'two,"one,two"', renamed, samples[1].bam) == records(renamed, samples[1].bam)
    for text, rule in (("one,two", "quote those with commas: -s '\"a,b\"'"), ('"one,two', "quote names with commas")):
        done = run_cli("call", "-f", samples[0].reference, "-s", text, renamed)
        assert done.returncode == 2 and rule in " ".join(done.stderr.split())


def test_a_sample_that_no_file_has(samples, run_cli):
    done = run_cli("call", "-f", samples[0].reference, "-s", "three", samples[0].bam)
    assert (done.returncode, done.stderr.splitlines()[-1]) == (
        2,
        "pairhmm: error: --samples: three: no such sample; samples are one",
    )


def test_padding_extends_regions(records, samples):
    bam = samples[0].bam
    assert records("-r", "chr1:4001-6000", "--padding", 1000, bam) == records("-r", "chr1:3001-7000", bam)


def test_the_records_of_a_vcf_are_regions(records, samples):
    bam, truth = samples[0].bam, samples[0].truth
    with pysam.VariantFile(str(truth)) as given:
        places = {record.pos for record in given}
    found = [line.split("\t") for line in records("-R", truth, bam)[1:]]
    assert found and {int(cells[1]) for cells in found} <= places


def test_males_have_one_x(run_cli, samples, tmp_path):
    """The first pseudoautosomal region of GRCh38, where they have two, begins at 10,001."""
    text = samples[0].reference.read_text().replace(">chr1", ">chrX")
    (tmp_path / "x.fa").write_text(text)
    with pysam.AlignmentFile(str(samples[0].bam)) as reads:
        header = str(reads.header).replace("SN:chr1", "SN:chrX")
        lines = [read.to_string().replace("\tchr1\t", "\tchrX\t") for read in reads]
    (tmp_path / "x.sam").write_text(header + "\n".join(lines) + "\n")
    for sex, copies in (("M", 1), ("F", 2)):
        sexes = "--ploidy-file", "GRCh38", "--sample-sex", f"one={sex}"
        done = run_cli("call", "-f", "x.fa", *sexes, "x.sam", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        rows = [line.split("\t") for line in done.stdout.splitlines() if not line.startswith("#")]
        ploidies = {int(row[1]): len(re.split("[/|]", row[9].split(":")[0])) for row in rows}
        assert len(ploidies) > 10 and max(ploidies) > 10_000
        assert all(ploidy == (copies if at <= 10_000 else 2) for at, ploidy in ploidies.items())


def test_files_of_other_machines_are_named_as_such(run_cli):
    done = run_cli("call", "-f", "https://example.org/r.fa", "x.bam")
    assert done.returncode == 2 and "is on another machine" in done.stderr
