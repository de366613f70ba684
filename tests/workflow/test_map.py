"""Which samples the workflow holds against each other, and where their tables go."""

import re

import pytest

SAMPLES = [f"sample_{number}" for number in (1, 2, 3, 4)]


@pytest.fixture
def planned(cohort, snakemake, tmp_path):
    """``planned(samples, *settings)``: the rules of a dry run over simulated samples, and its text."""

    def plan(count, *settings):
        data = cohort[0] / "data"
        rows = [f"{name}\t{data}/{name}/reads.bam\n" for name in SAMPLES[:count]]
        (tmp_path / "samples.tsv").write_text("sample\talignments\n" + "".join(rows))
        keys = ["samples=samples.tsv", f"reference={data}/sample_1/reference.fa", "pieces=1", *settings]
        done = snakemake(tmp_path, "-n", "-p", "--config", *keys)
        assert done.returncode == 0, done.stderr
        text = done.stdout + done.stderr
        return set(re.findall(r"^(?:local)?rule (\w+):", text, re.MULTILINE)), text

    return plan


@pytest.mark.parametrize(
    ("count", "settings", "expected"),
    [
        (1, ["map=True", "relate=True"], set()),
        (2, [], set()),
        (2, ["relate=True"], {"relate"}),
        (3, ["map=True", "relate=True"], {"relate", "sketch", "distances", "map"}),
        (3, ["map=True", "joint=False"], {"sketch", "distances", "map"}),
    ],
)
def test_samples_are_compared_where_there_are_two(planned, count, settings, expected):
    rules, text = planned(count, *settings)
    assert rules & {"relate", "sketch", "distances", "map"} == expected
    assert ("--sample-checks map/samples.tsv" in text) == ("relate" in expected)
    assert ("--map map/positions.tsv" in text) == ("map" in expected)
    assert text.count("--map map/positions.tsv") <= 1


def test_the_cohorts_report_has_the_flags(cohort):
    assert (cohort[0] / "map" / "pairs.tsv").read_text().count("\n") == 1 + 6
    assert '"flags"' in (cohort[0] / "report" / "cohort_multiqc" / "pairhmm_general_mqc.json").read_text()
