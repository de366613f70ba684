"""Profiles: Snakemake and its plugins know every key, and what each profile is for is in it."""

import re
from collections import Counter
from importlib.util import find_spec

import pytest

from pairhmm.cli.workflow import workflow_folder

PROFILES = workflow_folder() / "profiles"
PLUGINS = {
    "default": [],
    "gpu": [],
    "slurm": ["snakemake_executor_plugin_slurm"],
    "kubernetes": ["snakemake_executor_plugin_kubernetes", "snakemake_storage_plugin_s3"],
    "googlebatch": ["snakemake_executor_plugin_googlebatch", "snakemake_storage_plugin_gcs"],
}


@pytest.fixture
def parsed(require, request):
    """``parsed(profile)``: Snakemake's parser, and what it makes of a profile."""

    def parse(name):
        lacking = [plugin for plugin in ("snakemake", *PLUGINS[name]) if find_spec(plugin) is None]
        require("workflow", not lacking, f"{', '.join(lacking)} not installed; cure: pip install 'pairhmm[{name}]'")
        from snakemake.cli import parse_args

        return parse_args(["--profile", str(PROFILES / name)])

    return parse


@pytest.mark.parametrize("name", PLUGINS)
def test_every_key_is_an_option(parsed, name):
    parser, _ = parsed(name)
    known = {option.removeprefix("--") for action in parser._actions for option in action.option_strings}
    text = (PROFILES / name / "config.yaml").read_text()
    keys = re.findall(r"^(?:# )?([a-z0-9-]+):(?: |$)", text, re.MULTILINE)
    assert keys and set(keys) <= known


@pytest.mark.parametrize(
    ("name", "storage", "url"), [("kubernetes", "s3", None), ("googlebatch", "gcs", "batch-custom-image")]
)
def test_clouds(parsed, name, storage, url):
    _, said = parsed(name)
    assert (said.executor, said.default_storage_provider, said.shared_fs_usage) == (name, storage, set())
    assert said.config == ["check_files=False"] and "/pairhmm:" in said.container_image
    assert {"mem_mb", "disk_mb", "runtime"} <= set(said.default_resources)
    assert url is None or said.googlebatch_image_project == url
    # Every rule has the resource gpu, of which Kubernetes wants to know whose.
    assert name != "kubernetes" or said.default_resources["gpu_manufacturer"].raw == "nvidia"


def test_slurm(parsed):
    _, said = parsed("slurm")
    assert (said.executor, said.jobs, said.retries) == ("slurm", 100, 2)
    assert {"mem_mb", "runtime", "cpus_per_task"} <= set(said.default_resources)


def test_short_jobs_share_a_job_of_slurm(parsed, snakemake, tmp_path):
    """The workflow's jobs of the demo: 18, of which Slurm gets 6."""
    parsed("slurm")
    profile = ("--profile", str(PROFILES / "slurm"))
    snakefile = snakemake.workflow / ".test" / "Snakefile"
    done = snakemake(tmp_path, "-n", *profile, "report/cohort.html", "scan/cohort.hits.tsv", snakefile=snakefile)
    assert done.returncode == 0, done.stderr
    said = done.stdout + done.stderr
    counts = dict(re.findall(r"^(\w+) +(\d+)$", said, re.MULTILINE))
    made = sum(int(count) for rule, count in counts.items() if rule.startswith("simulate"))
    groups = Counter(re.findall(r"Group job (\w+) \(", said))
    assert int(counts["total"]) - made == 18
    assert groups == {"shard": 2, "sample": 2, "finish": 1} and counts["scatter_regions"] == "1"


def test_gpus(parsed):
    _, said = parsed("gpu")
    assert {rule: int(given["gpu"].value) for rule, given in said.set_resources.items()} == {
        "likelihoods": 1,
        "call": 1,
    }
