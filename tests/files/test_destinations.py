"""Outputs of a run are neither its inputs nor each other, in whatever order the run comes to know them."""

import os

import pytest

import pairhmm
from pairhmm.errors import InputError
from pairhmm.files.background import prefetch
from pairhmm.files.destinations import check_apart, kept_apart, note_input, note_output
from pairhmm.files.outputs import open_output, whole_files
from pairhmm.files.text_lines import read_lines


@pytest.fixture
def kept(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "x.txt"
    path.write_text("kept\n")
    os.link(path, tmp_path / "hard.txt")
    (tmp_path / "link.txt").symlink_to("x.txt")
    return path


NAMES = pytest.mark.parametrize("output", ["x.txt", "./x.txt", "hard.txt", "link.txt"])


@NAMES
def test_an_input_is_not_opened_to_be_written(kept, output):
    with kept_apart():
        assert list(read_lines("x.txt")) == ["kept"]
        with pytest.raises(InputError, match=f"{output}: would be written by -o, but is the input x.txt"):
            with open_output(output):
                pytest.fail("it was opened")
    assert kept.read_text() == "kept\n"


@NAMES
def test_an_output_that_is_open_is_not_read(kept, output):
    with kept_apart():
        with pytest.raises(InputError, match=f"{output}: would be written by -o, but is the input x.txt"):
            with open_output(output) as out:
                out.write("half")
                list(read_lines("x.txt"))
    assert kept.read_text() == "kept\n"
    assert sorted(os.listdir(kept.parent)) == ["hard.txt", "link.txt", "x.txt"]


def test_an_output_of_an_option_is_not_read(kept):
    with kept_apart():
        note_output("--table", "x.txt")
        with pytest.raises(InputError, match=r"would be written by --table, but is the input hard\.txt"):
            note_input("hard.txt")


@pytest.mark.parametrize("index", ["reads.bam.bai", "reads.bai", "reads.bam.csi"])
@pytest.mark.parametrize("is_linked", [False, True])
def test_an_index_of_an_input_is_no_output(tmp_path, index, is_linked):
    path, output = tmp_path / index, tmp_path / "x.txt"
    path.write_text("kept")
    if is_linked:
        os.link(path, output)
    with kept_apart():
        note_input(str(tmp_path / "reads.bam"))
        with pytest.raises(InputError, match="is an index of the input"), whole_files(output if is_linked else path):
            pytest.fail("it was opened")


def test_companions_are_outputs(tmp_path):
    with kept_apart():
        note_input(str(tmp_path / "x.vcf.gz.tbi"))
        with pytest.raises(InputError, match=r"x\.vcf\.gz\.tbi"), whole_files(tmp_path / "x.vcf.gz", ".tbi"):
            pytest.fail("it was opened")


def test_an_index_that_is_made_for_an_input(tmp_path):
    with kept_apart():
        note_input(str(tmp_path / "ref.fa"))
        with whole_files(tmp_path / "ref.fa.fai", of_input=True) as scratch:
            scratch.write_text("index")
    assert (tmp_path / "ref.fa.fai").read_text() == "index"


def test_two_options_with_one_file(tmp_path):
    with kept_apart():
        note_output("-o", str(tmp_path / "x"))
        note_output("-o", str(tmp_path / "x"))
        with pytest.raises(InputError, match="would be written by --truth, but is written by -o too"):
            note_output("--truth", str(tmp_path / "x"))


def test_what_a_run_has_written_it_may_read(kept):
    with kept_apart():
        with open_output("new.txt") as out:
            out.write("text\n")
        assert list(read_lines("new.txt")) == ["text"]


def test_the_next_run_may_write_what_the_last_one_read(kept):
    with kept_apart():
        assert list(read_lines("x.txt")) == ["kept"]
    with kept_apart(), open_output("x.txt") as out:
        out.write("new")
    assert kept.read_text() == "new"


def test_a_run_within_a_run_knows_its_files(kept):
    with kept_apart():
        note_input("x.txt")
        with kept_apart(), pytest.raises(InputError, match=r"the input x\.txt"):
            note_output("-o", "hard.txt")


def test_a_thread_that_reads_ahead_belongs_to_the_run(kept):
    with kept_apart():
        assert list(prefetch(read_lines("x.txt"))) == ["kept"]
        with pytest.raises(InputError, match=r"the input x\.txt"):
            check_apart((), [("-o", "x.txt")])


def test_a_function_of_the_package(kept):
    """The file is named by another one, so that no list of arguments holds it."""
    kept.with_name("sketches").write_text("kept")
    with pytest.raises(InputError, match=r"link\.txt: would be written by -o, but is the input x\.txt"):
        pairhmm.write_distances("x.txt", "link.txt")
    assert kept.read_text() == "kept\n"
