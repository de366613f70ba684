"""Sites and evidence as VCF and as tables in memory say what the files say."""

import subprocess
import sys
from dataclasses import replace
from io import StringIO

import pysam
import pytest

import pairhmm


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Alignments of two samples, the reference, and candidates that both samples' truths hold."""
    folder = tmp_path_factory.mktemp("data")
    for name, seed in (("one", 1), ("two", 2)):
        pairhmm.simulate(folder / name, length=8000, coverage=12, sample=name, seed=seed, genome_seed=5)
    return [folder / name / "reads.bam" for name in ("one", "two")], folder / "one/reference.fa"


@pytest.fixture(scope="module")
def sites(data):
    return list(pairhmm.call(*data))


@pytest.fixture(scope="module")
def evidence(data):
    return list(pairhmm.likelihoods(*data))


@pytest.fixture
def pandas(require):
    try:
        import pandas
    except ImportError:
        require("pandas", False, "pandas is not installed")
    return pandas


def test_names_instead_of_numbers(sites, evidence):
    assert sites and {site.names for site in sites} == {("one", "two")}
    assert sites[0].genotypes == dict(zip(("one", "two"), sites[0].samples, strict=True))
    for one in evidence:
        assert one.sample_names == [("one", "two")[index] for index in one.sample]
    assert {name for one in evidence for name in one.sample_names} == {"one", "two"}


@pytest.mark.parametrize("name", ["x.vcf", "x.vcf.gz", "x.bcf"])
def test_a_file_of_sites_is_that_of_the_command(data, sites, tmp_path, name):
    assert pairhmm.write_vcf(iter(sites), tmp_path / name, data[1]) == len(sites)
    pairhmm.write_calls(*data, tmp_path / f"expected-{name}")
    found, expected = (pysam.VariantFile(str(path)) for path in (tmp_path / name, tmp_path / f"expected-{name}"))
    assert list(found.header.samples) == ["one", "two"]
    assert list(map(str, found)) == list(map(str, expected))


def test_some_of_the_sites(data, sites, tmp_path):
    best = [site for site in sites if site.quality > 100]
    assert 0 < len(best) < len(sites)
    assert pairhmm.write_vcf(best, tmp_path / "x.vcf", data[1], provenance={"source": "a test"}) == len(best)
    assert "##source=a test\n" in (tmp_path / "x.vcf").read_text()


def test_no_sites(data, tmp_path):
    assert pairhmm.write_vcf([], tmp_path / "x.vcf.gz", data[1], samples=["one"]) == 0
    assert list(pysam.VariantFile(str(tmp_path / "x.vcf.gz")).header.samples) == ["one"]


def test_sites_that_do_not_fit(data, sites, tmp_path):
    other = replace(sites[0], names=("one", "three"))
    with pytest.raises(pairhmm.InputError, match="a site of samples one, three in a file of one, two"):
        pairhmm.write_vcf([sites[0], other], tmp_path / "x.vcf", data[1])
    astray = replace(sites[0], variant=replace(sites[0].variant, chrom="chr9"))
    with pytest.raises(pairhmm.InputError, match=r"chr9:\d+: the contig of a site is not in the reference"):
        pairhmm.write_vcf([astray], tmp_path / "x.vcf", data[1])
    assert not list(tmp_path.iterdir())


def test_calls_as_a_table(data, sites, tmp_path, pandas):
    frame = pairhmm.calls_to_pandas(iter(sites))
    assert list(frame.columns[:7]) == ["chrom", "pos", "id", "ref", "alt", "qual", "sample"]
    pairhmm.write_calls(*data, tmp_path / "x.vcf")
    records = [
        (one.chrom, one.pos, one.ref, ",".join(one.alts), name, values["AD"], values["DP"])
        for one in pysam.VariantFile(str(tmp_path / "x.vcf"))
        for name, values in one.samples.items()
    ]
    columns = ["chrom", "pos", "ref", "alt", "sample", "ad", "dp"]
    assert list(frame[columns].itertuples(index=False, name=None)) == records
    lines = [line for line in (tmp_path / "x.vcf").read_text().splitlines() if not line.startswith("#")]
    texts = [(text.split(":")[0], text.split(":")[3]) for line in lines for text in line.split("\t")[9:]]
    assert list(zip(frame["gt"], frame["gq"].map(str), strict=True)) == [
        (genotype, "0" if quality == "." else quality) for genotype, quality in texts
    ]
    one = pairhmm.calls_to_pandas(sites[0])
    assert one.equals(frame.head(2))


