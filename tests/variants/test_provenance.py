"""The header of gathered calls tells of the run, not of its first piece."""

from __future__ import annotations

import pytest

from pairhmm.variants.header import run_header

COMMON = ["##fileformat=VCFv4.3", "##reference=r.fa", '##FILTER=<ID=PASS,Description="x">']


def gathered(*pieces: list[str]) -> list[str]:
    return run_header([[*COMMON, *piece, "#CHROM\tPOS"] for piece in pieces])[len(COMMON) : -1]


@pytest.mark.parametrize(
    ("commands", "joined"),
    [
        (["call -R 1.bed a.bam"] * 3, ["call -R 1.bed a.bam"]),
        (["call -R 1.bed a.bam", "call -R 2.bed a.bam"], ["call -R {1.bed,2.bed} a.bam"]),
        (
            [f"call -R {n}.bed -o {n}.vcf a.bam" for n in (1, 2, 3)],
            ["call -R {1.bed,...,3.bed} -o {1.vcf,...,3.vcf} a.bam"],
        ),
        (["call 'a b.bam' -R x", "call 'a b.bam' -R y"], ["call 'a b.bam' -R {x,y}"]),
        (["call it's -R x", "call it's -R y"], ["""call 'it'"'"'s' -R {x,y}"""]),
        (["call a.bam", "call -q a.bam"], ["call a.bam", "call -q a.bam"]),
    ],
)
def test_commands(commands, joined):
    found = gathered(*([f"##pairhmmCommand={command}"] for command in commands))
    assert found == [f"##pairhmmCommand={command}" for command in joined]


def test_what_else_differs():
    first = ["##fileDate=20261231", "##pairhmmBackend=cpu (avx2)"]
    second = ["##fileDate=20270101", "##pairhmmBackend=cuda (H200)"]
    backends = ["##pairhmmBackend=cpu (avx2)", "##pairhmmBackend=cuda (H200)"]
    assert gathered(first, second, first) == ["##fileDate=20270101", *backends]


def test_without_provenance_there_is_none():
    assert gathered([], [], []) == []


def test_a_header_has_one_format():
    assert run_header([["##fileformat=VCFv4.2", "#CHROM"], ["##fileformat=VCFv4.3", "#CHROM"]]) == [
        *("##fileformat=VCFv4.2", "#CHROM")
    ]
