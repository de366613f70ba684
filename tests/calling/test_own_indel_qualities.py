"""Likelihoods of reads with their own indel qualities (tags BI and BD) are those of the oracle with these qualities."""

import numpy as np
import pysam
import pytest

import pairhmm
from pairhmm.models.gatk import GatkOptions, IndelQualities, prepare_base_quality
from pairhmm.models.profile import preset
from pairhmm.models.str_parameters import str_model_of
from tests.models.repeats_oracle import indel_quality_caps, tandem_repeats

LENGTH, READ, SITES = 600, 150, (300, 310)
READS = 24
OWN = (("BI", "BD"),) * 3 + (("BI",), ("BD",))
"""Which tags a read has."""


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """The arguments of a run, and its reads by name: two of three have tags, and every second one is reverse.

    Of those with tags, some have one of them.
    """
    folder = tmp_path_factory.mktemp("own")
    rng = np.random.default_rng(5)
    letters = "".join(rng.choice(list("ACGT"), LENGTH))
    letters = f"{letters[:280]}TTTTTTTTACACACAC{letters[296:]}"
    deleted = letters[SITES[1] : SITES[1] + 3]
    alt = "A" if letters[SITES[0]] != "A" else "C"
    fasta, bam, vcf = (str(folder / name) for name in ("ref.fa", "x.bam", "x.vcf"))
    (folder / "ref.fa").write_text(f">q\n{letters}\n")
    (folder / "x.vcf").write_text(
        "##fileformat=VCFv4.2\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n"
        f"q\t{SITES[0] + 1}\t.\t{letters[SITES[0]]}\t{alt}\t.\t.\t.\n"
        f"q\t{SITES[1] + 1}\t.\t{deleted}\t{deleted[0]}\t.\t.\t.\n"
    )
    header = pysam.AlignmentHeader.from_dict({"HD": {"SO": "coordinate"}, "SQ": [{"SN": "q", "LN": LENGTH}]})
    reads = {}
    with pysam.AlignmentFile(bam, "wb", header=header) as out:
        for number, start in enumerate(np.sort(rng.integers(170, 300, READS)).tolist()):
            read = pysam.AlignedSegment(header)
            read.query_name, read.flag = f"r{number}", 16 * (number % 2)
            read.reference_id, read.reference_start, read.mapping_quality = 0, start, 60
            read.query_sequence, read.cigartuples = letters[start : start + READ], [(0, READ)]
            read.query_qualities = pysam.qualitystring_to_array("".join(map(chr, rng.integers(43, 73, READ))))
            if number % 3:
                read.set_tags([(tag, "".join(map(chr, rng.integers(33, 90, READ)))) for tag in OWN[number % 5]])
            out.write(read)
            reads[read.query_name] = read
    pysam.index(bam)
    return (bam, fasta, vcf), reads


def limits(options, bases):
    """The highest insertion and deletion qualities that a model leaves to each base of a read."""
    codes = pairhmm.make_read(bases, 40).bases
    if options.str_model is not None:
        copies = [max(1, tandem_repeats(codes, place)) for place in range(len(codes) - 1)]
        units = [repeated_unit(bases, place) for place in range(len(codes) - 1)]
        tables = (options.str_model.insertion, options.str_model.deletion, options.str_model.gap)
        each = [*zip(units, copies, strict=True), (1, 1)]
        return [np.array([table[unit - 1][count - 1] for unit, count in each]) for table in tables]
    gap = np.full(len(codes), options.gap_quality)
    if options.indel_qualities is not None:
        return *(
            np.full(len(codes), getattr(options.indel_qualities, name)[0]) for name in ("insertion", "deletion")
        ), gap
    caps = indel_quality_caps(codes, options.pcr_indel_model)
    return caps, caps, gap


def repeated_unit(bases, place):
    """Bases of the shortest unit that follows a gap twice; 1 without such a unit."""
    after = bases[place + 1 :]
    found = (size for size in range(1, 9) if len(after) >= 2 * size and after[:size] == after[size : 2 * size])
    return next(found, 1)


def prepared(read, region, options):
    """A read as the model takes it, with the rules written out."""
    part = slice(max(0, region.start - read.reference_start), min(READ, region.end - read.reference_start))
    bases = read.query_sequence[part]
    most, gap = limits(options, bases)[:2], limits(options, bases)[2]
    own = most
    if options.str_model is None and options.indel_qualities is None:
        own = np.full(len(bases), options.insertion_quality), np.full(len(bases), options.deletion_quality)
    tagged = [options.indel_tags and read.has_tag(tag) for tag in ("BI", "BD")]
    own = [
        np.maximum([ord(letter) - 33 for letter in read.get_tag(tag)[part]], 6) if is_there else default
        for tag, is_there, default in zip(("BI", "BD"), tagged, own, strict=True)
    ]
    quality = prepare_base_quality(np.array(read.query_qualities[part], dtype=np.uint8), 60, options)
    return pairhmm.make_read(bases, quality, *(np.minimum(one, cap) for one, cap in zip(own, most, strict=True)), gap)


MODELS = {
    "conservative": GatkOptions(),
    "no PCR model": GatkOptions(pcr_indel_model="none", insertion_quality=33, deletion_quality=50),
    "STR model": GatkOptions(str_model=str_model_of("pcr")),
    "one table": GatkOptions(indel_qualities=IndelQualities((30,) * 20, (35,) * 20)),
    "tags left": GatkOptions(indel_tags=False),
}


@pytest.mark.parametrize("options", MODELS.values(), ids=MODELS)
def test_scores_are_those_of_the_oracle(run, options):
    (bam, fasta, vcf), reads = run
    (found,) = pairhmm.likelihoods(bam, fasta, vcf, model=options, backend="reference")
    assert len(found.names) == READS
    own = [prepared(reads[name], found.region, options) for name in found.names]
    assert min(len(one.bases) for one in own) < max(len(one.bases) for one in own)
    expected = pairhmm.forward(own, [one.sequence for one in found.haplotypes], backend="reference")
    np.testing.assert_allclose(found.log10, expected, rtol=0, atol=1e-9)
    (fast,) = pairhmm.likelihoods(bam, fasta, vcf, model=options, backend="cpu")
    np.testing.assert_allclose(fast.log10, expected, rtol=0, atol=1e-4)


def test_the_tags_matter_to_gatks_model_alone(run):
    (bam, fasta, vcf), reads = run
    (found,) = pairhmm.likelihoods(bam, fasta, vcf)
    with_tags = [reads[name].has_tag("BI") or reads[name].has_tag("BD") for name in found.names]

    def changed(**keywords):
        used, left = (
            next(iter(pairhmm.likelihoods(bam, fasta, vcf, indel_tags=on, **keywords))).log10 for on in (True, False)
        )
        return (used != left).any(axis=1).tolist()

    assert changed() == with_tags
    assert not any(changed(profile=preset("normalised")))


def test_the_command_leaves_wrong_tags_where_it_is_told_to(run, tmp_path, run_cli):
    (bam, fasta, vcf), _ = run
    path = str(tmp_path / "wrong.bam")
    with pysam.AlignmentFile(bam) as reads, pysam.AlignmentFile(path, "wb", template=reads) as out:
        for read in reads:
            read.set_tags([("BI", "I"), ("BD", "I")])
            out.write(read)
    done = run_cli("call", "-f", fasta, "-v", vcf, path)
    assert done.returncode == 2
    assert "read r0: its tags BI and BD are not a quality for each base; repair them, or give" in done.stderr
    assert run_cli("call", "-f", fasta, "-v", vcf, "--no-indel-tags", path).returncode == 0
