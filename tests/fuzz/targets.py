"""Commands over changed files: each function draws one case from the generator and the sound files."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable

import bgzf
from bam import change_bam
from cases import CPU, OUT, REFERENCE, Case, Seeds, take
from mutate import HOSTILE_FIELDS, chance, change_bytes, change_text, cut_off, pick
from numpy.random import Generator
from page import page_case
from tools import fitting, map_draw, map_relate, map_sketches, warp

Target = Callable[[Generator, Seeds], Case]

_OUTPUTS = ("calls.vcf", "calls.vcf", "calls.vcf.gz", "calls.bcf")
_TABLES = ("table.tsv", "table.tsv", "table.tsv.gz", "table.parquet")
_TEXTS = ("all.tsv", "all.tsv.gz")
_END, _CHECKSUM = "end marker", "checksum"


def _verb(rng: Generator) -> list[str]:
    """`call` or `likelihoods`, with its output."""
    if chance(rng, 0.6):
        verb = ["call", "-o", f"{OUT}/{pick(rng, _OUTPUTS)}"]
    else:
        verb = ["likelihoods", "-o", f"{OUT}/{pick(rng, _TABLES)}"]
    threads = ["-@", "2"] if chance(rng, 0.1) else []
    return [*verb, *CPU, *threads, "-f", "ref.fa"]


def _packed(rng: Generator, original: bytes, change: Callable[[Generator, bytes], bytes]) -> bytes:
    """A BGZF file that is changed inside, or outside, or cut between its blocks."""
    kind = rng.random()
    if kind < 0.6:
        return bgzf.pack(change(rng, bgzf.unpack(original)), pick(rng, (0xFF00, 2000)))
    if kind < 0.8:
        return change_bytes(rng, original, 2)
    if kind < 0.9:
        return original[: pick(rng, bgzf.block_starts(original)[1:-1])]
    return cut_off(rng, original)


def call_bam(rng: Generator, seeds: Seeds) -> Case:
    """A BAM of odd records, or of broken blocks."""
    original = seeds["reads.bam"]
    kind = rng.random()
    if kind < 0.75:
        reads = change_bam(rng, original)
    elif kind < 0.85:
        reads = bgzf.pack(change_bytes(rng, bgzf.unpack(original)))
    else:
        reads = _packed(rng, original, change_bytes)
    fault = bgzf.fault(reads, original)
    files = {"reads.bam": reads, **take(seeds, *REFERENCE)}
    arguments, is_read_whole = _verb(rng), True
    if chance(rng, 0.2):
        files |= take(seeds, "truth.vcf")
        arguments += ["-v", "truth.vcf"]
        is_read_whole = False
    if chance(rng, 0.15):
        files |= take(seeds, "reads.bam.bai")
        arguments += ["-r", pick(rng, ("chr1", "chr2", "chr1:500-900", "chr2:1-2000"))]
        is_read_whole = False
    if chance(rng, 0.1):
        arguments += ["--no-cap-by-mapq"]
    if chance(rng, 0.1):
        arguments += ["--default-base-quality", "30"]
    if chance(rng, 0.1):
        arguments += ["--min-mapq", "0", "--exclude-flags", "0"]
    must_fail = fault if is_read_whole or fault == _END else ""
    return Case("call bam", [*arguments, "reads.bam"], files, must_fail)


def call_cram(rng: Generator, seeds: Seeds) -> Case:
    """A CRAM with changed bytes or cut off."""
    reads = change_bytes(rng, seeds["reads.cram"]) if chance(rng, 0.8) else cut_off(rng, seeds["reads.cram"])
    files = {"reads.cram": reads, **take(seeds, *REFERENCE)}
    arguments = _verb(rng)
    if chance(rng, 0.2):
        files |= take(seeds, "reads.cram.crai")
        arguments += ["-r", "chr1:500-900"]
    is_cut = reads != seeds["reads.cram"] and seeds["reads.cram"].startswith(reads)
    return Case("call cram", [*arguments, "reads.cram"], files, _END if is_cut else "")


def call_sam(rng: Generator, seeds: Seeds) -> Case:
    """SAM of odd fields."""
    files = {"reads.sam": change_text(rng, seeds["reads.sam"]), **take(seeds, *REFERENCE)}
    if chance(rng, 0.3):
        files = {"reads.sam.bam": bgzf.pack(files["reads.sam"]), **take(seeds, *REFERENCE)}
    return Case("call sam", [*_verb(rng), next(iter(files))], files)


def call_index(rng: Generator, seeds: Seeds) -> Case:
    """An index of changed bytes."""
    kinds = (("reads.bam", ".bai"), ("reads.bam", ".bai"), ("reads.bam", ".csi"), ("reads.cram", ".crai"))
    name, ending = pick(rng, kinds)
    index = name + ending
    files = take(seeds, name, *REFERENCE)
    changed = seeds[index]
    if index.endswith(".bai") and chance(rng, 0.4):
        changed = _offset_changed(rng, changed)
    elif not index.endswith(".bai") and chance(rng, 0.7):
        change = change_text if index.endswith(".crai") else change_bytes
        changed = gzip.compress(change(rng, gzip.decompress(changed)), mtime=0)
    else:
        changed = change_bytes(rng, changed)
    files[index] = changed
    region = pick(rng, ("chr1:500-900", "chr2"))
    if chance(rng, 0.5):
        return Case("call index", [*_verb(rng), "-r", region, name], files)
    # Every record of the region, or an error: the calls of the whole contig by the sound index.
    files["sound.vcf"] = seeds["chr2.vcf"]
    arguments = ["call", "-o", f"{OUT}/calls.vcf", *CPU, "-f", "ref.fa", "-r", "chr2", name]
    return Case("call index", arguments, files, same_records="sound.vcf")


def _offset_changed(rng: Generator, bai: bytes) -> bytes:
    """The last contig's table of offsets, or its count of reads, with a byte changed."""
    # The last eight bytes count reads without a contig. Offsets of eight bytes lie before them.
    data, at = bytearray(bai), len(bai) - 8 * int(rng.integers(2, 7)) + int(rng.integers(8))
    data[at] ^= int(rng.integers(1, 256))
    return bytes(data)


