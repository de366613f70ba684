"""`pairhmm report` as a command: what it takes, what it writes, and what it says of files that do not go together."""

from __future__ import annotations

import gzip
import importlib.util
import json
import shutil
from pathlib import Path

import numpy as np
import pysam
import pytest

from pairhmm.report import panels, sites
from pairhmm.report.api import report as make_report
from pairhmm.report.inputs import ReportInputs

HITS = "#file\trecord\tnumber\tsignature\tstart\tend\tstrand\tsum\tmean\tmatches\tinformative\tmismatches\n"
TIMINGS = "s\th:m:s\tmax_rss\tcpu_time\n12.5\t0:00:12\t100.5\t11.0\n"

FIT = """# pairhmm fit --model gatk: 1 alignment file
# 2313 reads; log10 likelihood -10833.096, before the fit -10873.996
insertion_quality = 52

# Standard errors are of the observed information.
# parameter | estimate | standard error | expected count
# insertion, 1 copy | 6.7e-08 (Phred 71.7) | 2.6e-05 | 0.0
# gap closes | 0.6 (Phred 2.2) | nan | 9.7
"""
ROUNDS = """pairs\tround\treads\tlog10_likelihood\tlog10_likelihood_per_read\tlog10_with_prior
sample\t0\t500\t-2650\t-5.3\t-2660
all\t0\t2313\t-12000\t-5.2\t-12100
all\t1\t2313\t-11900\t-5.1\t-12000
"""
BAD_FITS = {
    "another TOML": (
        "# pairhmm fit",
        "# of",
        "p.toml: line 1: does not tell of a fit; give a file",
    ),
    "no reads": ("2313 reads", "reads", "p.toml: line 2: does not tell of a fit"),
    "no estimates": ("# parameter", "#", "p.toml: has no estimates with standard errors"),
    "no number": ("2.6e-05", "x", "p.toml: line 7: 'x' is not a number"),
    "fields": (" | 9.7", "", "p.toml: line 8: is not an estimate"),
    "probability": ("0.6 ", "1.6 ", "p.toml: line 8: 1.6 is not a probability"),
    "other table": ("pairs\t", "", "rounds.tsv: line 1: its header is not pairs round"),
    "no round": ("all\t1", "all\t-1", "rounds.tsv: line 4: is not a round"),
    "no likelihood": ("-5.1", "nan", "rounds.tsv: line 4: 'nan' is not a number"),
}


@pytest.fixture(scope="module")
def run(make_run):
    return make_run(6, 20, variants=2, samples=("one", "two"))


def test_everything_is_in_the_page(report, run, read_report, tmp_path):
    (tmp_path / "call.tsv").write_text(TIMINGS)
    report(*run.arguments, "--timings", "call.tsv", "--title", "A run")
    found = read_report(tmp_path / "report.html")
    assert found.data["title"] == "A run"
    assert found.data["samples"] == ["one", "two", "x"]
    assert found.data["sites"]["pos"] == [201, 401, 601, 801, 1001, 1201]
    assert found.data["timings"] == [["call", 12.5, 11.0, 100.5]]
    assert found.data["provenance"] == [[str(run.calls), "pairhmmVersion", "1"]]
    assert found.data["models"] == [[str(run.table), "gatk"]]
    assert len(found.panels) == 6
    panel = found.header(found.data["sites"]["panels"][1][0][0])
    assert [group["reads"] for group in panel["groups"]] == [10, 10]
    assert len(panel["haplotypes"]) == 4
    # The site is the first of the region's two variants.
    assert found.data["sites"]["panels"][1][0][1] == [0, 0, 1, 1]


def test_models_are_named_and_compared(report, run, read_report, tmp_path):
    calls, same = run.calls.read_text(), "##pairhmmModel=profile (own.toml)\n"
    (tmp_path / "calls.vcf").write_text(calls.replace("##pairhmmVersion", f"{same}##pairhmmVersion"))
    for name in ("table", "table.haplotypes"):
        text = gzip.decompress((run.folder / f"{name}.tsv.gz").read_bytes()).decode()
        (tmp_path / f"{name}.tsv").write_text(text.replace("##pairhmmModel=gatk\n", same))
    own = ("--calls", "calls.vcf", "--likelihoods", "table.tsv")
    assert "different models" not in report(*own).stderr
    found = read_report(tmp_path / "report.html").data
    assert found["models"] == [["calls.vcf", "profile (own.toml)"], ["table.tsv", "profile (own.toml)"]]
    assert report(*own[:2], "--likelihoods", run.table).stderr.count("of different models") == 1
    (note,) = read_report(tmp_path / "report.html").data["notes"]
    assert note.endswith(f"profile (own.toml) (calls.vcf); gatk ({run.table})")


