"""The page's calls (web/src/call) are those of the command line, record by record."""

import gzip
import os
import random
import shutil

import pysam
import pytest

from pairhmm.backends.cpu import instruction_sets
from pairhmm.models.str_parameters import str_model_of, str_toml
from tests.calling.reads import OTHER, write_reads
from tests.calling.test_circles import ALLELES, CIRCLE, LENGTH, write_circle
from tests.web.same_calls import assert_same_records, header, records
from tests.web.served import serve_folder

LEVEL = "x86-64-v2"


@pytest.fixture(scope="session")
def command_line(run_cli, tmp_path_factory):
    """``command_line(verb, *arguments)``: the text that a verb writes, at the SIMD level whose bits WebAssembly has."""
    folder = tmp_path_factory.mktemp("command_line")
    forced = {"PAIRHMM_CPU": LEVEL} if (LEVEL, True) in instruction_sets() else {}

    def run(verb, *arguments, ending="vcf"):
        output = folder / f"{len(list(folder.iterdir()))}.{ending}"
        extra = ["--no-version"] if verb == "call" else []
        done = run_cli("-q", verb, *extra, "--backend", "cpu", "-o", output, *arguments, env={**os.environ, **forced})
        assert done.returncode == 0, done.stderr
        return output

    run.is_exact = bool(forced)
    return run


@pytest.fixture(scope="session")
def assert_same_calls(command_line, call_in_node):
    """``assert_same_calls(arguments, bams, reference, **given)``: both give the same records. Returns the page's run.

    `arguments` are those of the command line, and `given` what the page is given in their place.
    """

    def check(arguments, bams, reference, **given):
        ours = call_in_node(bams, reference, **given)
        theirs = command_line("call", "-f", reference, *arguments, *bams).read_text()
        assert header(ours.vcf) == header(theirs)
        if command_line.is_exact:
            assert records(ours.vcf) == records(theirs)
        else:
            assert_same_records(ours.vcf, theirs)
        return ours

    return check


def placed(files, arguments, given):
    """Arguments and what the page is given, with the paths that their words stand for."""
    own = {key: files.get(str(value), value) for key, value in given.items()}
    return [files.get(word, word) for word in arguments], own


@pytest.fixture(scope="session")
def data_sets(shared_data):
    """Alignments, reference and candidates of real reads."""
    tiny, window = shared_data / "na12878-chr22-tiny", shared_data / "na12878-chr20-100kb"
    return {
        "chr22 tiny": (tiny / "NA12878.chr22.tiny.bam", tiny / "q.fa", tiny / "NA12878.chr22.tiny.giab.vcf"),
        "chr20 100 kb": (
            window / "NA12878_S1.chr20.10_10p1mb.bam",
            window / "ucsc.hg19.chr20.unittest.fasta.gz",
            window / "test_nist.b37_chr20_100kbp_at_10mb.vcf.gz",
        ),
    }


@pytest.mark.parametrize("is_listed", [False, True], ids=["discovered", "-v"])
@pytest.mark.parametrize("name", ["chr22 tiny", "chr20 100 kb"])
@pytest.mark.parametrize("model", ["gatk", "profile"])
def test_real_reads(data_sets, assert_same_calls, command_line, name, is_listed, model):
    bam, reference, candidates = data_sets[name]
    arguments = [*(["-v", candidates] if is_listed else []), "--model", model]
    given = {"variants": candidates} if is_listed else {}
    ours = assert_same_calls(arguments, [bam], reference, options={"model": model}, **given)
    assert len(records(ours.vcf)) > {"chr22 tiny": 5, "chr20 100 kb": 200}[name]
    table = command_line("likelihoods", "-f", reference, *arguments, bam, ending="tsv")
    assert ours.companion == table.with_suffix("").with_suffix(".haplotypes.tsv").read_text()
    if command_line.is_exact:
        assert ours.tsv == table.read_text()