def call_reference(rng: Generator, seeds: Seeds) -> Case:
    """A reference, or its index, with changes."""
    files, fault = take(seeds, "reads.bam", *REFERENCE), ""
    kind = rng.random()
    if kind < 0.4:
        files["ref.fa"] = change_text(rng, seeds["ref.fa"], b"\n")
        if chance(rng, 0.7):
            del files["ref.fa.fai"]
    elif kind < 0.7:
        files["ref.fa.fai"] = change_text(rng, seeds["ref.fa.fai"])
    else:
        files["ref.fa"] = _packed(rng, seeds["ref.fa.gz"], change_bytes)
        del files["ref.fa.fai"]
        fault = bgzf.fault(files["ref.fa"], seeds["ref.fa.gz"])
    return Case("call reference", [*_verb(rng), "reads.bam"], files, fault)


def _variants(rng: Generator, seeds: Seeds, stem: str) -> tuple[str, bytes, str]:
    """The name of a VCF, plain or packed, or BCF, its changed bytes, and what is broken in them."""
    kind = rng.random()
    if kind < 0.5:
        return f"{stem}.vcf", change_text(rng, seeds[f"{stem}.vcf"]), ""
    name = f"{stem}.vcf.gz" if kind < 0.8 else f"{stem}.bcf"
    data = _packed(rng, seeds[name], change_text if name.endswith(".gz") else change_bytes)
    return name, data, bgzf.fault(data, seeds[name])


def call_candidates(rng: Generator, seeds: Seeds) -> Case:
    """Candidates with changes."""
    name, data, fault = _variants(rng, seeds, "truth")
    files = {name: data, **take(seeds, "reads.bam", *REFERENCE)}
    if chance(rng, 0.2):
        files |= take(seeds, "reads.bam.bai")
    return Case("call candidates", [*_verb(rng), "-v", name, "reads.bam"], files, fault)


_NUMBERS = ("--min-mapq", "--default-base-quality", "--max-haplotypes", "--max-depth", "--join-distance", "--max-span")
_NUMBERS += ("--flank", "--min-base-quality", "--insertion-quality", "--deletion-quality", "--gap-quality")
_NUMBERS += ("--base-quality-threshold", "--score-floor", "--error-rate", "--chunk-size", "--exclude-flags", "-@")
_NUMBERS += ("--ploidy", "--min-qual", "--snv-prior", "--indel-prior", "--sample-ploidy", "--sample-sex", "-r")
_NUMBERS += ("--pcr-indel-model", "--device", "--device-memory", "-v", "-R", "-o")


