"""Figures show what the arrays hold."""

import subprocess
import sys

import numpy as np
import pytest

import pairhmm


@pytest.fixture(scope="module")
def evidence(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    pairhmm.simulate(folder, length=6000, coverage=12)
    regions = list(pairhmm.likelihoods(folder / "reads.bam", folder / "reference.fa", folder / "truth.vcf.gz"))
    return max(regions, key=lambda one: len(one.haplotypes))


@pytest.fixture
def plot(require):
    try:
        import matplotlib
    except ImportError:
        require("matplotlib", False, "matplotlib is not installed")
    matplotlib.use("agg")
    import pairhmm.plot

    return pairhmm.plot


def test_reads_beside_haplotypes(evidence, plot):
    axes = plot.likelihoods(evidence)
    shown = axes.images[0].get_array()
    assert shown.shape == evidence.log10.shape
    best = evidence.log10.argmax(axis=1)
    assert np.array_equal(shown.argmax(axis=1), np.sort(best)), "reads of one haplotype are together"
    apart = np.sort(evidence.log10.max(axis=1) - evidence.log10.min(axis=1))
    drawn = np.sort(np.asarray(shown.max(axis=1) - shown.min(axis=1)))
    assert drawn == pytest.approx(apart), "of each read, differences between haplotypes"
    assert [text.get_text() for text in axes.get_xticklabels()] == [str(one) for one in range(shown.shape[1])]
    axes.figure.clear()


def test_in_axes_that_are_given(evidence, plot):
    from matplotlib.figure import Figure

    axes = Figure().add_subplot()
    assert plot.likelihoods(evidence, axes) is axes
    assert len(axes.images) == 1


def test_without_matplotlib():
    code = (
        "import sys; sys.modules['matplotlib'] = None; import pairhmm.plot\n"
        "try: pairhmm.plot.likelihoods(None)\n"
        "except ImportError as error: print(error)\n"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout == "figures need matplotlib, which is not installed: pip install matplotlib\n"