@pytest.fixture(scope="session")
def family(run_cli, tmp_path_factory):
    """Two simulated samples on two contigs: reference, BAMs, and a list of their true variants."""
    folder = tmp_path_factory.mktemp("family")
    for seed, name in ((1, "ann"), (2, "bob")):
        done = run_cli(
            *("-q", "simulate", "-o", folder / name, "--length", 16_000, "--contigs", 2, "--coverage", 15),
            *("--seed", seed, "--genome-seed", 1, "--sample", name, "--snvs", 40, "--indels", 16),
        )
        assert done.returncode == 0, done.stderr
    listed = folder / "listed.vcf"
    with gzip.open(folder / "ann" / "truth.vcf.gz", "rt") as truth:
        listed.write_text(truth.read())
    return folder / "ann" / "reference.fa", [folder / "ann" / "reads.bam", folder / "bob" / "reads.bam"], listed


@pytest.mark.parametrize(
    ("arguments", "given"),
    [
        ((), {}),
        (("-v", "LISTED"), {"variants": "LISTED"}),
        (("-r", "chr2:2,001-6,000"), {"region": "chr2:2,001-6,000"}),
        (("-v", "REORDERED"), {"variants": "REORDERED"}),
        (("-r", "{chr2}:2,001-"), {"region": "{chr2}:2,001-"}),
        (("-R", "BED"), {"intervals": "BED"}),
        (("-R", "BED.GZ"), {"intervals": "BED.GZ"}),
        (("-R", "BED", "-v", "LISTED"), {"intervals": "BED", "variants": "LISTED"}),
        (("--max-depth", "12"), {"options": {"maxDepth": 12}}),
        (
            ("-v", "LISTED", "--model", "profile", "--parameters", "published", "--error-rate", "0"),
            {"variants": "LISTED", "options": {"model": "profile", "parameters": "published", "errorRate": None}},
        ),
        (
            ("--min-mapq", "0", "--pcr-indel-model", "none", "--max-haplotypes", "4", "--ploidy", "3"),
            {"options": {"minMapq": 0, "pcrIndelModel": "none", "maxHaplotypes": 4, "ploidy": 3}},
        ),
        (("--preset", "ont", "--gap-quality", "8"), {"options": {"preset": "ont", "gapQuality": 8}}),
        (("--str-model", "pcr-free"), {"options": {"strModel": "pcr-free"}}),
        (("--str-model", "MODEL"), {"strModel": "MODEL"}),
        (("--primers", "PRIMERS"), {"primers": "PRIMERS"}),
    ],
    ids=str,
)
def test_two_samples(family, assert_same_calls, tmp_path, arguments, given):
    reference, bams, listed = family
    bed = tmp_path / "places.bed"
    bed.write_text("# some\nchr2\t500\t1500\nchr1\t1000\t1400\nchr1\t1300\t5000\nchr2\t1500\t1600\n")
    packed, reordered, model = tmp_path / "places.bed.gz", tmp_path / "reordered.vcf", tmp_path / "own.toml"
    packed.write_bytes(gzip.compress(bed.read_bytes()))
    lines = [line for line in listed.read_text().splitlines(True) if not line.startswith("##contig")]
    reordered.write_text("".join(sorted(lines, key=lambda line: (line[0] != "#", line.startswith("chr1\t")))))
    primers = tmp_path / "x.primer.bed"
    primers.write_text(
        "".join(
            f"chr{at % 2 + 1}\t{at}\t{at + 30}\tx_{at}_{'RIGHT' if at % 3 else 'LEFT'}\n" for at in range(50, 5000, 61)
        )
    )
    model.write_text(str_toml(str_model_of("pcr"), ["by hand"]))
    files = {"LISTED": listed, "BED": bed, "BED.GZ": packed, "REORDERED": reordered, "MODEL": model, "PRIMERS": primers}
    arguments, given = placed(files, arguments, given)
    ours = assert_same_calls(arguments, bams, reference, **given)
    assert len(records(ours.vcf)) > 3
    assert any("begin in a primer" in text for text in ours.told("note")) == ("--primers" in arguments)
    assert ours.companion.startswith("##pairhmmModel=gatk (") == ("--str-model" in arguments)


