"""Ends of reads that say nothing of the sample cost no read: bad tails, adaptors, clips that no haplotype explains."""

from __future__ import annotations

import numpy as np
import pysam
import pytest

import pairhmm
from pairhmm.native import is_compiled

pytestmark = pytest.mark.skipif(not is_compiled(), reason="calls need the compiled part")

LENGTH, READ, SITE = 3_000, 100, 1_500
RNG = np.random.default_rng(7)
GENOME = "".join(RNG.choice(list("ACGT"), LENGTH))
OTHER = {"A": "C", "C": "G", "G": "T", "T": "A"}
WITH_SNV = GENOME[:SITE] + OTHER[GENOME[SITE]] + GENOME[SITE + 1 :]
NEW = "".join(RNG.choice(list("ACGT"), 600))
ADAPTOR = "AGATCGGAAGAGCACACGTCTGAACTCCAGTCACATCACGATCTCGTATGCCGTCTTCTGCTTG" * 2


def line(name, flag, start, cigar, bases, qualities="I" * READ, mate="*\t0\t0"):
    return start, f"{name}\t{flag}\tq\t{start + 1}\t60\t{cigar}\t{mate}\t{bases}\t{qualities}\tRG:Z:s"


@pytest.fixture
def called(tmp_path):
    """``called(lines, **keywords)``: genotype and depths of the one record, and the reads that lack a haplotype."""

    def call(lines, **keywords):
        (tmp_path / "q.fa").write_text(f">q\n{GENOME}\n")
        head = f"@HD\tVN:1.6\tSO:coordinate\n@SQ\tSN:q\tLN:{LENGTH}\n@RG\tID:s\tSM:s\n"
        (tmp_path / "q.sam").write_text(head + "".join(f"{text}\n" for _, text in sorted(lines)))
        pysam.view("-b", "-o", str(tmp_path / "q.bam"), str(tmp_path / "q.sam"), catch_stdout=False)
        given = str(tmp_path / "q.bam"), str(tmp_path / "q.fa")
        sites = {
            (site.variant.pos, site.variant.alts): (site.samples[0].alleles, site.samples[0].depths)
            for site in pairhmm.call(*given, backend="cpu", **keywords)
        }
        unfit = sum(one.set_aside.sum() for one in pairhmm.likelihoods(*given, backend="cpu", **keywords))
        return sites, int(unfit)

    return call


def starts(step=6):
    """Of reads over the site, on both strands in turn."""
    return [(number, start) for number, start in enumerate(range(SITE - READ + 10, SITE - 5, step))]


@pytest.mark.parametrize("phase", ["trans", "cis", "hom"])
def test_an_snv_beside_the_breakpoint_of_a_long_insertion(called, phase):
    """Reads of one chromosome are clipped 20 bases behind the SNV, where no haplotype has what follows."""
    plain, broken = {"trans": (WITH_SNV, GENOME), "cis": (GENOME, WITH_SNV), "hom": (WITH_SNV, WITH_SNV)}[phase]
    at = SITE + 20
    lines = []
    for number, start in starts():
        kept = min(READ, at - start)
        bases = (broken[start:at] + NEW)[:READ]
        cigar = f"{kept}M{READ - kept}S" if kept < READ else f"{READ}M"
        lines += [
            line(f"a{number}", 16 * (number % 2), start, f"{READ}M", plain[start : start + READ]),
            line(f"b{number}", 16 * (number % 2), start, cigar, bases),
        ]
    sites, unfit = called(lines)
    (alleles, depths), many = sites[SITE, (OTHER[GENOME[SITE]],)], len(starts())
    assert len(sites) == 1 and unfit == 0
    assert (alleles, list(depths)) == (((1, 1), [0, 2 * many]) if phase == "hom" else ((0, 1), [many, many]))


