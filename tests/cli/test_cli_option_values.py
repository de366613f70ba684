"""Values of options that no parser of numbers refuses: one line, exit code 2."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("scan", "--min-mean", "1e300", "--signatures", "{d}/s.fa", "{d}/x.fq"),
            "'--min-mean': 1e+300 is not in the range 0 to 1000",
        ),
        (
            ("scan", "--min-score", "nan", "--signatures", "{d}/s.fa", "{d}/x.fq"),
            "'--min-score': 'nan' is not a finite",
        ),
        (("scan", "--max-mismatches", "9" * 30, "--signatures", "{d}/s.fa", "{d}/x.fq"), "'--max-mismatches': 999"),
        (("call", "--score-floor", "nan", "-f", "{d}/s.fa", "x.bam"), "'--score-floor': 'nan' is not a finite"),
        (("call", "--snv-prior", "nan", "-f", "{d}/s.fa", "x.bam"), "'--snv-prior': 'nan' is not a finite"),
        (("call", "--min-qual", "nan", "-f", "{d}/s.fa", "x.bam"), "'--min-qual': 'nan' is not a finite"),
        (("call", "--flank", "9" * 30, "-f", "{d}/s.fa", "x.bam"), "'--flank': 999"),
        (("validate", "--tolerance", "nan", "{d}/s.fa"), "'--tolerance': 'nan' is not a finite"),
    ],
)
def test_out_of_range(run_cli, tmp_path, arguments, message):
    (tmp_path / "s.fa").write_text(">a\nACGTTGCAACCA\n")
    (tmp_path / "x.fq").write_text("@r\nTTACGTTGCAACCA\n+\nIIIIIIIIIIIIII\n")
    found = run_cli(*(one.format(d=tmp_path) for one in arguments), timeout=60)
    assert found.returncode == 2
    assert found.stdout == ""
    # What the parser of options refuses comes with the command's usage before it.
    assert message in found.stderr.splitlines()[-1]
