"""More commands over changed files: signals, sketches, relatives, the map, and what is fitted to reads."""

from __future__ import annotations

import gzip

from bam import change_bam
from cases import CPU, OUT, REFERENCE, Case, Seeds, take
from mutate import chance, change_bytes, change_text, pick
from numpy.random import Generator

_SIGNALS = ("signal.tsv", "signal.npy", "signals.npz", "signal.slow5", "signal.blow5")


def _changed(rng: Generator, name: str, data: bytes) -> bytes:
    """Text with changed fields, or any other file with changed bytes."""
    is_text = name.endswith((".tsv", ".slow5", ".model", ".vcf", ".ped", ".toml"))
    return change_text(rng, data) if is_text else change_bytes(rng, data, 3)


def warp(rng: Generator, seeds: Seeds) -> Case:
    """Signals of every format, signatures, and tables of levels, with changes."""
    name = pick(rng, _SIGNALS)
    files = take(seeds, name)
    arguments = ["warp", *CPU, "-o", f"{OUT}/costs.tsv"]
    if name.endswith(("slow5", "blow5", "tsv")) and chance(rng, 0.7):
        files |= take(seeds, "signatures.fa", "kmers.model")
        arguments += ["--signatures", "signatures.fa", "--model", "kmers.model", name]
        arguments += pick(rng, ([], ["--levels", "samples"], ["--skip", "0", "--first", "20"]))
    else:
        files["other.tsv"] = seeds["signal.tsv"]
        arguments += ["--all", name, "other.tsv"]
        arguments += pick(rng, ([], ["--mode", "subsequence"], ["--normalise", "median"], ["--band", "10"]))
    changed = name if chance(rng, 0.7) else pick(rng, tuple(files))
    files[changed] = _changed(rng, changed, files[changed])
    return Case("warp", arguments, files)


def map_sketches(rng: Generator, seeds: Seeds) -> Case:
    """Sketches with changes, or of samples with changes."""
    if chance(rng, 0.4):
        name = pick(rng, ("few.fastq", "few.fa", "reads.bam"))
        data = change_bam(rng, seeds[name]) if name.endswith("bam") else change_text(rng, seeds[name], b"\n")
        arguments = ["map", "sketch", "-o", f"{OUT}/made.sketches", "--k", pick(rng, ("1", "11", "21", "31"))]
        arguments += pick(rng, ([], ["--each-record"], ["--min-count", "1"], ["--scheme", "published"]))
        return Case("map sketch", [*arguments, name], {name: data})
    files = {"some.sketches": change_bytes(rng, seeds["some.sketches"], 3)}
    if chance(rng, 0.3):
        files["others.sketches"] = seeds["some.sketches"]
        queries = ["--queries", "others.sketches"]
    else:
        queries = pick(rng, ([], ["--nearest", "2"], ["--max-distance", "0.1"]))
    arguments = ["map", "distances", *CPU, "-o", f"{OUT}/distances.tsv", *queries, "some.sketches"]
    return Case("map distances", arguments, files)


def map_relate(rng: Generator, seeds: Seeds) -> Case:
    """Calls of a cohort, its sheet and its pedigree, with changes."""
    files = take(seeds, "cohort.vcf", "people.tsv", "people.ped")
    changed = pick(rng, tuple(files))
    files[changed] = change_text(rng, files[changed], b"\t")
    if changed == "cohort.vcf" and chance(rng, 0.3):
        files["cohort.vcf"] = gzip.compress(files["cohort.vcf"], mtime=0)
    arguments = ["map", "relate", "-o", f"{OUT}/pairs.tsv", "--sample-table", f"{OUT}/samples.tsv"]
    arguments += pick(rng, (["--sheet", "people.tsv"], ["--pedigree", "people.ped"], []))
    return Case("map relate", [*arguments, "cohort.vcf"], files)


def map_draw(rng: Generator, seeds: Seeds) -> Case:
    """Sketches, hits, calls and a sheet, with changes."""
    files = take(seeds, "some.sketches", "cohort.vcf", "people.tsv", "hits.tsv")
    changed = pick(rng, tuple(files))
    files[changed] = _changed(rng, changed, files[changed])
    arguments = ["map", "draw", *CPU, "-o", f"{OUT}/positions.tsv", "--neighbours", "1"]
    arguments += pick(rng, (["--kmers", "some.sketches"], ["--genotypes", "cohort.vcf"], ["--hits", "hits.tsv"]))
    arguments += pick(rng, ([], ["--sheet", "people.tsv"], ["--svg", f"{OUT}/map.svg"], ["--quantise", "rank"]))
    return Case("map draw", arguments, files)


def fitting(rng: Generator, seeds: Seeds) -> Case:
    """Reads with changes: the parameters, the slips of repeats and the profiles that are made of them."""
    files = {"reads.bam": change_bam(rng, seeds["reads.bam"]), **take(seeds, *REFERENCE)}
    verb, output = pick(rng, (("fit", "fitted.toml"), ("calibrate-str", "slips.toml"), ("profiles", "reads.profile")))
    arguments = [verb, "-f", "ref.fa", "-o", f"{OUT}/{output}"]
    if verb == "fit":
        arguments += pick(rng, ([], ["--max-reads", "5"], ["--model", "profile"]))
    if chance(rng, 0.2):
        files |= take(seeds, "reads.bam.bai")
        arguments += ["-r", pick(rng, ("chr1", "chr2:100-900"))]
    return Case(verb, [*arguments, "reads.bam"], files)
