"""The page is usable: at every width, in light and dark, with the keyboard alone, and by those who hear it."""

from __future__ import annotations

import hashlib

import pytest

WIDTHS = (1400, 800, 390)
SCHEMES = ("light", "dark")
STATES = ("empty", "chosen", "done", "explained", "stopped")


def bring_to(page, tiny, tmp_path, state: str) -> None:
    """One of the states that a user meets."""
    if state == "empty":
        return
    page.give(tiny)
    if state == "stopped":
        (tmp_path / "notes.txt").write_text("x")
        page.give([tmp_path / "notes.txt"])
        page.element("region").send_keys("nowhere")
        page.press_run()
        page.wait("document.getElementById('problem').textContent")
    elif state == "done":
        page.run()
        page.wait('document.querySelector("canvas.heatmap")')
    elif state == "explained":
        page.explain("q:1,817")


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_nothing_is_wider_than_the_window(page, tiny, tmp_path, emulate, screenshots, scheme, state):
    bring_to(page, tiny, tmp_path, state)
    for width in WIDTHS:
        emulate(width, scheme)
        page.wait(f"innerWidth == {width}")
        if screenshots is not None:
            page.driver.save_screenshot(str(screenshots / f"{state}-{scheme}-{width}.png"))
        assert page.js("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_axe_finds_nothing(page, tiny, tmp_path, emulate, axe, scheme, state):
    emulate(1400, scheme)
    bring_to(page, tiny, tmp_path, state)
    assert axe(page.driver) == []


def test_files_have_checksums_and_prints_end_with_them(page, tiny):
    page.give(tiny)
    page.element("region").send_keys("q:1-9,000")
    page.run()
    cells = page.wait(
        "document.querySelector('#made td') && [...document.querySelectorAll('#made td')].map((one) => one.textContent)"
    )
    for what, path in (("alignments", tiny[0]), ("reference", tiny[2])):
        sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
        place = cells.index(what)
        assert cells[place : place + 4] == [what, path.name, f"{path.stat().st_size:,}", sha256]
    assert cells[cells.index("-r") + 1] == "q:1-9,000" and cells[cells.index("--model") + 1] == "gatk"
    page.driver.execute_script(
        "window.addEventListener('beforeprint', () => (window.end = "
        "[...document.querySelectorAll('.colophon td')].map((one) => one.textContent)))"
    )
    page.driver.execute_cdp_cmd("Page.printToPDF", {})
    assert page.js("window.end") == cells


def test_the_keyboard_is_enough(page, tiny):
    from selenium.webdriver import ActionChains, Keys

    def press(*keys: str) -> None:
        ActionChains(page.driver).send_keys(*keys).perform()

    def go_to(test: str) -> None:
        """Press Tab until the focus is where it is wanted."""
        for _ in range(80):
            if page.js(f"(({test})(document.activeElement))"):
                return
            press(Keys.TAB)
        raise AssertionError(f"the keyboard never came to {test}")

    go_to("(one) => one.id == 'files'")
    page.give(tiny)
    go_to("(one) => one.id == 'region'")
    press("q:1-6,000")
    go_to("(one) => one.id == 'run'")
    press(Keys.ENTER)
    page.wait("document.documentElement.dataset.runs")
    go_to("(one) => one.download == 'calls.vcf'")
    go_to("(one) => one.className == 'scroller'")
    press(Keys.ARROW_DOWN, Keys.ARROW_DOWN)
    page.wait("document.querySelector('.panel h2').textContent.includes('1,817')")
    go_to("(one) => one.className == 'heatmap'")
    press(Keys.ARROW_DOWN)
    assert "chooses" in page.text("announcer")
    go_to("(one) => one.tagName == 'SUMMARY' && one.parentElement.id == 'setup'")
    press(Keys.ENTER)
    go_to("(one) => one.ariaLabel == 'Remove q.fa'")
    press(Keys.ENTER)
    assert page.text("missing") == "Still needed: reference"


def test_files_are_dropped(page, tiny):
    """As a drag over the page ends: the files are those of the event."""
    page.js(
        """(() => {
            const transfer = new DataTransfer();
            transfer.items.add(new File(["x"], "reads.bam"));
            transfer.items.add(new File(["x"], "ref.fa"));
            const told = {dataTransfer: transfer, bubbles: true, cancelable: true};
            document.body.dispatchEvent(new DragEvent("drop", told));
        })()"""
    )
    assert page.text("missing") == ""
    assert "reads.bam" in page.text("slots") and "ref.fa" in page.text("slots")