@pytest.mark.parametrize(
    ("arguments", "given"),
    [
        ((), {}),
        (("-r", f"c:{LENGTH - 20}-30"), {"region": f"c:{LENGTH - 20}-30"}),
        (("-R", "BED"), {"intervals": "BED"}),
        (("-v", "LISTED"), {"variants": "LISTED"}),
        (("-v", "LISTED", "-R", "BED"), {"variants": "LISTED", "intervals": "BED"}),
        (("--primers", "PRIMERS"), {"primers": "PRIMERS"}),
        (("--mixture",), {"options": {"mixture": True}}),
        (("--gvcf", "--ploidy", "1"), {"options": {"gvcf": True, "ploidy": 1}}),
        (("--gvcf", "-R", "BED"), {"intervals": "BED", "options": {"gvcf": True}}),
    ],
    ids=str,
)
@pytest.mark.parametrize("name", ["SNVs at 1 and L", "insertion", "deletion over"])
def test_a_circle(run_cli, assert_same_calls, command_line, tmp_path, monkeypatch, name, arguments, given):
    monkeypatch.chdir(tmp_path)
    write_circle("x", ALLELES[name] | {900: OTHER[CIRCLE[900]]})
    files = {word: tmp_path / f"x.{word.lower()}" for word in ("BED", "LISTED", "PRIMERS")}
    files["BED"].write_text(f"c\t{LENGTH - 30}\t{LENGTH + 50}\n")
    files["PRIMERS"].write_text(f"c\t{LENGTH - 50}\t{LENGTH - 20}\tp_LEFT\nc\t30\t60\tp_RIGHT\n")
    run_cli("call", "-f", "x.fa", "--circular", "c", "-o", "x.vcf", "x.bam")
    files["LISTED"].write_bytes((tmp_path / "x.vcf").read_bytes())
    arguments, given = placed(files, arguments, given)
    given["options"] = {"circular": ["c"], **given.get("options", {})}
    ours = assert_same_calls(("--circular", "c", *arguments), [tmp_path / "x.bam"], tmp_path / "x.fa", **given)
    assert len(records(ours.vcf)) >= (1 if given.keys() & {"region", "intervals"} else 2)
    if arguments in ((), ("--gvcf", "--ploidy", "1")):  # which looks before the origin, too
        table = command_line("likelihoods", "-f", "x.fa", "--circular", "c", "x.bam", ending="tsv")
        assert ours.companion == table.with_suffix("").with_suffix(".haplotypes.tsv").read_text()
        assert ours.tsv == table.read_text() or not command_line.is_exact


@pytest.fixture(scope="session")
def tagged(family, tmp_path_factory):
    """The first sample, in which two reads of three have the tags BI and BD, from some place on."""
    path = tmp_path_factory.mktemp("tagged") / "reads.bam"
    draw = random.Random(1)
    with pysam.AlignmentFile(str(family[1][0])) as reads, pysam.AlignmentFile(str(path), "wb", template=reads) as out:
        for number, read in enumerate(reads):
            if number > 200 and number % 3:
                for tag in ("BI", "BD"):
                    read.set_tag(tag, "".join(chr(33 + draw.randrange(2, 50)) for _ in range(read.query_length)), "Z")
            out.write(read)
    pysam.index(str(path))
    return path


@pytest.mark.parametrize("options", [{}, {"indelTags": False}, {"strModel": "pcr"}], ids=str)
def test_indel_qualities_of_reads(family, tagged, assert_same_calls, options):
    reference, bams, _ = family
    words = {"indelTags": ["--no-indel-tags"], "strModel": ["--str-model", "pcr"]}
    arguments = [word for name in options for word in words[name]]
    ours = assert_same_calls(arguments, [tagged, bams[1]], reference, options=options)
    assert any("BI and BD" in text for text in ours.told("note")) == ("indelTags" not in options)


def test_indel_qualities_in_cram(family, tagged, cram, call_in_node):
    reference = family[0]
    assert call_in_node([cram("tagged", tagged, reference)], reference).tsv == call_in_node([tagged], reference).tsv


def test_without_an_index_files_are_read_from_the_front(family, call_in_node, command_line):
    reference, bams, listed = family
    with_index = call_in_node(bams, reference, variants=listed)
    without = call_in_node([(bam, None) for bam in bams], reference, variants=listed)
    assert without.vcf == with_index.vcf
    assert without.tsv == with_index.tsv


