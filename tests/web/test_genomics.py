"""Regions, haplotypes, candidates and genotypes of the page (web/src/genomics) are those of the package."""

import json
import random
import subprocess
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

from pairhmm.calling.discovery import CandidateOptions
from pairhmm.native import native
from pairhmm.variants.regions import RegionOptions
from pairhmm.variants.variant import Variant

LENGTH = 3000


@pytest.fixture(scope="session")
def answers(node, tmp_path_factory):
    """``answers(questions)``: what web/tests' functions make of each; a question is [function, arguments]."""
    folder = tmp_path_factory.mktemp("answers")

    def ask(questions):
        given = folder / "questions.json"
        given.write_text(json.dumps(questions))
        script = Path(__file__).with_name("answers.mjs")
        done = subprocess.run([node, str(script), str(given)], capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return ask


def repetitive(rng, size):
    """Bases with many short repeats, in which indels can be shifted."""
    text = ""
    while len(text) < size:
        unit = "".join(rng.choices("ACGT", k=rng.choice([1, 1, 2, 3, 5])))
        text += unit * rng.choice([1, 1, 1, 4, 9])
    return text[:size]


def random_variants(rng, genome, count):
    """Variants in order: SNVs, MNVs, insertions and deletions, some with several alleles."""
    variants = []
    for pos in sorted(rng.sample(range(5, len(genome) - 20), count)):
        ref = genome[pos : pos + rng.choice([1, 1, 1, 2, 3, 6])]
        alts = {
            rng.choice(
                [
                    "".join(rng.choices("ACGT", k=len(ref))),
                    ref[0] + "".join(rng.choices("ACGT", k=rng.choice([1, 2, 4]))),
                    ref[0],
                    ref + genome[pos + len(ref)],
                ]
            )
            for _ in range(rng.choice([1, 1, 1, 2, 3]))
        } - {ref}
        if alts:
            variants.append(Variant("q", pos, ref, tuple(sorted(alts)), "", len(variants)))
    return variants


def as_given(variant):
    return {
        "chrom": variant.chrom,
        "pos": variant.pos,
        "ref": variant.ref,
        "alts": list(variant.alts),
        "id": variant.id,
        "recordIndex": variant.record_index,
        "role": variant.role,
    }


def camel(name):
    first, *rest = name.split("_")
    return "".join([first, *map(str.title, rest)])


def as_region(region):
    plain = {camel(name): value for name, value in asdict(region).items() if name not in ("variants", "extents")}
    return {**plain, "variants": [as_given(one) for one in region.variants], "extents": [*map(list, region.extents)]}


def regions_of(genome, variants, options):
    def fetch(chrom, start, end):
        return genome[max(0, start) : end]

    contigs = [("q", len(genome))]
    parts = native.ReferenceBases(fetch), contigs, 1, CandidateOptions(), options
    return native.ListedRegions(*parts, iter(variants)).finish("q")


@pytest.mark.parametrize("count", [20, 300])
def test_regions(answers, count):
    rng = random.Random(count)
    questions, expected = [], []
    for _ in range(20):
        genome = repetitive(rng, LENGTH)
        variants = random_variants(rng, genome, count)
        options = RegionOptions(
            join_distance=rng.choice([0, 25, 60]), max_alleles=rng.choice([3, 64]), flank=rng.choice([10, 55])
        )
        given = {camel(name): getattr(options, name) for name in options.__slots__}
        questions.append(["regions", [genome, [as_given(one) for one in variants], given]])
        expected.append([as_region(region) for region in regions_of(genome, variants, options)])
    assert answers(questions) == expected
    assert sum(map(len, expected)) > 40


@pytest.mark.parametrize("limit", [4, 40, 128])
def test_haplotypes(answers, limit):
    """With reads that show alleles at random, so that the limit is reached."""
    rng = random.Random(limit)
    questions, expected = [], []
    for number in range(25):
        genome = repetitive(rng, LENGTH)
        variants = random_variants(rng, genome, 500)
        region = max(regions_of(genome, variants, RegionOptions(join_distance=40)), key=lambda one: len(one.variants))
        if number % 2:
            roles = ["nuisance" if rng.random() < 0.3 else "asked" for _ in region.variants]
            region = type(region)(
                **{
                    **{name: getattr(region, name) for name in region.__slots__},
                    "variants": tuple(
                        Variant(one.chrom, one.pos, one.ref, one.alts, one.id, one.record_index, role)
                        for one, role in zip(region.variants, roles, strict=True)
                    ),
                }
            )
        reference = genome[region.haplotype_start : region.haplotype_end]
        shown = {
            one.pos: [rng.choice([-1, 0, 0, rng.randint(0, len(one.alts))]) for _ in range(30)]
            for one in region.variants
        }

        def carried(part, shown=shown):
            return np.array([shown[one.pos] for one in part.variants], dtype=np.int16).T.reshape(-1)

        found = native.build_haplotypes(region, reference, limit, carried)
        questions.append(
            ["haplotypes", [as_region(region), reference, limit, {str(pos): row for pos, row in shown.items()}]]
        )
        expected.append([[one.sequence, list(one.alleles), one.is_nuisance] for one in found])
    assert answers(questions) == expected
    assert max(map(len, expected)) >= limit


def test_snvs_of_which_one_has_an_allele_that_was_left_out(answers):
    """The haplotype with that allele, here the last one, is none of the joined site's."""
    variants = [{"pos": 10, "ref": "A", "alts": ["C"]}, {"pos": 11, "ref": "C", "alts": ["T"]}]
    assert answers([["snvs", [variants, [[0, 1, -1], [0, 1, 1]]]]]) == [["AC", ["CT"], [0, 1, -1], [1]]]
