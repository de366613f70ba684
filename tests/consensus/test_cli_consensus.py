import numpy as np
import pysam
import pytest

LENGTH, READ = 400, 60


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    """A folder with a reference, and pairs of 60 bases whose mates overlap by 20 over [0, 300) of it."""
    folder = tmp_path_factory.mktemp("sample")
    rng = np.random.default_rng(3)
    bases = "".join(rng.choice(list("ACGT"), LENGTH))
    (folder / "ref.fa").write_text(f">chr\n{bases}\n>unread\n{bases[::-1]}\n")
    header = pysam.AlignmentHeader.from_dict(
        {
            "HD": {"SO": "coordinate"},
            "SQ": [{"SN": "chr", "LN": LENGTH}, {"SN": "unread", "LN": LENGTH}],
            "RG": [{"ID": "g", "SM": "s"}],
        }
    )
    reads = []
    for number in range(600):
        start = int(rng.integers(0, 201))
        mate = start + READ - 20
        for flag, at, other_at in ((99, start, mate), (147, mate, start)):
            read = pysam.AlignedSegment(header)
            read.query_name, read.flag, read.reference_id, read.reference_start = f"r{number}", flag, 0, at
            read.mapping_quality, read.cigartuples = 60 if number % 10 else 5, [(0, READ)]
            read.next_reference_id, read.next_reference_start = 0, other_at
            read.template_length = (mate + READ - start) * (1 if flag == 99 else -1)
            read.query_sequence = bases[at : at + READ]
            read.query_qualities = rng.choice([5, 30], READ, p=[0.2, 0.8]).tolist()
            read.set_tag("RG", "g")
            reads.append(read)
    with pysam.AlignmentFile(folder / "reads.bam", "wb", header=header) as out:
        for read in sorted(reads, key=lambda one: one.reference_start):
            out.write(read)
    return folder


def write_calls(path, records, samples="s", formats=("AF,A,Float",)):
    """Records are (1-based position, REF, ALT, FILTER, FORMAT, values of the samples)."""
    lines = ["##fileformat=VCFv4.3", f"##contig=<ID=chr,length={LENGTH}>", '##FILTER=<ID=Low,Description="">']
    for name, number, kind in (one.split(",") for one in ("GT,1,String", "AD,R,Integer", *formats)):
        lines.append(f'##FORMAT=<ID={name},Number={number},Type={kind},Description="">')
    lines.append(
        "\t".join(
            ["#CHROM", "POS", "ID", "REF", "ALT", "QUAL", "FILTER", "INFO", *(["FORMAT", *samples] if samples else [])]
        )
    )
    for position, ref, alt, filters, fields, *values in records:
        lines.append("\t".join(["chr", str(position), ".", ref, alt, "50", filters, ".", fields, *values]))
    path.write_text("\n".join(lines) + "\n")
    return path


def bases_of(folder):
    return (folder / "ref.fa").read_text().split("\n")[1]


def other(base):
    return "ACGT"[("ACGT".index(base) + 1) % 4]


def expected_depth(folder):
    """Molecules with a base of quality 10 at each position, by the names of their reads."""
    seen = [set() for _ in range(LENGTH)]
    with pysam.AlignmentFile(folder / "reads.bam") as reads:
        for read in reads:
            for at, place in read.get_aligned_pairs(matches_only=True):
                if read.mapping_quality >= 20 and read.query_qualities[at] >= 10:
                    seen[place].add(read.query_name)
    return np.array([len(names) for names in seen])


def run(run_cli, folder, calls, *options):
    done = run_cli("consensus", "-f", folder / "ref.fa", "-b", folder / "reads.bam", *options, calls)
    lines = done.stdout.split("\n")
    return done, lines[0], "".join(lines[1:])