def test_files_packed_in_other_ways(family, call_in_node, tmp_path):
    reference, bams, listed = family
    expected = call_in_node(bams[:1], reference, variants=listed)
    packed = tmp_path / "reference.fa.gz"
    pysam.tabix_compress(str(reference), str(packed))
    pysam.faidx(str(packed))
    gzipped = tmp_path / "listed.vcf.gz"
    with gzip.open(gzipped, "wt") as out:
        out.write(listed.read_text())
    bam = tmp_path / "reads.bam"
    shutil.copy(bams[0], bam)
    pysam.index("-c", str(bam))
    plain = tmp_path / "reference.fa"
    shutil.copy(reference, plain)
    for fasta in (packed, plain):
        ours = call_in_node([bam], fasta, variants=gzipped)
        assert records(ours.vcf) == records(expected.vcf)
        assert ours.tsv == expected.tsv
    assert f"{plain.name} has no index: made" in ours.told("warning")


@pytest.fixture(scope="session")
def cram(data_sets, family, tmp_path_factory):
    """CRAM files of the same reads, with their indexes."""
    folder = tmp_path_factory.mktemp("cram")

    def make(name, bam, reference, *options):
        path = folder / f"{name}.cram"
        pysam.view("-C", "-T", str(reference), *options, "-o", str(path), str(bam), catch_stdout=False)
        pysam.index(str(path))
        return path

    return make


@pytest.mark.parametrize("has_index", [True, False], ids=["index", "no index"])
@pytest.mark.parametrize("is_listed", [False, True], ids=["discovered", "-v"])
def test_cram_of_real_reads(data_sets, cram, call_in_node, is_listed, has_index):
    bam, reference, candidates = data_sets["chr22 tiny"]
    given = {"variants": candidates} if is_listed else {}
    path = cram(f"tiny{is_listed}{has_index}", bam, reference)
    ours = call_in_node([path if has_index else (path, None)], reference, **given)
    theirs = call_in_node([bam], reference, **given)
    assert ours.vcf == theirs.vcf
    assert ours.tsv == theirs.tsv
    assert ours.events == theirs.events


def test_cram_of_two_samples(family, cram, call_in_node):
    reference, bams, _ = family
    given = {"region": "chr2:1,500-6,000"}
    expected = call_in_node(bams, reference, **given).tsv, call_in_node(bams, reference).vcf
    for options in ((), ("--output-fmt-option", "version=2.1"), ("--output-fmt-option", "multi_seq_per_slice=1")):
        name = "".join(options).replace("=", "")
        paths = [cram(f"{name}{bam.parent.name}", bam, reference, *options) for bam in bams]
        assert (call_in_node(paths, reference, **given).tsv, call_in_node(paths, reference).vcf) == expected, options


def test_what_is_held_at_once_changes_nothing(family, call_in_node):
    reference, bams, listed = family
    for given in ({}, {"variants": listed}, {"region": "chr1:1,000-6,000"}):
        theirs = call_in_node(bams, reference, **given)
        for options in ({"chunkSize": 37}, {"maxCells": 1000}):
            ours = call_in_node(bams, reference, options=options, **given)
            assert (ours.vcf, ours.tsv, ours.events) == (theirs.vcf, theirs.tsv, theirs.events), options


READ = 100


@pytest.fixture(scope="session")
def sparse(tmp_path_factory):
    """Reads far apart on one contig, four with an SNV at each place: reference, BAM and a list of every second SNV."""
    folder, draw, step, places = tmp_path_factory.mktemp("sparse"), random.Random(5), 2000, 2500
    genome = "".join(draw.choices("ACGT", k=step * (places + 1)))
    (folder / "q.fa").write_text(f">q\n{genome}\n")
    pysam.faidx(str(folder / "q.fa"))
    header = pysam.AlignmentHeader.from_dict({"SQ": [{"SN": "q", "LN": len(genome)}], "RG": [{"ID": "s", "SM": "s"}]})
    listed = []
    with pysam.AlignmentFile(str(folder / "q.bam"), "wb", header=header) as out:
        for place in range(places):
            start, at = step * place + draw.randrange(step), READ // 2
            bases = list(genome[start : start + READ])
            listed.append((start + at, bases[at], OTHER[bases[at]]))
            bases[at] = OTHER[bases[at]]
            for copy in range(4):
                fields = [f"r{place}.{copy}", "0", "q", str(start + 1), "60", f"{READ}M", "*", "0", "0"]
                text = "\t".join([*fields, "".join(bases), "I" * READ, "RG:Z:s"])
                out.write(pysam.AlignedSegment.fromstring(text, header))
    pysam.index(str(folder / "q.bam"))
    return folder / "q.fa", folder / "q.bam", write_list(folder, *listed[::2])


