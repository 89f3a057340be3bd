"""A real browser: two people label by keyboard until the machine has done its round."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from tests.web.conftest import token_for
from tests.web.projects import CLASSES, handed_out, made, points
from tests.web.test_admin import REAL_RUN

_FLAGS = "--no-sandbox --disable-gpu --no-first-run --disable-background-networking --disable-component-update"
_WIDE, _NARROW = {"width": 1280, "height": 860}, {"width": 390, "height": 844}
_STORY = (
    "We took the night train to the coast and walked from the station to a small hotel above the harbour.\n\n"
    "The owner showed us a map of the island, and in the morning there was fresh bread, lemon marmalade and coffee."
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        program = None
    if program is None:
        reason = "browser tests need Chromium and the package playwright"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=program, args=[*_FLAGS.split(), "--disable-sync"])
        yield opened
        opened.close()


@pytest.fixture
def shots(tmp_path: Path) -> Path:
    """Where pictures go; LABELSIEVE_SCREENSHOTS keeps them."""
    folder = Path(os.environ.get("LABELSIEVE_SCREENSHOTS", tmp_path / "shots"))
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def opened(browser: Any, address: str, token: str | None = None, size: dict[str, int] = _WIDE, **more: Any) -> Any:
    """A page of a person of their own, which fails the test on any script error or blocked resource."""
    page = browser.new_context(viewport=size, **more).new_page()
    page.problems = []
    page.on("pageerror", lambda error: page.problems.append(str(error)))
    page.on("console", lambda said: page.problems.append(said.text) if said.type == "error" else None)
    page.goto(f"{address}/enter?token={token}" if token else f"{address}/label")
    page.wait_for_url("**/label")
    page.wait_for_selector("#desk")
    return page


def shown_row(page: Any) -> int:
    return int(page.locator("#desk input[name=row]").first.input_value())


def press(page: Any, key: str) -> None:
    """Press a key and wait until the item has changed."""
    before = page.locator("#desk").element_handle()
    page.keyboard.press(key)
    page.wait_for_function("old => !old.isConnected", arg=before)


def state(page: Any) -> str:
    return str(page.locator("#desk").get_attribute("data-state"))


class TestLabelling:
    def test_two_people_by_keyboard_until_the_round_advances(
        self, browser: Any, serving: Callable[..., str], tmp_path: Path, shots: Path
    ) -> None:
        texts = [f"{_STORY}\n\nEntry {row}" for row in range(400)]
        folder = made(tmp_path / "holiday-notes", texts)
        truth = points(400)[1]
        address = serving(folder, tokens=True, run_command=(*REAL_RUN, str(folder)), pause=0.2)
        ann = opened(browser, address, token_for(folder, "ann", "admin"))
        bob = opened(browser, address, token_for(folder, "bob"), _NARROW)
        people, rows = {"ann": ann, "bob": bob}, []
        for name, page in people.items():
            page.wait_for_selector("#desk[data-state=question]", timeout=60_000)
            assert page.evaluate("document.activeElement.closest('#item') !== null"), name
        ann.screenshot(path=shots / "label-1280.png")
        bob.screenshot(path=shots / "label-390.png")
        while any(state(page) == "question" for page in people.values()):
            for page in people.values():
                if state(page) == "question":
                    rows.append(shown_row(page))
                    press(page, str(truth[rows[-1]] + 1))
        assert len(rows) == len(set(rows)) == 20
        bob.screenshot(path=shots / "waiting-390.png")
        for page in people.values():  # nobody presses anything: the page goes on by itself
            page.wait_for_selector("#desk[data-state=question]", timeout=60_000)
            assert shown_row(page) not in rows
            assert page.problems == []
        while state(ann) != "done":
            if state(ann) == "question":
                press(ann, str(truth[shown_row(ann)] + 1))
            elif state(bob) == "question":
                press(bob, str(truth[shown_row(bob)] + 1))
            else:
                ann.wait_for_timeout(100)
        for name, size in (("1280", _WIDE), ("390", _NARROW)):
            ann.set_viewport_size(size)
            for where in ("dashboard", "review"):
                ann.goto(f"{address}/{where}")
                ann.wait_for_load_state("networkidle")
                ann.screenshot(path=shots / f"{where}-{name}.png", full_page=where == "dashboard")
                assert ann.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), (where, name)
        ann.goto(f"{address}/dashboard")
        assert ann.locator(".panels img").count() > 0
        ann.wait_for_function(
            "() => [...document.querySelectorAll('.panels img')].every(i => (i.loading = 'eager') && i.naturalWidth)"
        )
        ann.goto(f"{address}/review")
        ann.get_by_role("checkbox").first.check()
        ann.get_by_role("button", name="Accept the ticked").click()
        ann.get_by_text("1 of").first.wait_for()
        ann.get_by_role("combobox", name="Right label").first.select_option(index=2)
        ann.get_by_role("button", name="Set").first.click()
        ann.get_by_text("2 of").first.wait_for()
        ann.get_by_text("in this choice").first.click()
        ann.get_by_role("button", name="Yes, accept").click()
        ann.get_by_text("Nothing is left in this choice.").wait_for()
        assert ann.problems == bob.problems == []

    def test_undo_skip_and_not_sure_by_keyboard(self, browser: Any, serving: Callable[..., str], folder: Path) -> None:
        first, second, third, *_ = handed_out(folder)
        page = opened(browser, serving(folder))
        undo = page.get_by_role("button", name="Undo")
        assert undo.count() == 0
        press(page, "2")
        assert page.locator("#session").inner_text() == "1"
        assert shown_row(page) == second
        assert undo.count() == 1
        press(page, "u")
        assert undo.count() == 0
        assert shown_row(page) == first
        assert "Taken back" in page.locator("[role=status]").inner_text()
        assert page.evaluate("document.activeElement.closest('#item') !== null")
        press(page, "s")
        press(page, "n")
        assert shown_row(page) == third
        page.keyboard.press("9")  # no such class
        page.keyboard.press("Control+1")
        page.wait_for_timeout(200)
        assert shown_row(page) == third
        for _ in range(6):  # as fast as it can be: every item is answered once
            page.keyboard.press("1")
        page.wait_for_timeout(500)
        assert page.problems == []
        assert page.get_by_role("button", name="food").count() == 1
        page.get_by_role("button", name="food").focus()
        press(page, "Enter")
        assert page.problems == []

    def test_long_texts_are_scrolled_by_keys(
        self, browser: Any, serving: Callable[..., str], tmp_path: Path, shots: Path
    ) -> None:
        folder = made(tmp_path / "p", [f"{_STORY}\n" * 30] * 3, kind="text", data="posts.csv", asked=[0, 1, 2])
        page = opened(browser, serving(folder))
        scrolled = "() => document.querySelector('#item .text').scrollTop > 100"
        for row in handed_out(folder)[:2]:
            assert shown_row(page) == row
            assert page.evaluate("document.querySelector('#item .text').scrollTop") == 0
            page.keyboard.press("PageDown")
            page.wait_for_function(scrolled, timeout=5000)
            assert page.evaluate("window.scrollY") == 0
            press(page, "1")
        page.screenshot(path=shots / "long-1280.png")
        assert page.problems == []

    def test_markup_stays_inert(self, browser: Any, serving: Callable[..., str], tmp_path: Path, shots: Path) -> None:
        nasty = '<script>window.hacked = 1</script><img src="x" onerror="window.hacked = 1">\n'
        texts = [nasty * 3 + "שלום \u202eevil 👩\u200d🚀 " + "W" * 3000, "x"]
        folder = made(
            tmp_path / "p",
            texts,
            classes=[nasty.strip(), "\u05d0" * 20, "c" * 90],
            asked=[0],
            machine=[1],
            ids=[nasty, "x"],
        )
        for size in (_WIDE, _NARROW):
            page = opened(browser, serving(folder), size=size)
            page.wait_for_timeout(200)
            assert page.evaluate("window.hacked") is None
            assert page.locator("#item img, #item script").count() == 0
            assert nasty.strip() in page.locator(".text").inner_text()
            assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
            page.screenshot(path=shots / f"nasty-{size['width']}.png")
            page.goto(page.url.replace("/label", "/review"))
            assert page.evaluate("window.hacked") is None
            assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
            page.goto(page.url.replace("/review", "/dashboard"))
            assert page.evaluate("window.hacked") is None
            assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
            assert page.problems == []

    def test_images_in_the_dark(self, browser: Any, serving: Callable[..., str], tmp_path: Path, shots: Path) -> None:
        pictures = tmp_path / "pictures"
        pictures.mkdir()
        Image.fromarray(np.arange(64, dtype=np.uint8).reshape(8, 8) * 4).save(pictures / "a.png")
        Image.fromarray(np.full((900, 1600, 3), 120, dtype=np.uint8)).save(pictures / "b.jpg")
        classes = [f"digit {number}" for number in range(10)]
        folder = made(
            tmp_path / "p", ["a.png", "b.jpg"], classes=classes, kind="image", data=str(pictures), asked=[0, 1]
        )
        page = opened(browser, serving(folder), size=_NARROW, color_scheme="dark")
        page.screenshot(path=shots / "image-390-dark.png")
        press(page, "a")  # the tenth class
        page.wait_for_function("() => document.querySelector('#item img').naturalWidth === 1600")
        page.set_viewport_size(_WIDE)
        page.screenshot(path=shots / "image-1280-dark.png")
        assert page.problems == []

    def test_review_by_keyboard(self, browser: Any, serving: Callable[..., str], tmp_path: Path, shots: Path) -> None:
        texts = ["asked", f"{_STORY}\n" * 9, "a short one", f"{_STORY}\n" * 9]
        folder = made(tmp_path / "p", texts, kind="text", data="posts.csv", asked=[0], machine=[1, 2, 3])
        page = opened(browser, serving(folder))
        page.goto(page.url.replace("/label", "/review"))
        accept = page.get_by_role("button", name="Accept the ticked")
        assert accept.is_disabled()
        page.get_by_role("checkbox").nth(1).focus()
        page.keyboard.press("Space")
        assert accept.is_enabled()
        page.keyboard.press("Space")
        assert accept.is_disabled()
        text, opener = page.locator(".excerpt").first, page.locator("details.whole summary").first
        hidden = "text => text.scrollHeight > text.clientHeight"
        assert text.evaluate(hidden)
        page.screenshot(path=shots / "review-closed.png")
        opener.focus()
        page.keyboard.press("Enter")
        assert not text.evaluate(hidden)
        page.screenshot(path=shots / "review-open.png", full_page=True)
        page.set_viewport_size(_NARROW)
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        page.screenshot(path=shots / "review-open-390.png", full_page=True)
        page.get_by_role("checkbox").first.check()
        accept.click()
        page.get_by_text("1 of 3 have been looked at").wait_for()
        assert page.problems == []

    def test_without_scripts(self, browser: Any, serving: Callable[..., str], folder: Path) -> None:
        page = opened(browser, serving(folder), java_script_enabled=False)
        page.get_by_role("button", name=CLASSES[0]).click()
        page.wait_for_url("**/label")
        assert "1 of 12" in page.locator(".progress").inner_text()
        page.goto(page.url.replace("/label", "/review"))
        page.get_by_role("button", name="Accept the ticked").click()
        page.get_by_text("Nothing was ticked").wait_for()
