"""The panels of `pairhmm map` as a browser shows them: drawn, moved by sliders and keys, and linked from the flags."""

import pytest

from tests.report.cohort_tables import write_tables

TEXT = "return document.querySelector(arguments[0]).textContent"
SLIDE = """
const input = document.querySelectorAll(".sliders input")[arguments[0]];
input.value = arguments[1];
input.dispatchEvent(new Event("input"));
"""
IMAGE = "return document.querySelectorAll('.map canvas')[1].toDataURL()"


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    return {clean: write_tables(tmp_path_factory.mktemp("c"), clean=clean) for clean in (False, True)}


def test_flags_come_first_and_lead_to_their_rows(browser, open_report, folders):
    open_report(*folders[False].arguments)
    flags = [one.text for one in browser.find_elements("css selector", "#tab-cohort .flag")]
    assert flags == ["6 samples: swap?", "4 samples: duplicate", "2 samples: contaminated"]
    browser.find_elements("css selector", "#tab-cohort .flag")[2].click()
    names = [one.text for one in browser.find_elements("css selector", "#tab-relate tr[data-index] > :first-child")]
    assert "F04-mother" in names and "F15-child1" in names
    assert [one.text for one in browser.find_elements("css selector", "#tab-relate .counted")][1] == "2 of 60 samples"


def test_without_flags_the_first_screen_says_so(browser, open_report, folders):
    open_report(*folders[True].arguments)
    assert "No swaps, duplicates or contamination found" in browser.execute_script(TEXT, ".flags")
    open_report("--pairs", folders[True].pairs)
    said = browser.execute_script(TEXT, ".flags")
    assert "No swaps or duplicates found" in said and "Contamination was not estimated." in said


def test_the_map_follows_sliders_and_keys(browser, open_report, folders):
    from selenium.webdriver import Keys

    open_report(*folders[False].arguments)
    browser.open_tab("map")
    assert browser.colours(".map canvas") > 10 and browser.colours(".map canvas", 1) > 10
    shown = browser.execute_script(TEXT, ".map")
    # What can be trusted more comes first.
    captions = [one.text for one in browser.find_elements("css selector", ".map figcaption")]
    assert captions == ["Exact scaling trustworthiness 0.934", "Map trustworthiness 0.713"]
    # The settings of the table give its positions.
    assert "do not give the positions" not in shown
    before = browser.execute_script(IMAGE)
    browser.execute_script(SLIDE, 0, 0)
    assert browser.execute_script(IMAGE) != before
    shares = [one.text for one in browser.find_elements("css selector", ".sliders output")]
    assert shares == ["0.00", "0.60", "0.40", "0.30"]
    recomputed = browser.find_elements("css selector", ".map figcaption")[1].text
    assert recomputed == "Map recomputed; the trustworthiness is not known"
    browser.find_element("css selector", ".sliders button").click()
    assert browser.execute_script(IMAGE) == before
    canvas = browser.find_elements("css selector", ".map canvas")[1]
    canvas.send_keys(Keys.ARROW_RIGHT)
    first = browser.execute_script(TEXT, ".chosen")
    canvas.send_keys(Keys.ARROW_LEFT)
    assert first.startswith("sample F01-father") and browser.execute_script(TEXT, ".chosen") != first


def test_a_map_that_its_settings_do_not_give_is_told(browser, open_report, folders, tmp_path):
    text = folders[False].map.read_text().replace("##pairhmmMapAlpha=0.3", "##pairhmmMapAlpha=0.8")
    (tmp_path / "other.tsv").write_text(text)
    open_report("--map", tmp_path / "other.tsv")
    browser.open_tab("map")
    assert "do not give the positions of the table" in browser.execute_script(TEXT, ".map")


def test_distances_and_pairs_are_drawn(browser, open_report, folders):
    open_report(*folders[False].arguments)
    browser.open_tab("map")
    assert browser.colours(".tree canvas") > 20
    assert browser.colours(".tree canvas", 1) > 1
    browser.open_tab("relate")
    assert browser.colours("#tab-relate .wide canvas") > 10


@pytest.mark.parametrize("tab", ["cohort", "relate", "map"])
def test_nothing_is_wider_than_a_phone(browser, open_report, folders, tab):
    size = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        open_report(*folders[False].arguments)
        browser.open_tab(tab)
        assert browser.execute_script("return document.documentElement.scrollWidth") <= 390
        widths = "return [...document.querySelectorAll('.map canvas')].map((one) => one.getBoundingClientRect().right)"
        assert all(right <= 375 for right in browser.execute_script(widths))
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
