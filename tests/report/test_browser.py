"""The report as a browser shows it: from a file, without a message, drawn, sorted and filtered."""

import numpy as np
import pytest

from pairhmm.native import is_compiled

MEGABYTE = 1_000_000
EVIL = ("<script>document.title='broken'</script>", "</script><img src=x onerror=document.title='broken'>")

# What a button of some element would save.
SAVED = """
const [place, kind] = arguments;
const make = URL.createObjectURL;
let saved = null;
URL.createObjectURL = (blob) => { saved = blob; return "#"; };
const near = document.querySelector(place);
const tools = near.tagName === "CANVAS" ? near.parentElement.parentElement : near;
[...tools.querySelectorAll(".tools button")].find((one) => one.textContent === kind).click();
URL.createObjectURL = make;
return saved.text();
"""

ROWS = "return [...document.querySelectorAll(arguments[0])].map((row) => [...row.cells].map((one) => one.textContent))"


def rows(browser, place):
    """Texts of the rows in view of a table."""
    return browser.execute_script(ROWS, f"{place} table.data tbody tr[data-index]")


def head(browser, place, title):
    buttons = browser.find_elements("css selector", f"{place} thead button")
    return next(button for button in buttons if button.text.strip() == title)


def type_filter(browser, place, text):
    field = browser.find_element("css selector", f"{place} input[type=search]")
    field.clear()
    field.send_keys(text)


def test_heatmaps_are_drawn_and_tell_of_reads(browser, open_report, make_run):
    from selenium.webdriver import ActionChains, Keys

    run = make_run(5, 30, variants=3, samples=("one", "two"))
    open_report(*run.arguments)
    browser.open_tab("sites")
    browser.wait("return document.querySelector('canvas.heatmap')")
    assert browser.colours("canvas.heatmap") > 10
    browser.execute_script("document.querySelectorAll('#tab-sites tr[data-index]')[2].click()")
    browser.wait("return document.querySelector('.panel h2').textContent.includes('601')")
    # Eight haplotypes, and as many rows of the alignment under the reference.
    assert len(browser.find_elements("css selector", ".alignment .label")) == 10
    canvas = browser.find_element("css selector", "canvas.heatmap")
    ActionChains(browser).move_to_element(canvas).perform()
    told = browser.find_element("id", "tooltip").text
    assert "r2:" in told and "log10 P(read | haplotype)" in told
    canvas.send_keys(Keys.ARROW_DOWN, Keys.ARROW_DOWN)
    assert "chooses" in browser.find_element("id", "announcer").get_attribute("textContent")


def test_tables_sort_and_filter(browser, open_report, make_run):
    run = make_run(60, 8)
    open_report(*run.arguments)
    browser.open_tab("sites")
    browser.wait("return document.querySelector('canvas.heatmap')")
    place = "#tab-sites"
    titles = [one.text.strip() for one in browser.find_elements("css selector", f"{place} thead button")]
    column = titles.index("GQ")
    before = [int(row[column]) for row in rows(browser, place)]
    assert before != sorted(before)
    head(browser, place, "GQ").click()
    up = [int(row[column]) for row in rows(browser, place)]
    assert up == sorted(up)
    head(browser, place, "GQ").click()
    down = [int(row[column]) for row in rows(browser, place)]
    assert down == sorted(down, reverse=True)
    assert down[0] > up[-1]
    type_filter(browser, place, "gq<30 chr1:1-4,000")
    kept = rows(browser, place)
    assert kept and all(int(row[column]) < 30 for row in kept)
    assert all(int(row[0].split(":")[1].replace(",", "")) <= 4000 for row in kept)
    type_filter(browser, place, "nonsense>1")
    assert rows(browser, place) == []
    assert "no column nonsense" in browser.find_element("css selector", f"{place} .counted").text