def call_options(rng: Generator, seeds: Seeds) -> Case:
    """Odd values of options over sound files."""
    files = take(seeds, "reads.bam", "reads.bam.bai", *REFERENCE)
    arguments = ["call", *CPU, "-f", "ref.fa", "-o", f"{OUT}/calls.vcf"]
    for _ in range(int(rng.integers(1, 3))):
        option = pick(rng, _NUMBERS)
        value = pick(rng, HOSTILE_FIELDS).replace(b"\0", b"").decode("utf-8", "surrogateescape")
        if option in ("-r", "--sample-ploidy", "--sample-sex"):
            value = pick(rng, ("chr1:", "sample=", "")) + value
        if option == "-o":
            value = f"{OUT}/{value.replace('/', '_') or 'x'}"
        arguments += [option, value]
    return Case("call options", [*arguments, "reads.bam"], files)


def scatter(rng: Generator, seeds: Seeds) -> Case:
    """Pieces of an index, candidates or regions with changes."""
    files = take(seeds, "reads.bam", "reads.bam.bai", *REFERENCE)
    arguments = ["scatter", *CPU, "-f", "ref.fa", "-o", OUT, "-n", pick(rng, ("1", "2", "3", "50"))]
    kind, fault = int(rng.integers(3)), ""
    if kind == 0:
        files["reads.bam.bai"] = change_bytes(rng, seeds["reads.bam.bai"])
    elif kind == 1:
        name, files[name], fault = _variants(rng, seeds, "truth")
        arguments += ["-v", name]
    else:
        files["regions.bed"] = change_text(rng, seeds["regions.bed"])
        arguments += ["-R", "regions.bed"]
    return Case("scatter", [*arguments, "reads.bam"], files, fault)


def gather(rng: Generator, seeds: Seeds) -> Case:
    """Outputs with changes, put together."""
    kind = rng.random()
    if kind < 0.4:
        name, data, fault = _variants(rng, seeds, "calls")
        output = pick(rng, _OUTPUTS)
    elif kind < 0.7:
        name, output = pick(rng, ("table.tsv", "hits.tsv", "table.haplotypes.tsv")), pick(rng, _TEXTS)
        data, fault = change_text(rng, seeds[name]), ""
    elif kind < 0.8:
        name, output = "table.tsv.gz", pick(rng, _TEXTS)
        data = _packed(rng, seeds[name], change_text)
        fault = bgzf.fault(data, seeds[name])
    else:
        name = pick(rng, ("table.parquet", "table.haplotypes.parquet"))
        data, output, fault = change_bytes(rng, seeds[name], 2), "all.parquet", ""
    files = {name: data}
    pieces = [name]
    if chance(rng, 0.3):
        files[f"first.{name}"] = seeds[name]
        pieces = [f"first.{name}", name]
    arguments = ["gather", "-o", f"{OUT}/{output}", *pieces]
    if chance(rng, 0.1):
        arguments += ["--sample", pick(rng, ("a", "a\tb", "", "x\ny"))]
    return Case("gather", arguments, files, fault)


def report(rng: Generator, seeds: Seeds) -> Case:
    """A page of outputs with changes."""
    files: dict[str, bytes] = {}
    arguments = ["report", "-o", f"{OUT}/page.html"]
    fault = ""
    kind = int(rng.integers(4))
    ending = pick(rng, ("tsv", "tsv", "tsv.gz", "parquet"))
    if kind == 0:
        name, files[name], fault = _variants(rng, seeds, "calls")
        arguments += ["--calls", name]
    elif kind == 1:
        names = (f"table.{ending}", f"table.haplotypes.{ending}")
        files = take(seeds, *names)
        changed = pick(rng, names)
        if ending == "tsv":
            files[changed] = change_text(rng, seeds[changed])
        elif ending == "parquet":
            files[changed] = change_bytes(rng, seeds[changed], 2)
        else:
            files[changed] = _packed(rng, seeds[changed], change_text)
            fault = bgzf.fault(files[changed], seeds[changed])
        arguments += ["--likelihoods", names[0]]
        if chance(rng, 0.5):
            files |= take(seeds, "calls.vcf")
            arguments += ["--calls", "calls.vcf"]
            # A table's regions without a site are passed over, and a file's rest with them.
            fault = fault if fault == _END else ""
        if chance(rng, 0.3):
            files |= take(seeds, "reads.bam", "reads.bam.bai", *REFERENCE)
            arguments += ["-f", "ref.fa", "--alignments", "reads.bam"]
    elif kind == 2:
        files = take(seeds, "signatures.fa") | {"hits.tsv": change_text(rng, seeds["hits.tsv"])}
        arguments += ["--hits", "hits.tsv", "--signatures", "signatures.fa"]
    else:
        files = take(seeds, "calls.vcf") | {"timings.tsv": change_text(rng, seeds["timings.tsv"])}
        arguments += ["--calls", "calls.vcf", "--timings", "timings.tsv", "--mqc", f"{OUT}/mqc"]
    return Case("report", arguments, files, fault)


