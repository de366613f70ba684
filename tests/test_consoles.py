"""The commands of README and of the tutorial say what is shown under them."""

import math
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[1]

_BLOCK = re.compile(r"(?:^(?: {4}[^\n]*)?\n)+|^```python\n(?P<python>.*?)^```", re.MULTILINE | re.DOTALL)


def blocks(document, heading):
    """The indented blocks and the Python below a heading, each with its language."""
    below = re.split(rf"^##+ {re.escape(heading)}\n", (PROJECT / document).read_text(), flags=re.MULTILINE)[1]
    for found in _BLOCK.finditer(re.split(r"^#", below, flags=re.MULTILINE)[0]):
        if found["python"]:
            yield "python", found["python"]
        elif found[0].strip():
            yield "console", re.sub(r"^ {4}", "", found[0], flags=re.MULTILINE).strip("\n")


def steps(console):
    """The commands of a block, each with the lines that are shown under it."""
    if not console.startswith("$ "):
        yield console, []
        return
    for step in re.split(r"^\$ ", console, flags=re.MULTILINE)[1:]:
        command, *shown = step.splitlines()
        yield command, shown


def is_same(said, shown):
    """Whether two words are the same, or numbers that differ as those of two processors do."""
    try:
        return said == shown or math.isclose(float(said), float(shown), rel_tol=1e-6, abs_tol=1e-6)
    except ValueError:
        return False


def is_shown(said, shown):
    """Whether a command said what is shown, but for spacing and backend. A first line '...' stands for any lines."""
    said, shown = (
        [line.split() for line in lines if line and "pairhmm: backend " not in line] for lines in (said, shown)
    )
    if shown[:1] == [["..."]]:
        said, shown = said[1 - len(shown) :], shown[1:]
    return [len(line) for line in said] == [len(line) for line in shown] and all(
        is_same(*pair) for lines in zip(said, shown, strict=True) for pair in zip(*lines, strict=True)
    )


@pytest.fixture
def run(tmp_path, require):
    """Runs what a document has below a heading."""
    for tool in ("bcftools", "tabix", "bgzip"):
        require("bcftools", shutil.which(tool) is not None, f"no {tool}: apt install bcftools tabix")

    def run(document, *headings):
        for heading in headings:
            for language, text in blocks(document, heading):
                if language == "python":
                    said = subprocess.run([sys.executable, "-c", text], cwd=tmp_path, capture_output=True, text=True)
                    printed = re.findall(r"print\(.*\)  # (.*)", text)
                    assert (said.stdout.splitlines(), said.returncode) == (printed, 0), said.stderr
                    continue
                definitions = []
                for command, shown in steps(text):
                    if shown and command.startswith("cat "):
                        (tmp_path / command.split()[1]).write_text("\n".join(shown) + "\n")
                    script = "\n".join(["PATH=$0:$PATH", *definitions, command])
                    said = subprocess.run(
                        ["bash", "-c", script, Path(sys.executable).parent],
                        cwd=tmp_path,
                        stdout=subprocess.PIPE,
                        stderr=subprocess.STDOUT,
                        text=True,
                    )
                    if re.match(r"\w+\(\)", command):
                        definitions.append(command)
                    elif shown:
                        assert is_shown(said.stdout.splitlines(), shown), f"{command}\n{said.stdout}"
                    else:
                        assert said.returncode == 0, f"{command}\n{said.stdout}"

    return run


def test_readme(run):
    run("README.md", "In Python, or to check another tool", "An example")


def test_tutorial(run, shared_data, tmp_path):
    names = {
        "NA12878_S1.chr20.10_10p1mb.bam": "reads.bam",
        "ucsc.hg19.chr20.unittest.fasta.gz": "reference.fa.gz",
        "test_nist.b37_chr20_100kbp_at_10mb.vcf.gz": "truth.vcf.gz",
        "test_nist.b37_chr20_100kbp_at_10mb.bed": "confident.bed",
    }
    for name, short in names.items():
        for path in (shared_data / "na12878-chr20-100kb").glob(f"{name}*"):
            (tmp_path / path.name.replace(name, short)).symlink_to(path)
    run(
        "docs/tutorial.md",
        "1. From reads to genotypes",
        "2. Compare with the truth",
        "3. Genotype a list",
        "4. From reads to likelihoods",
        "5. The report",
    )
