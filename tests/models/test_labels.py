"""From the text that names a model in headers, its options are found again."""

import pytest

from pairhmm.models.gatk import GatkOptions, IndelQualities
from pairhmm.models.labels import label_of, model_of_label
from pairhmm.models.profile import preset
from pairhmm.models.str_parameters import str_model_of

OPTIONS = {
    "gatk": GatkOptions(),
    "gatk, insertion_quality=30, pcr_indel_model=none, indel_tags=false": GatkOptions(
        insertion_quality=30, pcr_indel_model="none", indel_tags=False
    ),
    "gatk, gap_quality=5, cap_by_mapping_quality=false, base_quality_threshold=none": GatkOptions(
        gap_quality=5, cap_by_mapping_quality=False, base_quality_threshold=None
    ),
    "gatk (pcr), base_quality_threshold=10": GatkOptions(str_model=str_model_of("pcr"), base_quality_threshold=10),
}


@pytest.mark.parametrize("text", OPTIONS)
def test_options_of_gatks_model(text):
    assert label_of(OPTIONS[text]) == text
    assert model_of_label(text) == (OPTIONS[text], None)


def test_options_that_change_no_score_are_not_named():
    # The table of repeats stands in place of the first two; the others decide about genotypes alone.
    table = IndelQualities((30,) * 20, (35,) * 20, "x.toml")
    options = GatkOptions(
        indel_qualities=table, insertion_quality=20, pcr_indel_model="none", score_floor=None, error_rate=None
    )
    assert label_of(options) == "gatk (x.toml)"
    assert label_of(GatkOptions(gap_quality=4, cap_by_mapping_quality=False), preset("published")) == (
        "profile (published), cap_by_mapping_quality=false"
    )


def test_parameters_of_a_file(tmp_path):
    path = tmp_path / "a), gap_quality=3 (b.toml"
    values = {"insertion_quality": 40, "deletion_quality": 40, "gap_quality": 7}
    path.write_text("".join(f"{key} = {value}\n" for key, value in values.items()) + 'pcr_indel_model = "none"\n')
    options, profile = model_of_label(f"gatk ({path}), gap_quality=7")
    assert profile is None and options.gap_quality == 7
    assert options.indel_qualities == IndelQualities((40,) * 20, (40,) * 20, str(path))
    options, profile = model_of_label("profile (published), base_quality_threshold=none")
    assert profile.name == "published" and options == GatkOptions(base_quality_threshold=None)


@pytest.mark.parametrize("text", ["none.toml", "/dev/zero", "folder", "wrong.toml"])
@pytest.mark.parametrize("model", ["gatk", "profile"])
def test_parameters_that_are_not_here(tmp_path, monkeypatch, model, text):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "wrong.toml").write_text("start = 1\n")
    assert model_of_label(f"{model} ({text})") is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "profile",
        "profile (published), mates joined",
        "gatk, gap_quality=none",
        "gatk, gap_quality=999",
        "gatk, other=1",
        "gatk, str_model=pcr",
        "gatk, pcr_indel_model=4",
    ],
)
def test_texts_that_say_too_little(text):
    assert model_of_label(text) is None