def _sample(rng: Generator, seeds: Seeds) -> tuple[str, bytes, str]:
    """The name of sequences of any format, their changed bytes, and what is broken in them."""
    name = pick(rng, ("few.fastq", "few.fastq", "few.fa", "few.fastq.gz", "plain.fastq.gz", "reads.bam", "reads.cram"))
    original = seeds[name]
    if name in ("few.fastq", "few.fa"):
        return name, change_text(rng, original, b"\n"), ""
    if name == "few.fastq.gz":
        data = _packed(rng, original, change_bytes)
        return name, data, bgzf.fault(data, original)
    if name == "plain.fastq.gz":
        data = change_bytes(rng, original, 2)
        return name, data, _gzip_fault(data)
    if name == "reads.bam":
        data = change_bam(rng, original) if chance(rng, 0.6) else _packed(rng, original, change_bytes)
        return name, data, bgzf.fault(data, original)
    return name, change_bytes(rng, original), ""


def _gzip_fault(data: bytes) -> str:
    """What is broken of a gzip stream that begins as one; what is behind it is not looked at."""
    inflate = zlib.decompressobj(31)
    try:
        inflate.decompress(data)
    except zlib.error:
        return _CHECKSUM if data[:4] == b"\x1f\x8b\x08\x00" else ""
    return "" if inflate.eof else _END


def scan_samples(rng: Generator, seeds: Seeds) -> Case:
    """Samples with changes."""
    name, data, fault = _sample(rng, seeds)
    files = {name: data, **take(seeds, "signatures.fa", *REFERENCE)}
    arguments = ["scan", *CPU, "--signatures", "signatures.fa", "-o", f"{OUT}/hits.tsv", "-f", "ref.fa"]
    arguments += pick(rng, ([], [], ["--all"], ["--per-file"], ["--max-mismatches", "2"], ["--assignment-format"]))
    arguments += pick(rng, ([], [], ["--chunk-size", "100"], ["--chunk-size", "1K"], ["-@", "2"]))
    arguments += pick(rng, ([], [], ["--summary", f"{OUT}/s"], ["--multiqc", f"{OUT}/s_mqc.json"]))
    if chance(rng, 0.2):
        return Case("scan samples", [*arguments, "-"], files, fault, stdin=name)
    return Case("scan samples", [*arguments, name], files, fault)


def scan_signatures(rng: Generator, seeds: Seeds) -> Case:
    """Signatures with changes."""
    files = {"signatures.fa": change_text(rng, seeds["signatures.fa"], b"\n"), **take(seeds, "few.fastq")}
    arguments = ["scan", *CPU, "-o", f"{OUT}/hits.tsv", "--signatures", "signatures.fa", "few.fastq"]
    numbers = ("--max-mismatches", "--min-informative", "--min-score", "--min-mean", "--chunk-size")
    if chance(rng, 0.3):
        value = pick(rng, ("0", "1", "5", "1000", "2147483648", "9223372036854775807", "9" * 30, "nan", "inf", "1e300"))
        arguments += [pick(rng, numbers), value]
    return Case("scan signatures", arguments, files)


def forward(rng: Generator, seeds: Seeds) -> Case:
    """Reads of any format with changes, beside sound haplotypes."""
    name, data, fault = _sample(rng, seeds)
    arguments = ["forward", *CPU, "-o", f"{OUT}/scores.tsv", name, "haplotypes.fa"]
    if chance(rng, 0.2):
        option = pick(rng, ("--insertion-quality", "--deletion-quality", "--gap-quality"))
        arguments += [option, pick(rng, ("1", "2", "90", "127"))]
    if chance(rng, 0.1):
        arguments += ["--default-base-quality", "20"]
    return Case("forward", arguments, {name: data, **take(seeds, "haplotypes.fa")}, fault)


