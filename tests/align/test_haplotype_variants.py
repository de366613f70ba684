"""The variants of haplotypes: those that were simulated, as `bcftools norm` has them, and they spell the haplotypes."""

import numpy as np
import pysam
import pysam.bcftools
import pytest

import pairhmm
from pairhmm.errors import InputError

REGION = (400, 1_000)
"""0-based half-open."""


def bcftools(command, *arguments):
    return getattr(pysam.bcftools, command)(*map(str, arguments), catch_stderr=False)


def simulated(rng, reference, alphabet):
    """Variants far from each other, leftmost: 0-based position, REF and ALT."""
    found, at = [], REGION[0] + 30
    while at < REGION[1] - 40:
        kind, length = int(rng.integers(3)), int(rng.integers(1, 12))
        anchor = reference[at]
        if kind == 0:
            found.append((at, anchor, str(rng.choice([base for base in "ACGT" if base != anchor]))))
        elif kind == 1:
            found.append((at, anchor, anchor + "".join(rng.choice(alphabet, length))))
        else:
            found.append((at, reference[at : at + 1 + length], anchor))
        at += int(rng.integers(40, 90))
    return found


def spelled(reference, variants):
    """The region with some variants."""
    parts, at = [], REGION[0]
    for position, ref, alt in variants:
        parts += [reference[at:position], alt]
        at = position + len(ref)
    return "".join([*parts, reference[at : REGION[1]]])


def write(path, records):
    path.write_text("".join(f">{name}\n{letters}\n" for name, letters in records.items()))


@pytest.fixture(params=range(4))
def world(request, tmp_path):
    """A folder with a reference and haplotypes of it, and the variants of each."""
    rng = np.random.default_rng(request.param)
    alphabet = list("ACGT" if request.param < 2 else "AC")
    reference = "".join(rng.choice(alphabet, 1_500))
    # Repeats at the region's beginning, so that what is inserted there belongs before it.
    reference = reference[:390] + "GT" * 10 + reference[410:]
    every = simulated(rng, reference, alphabet)
    variants = {f"h{n}": [one for one in every if rng.random() < 0.5] for n in range(3)} | {"ref": []}
    write(tmp_path / "ref.fa", {"c0": "ACGT", "c1": reference})
    write(tmp_path / "haps.fa", {name: spelled(reference, own) for name, own in variants.items()})
    pysam.faidx(str(tmp_path / "ref.fa"))
    return tmp_path, reference, variants


def named(path):
    """The variants of each sample of a VCF."""
    with pysam.VariantFile(str(path)) as records:
        found = {name: set() for name in records.header.samples}
        for record in records:
            for name, sample in record.samples.items():
                if sample["GT"] == (1,):
                    found[name].add((record.pos - 1, record.ref, *record.alts))
    return found


def write_variants(path, names, found):
    """Variants as VCF, each haplotype a sample."""
    records = sorted({one for own in found.values() for one in own})
    lines = [
        "##fileformat=VCFv4.2",
        "##contig=<ID=c1,length=1500>",
        '##FORMAT=<ID=GT,Number=1,Type=String,Description="x">',
        "\t".join(["#CHROM", "POS", "ID", "REF", "ALT", "QUAL", "FILTER", "INFO", "FORMAT", *names]),
    ]
    for position, ref, alt in records:
        carried = [str(int((position, ref, alt) in found[name])) for name in names]
        lines.append("\t".join(["c1", str(position + 1), ".", ref, alt, ".", ".", ".", "GT", *carried]))
    path.write_text("\n".join(lines) + "\n")


@pytest.mark.parametrize("ending", ["vcf", "vcf.gz", "bcf"])
def test_simulated_variants(world, ending):
    folder, _, variants = world
    out = folder / f"x.{ending}"
    region = f"c1:{REGION[0] + 1}-{REGION[1]}"
    pairhmm.write_haplotype_variants(folder / "haps.fa", folder / "ref.fa", region, out)
    write_variants(folder / "truth.vcf", list(variants), variants)
    (folder / "norm.vcf").write_text(bcftools("norm", "-f", folder / "ref.fa", folder / "truth.vcf"))
    assert named(out) == named(folder / "norm.vcf")
    ours = bcftools("view", "-H", out)
    assert bcftools("norm", "-c", "e", "-f", folder / "ref.fa", out).splitlines()[-len(ours.splitlines()) :] == (
        ours.splitlines()
    )


