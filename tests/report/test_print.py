"""The report on paper: every page says something, all rows are there, and colours stay colours.

The last page of a print of sites has the files and their checksums.
"""

from __future__ import annotations

import base64
import hashlib
import re
import zlib

import pytest

import pairhmm

STYLES = """
return [...document.querySelectorAll(arguments[0])].map((one) => getComputedStyle(one)[arguments[1]]);
"""
PRINT_SITES = """
const [filter, done] = arguments;
window.print = done;
const field = document.querySelector("#tab-sites input");
field.value = filter;
field.dispatchEvent(new Event("input"));
[...document.querySelectorAll("#tab-sites .list .tools button")].at(-1).click();
"""
COLOUR = "return getComputedStyle(document.documentElement).getPropertyValue('--card').trim()"
COUNT = """
const rows = () => document.querySelectorAll("#tab-sites tr[data-index]").length;
window.addEventListener("beforeprint", () => (window.printedRows = rows()));
return rows();
"""


@pytest.fixture
def open_sites(browser, open_report):
    """``open_sites(run)``: the report's list of sites, with the panel of the first."""

    def make(run):
        open_report(*run.arguments)
        browser.open_tab("sites")
        browser.wait("return document.querySelector('canvas.heatmap')")

    yield make
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": []})


def objects_of(pdf: bytes) -> dict[int, bytes]:
    found = re.finditer(rb"(?:^|\n)(\d+) 0 obj\n(.*?)\nendobj", pdf, re.DOTALL)
    return {int(one[1]): one[2] for one in found}


def pages_of(pdf: bytes) -> list[bytes]:
    """The drawing operators of each page, those of the forms that it uses included."""
    objects = objects_of(pdf)
    streams = {}
    for number, text in objects.items():
        head, found, rest = text.partition(b"stream\n")
        if found and b"/FlateDecode" in head:
            streams[number] = zlib.decompressobj().decompress(rest)
    pages = []
    for text in objects.values():
        if re.search(rb"/Type\s*/Page\b", text):
            used = [int(number) for number in re.findall(rb"(\d+) 0 R", text)]
            pages.append(b"\n".join(streams.get(number, b"") for number in used))
    return pages


def printed(browser) -> list[bytes]:
    return pages_of(base64.b64decode(browser.execute_cdp_cmd("Page.printToPDF", {})["data"]))


def test_no_page_is_blank_and_every_row_is_there(browser, open_sites, make_run):
    open_sites(make_run(90, 12))
    assert browser.execute_script(COUNT) < 90
    pages = printed(browser)
    assert 2 <= len(pages) <= 5
    assert all(b"Tj" in page or b"TJ" in page for page in pages)
    assert browser.execute_script("return window.printedRows") == 90
    # On the screen it is as before.
    assert browser.execute_script("return document.querySelectorAll('#tab-sites tr[data-index]').length") < 90


def test_of_very_many_rows_the_first_are_printed(browser, open_sites, make_run):
    open_sites(make_run(1100, 2))
    browser.execute_script(COUNT)
    pages = printed(browser)
    assert all(b"Tj" in page or b"TJ" in page for page in pages)
    assert browser.execute_script("return window.printedRows") == 1000


def test_nothing_covers_and_nothing_is_cut_off_on_paper(browser, open_sites, make_run):
    open_sites(make_run(30, 6))
    names = "#tab-sites table.data tr[data-index] > :first-child"
    assert set(browser.execute_script(STYLES, names, "position")) == {"sticky"}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    for place in (names, ".top", "table.data thead th"):
        assert set(browser.execute_script(STYLES, place, "position")) == {"static"}, place
    for place in (".scroller", ".holder", ".alignment", ".wide"):
        assert set(browser.execute_script(STYLES, place, "overflowY")) == {"visible"}, place
    assert set(browser.execute_script(STYLES, ".spacer", "display")) == {"none"}
    assert set(browser.execute_script(STYLES, ".genotype, .depths span, .mark", "printColorAdjust")) == {"exact"}