@pytest.mark.parametrize("is_listed", [False, True], ids=["discovered", "-v"])
def test_reads_far_apart(sparse, assert_same_calls, is_listed):
    """More of the reference than is held at once, and more listed variants than are handed over at once."""
    reference, bam, listed = sparse
    arguments, given = (["-v", listed], {"variants": listed}) if is_listed else ([], {})
    ours = assert_same_calls(arguments, [bam], reference, options={"chunkSize": 150}, **given)
    assert len(records(ours.vcf)) == (1250 if is_listed else 2500)


@pytest.mark.parametrize("at", [200, 1000], ids=["beside", "among the reads"])
def test_a_letter_of_the_reference_that_is_none(call_in_node, run_cli, tmp_path, at):
    """It is an error only where a run needs the base."""
    genome = write_reads(tmp_path, ({1500}, None), (set(), None))
    (tmp_path / "q.fa").write_text(f">q\n{genome[:at]}!{genome[at + 1 :]}\n")
    asked = "q:1,501"
    done = run_cli("-q", "call", "-f", tmp_path / "q.fa", "-r", asked, "-o", tmp_path / "x.vcf", tmp_path / "q.bam")
    ours = call_in_node([tmp_path / "q.bam"], tmp_path / "q.fa", region=asked)
    assert bool(ours.error) == bool(done.returncode) == (at == 1000)
    if ours.error:
        assert ours.error in done.stderr
    else:
        assert records(ours.vcf)


def test_many_candidates(run_cli, assert_same_calls, tmp_path):
    """Regions with more combinations than haplotypes, and sites with several alleles."""
    done = run_cli(
        *("-q", "simulate", "-o", tmp_path / "x", "--length", 6000, "--coverage", 40, "--snvs", 250, "--indels", 120),
        *("--max-indel", 8),
    )
    assert done.returncode == 0, done.stderr
    bam, reference = tmp_path / "x" / "reads.bam", tmp_path / "x" / "reference.fa"
    for arguments, options in (
        ((), {}),
        (("--max-haplotypes", "9", "--max-depth", "25"), {"maxHaplotypes": 9, "maxDepth": 25}),
    ):
        ours = assert_same_calls(arguments, [bam], reference, options=options)
        assert len(records(ours.vcf)) > 100
    assert any("--max-depth" in text for text in ours.told("warning"))


def test_a_deletion_over_a_site(assert_same_calls, tmp_path):
    write_reads(tmp_path, ({1000}, None), (set(), (990, 1012)))
    ours = assert_same_calls([], [tmp_path / "q.bam"], tmp_path / "q.fa")
    assert [fields[4].endswith(",*") for fields in records(ours.vcf)] == [False, True]


def write_list(folder, *variants):
    head = "##fileformat=VCFv4.2\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n"
    lines = [f"q\t{at + 1}\t.\t{ref}\t{alt}\t.\t.\t.\n" for at, ref, alt in variants]
    (folder / "list.vcf").write_text(head + "".join(lines))
    return folder / "list.vcf"


@pytest.mark.parametrize(
    "other", [({1000}, None), (set(), None), (set(), (990, 1012))], ids=["SNV", "none", "deletion"]
)
def test_a_listed_site_under_a_listed_deletion(assert_same_calls, tmp_path, other):
    genome = write_reads(tmp_path, other, (set(), (990, 1012)))
    deletion, site = (989, genome[989:1012], genome[989]), (1000, genome[1000], OTHER[genome[1000]])
    path = write_list(tmp_path, deletion, site)
    ours = assert_same_calls(["-v", path], [tmp_path / "q.bam"], tmp_path / "q.fa", variants=path)
    assert [fields[4].endswith(",*") for fields in records(ours.vcf)] == [False, True]