@pytest.mark.parametrize("least", [0, 10, 60])
def test_depth_counts_molecules(run_cli, sample, tmp_path, least):
    bases, depth = bases_of(sample), expected_depth(sample)
    assert 0 < (depth < 60).sum() < LENGTH
    calls = write_calls(tmp_path / "none.vcf", [])
    done, name, letters = run(run_cli, sample, calls, "--min-depth", least)
    assert done.returncode == 0, done.stderr
    assert name == ">s|chr"
    wanted = "".join(base if deep >= least else "N" for base, deep in zip(bases, depth, strict=True))
    assert letters == wanted
    assert "unread" not in done.stdout


@pytest.mark.parametrize("least", [45, 50, 55])
def test_depth_at_the_origin_of_a_circle_counts_molecules(run_cli, tmp_path, least):
    """Pairs whose mates overlap, on a circle. Of a read over the origin, the shorter side is clipped."""
    rng = np.random.default_rng(7)
    bases = "".join(rng.choice(list("ACGT"), LENGTH))
    seen, lines = [set() for _ in range(LENGTH)], []
    for number in range(200):
        first = int(rng.integers(0, LENGTH))
        for flag, start in ((99, first), (147, (first + int(rng.integers(10, 90))) % LENGTH)):
            for place in range(start, start + READ):
                seen[place % LENGTH].add(number)
            over = max(0, start + READ - LENGTH)
            at, cigar = (start, f"{READ - over}M{over}S" if over else f"{READ}M")
            if over > READ // 2:
                at, cigar = 0, f"{READ - over}S{over}M"
            letters = (bases * 2)[start : start + READ]
            lines.append((at, f"r{number}\t{flag}\tchr\t{at + 1}\t60\t{cigar}\t=\t1\t0\t{letters}\t{'I' * READ}\n"))
    (tmp_path / "ref.fa").write_text(f">chr\n{bases}\n")
    text = f"@HD\tSO:coordinate\n@SQ\tSN:chr\tLN:{LENGTH}\n" + "".join(line for _, line in sorted(lines))
    (tmp_path / "reads.sam").write_text(text)
    pysam.view("-b", "-o", str(tmp_path / "reads.bam"), str(tmp_path / "reads.sam"), catch_stdout=False)
    pysam.index(str(tmp_path / "reads.bam"))
    calls = write_calls(tmp_path / "none.vcf", [])
    done, _, letters = run(run_cli, tmp_path, calls, "--circular", "chr", "--min-depth", least)
    assert done.returncode == 0, done.stderr
    deep = [len(names) >= least for names in seen]
    assert 0 < sum(deep) < LENGTH
    assert letters == "".join(base if enough else "N" for base, enough in zip(bases, deep, strict=True))
    done, _, linear = run(run_cli, tmp_path, calls, "--min-depth", least)
    assert linear.count("N") > letters.count("N")


def test_alleles_of_passing_records_are_applied(run_cli, sample, tmp_path):
    bases = bases_of(sample)
    records = [
        (101, bases[100], other(bases[100]), "PASS", "GT:AF", "0/1:0.8"),
        (103, bases[102], other(bases[102]), "Low", "GT:AF", "0/1:0.9"),
        (105, bases[104], other(bases[104]), ".", "GT:AD", "0/1:10,30"),
        (107, bases[106], other(bases[106]), ".", "GT", "1/1"),
        (110, bases[109:113], bases[109], "PASS", "GT:AF", "0/1:0.7"),
        (121, bases[120], bases[120] + "A", "PASS", "GT:AF", "0/1:0.2"),
    ]
    done, _, letters = run(run_cli, sample, write_calls(tmp_path / "calls.vcf", records), "--min-depth", 0)
    wanted = list(bases)
    for at in (100, 104, 106):
        wanted[at] = other(bases[at])
    wanted[110:113] = []
    assert letters == "".join(wanted)
    assert "1 record where most molecules have alleles that fail a filter" in done.stderr
    assert "chr:103 (Low) the first" in done.stderr
    assert "chr:111: deletion of 3, fraction 0.7, keeps the frame: applied" in done.stderr
    assert "insertion of 1, fraction 0.2, shifts the frame: left out, because its fraction is too low" in done.stderr