def test_bcftools_makes_the_haplotypes_again(world):
    folder, reference, variants = world
    region = f"c1:{REGION[0] + 1}-{REGION[1]}"
    pairhmm.write_haplotype_variants(folder / "haps.fa", folder / "ref.fa", region, folder / "x.vcf.gz")
    for name, own in variants.items():
        lines = bcftools("consensus", "-f", folder / "ref.fa", "-s", name, "-H", "1", folder / "x.vcf.gz").split(
            ">c1\n"
        )
        whole = lines[1].replace("\n", "")
        assert whole == reference[: REGION[0]] + spelled(reference, own) + reference[REGION[1] :]


def test_a_repeat_that_begins_before_the_region(tmp_path):
    write(tmp_path / "ref.fa", {"c": "GATTC" + "A" * 30 + "GATTACAGATTACA"})
    write(tmp_path / "haps.fa", {"h": "A" * 17 + "GATTAC"})
    pairhmm.write_haplotype_variants(tmp_path / "haps.fa", tmp_path / "ref.fa", "c:16-41", tmp_path / "x.vcf")
    assert named(tmp_path / "x.vcf") == {"h": {(4, "CAAA", "C")}}
    assert "c\t5\t.\tCAAA\tC" in bcftools("norm", "-f", tmp_path / "ref.fa", tmp_path / "x.vcf")


def test_the_first_base_of_a_contig_is_missing(tmp_path):
    write(tmp_path / "ref.fa", {"c": "GATTACAGATTACA"})
    write(tmp_path / "haps.fa", {"h": "TTACAGATTACA"})
    pairhmm.write_haplotype_variants(tmp_path / "haps.fa", tmp_path / "ref.fa", "c", tmp_path / "x.vcf")
    assert named(tmp_path / "x.vcf") == {"h": {(0, "GAT", "T")}}
    assert "c\t1\t.\tGAT\tT" in bcftools("norm", "-f", tmp_path / "ref.fa", tmp_path / "x.vcf")


@pytest.mark.parametrize(
    ("haplotypes", "region", "told"),
    [
        ([("h", "ACGT"), ("g", "A"), ("h", "C")], "c:1-10", r"haps\.fa: record 3 \(h\): has the name of record 1"),
        ([("h", "ACGT")], "c:20-30", "outside c, which has 14 bases"),
        ([("h", "ACGT")], "d:1-2", "no contig 'd'"),
        ([("h", "")], "c:1-2", r"haps\.fa: h: empty sequence"),
        ([("h", "A" * 100_001)], "c:1-2", "has more than 100,000 letters"),
    ],
)
def test_bad_input(tmp_path, haplotypes, region, told):
    write(tmp_path / "ref.fa", {"c": "GATTACAGATTACA"})
    (tmp_path / "haps.fa").write_text("".join(f">{name}\n{letters}\n" for name, letters in haplotypes))
    with pytest.raises(InputError, match=told):
        pairhmm.write_haplotype_variants(tmp_path / "haps.fa", tmp_path / "ref.fa", region, tmp_path / "x.vcf")
    assert not (tmp_path / "x.vcf").exists()


def test_command_line(world, run_cli):
    folder, _, _ = world
    region = f"c1:{REGION[0] + 1}-{REGION[1]}"
    done = run_cli("align", "--vcf", "-f", folder / "ref.fa", "-r", region, folder / "haps.fa")
    assert done.returncode == 0
    assert "##pairhmmCommand=align --vcf -f " in done.stdout
    assert "\tFORMAT\th0\th1\th2\tref\n" in done.stdout
    for arguments, told in [
        (["--vcf", "haps.fa"], "--vcf needs the reference (-f)"),
        (["--vcf", "-f", "ref.fa", "-r", "c1", "haps.fa", "haps.fa"], "--vcf takes no TARGETS"),
        (["haps.fa"], "Missing argument 'TARGETS'"),
        (["-r", "c1", "haps.fa", "haps.fa"], "-f and -r need --vcf"),
    ]:
        done = run_cli("align", *arguments, cwd=folder)
        assert done.returncode == 2 and told in " ".join(done.stderr.split())
