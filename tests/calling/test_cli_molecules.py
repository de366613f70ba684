"""--join-mates and --families in the commands: what they write, what they say, and what they refuse."""

import numpy as np
import pysam
import pytest

from pairhmm.likelihoods.reader import LikelihoodTable

LENGTH, READ, SITES = 3000, 100, (700, 1500, 2300)
PROFILE = ("--model", "profile")
BOTH = (*PROFILE, "--join-mates", "--families", "MI")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Overlapping pairs of a heterozygous sample, in families of one to four: ref.fa, x.bam, x.cram, x.sam, bare.bam.

    bare.bam has neither overlaps nor tags.
    """
    folder = tmp_path_factory.mktemp("molecules")
    rng = np.random.default_rng(5)
    letters = rng.choice(list("ACGT"), LENGTH)
    (folder / "ref.fa").write_text(f">q\n{''.join(letters)}\n")
    pysam.faidx(str(folder / "ref.fa"))
    header = pysam.AlignmentHeader.from_dict(
        {"HD": {"SO": "coordinate"}, "SQ": [{"SN": "q", "LN": LENGTH}], "RG": [{"ID": "1", "SM": "one"}]}
    )
    for name, insert in (("x", 140), ("bare", 260)):
        reads = []
        for molecule, start in enumerate(rng.permutation(LENGTH - insert)[:700].tolist()):
            bases = letters[start : start + insert].copy()
            if molecule % 2:
                for site in SITES:
                    if start <= site < start + insert:
                        bases[site - start] = "ACGT"["ACGT".index(letters[site]) ^ 1]
            for copy in range(1 + molecule % 4):
                reads += pair(
                    header, rng, bases, start, f"m{molecule}c{copy}", "" if name == "bare" else f"{molecule}/A"
                )
        reads.sort(key=lambda read: read.reference_start)
        with pysam.AlignmentFile(str(folder / f"{name}.bam"), "wb", header=header) as out:
            for read in reads:
                out.write(read)
        pysam.index(str(folder / f"{name}.bam"))
    pysam.view(
        "-C", "-T", str(folder / "ref.fa"), "-o", str(folder / "x.cram"), str(folder / "x.bam"), catch_stdout=False
    )
    pysam.index(str(folder / "x.cram"))
    pysam.view("-h", "-o", str(folder / "x.sam"), str(folder / "x.bam"), catch_stdout=False)
    return folder


def pair(header, rng, bases, start, name, molecule):
    """A pair of reads from the ends of a molecule, with errors at the rate of their qualities."""
    reads = []
    for flag, first in ((0x61, 0), (0x91, len(bases) - READ)):
        quals = rng.choice([20, 30, 38], READ)
        called = bases[first : first + READ].copy()
        wrong = rng.random(READ) < 10 ** (-quals / 10)
        called[wrong] = rng.choice(list("ACGT"), int(wrong.sum()))
        read = pysam.AlignedSegment(header)
        read.query_name, read.reference_id, read.reference_start, read.flag = name, 0, start + first, flag
        read.mapping_quality, read.cigartuples = 60, [(0, READ)]
        read.next_reference_id, read.next_reference_start = 0, start + len(bases) - READ - first
        read.template_length = len(bases) if not first else -len(bases)
        read.query_sequence = "".join(called)
        read.query_qualities = quals.tolist()
        read.set_tag("RG", "1")
        if molecule:
            read.set_tag("MI", molecule)
        reads.append(read)
    return reads


@pytest.fixture
def run(run_cli, folder):
    def run(verb, *arguments, reads="x.bam", code=0):
        done = run_cli(verb, "-f", "ref.fa", *arguments, reads, cwd=folder)
        assert done.returncode == code, done.stderr
        assert "Traceback" not in done.stderr
        return done

    return run


def rows(text):
    header, *lines = (line for line in text.splitlines() if not line.startswith("##"))
    return header.lstrip("#").split("\t"), [line.split("\t") for line in lines]


def test_the_table_counts_the_reads_of_each_profile(run):
    plain, single = rows(run("likelihoods", *PROFILE).stdout)
    assert {row[9] for row in single} == {"1"}
    columns, joined = rows(run("likelihoods", *BOTH).stdout)
    assert columns == plain and columns[9] == "reads"
    assert {row[5] for row in single} == {"1", "2"}
    assert {row[5] for row in joined} == {"0", "1", "2"}, "some mates do not overlap the region's candidates"
    assert all(int(row[9]) % 2 == 0 for row in joined if row[5] == "0")
    assert {int(row[9]) for row in joined} >= {2, 4, 6, 8}
    columns, families = rows(run("likelihoods", *PROFILE, "--families", "MI").stdout)
    assert {row[5] for row in families} == {"1", "2"}
    assert {int(row[9]) for row in families} == {1, 2, 3, 4}
    seen = [tuple(row[:7]) for row in joined]
    assert len(set(seen)) == len(seen)


def test_what_was_joined_is_said(run):
    assert "pairs of mates joined" not in run("likelihoods", *PROFILE).stderr
    told = run("likelihoods", *BOTH).stderr
    assert "families of 2 to 4 reads (" in told
    assert "pairs of mates joined" in told


def test_families_by_position_are_those_by_tag(run):
    by_tag = run("likelihoods", *BOTH)
    by_position = run("likelihoods", *PROFILE, "--join-mates", "--families", "position")
    assert rows(by_position.stdout) == rows(by_tag.stdout)


@pytest.mark.parametrize("reads", ["x.cram", "x.sam"])
def test_formats(run, reads):
    assert run("likelihoods", *BOTH, reads=reads).stdout == run("likelihoods", *BOTH).stdout


def test_threads_and_chunks_change_nothing(run):
    assert run("likelihoods", *BOTH, "-@", "2", "--chunk-size", "7").stdout == run("likelihoods", *BOTH).stdout


def test_calls(run, tmp_path):
    """The same genotypes; a molecule counts once in AD and DP."""
    found = {}
    for options in (PROFILE, BOTH):
        out = tmp_path / "out.vcf"
        run("call", *options, "-o", out)
        lines = out.read_text().splitlines()
        found[options] = [line.split("\t") for line in lines if not line.startswith("#")]
        told = next(line for line in lines if line.startswith("##pairhmmModel="))
        assert told.endswith("profile (normalised)" if options == PROFILE else ", mates joined, families by MI")
    for options, records in found.items():
        assert [int(record[1]) - 1 for record in records] == list(SITES), options
        assert {record[9].split(":")[0] for record in records} == {"0/1"}
    depths = [[int(record[9].split(":")[2]) for record in records] for records in found.values()]
    assert all(joined < single / 3 for single, joined in zip(*depths, strict=True))


@pytest.mark.parametrize("ending", [".tsv", ".tsv.gz", ".parquet"])
def test_tables_of_joined_reads_are_read_again(run, tmp_path, ending):
    pytest.importorskip("pyarrow")
    path = tmp_path / f"table{ending}"
    run("likelihoods", *BOTH, "-o", path)
    _, expected = rows(run("likelihoods", *BOTH).stdout)
    table = LikelihoodTable(str(path))
    described = {one.locus: one for one in table.haplotypes()}
    regions = list(table.regions(described.get))
    assert sum(one.log10.size for one in regions) == len(expected) > 100
    run_again = run("likelihoods", *BOTH, "-o", tmp_path / f"again{ending}", "-r", "q:600-900")
    assert run_again.returncode == 0


@pytest.mark.parametrize("options", [("--join-mates",), ("--families", "MI"), ("--families", "position")], ids=str)
@pytest.mark.parametrize("verb", ["likelihoods", "call", "scatter"])
def test_gatks_model_joins_nothing(run, tmp_path, verb, options):
    out = tmp_path / ("out.vcf" if verb == "call" else "out.tsv")
    done = run(verb, *options, "-o", out, *(("-n", 2) if verb == "scatter" else ()), code=2)
    assert "--join-mates and --families are for --model profile" in done.stderr
    assert not out.exists()


def test_families_without_tags(run, tmp_path):
    out = tmp_path / "out.tsv"
    done = run("likelihoods", *PROFILE, "--families", "MI", "-o", out, reads="bare.bam", code=2)
    assert "bare.bam: none of 3500 reads has the tag MI" in done.stderr
    assert not list(tmp_path.iterdir())


def test_mates_that_do_not_overlap(run):
    done = run("likelihoods", *PROFILE, "--join-mates", reads="bare.bam")
    assert "no mates overlap" in done.stderr
    assert done.stdout == run("likelihoods", *PROFILE, reads="bare.bam").stdout


def test_copies_that_are_left_out(folder, run):
    """Marked duplicates are not used by default, and the message says how they are."""
    with pysam.AlignmentFile(str(folder / "x.bam")) as reads:
        with pysam.AlignmentFile(str(folder / "marked.bam"), "wb", template=reads) as out:
            for read in reads:
                read.flag |= 0 if read.query_name.endswith("c0") else 0x400
                out.write(read)
    done = run("likelihoods", *PROFILE, "--families", "MI", reads="marked.bam")
    assert (
        "no families of two reads or more; reads marked as duplicates are used with --exclude-flags 0xB04"
        in done.stderr
    )
    done = run("likelihoods", *PROFILE, "--families", "MI", "--exclude-flags", "0xB04", reads="marked.bam")
    assert done.stdout == run("likelihoods", *PROFILE, "--families", "MI").stdout