def test_likelihoods_as_a_table(data, evidence, tmp_path, pandas):
    frame = pairhmm.likelihoods_to_pandas(iter(evidence))
    pairhmm.write_likelihoods(*data, tmp_path / "x.tsv")
    text = (tmp_path / "x.tsv").read_text().removeprefix("#")
    expected = pandas.read_csv(StringIO(text), sep="\t", keep_default_na=False)
    assert list(frame.columns) == list(expected.columns)
    assert len(frame) == len(expected) > 0
    for name in frame.columns.drop("log10_likelihood"):
        assert frame[name].tolist() == expected[name].tolist()
    assert frame["log10_likelihood"].to_numpy() == pytest.approx(expected["log10_likelihood"].to_numpy(), abs=1e-6)
    assert len(pairhmm.likelihoods_to_pandas(evidence[0])) == evidence[0].log10.size


def test_one_region_as_a_table_and_as_a_matrix(evidence, pandas):
    one = evidence[0]
    table = one.to_pandas()
    assert table.equals(pairhmm.likelihoods_to_pandas(one))
    matrix = one.matrix
    assert matrix.shape == one.log10.shape and (matrix.to_numpy() == one.log10).all()
    assert list(matrix.columns) == one.haplotype_names == table["haplotype"].drop_duplicates().tolist()
    rows = table.drop_duplicates(["sample", "read_name", "mate"])
    names = [f"{name}/{mate}" for name, mate in zip(rows["read_name"], rows["mate"], strict=True)]
    assert list(matrix.index) == one.read_names == names, "simulated reads are mates"


def test_names_of_reads_without_mates(evidence):
    single = replace(evidence[0], flag=evidence[0].flag * 0)
    assert single.read_names == list(single.names)


def test_empty_tables_have_their_columns(sites, evidence, pandas):
    for to_pandas, some in ((pairhmm.calls_to_pandas, sites), (pairhmm.likelihoods_to_pandas, evidence)):
        empty, full = to_pandas([]), to_pandas(some)
        assert len(empty) == 0
        assert list(empty.columns) == list(full.columns)
        numbers = full.select_dtypes("number").columns
        assert empty.dtypes[numbers].equals(full.dtypes[numbers])


def test_without_pandas():
    code = (
        "import sys; sys.modules['pandas'] = None; import pairhmm\n"
        "for to_pandas in (pairhmm.calls_to_pandas, pairhmm.likelihoods_to_pandas):\n"
        "    try: to_pandas([])\n"
        "    except ImportError as error: print(error)\n"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout == 2 * "tables in memory need pandas, which is not installed: pip install pandas\n"


def test_objects_are_short_in_an_interpreter(evidence):
    read = pairhmm.make_read("ACGT" * 100, 30)
    batch = pairhmm.PairBatch.from_groups([pairhmm.Group([read] * 50, ["ACGT" * 200])])
    assert repr(read).startswith("Read(bases=uint8[400], base_quality=uint8[400], ")
    assert "log10=float64[5]" in repr(pairhmm.Scores.none(5))
    region = evidence[0].region
    assert repr(evidence[0]) == (
        f"Evidence({region.chrom}:{region.start + 1}-{region.end}, "
        f"{len(evidence[0].names)} reads, {len(evidence[0].haplotypes)} haplotypes)"
    )
    for one in (read, batch, pairhmm.Group([read] * 50, ["ACGT" * 200]), evidence[0], evidence[0].haplotypes[0]):
        assert len(repr(one)) < 500 and "\n" not in repr(one)