def test_the_panel_follows_the_list(browser, open_report, make_run):
    """It shows a site of the list, or none."""
    run = make_run(9, 30, variants=3)
    open_report(*run.arguments)
    browser.open_tab("sites")
    place, shown = "#tab-sites", "return document.querySelector('.panel h2')?.textContent"
    first = browser.wait(shown)
    positions = [row[0] for row in rows(browser, place)]
    assert first.startswith(positions[0])
    other = positions[4]
    type_filter(browser, place, "{}:{}-{}".format(*other.split(":"), other.split(":")[1]))
    browser.wait(f"{shown}.startsWith('{other} ')")
    assert [row[0] for row in rows(browser, place)] == [other]
    assert (
        browser.execute_script("return document.querySelector('tr[aria-selected=true]').cells[0].textContent") == other
    )
    assert browser.current_url.endswith("#site=" + other.replace(",", "").replace(":", "%3A"))
    # A site that is still in the list stays.
    browser.execute_script("document.querySelector('#tab-sites input').value = 'chr1:1-99,999'")
    head(browser, place, "Position").click()
    assert len(rows(browser, place)) == len(positions)
    assert browser.execute_script(shown).startswith(f"{other} ")
    for nothing in ("chr9:1-5", "nonsense>1"):
        type_filter(browser, place, nothing)
        assert browser.execute_script(shown) is None
        assert (
            browser.execute_script("return document.querySelector('.holder').textContent")
            == "The filter leaves no site."
        )
        assert "#" not in browser.current_url
    type_filter(browser, place, "chr1:1-99,999")
    browser.wait(f"{shown}?.startsWith('{positions[0]} ')")


def test_enter_in_the_filter_opens_its_first_row(browser, open_report, make_run):
    from selenium.webdriver import Keys

    run = make_run(9, 30)
    open_report(*run.arguments)
    browser.open_tab("sites")
    place = "#tab-sites"
    chosen = "return document.querySelector('tr[aria-selected=true]')?.cells[0].textContent"
    positions = [row[0] for row in rows(browser, place)]
    browser.execute_script(f"document.querySelectorAll('{place} tr[data-index]')[6].click()")
    field = browser.find_element("css selector", f"{place} input[type=search]")
    script = "arguments[0].value = 'chr1:500-99,999'; arguments[0].dispatchEvent(new Event('input'))"
    browser.execute_script(script, field)
    # The chosen site is among those that are left, and stays until Enter.
    assert browser.execute_script(chosen) == positions[6]
    field.send_keys(Keys.ENTER)
    assert browser.execute_script(chosen) == rows(browser, place)[0][0] == positions[2]
    type_filter(browser, place, f"nonsense>1{Keys.ENTER}")
    assert browser.execute_script(chosen) is None


def test_the_cohort_sorts(browser, open_report, make_run):
    run = make_run(3, 30, samples=("b", "c", "a"))
    open_report(*run.arguments)
    assert [row[0] for row in rows(browser, "#tab-cohort")] == ["b", "c", "a", "x"]
    head(browser, "#tab-cohort", "Sample").click()
    assert [row[0] for row in rows(browser, "#tab-cohort")] == ["a", "b", "c", "x"]
    type_filter(browser, "#tab-cohort", "called>=3")
    assert [row[0] for row in rows(browser, "#tab-cohort")] == ["a", "b", "c"]


def test_text_of_files_stays_text(browser, open_report, make_run):
    run = make_run(2, 6, samples=EVIL, read_name=EVIL[0])
    open_report(*run.arguments, "--title", f"</title>{EVIL[0]} {{{{panels}}}}")
    for name in ("sites", "scan", "run", "cohort"):
        browser.open_tab(name)
    browser.wait("return document.querySelector('canvas.heatmap')")
    assert browser.find_element("id", "title").text == f"</title>{EVIL[0]} {{{{panels}}}}"
    assert [row[0] for row in rows(browser, "#tab-cohort")][:2] == list(EVIL)
    assert browser.title != "broken"
    assert browser.find_elements("css selector", "main script, main img") == []


def test_scan_shows_signatures(browser, open_report, make_run, tmp_path):
    run = make_run(1, 4)
    signatures = tmp_path / "signatures.fa"
    signatures.write_text(f">virus\n{'ACGTN' * 60}\n>other\n{'ACGGT' * 8}\n")
    open_report("--hits", run.hits, "--signatures", signatures)
    browser.open_tab("scan")
    assert [row[0] for row in rows(browser, "#tab-scan")] == ["virus", "other"]
    shown = "return document.querySelector('#tab-scan .holder').textContent"
    for name in ("other", "virus"):
        type_filter(browser, "#tab-scan", name)
        assert browser.execute_script(shown).startswith(name)
    type_filter(browser, "#tab-scan", "hits>99999")
    assert browser.execute_script(shown) == "The filter leaves no signature."
    type_filter(browser, "#tab-scan", "length>1")
    assert browser.colours("canvas.track") > 1
    assert len(browser.find_elements("css selector", "#tab-scan .hit.reverse")) == 1