def align(rng: Generator, seeds: Seeds) -> Case:
    """Queries, targets and haplotypes with changes."""
    name, data, fault = _sample(rng, seeds)
    files = {name: data, "haplotypes.fa": change_text(rng, seeds["haplotypes.fa"], b"\n")}
    ending = pick(rng, ("tsv", "tsv.gz", "paf", "sam", "bam"))
    arguments = ["align", *CPU, "-o", f"{OUT}/aligned.{ending}", name, "haplotypes.fa"]
    arguments += pick(rng, ([], [], ["--all"], ["--cigar"], ["--preset", "edit"], ["--preset", "gatk-read"]))
    arguments += pick(rng, ([], [], ["--mode", "semi-global"], ["--mismatch", "-10000"], ["--chunk-size", "100"]))
    return Case("align", arguments, files, fault)


_CALL = f"call {' '.join(CPU)} -f ref.fa -o {OUT}/calls.vcf"
_FORWARD = f"forward {' '.join(CPU)} -o {OUT}/scores.tsv"
_PROFILE, _TOML = f"{_FORWARD} --model profile", (b" ", b", ", b"=")
_TEXT_CASES: tuple[tuple[str, str, str, tuple[bytes, ...]], ...] = (
    ("call texts", f"{_CALL} -R {{}} reads.bam", "regions.bed", (b"\t",)),
    ("call texts", f"{_CALL} --haplotypes {{}} -r chr1:701-800 reads.bam", "region.fa", (b"\n",)),
    ("call texts", f"{_CALL} --ploidy-file {{}} --sample-sex sample=M reads.bam", "ploidy.txt", (b" ",)),
    ("call texts", f"{_CALL} --ploidy-file {{}} --sample-sex sample=F reads.bam", "ploidy.txt", (b" ",)),
    ("call parameters", f"{_CALL} --str-model {{}} reads.bam", "slips.toml", _TOML),
    ("call parameters", f"{_CALL} --parameters {{}} reads.bam", "fitted.toml", _TOML),
    ("forward", f"{_FORWARD} few.fastq {{}}", "haplotypes.fa", (b"\n",)),
    ("forward", f"{_FORWARD} {{}}", "pairs.in", (b" ",)),
    ("forward", f"{_PROFILE} {{}} haplotypes.fa", "read.profile", (b" ",)),
    ("forward", f"{_PROFILE} {{}} haplotypes.fa", "read.tsv", (b"\t",)),
    ("forward", f"{_PROFILE} --parameters {{}} read.profile haplotypes.fa", "parameters.toml", _TOML),
    ("align haplotypes", f"align --vcf -f ref.fa -r chr1:701-800 -o {OUT}/haps.vcf {{}}", "region.fa", (b"\n",)),
    ("validate", f"validate {' '.join(CPU)} {{}}", "known.txt", (b" ",)),
    ("sheet", "read-sheet {}", "sheet.tsv", (b"\t",)),
)
"""Target, arguments, the file of text that stands in their braces and is changed, and what separates its fields."""


def texts(rng: Generator, seeds: Seeds) -> Case:
    """A file of text with changes, beside sound files."""
    target, arguments, name, separators = pick(rng, _TEXT_CASES)
    words = arguments.format(name).split()
    others = {word: seeds[word] for word in words if word in seeds}
    others |= take(seeds, *REFERENCE) if "ref.fa" in words else {}
    others |= take(seeds, "reads.bam.bai") if "reads.bam" in words else {}
    return Case(target, words, {**others, name: change_text(rng, seeds[name], pick(rng, separators))})


TARGETS: tuple[tuple[Target, float], ...] = (
    (call_bam, 6),
    (call_cram, 1),
    (call_sam, 2),
    (call_index, 2),
    (call_reference, 2),
    (call_candidates, 3),
    (call_options, 2),
    (align, 2),
    (scatter, 1),
    (gather, 2),
    (report, 3),
    (scan_samples, 3),
    (scan_signatures, 1),
    (forward, 1),
    (texts, 8),
    (warp, 3),
    (map_sketches, 2),
    (map_relate, 2),
    (map_draw, 1),
    (fitting, 2),
    (page_case, 2),
)
