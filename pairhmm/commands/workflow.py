"""The Snakemake workflow that comes with the package."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path


def workflow_folder() -> Path:
    """Where the workflow's Snakefile, rules and profiles are: in the package, or beside it in a checkout."""
    packed = files("pairhmm") / "workflows"
    return Path(str(packed)) if packed.is_dir() else Path(str(files("pairhmm"))).parent / "workflows"