@pytest.fixture
def tiled_scan(run_cli, tmp_path):
    """Options that show a scan of tiles: two genomes, 13 reads of one of them and one of the other."""
    rng = np.random.default_rng(6)
    genomes = {name: "".join(rng.choice(list("ACGT"), 600)) for name in ("here", "elsewhere")}
    (tmp_path / "g.fa").write_text("".join(f">{name}\n{letters}\n" for name, letters in genomes.items()))
    reads = [genomes["here"][begin : begin + 80] for begin in range(0, 520, 40)] + [genomes["elsewhere"][:80]]
    text = "".join(f"@r{number}\n{read}\n+\n{'I' * 80}\n" for number, read in enumerate(reads))
    (tmp_path / "x.fq").write_text(text)
    hits, summary = tmp_path / "x.hits.tsv", tmp_path / "x"
    told = ["--signatures", tmp_path / "g.fa", "--tile", "31", "--summary", summary, "-o", hits, tmp_path / "x.fq"]
    done = run_cli("scan", *map(str, told))
    assert done.returncode == 0, done.stderr
    return ["--hits", hits, "--scan-summary", f"{summary}.signatures.tsv", "--signatures", tmp_path / "g.fa"]


def test_scan_names_viruses(browser, open_report, tiled_scan):
    """By the headers of the FASTA, in both lists and in the panel."""
    fasta = tiled_scan[-1]
    fasta.write_text(fasta.read_text().replace(">here", ">here A virus, whole genome"))
    open_report(*tiled_scan)
    browser.open_tab("scan")
    assert rows(browser, "#tab-scan")[0][:2] == ["A virus, whole genome", "here"]
    assert rows(browser, "#tab-scan .list")[0][:2] == ["A virus, whole genome", "here"]
    header = browser.find_element("css selector", "#tab-scan .panel header").text
    assert header.split("\n")[:2] == ["here", "A virus, whole genome"]


def test_scan_shows_what_tiles_say(browser, open_report, tiled_scan):
    """The table of calls, in which a weak one stands out, and hits at their places."""
    open_report(*tiled_scan)
    browser.open_tab("scan")
    present, weak = rows(browser, "#tab-scan")[:2]
    assert present[:4] == ["here", "x", "present", "13"] and present[-1] == ""
    assert weak[:4] == ["elsewhere", "x", "weak", "1"] and weak[-1] == "1 read of its own"
    assert browser.find_element("css selector", "#tab-scan .filter.raised").text == "weak"
    # The depth along each genome, in the list and in the panel.
    assert browser.colours("#tab-scan td .profile") > 1 < browser.colours("#tab-scan .track.profile")
    label = browser.find_element("css selector", "#tab-scan .track.profile").get_attribute("aria-label")
    assert label.startswith("Depth along here: up to ") and label.endswith(" % covered")
    narrowest = "return Math.min(...[...document.querySelectorAll('#tab-scan .hit')].map((one) => one.offsetWidth))"
    assert browser.execute_script(narrowest) >= 8
    type_filter(browser, "#tab-scan", "reads>90")
    assert rows(browser, "#tab-scan")[0][:2] == ["here", "600"]  # of the table behind
    first, last = (browser.execute_script(f"return {bar}.style.marginLeft") for bar in BARS)
    assert (first, last) == ("0%", "80%")


BARS = ("document.querySelector('#tab-scan .hit')", "[...document.querySelectorAll('#tab-scan .hit')].at(-1)")


