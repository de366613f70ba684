"""TOML files of parameters: those of GATK's model, and files that are no parameters."""

import pytest

from pairhmm.errors import InputError
from pairhmm.models.gatk import GatkOptions, IndelQualities, pcr_quality
from pairhmm.models.labels import label_of
from pairhmm.models.parameter_file import read_options, read_table
from pairhmm.models.profile import read_parameters

OPTIONS = """insertion_quality = 40
deletion_quality = 43
gap_quality = 8
pcr_indel_model = "hostile"
"""
RATES = f"[by_copies]\ninsertion = {[50.5, *[40.4] * 19]}\ndeletion = {[51] * 20}\n"


@pytest.fixture
def parameters(tmp_path):
    path = tmp_path / "gatk.toml"
    path.write_text(OPTIONS + RATES)
    return path


def test_qualities_by_copies_are_whole_numbers(parameters):
    options = read_options(parameters, GatkOptions(error_rate=None))
    assert options.indel_qualities == IndelQualities((50, *[40] * 19), (51,) * 20, str(parameters))
    assert (options.gap_quality, options.insertion_quality, options.error_rate) == (8, 40, None)
    assert label_of(options) == f"gatk ({parameters}), gap_quality=8"
    parameters.write_text("\ufeff" + parameters.read_text())
    assert read_options(parameters, GatkOptions(error_rate=None)) == options, "a byte order mark is left out"


def test_without_rates_the_options_count(parameters):
    parameters.write_text(OPTIONS)
    by_copies = read_options(parameters).indel_qualities
    assert by_copies is not None
    assert by_copies.deletion == tuple(min(43, cap) for cap in pcr_quality("hostile")[1:])
    assert by_copies.insertion[0] == 40 and by_copies.insertion[-1] == 10


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("gap_quality = 8", "", "gap_quality: missing; give all of insertion_quality, "),
        ("gap_quality = 8", "gap_quality = -1", "gap_quality=-1 is not a whole number from 0 to 127"),
        ("gap_quality = 8", "gap_quality = nan", "gap_quality=nan is not a whole number"),
        ("gap_quality = 8", 'gap_quality = "8"', "gap_quality='8' is not a whole number"),
        ("gap_quality = 8", "gap_quality = true", "gap_quality=True is not a whole number"),
        ("gap_quality = 8", "gap_qualities = 8", "gap_qualities: unknown key"),
        ('"hostile"', '"mild"', "pcr_indel_model='mild' is not one of none, hostile"),
        ("50.5", "128", "by_copies.insertion: 128 is not a quality; use Phred qualities from 0 to 127"),
        ("50.5", "nan", "by_copies.insertion: nan is not a quality"),
        ("50.5, ", "", "by_copies.insertion: must have 20 values"),
        ("deletion = [51", "deletions = [51", "by_copies.deletions: unknown key"),
        (f"{RATES}", "by_copies = 3", "by_copies: not a table"),
        (OPTIONS + RATES, "", "holds no parameters"),
        (OPTIONS + RATES, "gap_quality", "not a TOML file"),
    ],
)
def test_bad_parameters(parameters, old, new, said):
    parameters.write_text(parameters.read_text().replace(old, new))
    with pytest.raises(InputError) as caught:
        read_options(parameters)
    assert str(caught.value).startswith(f"{parameters}: ")
    assert said in str(caught.value) and "\n" not in str(caught.value)


def test_parameters_of_the_other_model(parameters):
    with pytest.raises(InputError, match="has the parameters of the model 'gatk'; give --model gatk"):
        read_parameters(parameters)
    parameters.write_text('start = "match"\n')
    with pytest.raises(InputError, match="has the parameters of the model 'profile'; give --model profile"):
        read_options(parameters)


@pytest.mark.parametrize("read", [read_options, read_parameters])
def test_what_is_no_file(read, tmp_path):
    for path, said in ((tmp_path, "Is a directory"), (tmp_path / "none.toml", "No such file")):
        with pytest.raises(InputError, match=said) as caught:
            read(path)
        assert str(path) in str(caught.value)


def test_qualities_by_copies_are_checked():
    with pytest.raises(InputError, match="does not have 20 values"):
        IndelQualities((40,) * 19, (40,) * 20)
    with pytest.raises(InputError, match="deletion=200 is not a whole number"):
        IndelQualities((40,) * 20, (*[40] * 19, 200))


DEEP = 100_000


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        (f"a = {'[' * DEEP}{']' * DEEP}", r"not a TOML file \(maximum recursion depth exceeded"),
        ("a = " + "{a = " * DEEP, r"not a TOML file \(maximum recursion depth exceeded"),
        (f"[{'.'.join('a' * DEEP)}]\nb = 1", "a key of more than 20 parts"),
        ("match." + " . ".join('"a"' for _ in range(DEEP)) + " = 1", "a key of more than 20 parts"),
        (f"a = {'[' * 50}{']' * 50}", "within each other, more than 20 deep"),
        (f"a = {'9' * 10_000}", "not a TOML file"),
        ("a", "not a TOML file"),
    ],
    ids=["lists", "tables", "heading", "key", "levels", "digits", "text"],
)
def test_odd_files(tmp_path, text, rule):
    path = tmp_path / "x.toml"
    path.write_text(text)
    with pytest.raises(InputError, match=rf"x\.toml: .*{rule}"):
        read_table(path, "str")


def test_a_path_with_a_zero_byte():
    with pytest.raises(InputError, match="not a TOML file"):
        read_table("x\0", "str")