def test_a_sample_of_several(run_cli, sample, tmp_path):
    bases = bases_of(sample)
    record = (101, bases[100], other(bases[100]), ".", "GT:AF", "0/1:0.1", "0/1:0.9")
    calls = write_calls(tmp_path / "calls.vcf", [record], samples=("s", "t"))
    _, _, letters = run(run_cli, sample, calls, "--sample", "s", "--min-depth", 0)
    assert letters == bases
    # The alignments have one sample only, whatever its name.
    _, name, letters = run(run_cli, sample, calls, "--sample", "t", "--min-depth", 0)
    assert (name, letters[100]) == (">t|chr", other(bases[100]))


def test_bases_of_primers_are_no_depth(run_cli, sample, tmp_path):
    (tmp_path / "primers.bed").write_text("chr\t0\t205\ta_LEFT\t1\t+\nchr\t395\t400\ta_RIGHT\t1\t-\n")
    calls = write_calls(tmp_path / "none.vcf", [])
    given = "--min-depth", 1, "--primers", tmp_path / "primers.bed"
    done, _, letters = run(run_cli, sample, calls, *given)
    assert done.returncode == 0, done.stderr
    # Fragments begin before base 201, within the primer, and have 40 bases of the mate behind the first read's.
    assert set(letters[:205]) == {"N"}
    assert letters[205:240] == bases_of(sample)[205:240]
    (tmp_path / "primers.bed").write_text("other\t0\t205\ta_LEFT\t1\t+\n")
    done, *_ = run(run_cli, sample, calls, *given)
    assert done.returncode == 2
    assert "primers.bed: line 1: no contig 'other'" in done.stderr


@pytest.mark.parametrize(
    ("records", "samples", "options", "message"),
    [
        ([], "st", (), "calls.vcf: has 2 samples; choose one with --sample"),
        ([], "s", ("--sample", "x"), "calls.vcf: has no sample x; it has s"),
        ([], "", (), "calls.vcf: has no sample; give calls with genotypes"),
        ("other", "s", (), "calls.vcf: chr:101: REF is {other}, but {ref} has {own} there; give the reference of"),
        ("over", "s", (), "give the reference of the calls with -f, and --circular chr if that is a circle"),
        ([], "s", ("--circular", "chrM"), "--circular: chrM: no contig 'chrM'; contigs are chr, unread"),
        ([], "s", ("--circular", "chr"), "reads.bam: has no index, which regions need; run samtools index"),
        ("beyond", "s", (), "calls.vcf: chr:900: REF is A, but {ref} has no base there"),
    ],
)
def test_bad_input_is_one_line(run_cli, sample, tmp_path, records, samples, options, message):
    own = bases_of(sample)[100]
    if records:
        place = {"other": (101, other(own)), "beyond": (900, "A"), "over": (LENGTH, bases_of(sample)[-1] + "A")}[
            records
        ]
        records = [(*place, "ACGT"[("ACGT".index(place[1][0]) + 2) % 4], ".", "GT", "0/1")]
    calls = write_calls(tmp_path / "calls.vcf", records, samples=samples)
    out = tmp_path / "out.fa"
    done, *_ = run(run_cli, sample, calls, "-o", out, *options)
    assert done.returncode == 2
    assert message.format(own=own, other=other(own), ref=sample / "ref.fa") in done.stderr
    assert done.stderr.count("\n") == 1
    assert not out.exists()


def test_calls_of_another_sample_are_announced(run_cli, sample, tmp_path):
    calls = write_calls(tmp_path / "calls.vcf", [], samples=["other"])
    done, *_ = run(run_cli, sample, calls)
    assert done.returncode == 0
    assert f"reads.bam: its sample is s, and that of {calls} is other: are the calls made from these" in done.stderr