@pytest.mark.parametrize("ploidy", [1, 2])
def test_reads_that_say_nothing_of_a_listed_site(assert_same_calls, tmp_path, ploidy):
    """Both chromosomes have an allele that is not listed."""
    genome = write_reads(tmp_path, ({1000}, None), ({1000}, None))
    path = write_list(tmp_path, (1000, genome[1000], OTHER[OTHER[genome[1000]]]))
    arguments, given = ["-v", path, "--ploidy", str(ploidy)], {"variants": path, "options": {"ploidy": ploidy}}
    ours = assert_same_calls(arguments, [tmp_path / "q.bam"], tmp_path / "q.fa", **given)
    (fields,) = records(ours.vcf)
    assert fields[9].startswith(f"{'/'.join('.' * ploidy)}:0,0:")


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"mapping_quality": 0}, "no read is used; reads left out: "),
        ({"query_qualities": [7] * 100}, "so that no SNV is found; the highest quality is 7"),
    ],
    ids=["MAPQ 0", "low qualities"],
)
def test_warnings_where_reads_can_show_nothing(call_in_node, run_cli, tmp_path, fields, said):
    write_reads(tmp_path, ({1000}, None), (set(), None))
    bam = tmp_path / "changed.bam"
    with (
        pysam.AlignmentFile(str(tmp_path / "q.bam")) as reads,
        pysam.AlignmentFile(str(bam), "wb", template=reads) as out,
    ):
        for read in reads:
            for name, value in fields.items():
                setattr(read, name, value)
            out.write(read)
    pysam.index(str(bam))
    done = run_cli("-q", "call", "-f", tmp_path / "q.fa", "-o", tmp_path / "x.vcf", bam)
    ours = call_in_node([bam], tmp_path / "q.fa").told("warning")
    assert [line.removeprefix("pairhmm: warning: ") for line in done.stderr.splitlines()] == ours
    assert len(ours) == 1 and said in ours[0]


@pytest.mark.parametrize("is_listed", [False, True], ids=["discovered", "-v"])
def test_sites_whose_reads_fit_no_haplotype(data_sets, call_in_node, run_cli, tmp_path, is_listed):
    bam, reference, candidates = data_sets["chr22 tiny" if is_listed else "chr20 100 kb"]
    given = {"variants": candidates} if is_listed else {}
    ours = call_in_node([bam], reference, **given)
    listed = ["-v", candidates] if is_listed else []
    done = run_cli("-q", "call", "-f", reference, *listed, "-o", tmp_path / "x.vcf", bam)
    assert [line.removeprefix("pairhmm: warning: ") for line in done.stderr.splitlines()] == ours.told("warning")
    # The reads over listed sites fit.
    assert any("(INFO NOFIT)" in text for text in ours.told("warning")) != is_listed
    assert any(";NOFIT=0." in fields[7] for fields in records(ours.vcf)) != is_listed


def test_a_family(family, assert_same_calls, tmp_path):
    reference, bams, _ = family
    child = tmp_path / "child.bam"
    with pysam.AlignmentFile(str(bams[1])) as reads:
        header = pysam.AlignmentHeader.from_text(str(reads.header).replace("SM:bob", "SM:cid"))
        with pysam.AlignmentFile(str(child), "wb", header=header) as out:
            for number, read in enumerate(reads):
                if number % 3:
                    out.write(pysam.AlignedSegment.fromstring(read.to_string(), header))
    pysam.index(str(child))
    pedigree = tmp_path / "family.ped"
    pedigree.write_text("# one family\nf cid ann bob 1 0\nf ann 0 0 1 0\nf bob\t0 0 2 0\n")
    arguments = ["--ped", pedigree, "-r", "chr1:1-9000"]
    ours = assert_same_calls(arguments, [*bams, child], reference, pedigree=pedigree, region="chr1:1-9000")
    assert "family.ped: families 1, with children 1" in ours.told("note")