def test_sites_are_printed_one_a_page(browser, open_sites, make_run):
    """Those that the filter leaves, in the colours of the light scheme; afterwards nothing of it is left."""
    open_sites(make_run(9, 30, variants=3))
    browser.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": "dark"}]}
    )
    browser.execute_async_script(PRINT_SITES, "chr1:1-900")
    assert browser.execute_script(COLOUR) == "#ffffff"
    pages = printed(browser)
    assert len(pages) == 4 + 1
    assert all(b"Tj" in page or b"TJ" in page for page in pages)
    assert browser.execute_script("return document.querySelectorAll('.sheet').length") == 0
    assert browser.execute_script(COLOUR) == "#1c2027"


def test_a_panel_with_all_samples_open_has_one_page(browser, open_sites, make_run):
    open_sites(make_run(2, 60, samples=[f"s{number}" for number in range(8)]))
    browser.execute_script("for (const one of document.querySelectorAll('.holder details')) one.open = true")
    assert len(printed(browser)) == 2 + 1


WATCH = """
window.addEventListener("beforeprint", () => {
  const foot = getComputedStyle(document.documentElement).getPropertyValue("--running");
  const cells = [...document.querySelectorAll(".colophon td")].map((one) => one.textContent);
  window.said = [foot, cells];
});
"""


def test_each_print_says_what_it_is_of(browser, open_report, make_run):
    """Title, version, day and use are at the foot of each page; at the end are the files and the calls' header."""
    run = make_run(2, 6)
    open_report(*run.arguments, "--title", 'A "run" \\')
    browser.execute_script(WATCH)
    printed(browser)
    foot, cells = browser.execute_script("return window.said")
    day = browser.execute_script("return new Date().toLocaleDateString('sv')")
    title = r'"A \"run\" \\ · '
    assert foot == f'{title}pairhmm {pairhmm.__version__} · printed on {day} · for research use"'
    for path in (run.reference, run.calls, run.table, run.hits):
        sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
        place = cells.index(str(path))
        assert cells[place + 1 : place + 3] == [f"{path.stat().st_size:,}", sha256]
    assert cells[-3:] == [str(run.calls), "pairhmmVersion", "1"]
    assert browser.find_elements("css selector", ".colophon") == []
    # The last part has them already.
    browser.open_tab("run")
    printed(browser)
    assert browser.execute_script("return window.said")[1] == []


ANOTHER = """
document.querySelectorAll("#tab-sites tr[data-index]")[3].click();
const holder = document.querySelector(".holder");
return [getComputedStyle(holder).display, holder.querySelector("h2").textContent];
"""
TWICE = """
const done = arguments[0];
let times = 0;
window.print = () => (times += 1);
const button = [...document.querySelectorAll("#tab-sites .list .tools button")].at(-1);
button.click();
button.click();
const wait = () => {
  if (!times) return setTimeout(wait, 20);
  setTimeout(() => done([times, document.querySelectorAll(".sheets").length]), 300);
};
wait();
"""


def test_the_panel_of_another_site_is_not_printed(browser, open_sites, make_run):
    """While the reads of the chosen site are still loaded, the site before is on the screen alone."""
    open_sites(make_run(9, 30))
    first = browser.execute_script("return document.querySelector('.panel h2').textContent")
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    assert browser.execute_script(ANOTHER) == ["none", first]


def test_sheets_are_made_once_and_printed_alone(browser, open_sites, make_run):
    open_sites(make_run(9, 30))
    assert browser.execute_async_script(TWICE) == [1, 1]
    # A print of the browser's own, while they are made, has none of them.
    browser.execute_script("document.documentElement.classList.remove('printing-sheets')")
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    assert browser.execute_script(STYLES, ".sheets", "display") == ["none"]
