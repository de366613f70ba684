"""Lines and columns of tables are those of the scored regions that a caller of the library gets."""

from dataclasses import replace

import numpy as np
import pytest

from pairhmm.calling.exports import likelihoods_to_pandas
from pairhmm.calling.molecules import MoleculeOptions
from pairhmm.calling.opening import open_run
from pairhmm.calling.run_options import RunInputs, RunOptions
from pairhmm.likelihoods import lines
from pairhmm.likelihoods.columns import RegionRows, haplotype_batch, score_batch
from pairhmm.likelihoods.lines import region_lines
from pairhmm.models.profile import preset
from pairhmm.simulate.api import simulate

JOINED = RunOptions(profile=preset("normalised"), molecules=MoleculeOptions(join_mates=True))


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return simulate(tmp_path_factory.mktemp("data"), length=40_000, coverage=20, fragment_length=250, seed=4)


def as_prepared(evidence, floor):
    """A region without the reads that are set aside, and with scores at most `floor` below a read's best."""
    kept = np.flatnonzero(~evidence.set_aside)
    log10 = evidence.log10[kept]
    return replace(
        evidence,
        names=evidence.names.at(kept),
        **{name: getattr(evidence, name)[kept] for name in ("sample", "flag", "precision")},
        log10=np.maximum(log10, log10.max(axis=1, keepdims=True, initial=-np.inf) - floor),
        reads=None if evidence.reads is None else evidence.reads[kept],
    )


def described(evidence):
    """The lines of a region's haplotypes."""
    region = evidence.region
    place = f"{region.chrom}\t{region.start}\t{region.end}"
    name = f"{region.chrom}:{region.haplotype_start + 1}-{region.haplotype_end}"
    variants = ",".join(f"{one.pos + 1}:{one.ref}>{'/'.join(one.alts)}" for one in region.variants)
    for number, one in enumerate(evidence.haplotypes):
        alleles = ",".join(map(str, one.alleles))
        yield f"{place}\t{name}/{number}\t{one.sequence}\t{alleles}\t{variants}\t{int(one.is_nuisance)}"


@pytest.mark.parametrize("is_prepared", [False, True], ids=["raw", "prepared"])
@pytest.mark.parametrize("options", [RunOptions(), JOINED], ids=["reads", "profiles"])
@pytest.mark.parametrize("listed", [False, True], ids=["discovered", "listed"])
def test_lines_and_columns_are_those_of_evidence(data, monkeypatch, listed, options, is_prepared):
    pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    monkeypatch.setattr(lines, "_AT_ONCE", 20_000)
    monkeypatch.setattr(lines, "DEEP", 70)
    inputs, floor = RunInputs.of(data.bam, data.reference, data.truth if listed else None), options.model.score_floor
    deep = []
    with open_run(inputs, options) as run:
        how = run.samples, floor if is_prepared else None, is_prepared
        for batch in run.regions():
            given = list(run.evidence(iter([batch])))
            regions = [as_prepared(one, floor) for one in given] if is_prepared else given
            expected = likelihoods_to_pandas(regions)
            texts = list(region_lines(batch, *how))
            rows = [line.split("\t") for text in texts for line in text.table.decode().splitlines()]
            written = expected.assign(log10_likelihood=expected.log10_likelihood.map("{:.6f}".format))
            assert rows == written.astype(str).to_numpy().tolist()
            haplotypes = [line for text in texts for line in text.haplotypes.decode().splitlines()]
            assert haplotypes == [line for one in regions for line in described(one)]
            columns = RegionRows.of_scored(batch, *how)
            assert score_batch(columns).to_pydict() == {name: list(expected[name]) for name in expected}
            companion = haplotype_batch(columns).to_pylist()
            assert ["\t".join(map(str, row.values())) for row in companion] == haplotypes
            spans = [span for text in texts for span in text.in_table]
            assert [span.rows for span in spans] == [one.log10.size for one in regions]
            deep += [text.are_deep for text in texts]
    assert len(deep) > 5
    assert set(deep) == {False, True}