@pytest.mark.parametrize(
    ("arguments", "given"),
    [
        ((), {}),
        (("-R", "BED"), {"intervals": "BED"}),
        (("-r", "chr2:1-9000", "--ploidy", "1"), {"region": "chr2:1-9000", "options": {"ploidy": 1}}),
    ],
    ids=["all", "BED", "haploid region"],
)
def test_blocks_of_the_reference(family, assert_same_calls, tmp_path, arguments, given):
    reference, bams, _ = family
    bed = tmp_path / "places.bed"
    bed.write_text("chr2\t500\t1500\nchr1\t1000\t1400\nchr1\t1300\t5000\n")
    arguments, given = placed({"BED": bed}, arguments, given)
    options = {**given.pop("options", {}), "gvcf": True, "chunkSize": 2000}
    ours = assert_same_calls(["--gvcf", *arguments], bams[:1], reference, options=options, **given)
    assert any("END=" in fields[7] for fields in records(ours.vcf))


def test_blocks_of_real_reads(data_sets, assert_same_calls):
    bam, reference, _ = data_sets["chr22 tiny"]
    assert_same_calls(["--gvcf", "--mnv"], [bam], reference, options={"gvcf": True, "mnv": True})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"gvcf": True}, "--gvcf: reads.bam, reads.bam: reads of 2 samples; write one gVCF a sample"),
        ({"gvcf": True, "ploidy": 3}, "--gvcf: ploidy 3: a gVCF has ploidy 0, 1 or 2; leave out --gvcf"),
    ],
    ids=["samples", "ploidy"],
)
def test_records_that_need_others(family, call_in_node, options, message):
    reference, bams, _ = family
    assert call_in_node(bams, reference, options=options).error.startswith(message)


def test_snvs_of_neighbouring_bases(assert_same_calls, tmp_path):
    """On one chromosome, on one each, and in part on both."""
    write_reads(tmp_path, ({700, 701, 702, 900, 1100, 1101}, None), ({901, 1101}, (690, 696)))
    ours = assert_same_calls(["--mnv"], [tmp_path / "q.bam"], tmp_path / "q.fa", options={"mnv": True})
    assert [len(fields[3]) for fields in records(ours.vcf)] == [7, 3, 1, 1, 1, 1]


@pytest.mark.parametrize("is_listed", [False, True], ids=["discovered", "-v"])
def test_mixtures(data_sets, assert_same_calls, is_listed):
    bam, reference, candidates = data_sets["chr20 100 kb"]
    arguments = ["--mixture", "-r", "chr20:10,000,001-10,020,000", *(["-v", candidates] if is_listed else [])]
    given = {"region": arguments[2], "options": {"mixture": True}} | ({"variants": candidates} if is_listed else {})
    ours = assert_same_calls(arguments, [bam], reference, **given)
    assert all(":CIAF" in fields[8] for fields in records(ours.vcf))


@pytest.fixture(scope="session")
def slips(run_cli, tmp_path_factory):
    """More reads than are looked at, with gaps, most of them in runs."""
    folder = tmp_path_factory.mktemp("slips")
    rows = "".join(f"{base} = {[float(base == other) for other in 'ACGT'] + [0.25]}\n" for base in "ACGT")
    inserted = "".join(f"{base} = 0.25\n" for base in "ACGT")
    gaps = "MM = 0.988\nMI = 0.004\nMD = 0.008\nIM = 0.9\nII = 0.1\nDM = 0.9\nDD = 0.1\n"
    errors = folder / "errors.toml"
    errors.write_text(f'start = "anywhere"\n[match]\n{rows}[insertion]\n{inserted}[transitions]\n{gaps}')
    done = run_cli(
        *("-q", "simulate", "-o", folder / "slips", "--profile-errors", errors, "--contigs", 3, "--length", 30_000),
        *("--coverage", 25, "--snvs", 20, "--indels", 5),
    )
    assert done.returncode == 0, done.stderr
    return folder / "slips" / "reads.bam", folder / "slips" / "reference.fa"