def test_the_same_files_give_the_same_bytes(report, run, tmp_path):
    report(*run.arguments)
    first = (tmp_path / "report.html").read_bytes()
    report(*run.arguments)
    assert (tmp_path / "report.html").read_bytes() == first


def test_a_fit_is_in_the_page(reported, report, run, read_report, refused, tmp_path):
    (tmp_path / "p.toml").write_text(FIT)
    (tmp_path / "rounds.tsv").write_text(ROUNDS)
    fit = reported("--fit", "p.toml", "--fit-rounds", "rounds.tsv")["fit"]
    assert [fit[key] for key in ("model", "reads", "log10", "firstLog10")] == ["gatk", 2313, -10833.096, -10873.996]
    assert fit["estimates"] == [["insertion, 1 copy", 6.7e-08, 2.6e-05, 0.0], ["gap closes", 0.6, None, 9.7]]
    assert fit["rounds"] == [["sample", 0, 500, -5.3], ["all", 0, 2313, -5.2], ["all", 1, 2313, -5.1]]
    report(*run.arguments)
    assert read_report(tmp_path / "report.html").data["fit"] is None
    (tmp_path / "report.html").unlink()
    assert refused(*run.arguments, "--fit-rounds", "rounds.tsv").startswith("--fit-rounds: are those of a fit")


@pytest.mark.parametrize("case", BAD_FITS)
def test_bad_fits(refused, tmp_path, case):
    old, new, message = BAD_FITS[case]
    (tmp_path / "p.toml").write_text(FIT.replace(old, new, 1))
    (tmp_path / "rounds.tsv").write_text(ROUNDS.replace(old, new, 1))
    assert refused("--fit", "p.toml", "--fit-rounds", "rounds.tsv").startswith(message)


