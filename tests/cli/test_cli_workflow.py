"""`pairhmm workflow`: the copy that comes with the package, from a wheel or a checkout."""

from __future__ import annotations

from pathlib import Path


def test_the_path_has_it_all(run_cli):
    done = run_cli("workflow", "path")
    assert (done.returncode, done.stderr) == (0, "")
    folder = Path(done.stdout.strip())
    assert folder.is_absolute()
    names = ["Snakefile", "rules/call.smk", "config/README.md", "schemas/config.schema.yaml", "envs/pairhmm.yaml"]
    names += [f"profiles/{name}/config.yaml" for name in ("default", "gpu", "slurm", "kubernetes", "googlebatch")]
    names += [".test/Snakefile", "report/calls.rst"]
    assert [name for name in names if not (folder / name).is_file()] == []