@pytest.mark.parametrize(
    ("arguments", "options", "model"),
    [
        ((), {}, "gatk (pcr)"),
        (("--no-stutter",), {"stutter": False}, "gatk"),
        (("--mixture",), {"mixture": True}, "gatk (pcr)"),
    ],
    ids=["genotypes", "no look", "mixture"],
)
def test_the_errors_of_a_library(slips, assert_same_calls, arguments, options, model):
    bam, reference = slips
    given = {"options": options, "region": "chr1:1-9,000"}
    ours = assert_same_calls([*arguments, "-r", given["region"]], [bam], reference, **given)
    assert ours.model.startswith(model)
    assert any("times as often as without PCR" in text for text in ours.told("note")) == ("(" in model)


@pytest.mark.parametrize(("folder", "preset"), [("hg002-hifi-50kb", "hifi"), ("hg002-ont-15kb", "ont")])
def test_the_errors_of_long_reads(shared_data, assert_same_calls, folder, preset):
    (bam,), (reference,) = (list((shared_data / folder).glob(ending)) for ending in ("*.bam", "*.fa"))
    ours = assert_same_calls(["--preset", preset], [bam], reference, options={"preset": preset})
    assert ours.model.startswith("gatk (estimated)")


@pytest.mark.parametrize("kind", ["CRAM", "CSI", "no index", "several files"])
def test_reads_that_are_looked_at(slips, call_in_node, run_cli, tmp_path, kind):
    """The page looks at those that the command line looks at: the figure that it tells is the same."""
    bam, reference = slips
    path = tmp_path / ("reads.cram" if kind == "CRAM" else "reads.bam")
    if kind == "CRAM":
        pysam.view("-C", "-T", str(reference), "-o", str(path), str(bam), catch_stdout=False)
        pysam.index(str(path))
    else:
        shutil.copy(bam, path)
        if kind != "no index":
            pysam.index(*(["-c"] if kind == "CSI" else []), str(path))
    paths = [path, bam] if kind == "several files" else [path]
    given = {} if kind == "no index" else {"region": "chr1:1-2,000"}
    told = [text for text in call_in_node(paths, reference, **given).told("note") if "without PCR" in text]
    region = ["-r", given["region"]] if given else []
    done = run_cli("call", "-f", reference, "-o", tmp_path / "calls.vcf", *region, *paths)
    assert done.returncode == 0, done.stderr
    assert told == [line.removeprefix("pairhmm: ") for line in done.stderr.splitlines() if "without PCR" in line]
    assert len(told) == 1


def test_artefacts_of_mixtures(assert_same_calls, tmp_path):
    """An allele that reads of one strand alone show."""
    write_reads(tmp_path, *[(set(), None)] * 9, ({1000}, None))
    strands = tmp_path / "strands.bam"
    with (
        pysam.AlignmentFile(str(tmp_path / "q.bam")) as reads,
        pysam.AlignmentFile(str(strands), "wb", template=reads) as out,
    ):
        for number, read in enumerate(reads):
            read.is_reverse = not read.query_name.startswith("r9.") and number % 2 == 0
            out.write(read)
    pysam.index(str(strands))
    ours = assert_same_calls(["--mixture"], [strands], tmp_path / "q.fa", options={"mixture": True})
    assert [fields[6] for fields in records(ours.vcf) if fields[1] == "1001"] == ["StrandBias"]


def test_addresses_are_read_by_ranges(data_sets, call_in_node):
    bam, reference, _ = data_sets["chr20 100 kb"]
    given = {"region": "chr20:10,040,001-10,042,000"}
    theirs = call_in_node([bam], reference, **given)
    with serve_folder(bam.parent) as server:
        fasta, reads = f"{server.address}{reference.name}", f"{server.address}{bam.name}"
        files = [(reads, f"{reads}.bai")], (fasta, f"{fasta}.fai", f"{fasta}.gzi")
        ours = call_in_node(*files, **given)
        assert ours.vcf == theirs.vcf
        assert ours.tsv == theirs.tsv
        assert records(ours.vcf)
        # Without the look at the library, which reads in other places.
        server.sent.clear()
        call_in_node(*files, options={"stutter": False}, **given)
    assert sum(size for name, size in server.sent if name == bam.name) < bam.stat().st_size / 2