def test_the_name_of_the_report(run, refused, run_cli, tmp_path):
    assert refused(*run.arguments, "-o", "r.pdf") == "r.pdf: not a name for reports; end it in .html or .htm"
    done = run_cli("report", *run.arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert "Missing option '-o'" in done.stderr


def test_the_first_screen(reported, run_cli, run, tmp_path):
    """Filters, genotypes without a call or of few reads, and the samples of the sheet."""
    lines = run.calls.read_text().splitlines()
    rows = [line.split("\t") for line in lines if not line.startswith("#")]
    rows[0][6] = "LowQual;Far"
    rows[1][9] = "./." + rows[1][9][3:]
    rows[2][9] = ":".join(["0/1", "1,2", "3", "20", "20,0,30"])
    rows[3][9] = ".:.:.:.:."
    rows[4][9] = ".:0,0:0:.:."
    calls = [line for line in lines if line.startswith("#")] + ["\t".join(row) for row in rows]
    calls.insert(1, "##fileDate=20261124\n##source=caller 2")
    (tmp_path / "calls.vcf").write_text("\n".join(calls) + "\n")
    (tmp_path / "sheet.tsv").write_text(f"sample\treads\n{run.samples[0]}\t\nlost\t\n")
    found = reported("--calls", tmp_path / "calls.vcf", "--sheet", tmp_path / "sheet.tsv", "--mqc", tmp_path / "mqc")[
        "overview"
    ]
    genotypes = (len(rows) - 1) * len(run.samples)
    assert found["calls"] == {
        "records": len(rows),
        "passed": len(rows) - 1,
        "failed": [["Far", 1], ["LowQual", 1]],
        "called": genotypes - 3,
        "missing": 2,
        "missingSites": 2,
        "thin": 2,
        "thinSites": 2,
        "minDepth": 10,
    }
    assert (found["dates"], found["callers"]) == (["2026-11-24"], ["caller 2"])
    assert found["sheet"] == {"samples": 2, "missing": ["lost"], "unknown": list(run.samples[1:])}
    rows_of_multiqc = json.loads((tmp_path / "mqc" / "pairhmm_general_mqc.json").read_text())["data"]
    assert list(rows_of_multiqc) == [run.samples[0], "lost"]


def test_fields_of_info(reported, run, refused, tmp_path):
    """Gene and consequence of an annotation, or the chosen fields; and no link but where they were asked for."""
    ann = "##INFO=<ID=ANN,Number=.,Type=String,Description=\"'Allele | Annotation | Impact | Gene_Name | Gene_ID'\">"
    text = run.calls.read_text().replace("##pairhmmVersion", f"{ann}\n##pairhmmVersion", 1)
    text = text.replace("\tPASS\t.\t", "\tPASS\tANN=A|stop_gained|HIGH|BRCA2|E1,A|intron_variant|LOW|X|E2\t", 1)
    (tmp_path / "calls.vcf").write_text(text)
    data = reported("--calls", tmp_path / "calls.vcf", "--link-genome", "hg38")
    assert data["sites"]["infoNames"] == ["Gene", "Consequence"]
    assert [column[:2] for column in data["sites"]["info"]] == [["BRCA2", "."], ["stop_gained", "."]]
    assert any("db=hg38" in address for _, address in data["links"])
    data = reported("--calls", tmp_path / "calls.vcf", "--info", "ANN")
    assert data["sites"]["infoNames"] == ["ANN"] and data["links"] == []
    (tmp_path / "report.html").unlink()
    said = refused("--calls", tmp_path / "calls.vcf", "--info", "NONE")
    assert "INFO NONE: is not in its header" in said and "ANN" in said
    assert "link_genome" in refused("--calls", tmp_path / "calls.vcf", "--link-genome", "hg 38&x")


def test_the_page_asks_nothing_of_the_network(report, run, tmp_path):
    report(*run.arguments)
    page = (tmp_path / "report.html").read_text()
    assert "http://" not in page and "https://" not in page
    assert "default-src 'none'" in page
    assert page.count("</script>") == 3


@pytest.mark.parametrize("kind", ["calls", "table", "hits"])
def test_each_input_is_enough(reported, run, kind):
    option = {"calls": "--calls", "table": "--likelihoods", "hits": "--hits"}[kind]
    found = reported(option, getattr(run, kind))
    assert (len(found["sites"]["pos"]), len(found["samples"])) == {"calls": (6, 2), "table": (9, 2), "hits": (0, 1)}[
        kind
    ]


def test_empty_files_make_an_empty_report(reported, run, tmp_path):
    header = "".join(line for line in run.calls.read_text().splitlines(keepends=True) if line.startswith("#"))
    (tmp_path / "calls.vcf").write_text(header)
    for name in ("table.tsv.gz", "table.haplotypes.tsv.gz"):
        with gzip.open(run.folder / name, "rt") as table, gzip.open(tmp_path / name, "wt") as out:
            out.writelines(line for line in table if line.startswith("#"))
    (tmp_path / "hits.tsv").write_text(HITS)
    found = reported("--calls", "calls.vcf", "--likelihoods", "table.tsv.gz", "--hits", "hits.tsv")
    assert found["sites"]["pos"] == [] and found["scan"]["hits"] == 0
    # A sample whose scan has no hit is in the cohort all the same.
    assert found["samples"] == ["one", "two", "hits"]


def test_the_least_certain_sites_are_shown(report, run, read_report, tmp_path):
    qualities = [
        int(line.split(":")[-2]) for line in run.calls.read_text().splitlines(keepends=True) if not line.startswith("#")
    ]
    done = report("--calls", run.calls, "--likelihoods", run.table, "--max-sites", 2)
    found = read_report(tmp_path / "report.html").data
    assert sorted(found["sites"]["leastGq"]) == sorted(qualities)[:2]
    assert found["seenSites"] == 6 and len(found["cohort"]["rows"]) == 2
    assert found["cohort"]["rows"][0][1] == 6
    assert "2 of 6 sites are shown: those with the lowest GQ (--max-sites)" in done.stderr
    assert found["notes"] == ["2 of 6 sites are shown: those with the lowest GQ (--max-sites)"]


def test_a_deep_cohort_is_drawn_in_part(run, read_report, tmp_path, monkeypatch, caplog):
    """Reads and genotypes beyond a bound are left out of the drawings, and still count."""
    monkeypatch.setattr(panels, "MOST_READS", 16)
    monkeypatch.setattr(sites, "MOST_GENOTYPES", 8)
    page = tmp_path / "report.html"
    make_report(page, ReportInputs(calls=run.calls, likelihoods=[run.table]))
    found = read_report(page)
    groups = [group for number in range(len(found.panels)) for group in found.header(number)["groups"]]
    assert [group["shown"] for group in groups] == [2] * 8  # 16 reads of 4 panels and 2 samples
    assert sum(group["reads"] for group in groups) > 16
    first, second = found.data["notes"]
    assert (
        first
        == "4 of 6 sites are shown: those with the lowest GQ (a report has at most 8 genotypes, whatever --max-sites)"
    )
    assert second.startswith(f"16 of {sum(group['reads'] for group in groups)} reads are drawn: of a sample's reads")
    assert {first, second} <= set(caplog.messages)


def test_hits_go_to_the_sample_of_their_table_where_the_file_is_none(reported, run, tmp_path):
    (tmp_path / "one.hits.tsv").write_text(run.hits.read_text())
    found = reported("--calls", run.calls, "--hits", "one.hits.tsv")
    assert found["samples"] == ["one", "two"] and found["scan"]["samples"] == [0]


def test_hits_of_both_mates_are_the_samples(reported, run, tmp_path):
    row = run.hits.read_text().splitlines()[1]
    (tmp_path / "x.hits.tsv").write_text(
        f"{HITS}{row.replace('x.fq', 'x_R1.fq.gz')}\n{row.replace('x.fq', 'x_R2.fq.gz')}\n"
    )
    found = reported("--hits", "x.hits.tsv")
    assert found["samples"] == ["x"] and found["scan"]["rows"][0][2] == 2


def test_multiqc_content(report, run, tmp_path):
    report(*run.arguments, "--mqc", "mqc/new")
    contents = {path.name: json.loads(path.read_text()) for path in (tmp_path / "mqc" / "new").iterdir()}
    assert set(contents) == {f"pairhmm_{name}_mqc.json" for name in ("general", "concordance", "hits")}
    general = contents["pairhmm_general_mqc.json"]
    assert general["plot_type"] == "generalstats"
    assert general["data"]["one"]["called"] == 6 and general["data"]["x"] == {"hits": 1, "signatures": 1}
    assert contents["pairhmm_concordance_mqc.json"]["data"] == [[1.0, 1.0], [1.0, 1.0]]
    hits = contents["pairhmm_hits_mqc.json"]
    assert (hits["xcats"], hits["ycats"], hits["data"]) == (["virus"], ["x"], [[20.0]])


def test_real_reads(run_cli, shared_data, read_report, tmp_path):
    """Strand and mapping quality of every read; no fewer reads choose an allele than its AD has."""
    tiny = shared_data / "na12878-chr22-tiny"
    reference, bam = tiny / "q.fa", tiny / "NA12878.chr22.tiny.bam"
    for verb, output in (("call", "calls.vcf.gz"), ("likelihoods", "table.tsv.gz")):
        done = run_cli(verb, "-f", reference, "-o", output, bam, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    inputs = ["--calls", "calls.vcf.gz", "--likelihoods", "table.tsv.gz", "--alignments", bam]
    done = run_cli("report", "-o", "report.html", "-f", reference, *inputs, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found = read_report(tmp_path / "report.html")
    sites = found.data["sites"]
    assert sites["ref"][sites["pos"].index(5638)] == "CAT"
    assert "pairhmmBackend" in {key for _, key, _ in found.data["provenance"]}
    for number, ((panel, alleles),) in enumerate(sites["panels"]):
        header = found.header(panel)
        (group,) = header["groups"]
        width, count = len(header["haplotypes"]), group["shown"]
        bases = 2 * count * sum(length for _, length in header["columns"])
        flags, mapped = np.frombuffer(found.panels[panel], "u1")[-bases - 2 * count : -bases].reshape(2, count)
        assert all(flag & 4 for flag in flags) and max(mapped) == 60
        assert len(alleles) == width
        chosen = [sum(n for n, own in zip(group["chosen"], alleles, strict=True) if own == each) for each in (0, 1)]
        # Genotypes compare alleles by the haplotypes that a sample may have: these tell a read that others leave open.
        most = [many + group["undecided"] for many in chosen]
        assert all(many >= few for many, few in zip(most, sites["calls"][0]["ad"][number], strict=True))


@pytest.fixture
def explained(run_cli, shared_data, read_report, tmp_path):
    """``explained(bam, *options)``: the groups of the sites with a table of those options, and what was said.

    With ``is_named=False``, the table does not say which options these were.
    """
    reference = shared_data / "na12878-chr22-tiny" / "q.fa"

    def make(bam, *options, is_named=True):
        made = run_cli("likelihoods", "-f", reference, "-o", "table.tsv.gz", *options, bam, cwd=tmp_path)
        assert made.returncode == 0, made.stderr
        if not is_named:
            path = tmp_path / "table.haplotypes.tsv.gz"
            lines = gzip.decompress(path.read_bytes()).splitlines(keepends=True)
            path.write_bytes(gzip.compress(b"".join(line for line in lines if not line.startswith(b"##"))))
        inputs = ["--likelihoods", "table.tsv.gz", "--alignments", bam]
        done = run_cli("report", "-o", "report.html", "-f", reference, *inputs, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        found = read_report(tmp_path / "report.html")
        sites = found.data["sites"]
        groups = {
            pos: found.header(own[0][0])["groups"][0] for pos, own in zip(sites["pos"], sites["panels"], strict=True)
        }
        return groups, done.stderr

    return make


@pytest.mark.parametrize("model", [(), ("--model", "profile")], ids=["gatk", "profile"])
def test_bases_that_decide(explained, shared_data, model):
    """An SNV decides by one base; a deletion by a gap."""
    bam = shared_data / "na12878-chr22-tiny" / "NA12878.chr22.tiny.bam"
    groups, said = explained(bam, *model)
    assert "other scores" not in said
    assert len(groups[186]["explained"]) == 4
    for _, best, second, margin, bases in groups[186]["explained"]:
        ((_, letter, _, evidence, *gaps),) = bases
        assert letter == "TC"[best] and second == 1 - best
        assert evidence == pytest.approx(margin, abs=0.02) and not any(gaps)
    # A read of the allele CAT lacks nothing of h0, and has two letters too many for h1.
    inserted, deleted = (
        {one[1]: sum(base[at] for base in one[4]) for one in groups[5638]["explained"]} for at in (5, 7)
    )
    assert deleted[1] > 1.7
    # The least certain reads by the profile model all have the other allele.
    assert "profile" in model or inserted[0] > 0.9


@pytest.mark.parametrize("is_named", [True, False])
def test_reads_are_scored_as_the_table_says(explained, shared_data, is_named):
    bam = shared_data / "na12878-chr22-tiny" / "NA12878.chr22.tiny.bam"
    options = "--gap-quality", 25, "--insertion-quality", 25, "--pcr-indel-model", "none"
    groups, said = explained(bam, *options, is_named=is_named)
    assert ("reads have other scores by the table's model" in said) is not is_named
    assert len(groups[5638]["explained"]) == (4 if is_named else 0)


@pytest.mark.parametrize("options", [("--str-model", "pcr"), ("--no-indel-tags",)], ids=["used", "left"])
def test_reads_keep_their_own_indel_qualities(explained, shared_data, tmp_path, options):
    bam = shared_data / "na12878-chr22-tiny" / "NA12878.chr22.tiny.bam"
    tagged = tmp_path / "tagged.bam"
    with pysam.AlignmentFile(str(bam)) as source, pysam.AlignmentFile(str(tagged), "wb", template=source) as out:
        for number, read in enumerate(source):
            read.set_tag("BD", chr(33 + 12 + number % 10) * read.query_length)
            out.write(read)
    pysam.index(str(tagged))
    groups, said = explained(tagged, *options)
    assert "other scores" not in said
    assert len(groups[5638]["explained"]) == 4


def with_ambiguous_base(bam, position, path):
    """The same reads, every third of them with W for A and T and S for C and G at a position."""
    with pysam.AlignmentFile(str(bam)) as source, pysam.AlignmentFile(str(path), "wb", template=source) as out:
        for number, read in enumerate(source):
            at = dict(pair[::-1] for pair in read.get_aligned_pairs(matches_only=True)).get(position - 1)
            if at is not None and number % 3 == 0:
                letters, quals = list(read.query_sequence), read.query_qualities
                letters[at] = {"A": "W", "T": "W", "C": "S", "G": "S"}[letters[at]]
                read.query_sequence = "".join(letters)
                read.query_qualities = quals
            out.write(read)
    pysam.index(str(path))
    return path


@pytest.mark.parametrize("model", [(), ("--model", "profile")], ids=["gatk", "profile"])
def test_ambiguous_bases_decide_as_they_are_scored(explained, shared_data, tmp_path, model):
    """The profile model knows them, so that they decide. GATK's model takes them for N."""
    whole = shared_data / "na12878-chr22-tiny" / "NA12878.chr22.tiny.bam"
    groups, said = explained(with_ambiguous_base(whole, 186, tmp_path / "x.bam"), *model)
    assert "other scores" not in said
    found = {(best, base[1]) for _, best, _, _, bases in groups[186]["explained"] for base in bases}
    letters = {(best, letter) for best, letter in found if letter in "WS"}
    assert letters == ({(0, "W"), (1, "S")} if model else set())


def test_text_and_parquet_give_the_same_panels(run_cli, run, read_report, require, tmp_path):
    """Parquet of another program: one line says what can't be checked."""
    require("parquet", importlib.util.find_spec("pyarrow") is not None, "pyarrow is not installed")
    import pyarrow
    from pyarrow import parquet

    number = {"start": int, "end": int, "mate": int, "log10_likelihood": float, "reads": int, "nuisance": int}
    for name in ("table", "table.haplotypes"):
        with gzip.open(run.folder / f"{name}.tsv.gz", "rt") as table:
            header, *rows = [line.rstrip("\n").split("\t") for line in table if not line.startswith("##")]
        columns = [name.lstrip("#") for name in header]
        values = zip(columns, zip(*rows, strict=True), strict=True)
        arrays = {key: pyarrow.array([number.get(key, str)(one) for one in column]) for key, column in values}
        parquet.write_table(pyarrow.table(arrays), tmp_path / f"{name}.parquet", row_group_size=37)
    panels = []
    for table in (run.table, tmp_path / "table.parquet"):
        done = run_cli("report", "-o", tmp_path / "report.html", "--calls", run.calls, "--likelihoods", table)
        assert done.returncode == 0, done.stderr
        panels.append(read_report(tmp_path / "report.html").panels)
    assert panels[0] == panels[1]
    assert done.stderr.count("table.parquet and 1 more: of another program: whether rows are missing") == 1


def test_parquet_that_is_none(refused, require, tmp_path):
    require("parquet", importlib.util.find_spec("pyarrow") is not None, "pyarrow is not installed")
    for name in ("bad.parquet", "bad.haplotypes.parquet"):
        (tmp_path / name).write_text("PAR1 and no more")
    assert refused("--likelihoods", "bad.parquet").startswith("bad.haplotypes.parquet: can't be read as Parquet")


def test_nothing_to_report(refused, run):
    assert refused("-f", run.reference).startswith("report: nothing to report; give --calls, ")


def test_a_table_without_its_companion(refused, run, tmp_path):
    (tmp_path / "alone.tsv.gz").write_bytes(run.table.read_bytes())
    assert refused("--likelihoods", "alone.tsv.gz").startswith(
        "alone.tsv.gz: its companion alone.haplotypes.tsv.gz is not there; keep the two files"
    )


def test_calls_in_place_of_a_table(refused, run, tmp_path):
    shutil.copy(run.calls, tmp_path / "calls.vcf.gz")
    said = refused("--likelihoods", "calls.vcf.gz")
    assert said.startswith("calls.vcf.gz: is VCF or BCF, and no likelihood table; give calls with --calls")


def test_missing_files(refused, run):
    for option in ("--calls", "--likelihoods", "--hits"):
        assert refused(option, "none.tsv").lower().startswith("none.tsv: no such file")
    assert refused("--calls", run.calls, "-f", "none.fa").startswith("none.fa: no such file")


def test_calls_without_the_sample(refused, run, make_run):
    others = make_run(2, 4, samples=("three",))
    said = refused("--calls", run.calls, "--likelihoods", others.table)
    assert said == (
        f"{run.calls}: has no sample three, which {others.table} has; give calls and likelihoods of the same samples"
    )


@pytest.mark.parametrize(("option", "kind"), [("--calls", "calls"), ("--likelihoods", "table")])
def test_another_reference(refused, run, tmp_path, option, kind):
    (tmp_path / "other.fa").write_text(">chr2\nACGT\n")
    path = getattr(run, kind)
    assert f"other.fa: contig chr1: not in the reference, but in {path}" in refused("-f", "other.fa", option, path)


def test_a_contig_of_another_length(refused, run, tmp_path):
    (tmp_path / "other.fa").write_text(">chr1\nACGT\n")
    assert "1600 bases in" in refused("-f", "other.fa", "--calls", run.calls)


def test_calls_of_other_contigs_than_the_likelihoods(refused, run, tmp_path):
    (tmp_path / "calls.vcf").write_text(run.calls.read_text().replace("chr1", "1"))
    said = refused("--calls", "calls.vcf", "--likelihoods", run.table)
    assert said.startswith(f"calls.vcf: contig chr1: has none of this name, but {run.table} has")


def alignments(path: Path, sample: str, *, index: bool) -> None:
    header = {"HD": {"VN": "1.6", "SO": "coordinate"}, "SQ": [{"SN": "chr1", "LN": 1600}]}
    with pysam.AlignmentFile(path, "wb", header=header | {"RG": [{"ID": "g", "SM": sample}]}):
        pass
    if index:
        pysam.index(str(path))


def test_alignments_that_say_nothing(refused, run, tmp_path):
    alignments(tmp_path / "x.bam", "stranger", index=True)
    alignments(tmp_path / "bare.bam", "one", index=False)
    given = ["-f", run.reference, "--likelihoods", run.table]
    assert "none of its samples (stranger) is in the likelihood tables" in refused(*given, "--alignments", "x.bam")
    assert "bare.bam: has no index" in refused(*given, "--alignments", "bare.bam")
    assert "give it with -f" in refused("--likelihoods", run.table, "--alignments", "x.bam")
    assert "give those with --likelihoods or --targets" in refused(
        "-f", run.reference, "--calls", run.calls, "--alignments", "x.bam"
    )


BAD_FILES = {
    "empty calls": (["--calls", "bad"], "", "bad: not a VCF or BCF file"),
    "calls of text": (["--calls", "bad"], "hello\n", "bad: not a VCF or BCF file"),
    "empty hits": (["--hits", "bad"], "", "bad: line 1: is empty"),
    "summaries without hits": (["--scan-summary", "bad"], "", "--scan-summary: 1 summaries for 0 tables"),
    "other columns": (["--hits", "bad"], "a\tb\n", "bad: line 1: its header is not file record"),
    "a short line": (["--hits", "bad"], f"{HITS}x\ty\n", "bad: line 2: 2 fields where the header has 12"),
    "no number": (["--hits", "bad"], HITS + "x\ty\tz" + "\t1" * 9 + "\n", "bad: line 2: not a hit"),
    "no timings": (["--timings", "bad"], "a\tb\n1\t2\n", "bad: line 1: its first line has no column s"),
    "no explanation": (["--explanations", "bad"], "x\n", "bad: line 1: is not the verdict of an explanation"),
    "no verdict": (["--explanations", "bad"], "", "bad: has no explanation"),
    "no seconds": (["--timings", "bad"], "s\th:m:s\nNA\tNA\n", "bad: line 2: has no seconds"),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_bad_files(refused, run, tmp_path, name):
    arguments, content, expected = BAD_FILES[name]
    (tmp_path / "bad").write_text(content)
    assert refused("--calls", run.calls, *arguments).startswith(expected)


BAD_ROWS = {
    "a haplotype": ("\tchr1:131-270/0\t", "\tnone\t", "haplotype none is not in"),
    "a precision": ("\tfloat32\t", "\tfloat3\t", "unknown precision 'float3'"),
    "a likelihood": ("\t-", "\tminus", "is not a likelihood"),
    "a start": ("\t145\t255\t", "\tx\t255\t", "not a region"),
    "a mate": ("\t1\tchr1", "\tx\tchr1", "'x' is not a mate"),
}


@pytest.mark.parametrize("name", BAD_ROWS)
def test_bad_rows(refused, run, tmp_path, name):
    old, new, expected = BAD_ROWS[name]
    with gzip.open(run.table, "rt") as table:
        text = table.read()
    assert old in text
    (tmp_path / "bad.tsv").write_text(text.replace(old, new, 1))
    with gzip.open(run.folder / "table.haplotypes.tsv.gz", "rt") as haplotypes:
        (tmp_path / "bad.haplotypes.tsv").write_text(haplotypes.read())
    said = refused("--likelihoods", "bad.tsv")
    assert said.startswith("bad.tsv: ") and expected in said


@pytest.mark.parametrize(("old", "new"), [("\t1,1\t", "\t2,1\t"), ("\t1,1\t", "\t.\t"), ("\t201:", "\t201")])
def test_a_companion_that_contradicts_itself(refused, run, tmp_path, old, new):
    with gzip.open(run.folder / "table.haplotypes.tsv.gz", "rt") as haplotypes:
        text = haplotypes.read()
    assert old in text
    (tmp_path / "bad.haplotypes.tsv").write_text(text.replace(old, new))
    (tmp_path / "bad.tsv").write_bytes(gzip.decompress(run.table.read_bytes()))
    said = refused("--calls", run.calls, "--likelihoods", "bad.tsv")
    assert said.startswith("bad.haplotypes.tsv: chr1:")
    assert ("do not go together" if old == "\t1,1\t" else "are not variants") in said


def test_a_table_that_is_cut_off(refused, run, tmp_path):
    (tmp_path / "bad.tsv.gz").write_bytes(run.table.read_bytes()[:-200])
    (tmp_path / "bad.haplotypes.tsv.gz").write_bytes((run.folder / "table.haplotypes.tsv.gz").read_bytes())
    assert refused("--likelihoods", "bad.tsv.gz").startswith("bad.tsv.gz: is cut off")


def test_signatures_of_another_scan(refused, run, tmp_path):
    (tmp_path / "other.fa").write_text(">other\nACGTACGTACGT\n")
    said = refused("--hits", run.hits, "--signatures", "other.fa")
    assert said.startswith("other.fa: has no signature virus, of which there are hits")
    assert "give those with --hits" in refused("--calls", run.calls, "--signatures", "other.fa")


def test_outputs_that_cannot_be_written(run_cli, run, tmp_path):
    done = run_cli("report", "-o", tmp_path / "none" / "x.html", "--calls", run.calls)
    assert done.returncode == 2 and "does not exist" in done.stderr
    (tmp_path / "file").write_text("")
    done = run_cli("report", "-o", tmp_path / "x.html", "--calls", run.calls, "--mqc", tmp_path / "file")
    assert done.returncode == 2 and "--mqc" in done.stderr


def test_tables_of_hits_are_of_the_samples_named(reported, run, tmp_path):
    """All samples' reads may be in files of one name, and there may be no calls to tell the samples from."""
    for name in ("a", "b", "none"):
        (tmp_path / f"{name}.tsv").write_text(HITS if name == "none" else run.hits.read_text())
    tables = [word for name in ("a", "b", "none") for word in ("--hits", f"{name}.tsv")]
    names = [word for name in ("s1", "s2", "s3") for word in ("--hits-sample", name)]
    found = reported(*tables, *names)
    assert found["samples"] == ["s1", "s2", "s3"]


def test_samples_of_hits_are_named_once_each(run_cli, run, tmp_path):
    options = ["--hits", run.hits, "--hits-sample", "a", "--hits-sample", "b"]
    done = run_cli("report", "-o", tmp_path / "x.html", *options)
    assert done.returncode == 2 and "2 names for 1 tables" in done.stderr