@pytest.mark.parametrize("model", ["profile", "gatk"])
def test_a_fit_is_drawn(browser, open_report, run_cli, require, tmp_path, model):
    require("cpu", is_compiled(), "pairhmm has no compiled part here")
    assert run_cli("simulate", "-o", tmp_path, "--length", 12_000, "--coverage", 10).returncode == 0
    files = ["-o", tmp_path / "p.toml", "--rounds", tmp_path / "rounds.tsv"]
    reads = ["-f", tmp_path / "reference.fa", tmp_path / "reads.bam"]
    assert run_cli("fit", "--model", model, *files, *reads).returncode == 0
    open_report("--fit", tmp_path / "p.toml", "--fit-rounds", tmp_path / "rounds.tsv")
    assert [one.text for one in browser.find_elements("css selector", "[role=tab]")] == ["Fit", "Run"]
    assert browser.colours("#tab-fit .wide > canvas") > 3
    names = browser.execute_script(
        "return [...document.querySelectorAll('.estimates tbody th')].map((one) => one.textContent)"
    )
    assert {"eps_M(A,A)", "MI, 1 copy", "DD"} <= set(names) if model == "profile" else "gap continues" in names
    assert len(browser.find_elements("css selector", ".estimates canvas")) == len(names)


def test_reads_show_their_bases_and_those_that_decide(browser, open_report, run_cli, require, tmp_path):
    from selenium.webdriver import Keys

    require("cpu", is_compiled(), "pairhmm has no compiled part here")
    assert run_cli("simulate", "-o", tmp_path, "--length", 8000, "--coverage", 20).returncode == 0
    reads = ["-f", tmp_path / "reference.fa", tmp_path / "reads.bam"]
    assert run_cli("likelihoods", "-o", tmp_path / "table.tsv.gz", *reads).returncode == 0
    open_report(*reads[:2], "--likelihoods", tmp_path / "table.tsv.gz", "--alignments", reads[2])
    browser.open_tab("sites")
    browser.wait("return document.querySelector('details.deciding')")
    browser.execute_script("document.querySelector('details.deciding').open = true")
    shown = browser.find_elements("css selector", "details.deciding tbody tr")
    assert 1 <= len(shown) <= 4
    assert all(row.find_elements("css selector", "td")[1].text.startswith("+") for row in shown)
    # The same reads as bases: pictures, and what the keyboard tells of them.
    assert browser.colours("canvas.pileup") > 10
    pileup = browser.find_element("css selector", "canvas.pileup")
    pileup.send_keys(Keys.ARROW_DOWN, Keys.ARROW_RIGHT)
    said = browser.find_element("id", "announcer").get_attribute("textContent")
    assert "base quality" in said and "mapping quality 60" in said and "reference" in said
    svg = browser.execute_script(SAVED, "canvas.pileup", "SVG")
    letters = browser.execute_script("return document.querySelector('canvas.pileup').picture")
    assert svg.startswith("<svg xmlns=") and svg.count("<rect") > 100 and f'width="{letters["width"]}"' in svg


def test_numbers_lead_to_their_sites(browser, open_report, make_run, tmp_path):
    """From the first screen to the list, and from the list to a file."""
    run = make_run(12, 6, samples=("one", "two"))
    lines = run.calls.read_text().splitlines()
    lines[-1] = lines[-1].replace("PASS", "LowQual")
    lines[-2] = lines[-2][: lines[-2].rindex("\t")] + "\t./.:0,0:0:.:."
    lines[-3] = lines[-3][: lines[-3].rindex("\t")] + "\t.:.:.:.:."
    calls = tmp_path / "calls.vcf"
    calls.write_text("\n".join(lines) + "\n")
    open_report("-f", run.reference, "--calls", calls, "--likelihoods", run.table)
    tiles = {
        tile.find_element("css selector", "span").text: tile
        for tile in browser.find_elements("css selector", "button.tile")
    }
    text = browser.find_element("css selector", "#tab-cohort .told").text
    assert text.startswith("12 sites = 11 that pass their filters + 1 that does not (1 LowQual).")
    assert "2 samples - 1 of ploidy 0 = 21 genotypes: 20 called, 1 without a call (at 1 site)." in text
    for name, position in (("LowQual", "chr1:2,401"), ("without a call, of 21 genotypes", "chr1:2,201")):
        browser.open_tab("cohort")
        tiles[name].click()
        (row,) = rows(browser, "#tab-sites")
        assert row[0] == position
    assert browser.execute_script(SAVED, "#tab-sites .list", "CSV").splitlines()[1].startswith("chr1:2201,PASS,0/1,./.")
    type_filter(browser, "#tab-sites", "filter=LowQual")
    assert browser.find_elements("css selector", "#tab-sites tr.failed .filter.raised")
    # Two samples leave nothing to guess of the haplotypes that a sample has.
    browser.wait("return document.querySelectorAll('.alignment .label').length")
    labels = [one.text for one in browser.find_elements("css selector", ".alignment .label")]
    assert labels[-2:] == ["h0 ●", "h1 ●"]


