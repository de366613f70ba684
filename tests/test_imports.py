"""Imports cost little, and need nothing that is not required. What may import what: `make lint` (pyproject.toml)."""

import ast
import re
import subprocess
import sys
from functools import cache
from importlib import metadata
from pathlib import Path

import pytest

import pairhmm
from pairhmm.commands import COMMANDS

PACKAGE = Path(pairhmm.__file__).parent

GPU_LIBRARIES = {"cupy", "wgpu"}


def modules():
    return sorted(
        path.relative_to(PACKAGE)
        for path in PACKAGE.rglob("*.py")
        if "workflows" not in path.relative_to(PACKAGE).parts
    )


@cache
def imported(path, everywhere=True):
    """Dotted names that a module imports: anywhere in it, or at its top."""
    tree = ast.parse((PACKAGE / path).read_text())
    names = []
    for node in ast.walk(tree) if everywhere else tree.body:
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names += [f"{node.module}.{alias.name}" for alias in node.names]
    return names


def test_no_gpu_library_at_import():
    for path in modules():
        assert not {name.split(".")[0] for name in imported(path, everywhere=False)} & GPU_LIBRARIES, path


def test_what_is_imported_is_required():
    """Nothing else has to be installed, and what is imported at the top of a module not even as an extra."""
    required, extras = set(), set()
    for line in metadata.requires("pairhmm"):
        name = re.match(r"[\w.-]+", line)[0].lower()
        (extras if "extra ==" in line else required).add("cupy" if name.startswith("cupy-") else name)
    distributions = metadata.packages_distributions()
    for path in modules():
        for everywhere, known in ((True, required | extras), (False, required)):
            foreign = (
                {name.split(".")[0] for name in imported(path, everywhere)} - sys.stdlib_module_names - {"pairhmm"}
            )
            names = {distributions.get(name, [name])[0].lower() for name in foreign}
            assert names <= known, f"{path} imports {names - known}"


def test_public_names():
    code = (
        "import pairhmm\n"
        "assert dir(pairhmm) == sorted(pairhmm.__all__)\n"
        "assert all(hasattr(pairhmm, name) for name in pairhmm.__all__)\n"
        "assert type(pairhmm.forward).__name__ == type(pairhmm.call).__name__ == 'function'\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_version_is_the_installed_one():
    assert pairhmm.__version__ == metadata.version("pairhmm")


def test_import_is_cheap():
    package = "import sys, pairhmm; assert not {'numpy', 'pysam', 'Bio'} & set(sys.modules)"
    command = "from pairhmm.cli.main import load_command; load_command('call')"
    ours = {"pairhmm.sequences.fastx", "pairhmm.files.sample_sheet"}
    unused = ours | {"hashlib", "tomllib", "multiprocessing", "rich.console", "pyarrow"}
    command += f"; assert not {unused} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", f"{package}; {command}"], check=True)


@pytest.mark.parametrize(
    ("command", "unwanted"),
    [
        ("forward", {"pysam", "multiprocessing", "platformdirs"}),
        ("call", {"multiprocessing", "platformdirs"}),
    ],
)
def test_a_command_imports_what_it_needs(command, unwanted):
    """What only some of its runs need is imported by these."""
    code = f"import sys, pairhmm.cli.main, {COMMANDS[command]}; assert not {unwanted} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_run_imports_what_it_needs(shared_data, tmp_path):
    """These take a tenth of the start."""
    tiny = shared_data / "na12878-chr22-tiny"
    arguments = ["-q", "call", "-f", f"{tiny / 'q.fa'}", "-o", f"{tmp_path / 'x.vcf'}"]
    code = (
        "import sys\n"
        "from pairhmm.cli.main import main\n"
        "try:\n"
        f"    main({[*arguments, str(tiny / 'NA12878.chr22.tiny.bam')]})\n"
        "except SystemExit as end:\n"
        "    assert end.code == 0\n"
        "assert not {'numpy.ma', 'importlib.metadata', 'multiprocessing'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