@pytest.mark.parametrize("at", [SITE + 4, SITE - 4], ids=["between sites", "before both"])
@pytest.mark.parametrize("fits", [True, False], ids=["of a haplotype", "foreign"])
def test_reads_are_over_what_their_clips_reach_if_a_haplotype_has_them(called, fits, at):
    second = SITE + 8
    other = WITH_SNV[:second] + OTHER[GENOME[second]] + WITH_SNV[second + 1 :]
    lines = []
    for number, start in starts():
        lines += [
            line(f"a{number}", 16 * (number % 2), start, f"{READ}M", GENOME[start : start + READ]),
            line(f"b{number}", 16 * (number % 2), start, f"{READ}M", other[start : start + READ]),
        ]
    whole = [number for number, start in starts() if start + READ > second]
    for number in range(6):
        start = second + 2 + number - READ
        bases = other[start : start + READ] if fits else other[start:at] + NEW[: start + READ - at]
        lines.append(line(f"c{number}", 16 * (number % 2), start, f"{at - start}M{start + READ - at}S", bases))
    sites, unfit = called(lines)
    alleles, depths = sites[second, (OTHER[GENOME[second]],)]
    assert (alleles, list(depths), unfit) == ((0, 1), [len(whole), len(whole) + 6 * fits], 0)


def with_tail(rng, bases, size):
    """A read's bases, a quarter of the last ones wrong, and its qualities."""
    wrong = {at for at in range(READ - size, READ) if rng.random() < 0.25}
    return "".join(OTHER[base] if at in wrong else base for at, base in enumerate(bases)), "I" * (
        READ - size
    ) + "#" * size


def test_tails_of_low_quality(called):
    rng = np.random.default_rng(1)
    lines = []
    for number, start in starts(3):
        bases, qualities = with_tail(rng, (GENOME, WITH_SNV)[number % 2][start : start + READ], 60)
        lines.append(line(f"r{number}", 0, start, f"{READ}M", bases, qualities))
    sites, unfit = called(lines)
    over = [number % 2 for number, start in starts(3) if start + READ - 60 > SITE]
    assert sites == {(SITE, (OTHER[GENOME[SITE]],)): ((0, 1), (over.count(0), over.count(1)))}
    assert unfit == 0
    assert called(lines, trims_ends=False)[1] == 0, "the limit goes by the qualities"


def pair(number, start, size, bases, clips):
    """Mates of a fragment that both read through, which go on with adaptors; aligners clip them, or do not."""
    beyond = READ - size
    mate = f"=\t{start + 1}\t"
    left, right = (f"{size}M{beyond}S", f"{beyond}S{size}M") if clips else (f"{READ}M", f"{READ}M")
    place = start if clips else start - beyond
    ahead = ADAPTOR[:beyond][::-1].translate(str.maketrans("ACGT", "TGCA"))
    yield line(f"r{number}", 99, start, left, bases + ADAPTOR[:beyond], mate=f"{mate}{size}")
    yield line(f"r{number}", 147, place, right, ahead + bases, mate=f"{mate}-{size}")


@pytest.mark.parametrize("clips", [True, False], ids=["clipped", "aligned"])
def test_adaptors(called, clips):
    lines = []
    for number, start in enumerate(range(SITE - 50, SITE - 5, 3)):
        lines += pair(number, start, 60, (GENOME, WITH_SNV)[number % 2][start : start + 60], clips)
    sites, unfit = called(lines)
    assert {at: alleles for at, (alleles, _) in sites.items()} == {(SITE, (OTHER[GENOME[SITE]],)): (0, 1)}
    assert unfit == 0