def test_axe_finds_nothing(browser, open_report, make_run, tiled_scan, axe):
    run = make_run(6, 8, samples=("one", "two"))
    without_hits = run.arguments[: run.arguments.index("--hits")]
    open_report(*without_hits, *tiled_scan, "--sheet", sheet_of(run))
    for tab in ("cohort", "sites", "scan", "run"):
        browser.open_tab(tab)
        assert axe(browser) == [], tab


def sheet_of(run):
    sheet = run.folder / "sheet.tsv"
    sheet.write_text("sample\n" + "".join(f"{name}\n" for name in (*run.samples, "lost")))
    return sheet


def test_five_thousand_sites(browser, open_report, make_run):
    """How fast that is, benchmarks/report.py measures."""
    run = make_run(5000, 30, variants=3, samples=("a", "b", "c", "d", "e"))
    page = open_report(*run.arguments)
    assert page.stat().st_size <= 15 * MEGABYTE
    browser.open_tab("sites")
    browser.wait("return document.querySelector('canvas.heatmap')")
    assert "5,000 sites" in browser.find_element("css selector", "#tab-sites .counted").text
    assert len(browser.find_elements("css selector", "#tab-sites tbody tr")) < 100
    browser.execute_script("document.querySelector('#tab-sites .scroller').scrollTop = 1e9")
    browser.wait(
        "return [...document.querySelectorAll('#tab-sites td')].some((cell) => cell.textContent == 'chr1:1,000,001')"
    )


def test_haplotypes_are_aligned(browser, open_report, tmp_path):
    """A deletion, an insertion and a base, laid under the reference."""
    reference = "TTGACCATGCCATTGACGATCAGGATTCAG"
    sequences = [reference, "TTGACCGCCATTGACGATCAGGATTCAG", "TTGACCATGCCATTCCGACGATCAGGATTAAG"]
    name = [f"q:101-130/{index}" for index in range(3)]
    companion = [f"q\t100\t130\t{name[index]}\t{sequences[index]}\t{index % 2}\t106:CAT>C\t0" for index in range(3)]
    lines = [f"s\tq\t100\t130\tr\t0\t{one}\t-1.5\tfloat32" for one in name]
    head = "#chrom\tstart\tend\thaplotype\tsequence\talleles\tvariants\tnuisance"
    (tmp_path / "t.haplotypes.tsv").write_text("\n".join([head, *companion, ""]))
    head = "#sample\tchrom\tstart\tend\tread_name\tmate\thaplotype\tlog10_likelihood\tprecision"
    (tmp_path / "t.tsv").write_text("\n".join([head, *lines, ""]))
    open_report("--likelihoods", tmp_path / "t.tsv")
    browser.open_tab("sites")
    browser.wait("return document.querySelector('.alignment')")
    shown = browser.execute_script(
        "return [...document.querySelectorAll('.alignment code')].map((one) => one.textContent)"
    )
    assert shown[1:] == [
        "TTGACCATGCCATT--GACGATCAGGATTCAG",
        "..............--................",
        "..............CC.............A..",
        "......--......--................",
    ]


EXPLAINED = """chr1:7 not called: <b>few</b>
  With x it is called.
Reads
  s: 1 read
    more

chr1:9 called: y
"""


def test_explanations_are_told(browser, open_report, make_run, tmp_path):
    run = make_run(1, 8)
    told = tmp_path / "explained.txt"
    told.write_text(
        "chr1:7 not called: <b>few</b>\n  With x it is called.\nReads\n  s: 1 read\n    more\n\nchr1:9 called: y\n"
    )
    open_report(*run.arguments, "--explanations", told)
    browser.open_tab("explained")
    titles = browser.find_elements("css selector", "#tab-explained h2")
    assert [one.text for one in titles] == ["chr1:7 is not called", "chr1:9 is called"]
    assert browser.find_element("css selector", "#tab-explained .told").text == "<b>few</b>"
    texts = browser.find_elements("css selector", "#tab-explained pre")
    assert [one.get_attribute("textContent") for one in texts] == ["With x it is called.", "s: 1 read\n  more"]
