"""Lines and columns of tables that native code makes of scored regions are those of their rows."""

from dataclasses import fields

import numpy as np
import pytest

from pairhmm.calling.likelihoods import table_rows
from pairhmm.calling.molecules import MoleculeOptions
from pairhmm.calling.opening import open_run
from pairhmm.calling.run_options import RunInputs, RunOptions
from pairhmm.likelihoods import lines
from pairhmm.likelihoods.columns import RegionRows
from pairhmm.likelihoods.lines import lines_of, region_lines
from pairhmm.models.profile import preset
from pairhmm.simulate.api import simulate

JOINED = RunOptions(profile=preset("normalised"), molecules=MoleculeOptions(join_mates=True))


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return simulate(tmp_path_factory.mktemp("data"), length=40_000, coverage=20, fragment_length=250, seed=4)


@pytest.mark.parametrize("is_prepared", [False, True], ids=["raw", "prepared"])
@pytest.mark.parametrize("options", [RunOptions(), JOINED], ids=["reads", "profiles"])
@pytest.mark.parametrize("listed", [False, True], ids=["discovered", "listed"])
def test_lines_are_those_of_rows(data, monkeypatch, listed, options, is_prepared):
    monkeypatch.setattr(lines, "_AT_ONCE", 20_000)
    monkeypatch.setattr(lines, "DEEP", 70)
    candidates = data.truth if listed else None
    inputs, model = RunInputs.of(data.bam, data.reference, candidates), options.model if is_prepared else None
    deep = []
    with open_run(inputs, options) as run:
        is_joined = run.stream.joiner is not None
        for batch in run.regions():
            floor = options.model.score_floor if is_prepared else None
            expected = list(lines_of(table_rows(one, run.samples, model) for one in run.evidence(iter([batch]))))
            assert list(region_lines(batch, run.samples, floor, is_prepared, is_joined)) == expected
            columns = RegionRows.of_scored(batch, run.samples, floor, is_prepared, is_joined)
            rows = RegionRows.of([table_rows(one, run.samples, model) for one in run.evidence(iter([batch]))])
            for field in fields(RegionRows):
                assert np.array_equal(getattr(columns, field.name), getattr(rows, field.name)), field.name
            deep += [one.are_deep for one in expected]
    assert len(deep) > 5
    assert set(deep) == {False, True}