def test_ends_that_are_cut_off(tmp_path):
    """Which bases of a read are left, by its flags, mate and template."""
    from pairhmm.alignments.opening import AlignmentReader
    from pairhmm.alignments.read_blocks import read_blocks
    from pairhmm.alignments.selection import ReadSelection
    from pairhmm.sequences.fasta import Reference

    start, clipped = 1_000, "10S80M10S"
    cases = {
        "whole": (0, clipped, "*\t0\t0", "I" * READ, (0, READ)),
        "bad ends": (0, f"{READ}M", "*\t0\t0", "#" * 7 + "I" * 73 + ")" * 20, (7, 80)),
        "facing": (99, clipped, f"=\t{start + 301}\t400", "I" * READ, (0, READ)),
        "adaptor behind": (99, clipped, f"=\t{start + 1}\t80", "I" * READ, (0, 90)),
        "adaptor aligned": (99, "10S40M5I45M", f"=\t{start + 1}\t70", "I" * READ, (0, 85)),
        "adaptor before": (147, clipped, f"=\t{start + 21}\t-60", "I" * READ, (30, READ)),
        "aligned beyond, before": (147, clipped, f"=\t{start + 31}\t-50", "I" * READ, (0, READ)),
        "aligned beyond": (99, clipped, f"=\t{start + 1}\t50", "I" * READ, (0, READ)),
        "same strand": (65, clipped, f"=\t{start + 301}\t400", "I" * READ, (10, 90)),
        "mate unmapped": (73, clipped, f"=\t{start + 1}\t0", "I" * READ, (10, 90)),
        "facing away": (147, clipped, f"=\t{start + 301}\t400", "I" * READ, (10, 90)),
    }
    (tmp_path / "q.fa").write_text(f">q\n{GENOME}\n")
    head = f"@HD\tVN:1.6\tSO:coordinate\n@SQ\tSN:q\tLN:{LENGTH}\n@RG\tID:s\tSM:s\n"
    texts = [
        line(name.replace(" ", "_").replace(",", ""), flag, start, cigar, GENOME[:READ], quality, mate)[1]
        for name, (flag, cigar, mate, quality, _) in cases.items()
    ]
    (tmp_path / "q.sam").write_text(head + "\n".join(texts) + "\n")
    with Reference(tmp_path / "q.fa") as genome, AlignmentReader([str(tmp_path / "q.sam")], genome, False) as reader:
        (block,) = read_blocks(reader.sources, ["q"], ReadSelection(0, 0), trims_ends=True)
    bases, quals = (values.reshape(len(cases), READ) for values in (block.bases, block.quals))
    for number, (name, (*_, kept)) in enumerate(cases.items()):
        assert np.flatnonzero((quals[number] > 0) & (bases[number] < 4)).tolist() == list(range(*kept)), name


UNIT = "CCATTG"


def test_an_snv_in_a_repeat_beside_a_copy_more(called, monkeypatch):
    """Reads are cut outside the repeat: inside it, those with the copy more look like those without."""
    repeat, odd, middle = UNIT * 14, 12 * 6 + 2, 1_000
    reference = GENOME[:middle] + repeat + GENOME[middle + len(repeat) :]
    monkeypatch.setattr(f"{__name__}.GENOME", reference)
    at = middle + odd
    both = reference[:at] + "C" + reference[at + 1 :]
    more = both[:middle] + UNIT + both[middle:]
    lines = []
    for number, start in enumerate(range(middle - READ + 20, middle + len(repeat), 4)):
        lines.append(line(f"a{number}", 0, start, f"{READ}M", both[start : start + READ]))
        left = at + 1 - start
        # Aligners put the copy behind the odd one, where a read has enough bases of either side.
        is_through = 20 <= left <= READ - 26
        cigar = f"{left}M6I{READ - 6 - left}M" if is_through else f"{READ}M"
        place = start if is_through or start < middle else start - 6
        lines.append(line(f"b{number}", 16, place, cigar, more[start : start + READ]))
    sites, _ = called(lines)
    copies = sum(sum(allele > 0 for allele in alleles) for alleles, _ in sites.values())
    assert {position for position, _ in sites} == {at} and copies == 2


@pytest.mark.parametrize("copies", [1, -1])
def test_an_snv_that_alignments_put_into_two_copies_of_a_repeat(called, monkeypatch, copies):
    """An aligner that has few bases of one end opens no gap, so that the SNV is where the other end tells."""
    repeat, odd, middle, changed = UNIT * 13, 6 * 6 + 2, 1_000, copies * len(UNIT)
    reference = GENOME[:middle] + repeat + GENOME[middle + len(repeat) :]
    monkeypatch.setattr(f"{__name__}.GENOME", reference)
    at = middle + odd
    both = reference[:at] + "C" + reference[at + 1 :]
    other = both[:middle] + (UNIT + both[middle:] if copies > 0 else both[middle + len(UNIT) :])
    lines = []
    for number, start in enumerate(range(middle - READ + 20, middle + len(repeat) - 5, 3)):
        place = start if start < middle - 5 else start - changed
        lines.append(line(f"a{number}", 0, start, f"{READ}M", both[start : start + READ]))
        lines.append(line(f"b{number}", 16, place, f"{READ}M", other[start : start + READ]))
    sites, _ = called(lines)
    change = (reference[middle - 1] + UNIT,) if copies > 0 else (reference[middle - 1],)
    assert {site: alleles for site, (alleles, _) in sites.items()} == {
        (middle - 1, change): (0, 1),
        (at, ("C",)): (1, 1),
    }
