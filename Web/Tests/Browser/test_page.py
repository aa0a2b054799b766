"""The page in a real browser, with a real app."""

from __future__ import annotations

import os
import signal
import threading
import unittest
from typing import Any

from support import PageCase
from webdriver import Browser

STATE = "return document.querySelector('#map .box[data-module=%s]')?.dataset.state"
HOSTILE = "<img src=x onerror=alert(1)>"


class PageTest(PageCase):
    browser: Browser

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.browser = Browser()
        cls.addClassCleanup(cls.browser.close)

    def setUp(self) -> None:
        self.browser.open("about:blank")
        self.browser.open(self.page.url)
        self.browser.wait("the app", "return document.querySelector('#connection').dataset.state == 'connected'")
        self.browser.wait("the map", "return document.querySelectorAll('#map .box').length == 3")

    def tearDown(self) -> None:
        self.assertEqual(self.browser.errors(), [])

    def state(self, module: str, state: str) -> None:
        self.browser.wait(f"{module} is {state}", (STATE % module) + f" == '{state}'")

    def watch(self, module: str) -> None:
        """Notes each state of a module in `seen`."""
        self.browser.run(
            """const name = arguments[0]; window.seen = [];
               new MutationObserver(() => seen.push(document.querySelector(`#map .box[data-module=${name}]`)?.dataset.state))
                 .observe(document.querySelector('#map'), {subtree: true, attributes: true, attributeFilter: ['data-state']})""",
            module,
        )

    def filter(self, text: str, kind: str = "") -> None:
        """Shows only some frames, because the tape has only the rows that fit."""
        self.browser.run(
            """const set = (id, value) => { const field = document.getElementById(id); field.value = value;
                 for (const type of ['input', 'change']) field.dispatchEvent(new Event(type, {bubbles: true})) };
               set('tape-text', arguments[0]); set('tape-kind', arguments[1])""", text, kind
        )

    # MARK: What it shows

    def test_the_map_has_each_module_and_its_levels(self) -> None:
        for module in ("Store", "Log", "Cart"):
            self.state(module, "ready")
        text = self.browser.run("return document.querySelector('#map').textContent")
        for level in ("basic", "middle", "topout"):
            self.assertIn(level, text)
        self.assertEqual(self.browser.run("return document.querySelector('#app-name').textContent"), "webtest")
        self.assertNotIn(self.page.token, self.browser.run("return location.href"), "the token stays in the address")

    def test_a_killed_module_is_seen_and_comes_back(self) -> None:
        self.state("Log", "ready")
        self.watch("Log")
        os.kill(self.app.pid("Log"), signal.SIGKILL)
        self.browser.wait("the death of Log", "return seen.some(state => state && state != 'ready')")
        self.state("Log", "ready")

    def test_the_page_lives_on_when_the_broker_is_replaced_or_killed(self) -> None:
        self.browser.run("window.kept = true")
        self.app.strata("restart", "--broker")
        self.state("Store", "ready")
        os.kill(self.app.broker(), signal.SIGKILL)
        self.app.wait_for("Store", "Log", "Cart")
        self.watch("Log")
        os.kill(self.app.pid("Log"), signal.SIGKILL)
        self.browser.wait("the death of Log", "return seen.some(state => state && state != 'ready')")
        for module in ("Store", "Log", "Cart"):
            self.state(module, "ready")
        self.assertTrue(self.browser.run("return window.kept"), "the page was loaded anew")

    def test_traffic_moves_on_the_lines_and_in_the_tape(self) -> None:
        self.page.ask("/api/call", {"to": "Cart/add", "params": {"name": "pear"}})
        for edge in ("call:Cart:Store", "broadcast:Store:Cart", "report:Cart:Log"):
            self.browser.wait(
                edge, "const line = document.querySelector(`[data-edge='${arguments[0]}']`); return line != null", edge
            )
        self.filter("Store/put", "call")
        self.browser.wait(
            "the call in the tape",
            """return [...document.querySelectorAll('#tape .frame:not([hidden])')]
                 .some(row => row.dataset.kind == 'call' && row.textContent.includes('Store/put'))""",
        )

    def test_a_calls_path_is_a_tree(self) -> None:
        self.filter("Cart/add", "call")
        self.page.ask("/api/call", {"to": "Cart/add", "params": {"name": "fig"}})
        row = """[...document.querySelectorAll('#tape .frame:not([hidden])')]
                 .find(row => row.dataset.kind == 'call' && row.textContent.includes('Cart/add'))"""
        self.browser.wait("the call", f"return {row} != null")
        self.browser.run(f"{row}.click()")
        self.browser.wait(
            "the path",
            """const text = document.querySelector('#frame .trace')?.textContent ?? '';
               return text.includes('Cart/add') && text.includes('Store/put')""",
        )

    def test_an_open_path_goes_on_with_its_call(self) -> None:
        self.filter("Cart/add", "call")
        store = self.app.pid("Store")
        asking = threading.Thread(
            target=self.page.ask, args=("/api/call", {"to": "Cart/add", "params": {"name": "plum"}})
        )
        os.kill(store, signal.SIGSTOP)
        try:
            asking.start()
            row = """[...document.querySelectorAll('#tape .frame:not([hidden])')]
                     .find(row => row.dataset.kind == 'call' && row.textContent.includes('plum'))"""
            self.browser.wait("the call", f"return {row} != null")
            self.browser.run(f"{row}.click()")
            self.path_of_the_call("the call without an answer", "…")
        finally:
            os.kill(store, signal.SIGCONT)
            asking.join()
        self.path_of_the_call("the answer", "s")

    def path_of_the_call(self, what: str, took: str) -> None:
        """Waits until the path has two calls, and such an end stands beside each."""
        self.browser.wait(
            what,
            """const rows = [...document.querySelectorAll('#frame .trace tbody tr')];
               const has = (name) => rows.some(row => row.textContent.includes(name)
                 && row.querySelector('.number').textContent.endsWith(arguments[0]));
               return has('Cart/add') && has('Store/put')""", took
        )

    def test_a_module_opens_with_reasons_lines_and_signatures(self) -> None:
        self.browser.click("#map .box[data-module=Store]")
        self.browser.wait("the panel", "return document.querySelector('#panel').dataset.moduleShown == 'Store'")
        self.browser.click("#panel [data-tab=log]")
        self.browser.wait("its lines", "return document.querySelector('#panel').textContent.includes('the store is open')")
        self.browser.click("#panel [data-tab=offers]")
        self.browser.wait(
            "its signatures",
            "return document.querySelector('#panel-offers').textContent.includes('put(name: string, count?: integer')",
        )

    # MARK: Acting

    def open_form(self, action: str) -> str:
        self.browser.run("location.hash = '#module=Store&tab=offers'")
        details = f'details[data-action-name="{action}"]'
        self.browser.wait("the action", "return document.querySelector(arguments[0]) != null", details)
        self.browser.run("document.querySelector(arguments[0]).open = true", details)
        form = f'form[data-action="{action}"]'
        self.browser.wait("the form", "return document.querySelector(arguments[0]) != null", form)
        return form

    def test_a_form_calls_and_shows_the_answer(self) -> None:
        form = self.open_form("Store/put")
        filled = self.browser.run(
            """const form = document.querySelector(arguments[0]);
               const field = [...form.querySelectorAll('input')].find(i => i.closest('label, .field')?.textContent.includes('name'));
               field.focus(); return document.activeElement === field""", form
        )
        self.assertTrue(filled)
        self.browser.keys("quince")
        self.browser.run("document.querySelector(arguments[0]).requestSubmit()", form)
        self.browser.wait(
            "the answer", "return document.querySelector(arguments[0] + ' .answer')?.textContent.includes('quince')", form
        )
        _, answer = self.page.ask("/api/call", {"to": "Store/get", "params": {"name": "quince"}})
        self.assertEqual(answer["reply"], 1)

    def test_an_error_is_shown_with_ran(self) -> None:
        form = self.open_form("Store/put")
        self.browser.run(
            """const form = document.querySelector(arguments[0]);
               const set = (name, value) => {
                 const field = [...form.querySelectorAll('input')].find(i => i.closest('label, .field')?.textContent.includes(name));
                 field.value = value; field.dispatchEvent(new Event('input', {bubbles: true}));
                 field.dispatchEvent(new Event('change', {bubbles: true})) };
               set('name', 'melon'); set('count', '101'); form.requestSubmit()""", form
        )
        self.browser.wait(
            "the error",
            """const answer = document.querySelector(arguments[0] + ' .answer');
               return answer?.textContent.includes('Store.full') && answer.querySelector('[data-ran=yes]') != null""",
            form,
        )

    def test_the_matrix_explains_a_refusal(self) -> None:
        self.browser.click("#tab-matrix")
        cell = "#matrix td[data-sender=Cart][data-interface=Log]"
        self.browser.wait("the matrix", "return document.querySelector(arguments[0])?.dataset.result == 'refused'", cell)
        self.assertEqual(self.browser.run("return document.querySelector(arguments[0]).dataset.code", cell), "undeclared")
        self.browser.run("(document.querySelector(arguments[0] + ' button') ?? document.querySelector(arguments[0])).click()", cell)
        self.browser.wait(
            "the reason",
            """const text = document.querySelector('#why')?.textContent ?? '';
               return text.includes('strata.yaml') && text.includes('requires')""",
        )

    def test_a_refused_call_in_the_tape_leads_to_its_reason(self) -> None:
        self.page.ask("/api/call", {"to": "Cart/wrong"})
        self.browser.wait("the refused call", "return document.querySelector('#tape .frame[data-bad] .why') != null")
        self.browser.run("document.querySelector('#tape .frame[data-bad] .why').click()")
        self.browser.wait(
            "the reason", "return document.querySelector('#why .judgement[data-allowed=false]') != null"
        )

    # MARK: Hostile and narrow

    def test_markup_from_the_app_stays_text(self) -> None:
        self.page.ask("/api/call", {"to": "Store/odd", "params": {"name": HOSTILE}})
        self.page.ask("/api/call", {"to": HOSTILE + "/" + HOSTILE, "params": {"a": HOSTILE}})
        self.browser.wait("the name as text", "return document.querySelector('#tape').textContent.includes(arguments[0])", HOSTILE)
        self.assertEqual(self.browser.run("return document.querySelectorAll('main img, main script, main b').length"), 0)

    def test_a_foreign_host_gets_no_page(self) -> None:
        self.browser.open(f"http://rebinding.example:{self.page.port}/")
        text = self.browser.run("return document.body.innerText")
        self.assertIn("isn't served", text)
        self.browser.errors()

    def test_without_the_token_the_page_asks_for_it(self) -> None:
        self.browser.run("sessionStorage.clear()")
        self.browser.open("about:blank")
        self.browser.open(self.page.url.split("#")[0])
        self.browser.wait("the question", "return !document.querySelector('#gate').hidden")
        self.browser.errors()

    def test_it_fits_a_phone_a_tablet_and_a_desk(self) -> None:
        try:
            for width in (360, 768, 1440):
                self.browser.resize(width, 800)
                self.browser.wait("the map", "return document.querySelectorAll('#map .box').length == 3")
                wide = self.browser.run("return document.documentElement.scrollWidth")
                self.assertLessEqual(wide, width, "the page is wider than the screen")
        finally:
            self.browser.resize(1440, 900)

    def test_all_is_reached_by_keys(self) -> None:
        self.browser.run("document.querySelector('#map .box[data-module]').focus()")
        self.browser.keys("\ue007")
        self.browser.wait("the panel", "return !document.querySelector('#panel').hidden")
        self.browser.keys("\ue00c")
        self.browser.wait("its end", "return document.querySelector('#panel').hidden")
        self.browser.run("document.activeElement.blur()")
        self.browser.keys("/")
        self.browser.wait("the search", "return document.activeElement?.id == 'search'")
        self.browser.keys("Sto\ue007")
        self.browser.wait("Store", "return document.querySelector('#panel').dataset.moduleShown == 'Store'")

    def test_reduced_motion_has_no_dots(self) -> None:
        self.browser.media(prefers_reduced_motion="reduce")
        try:
            self.browser.run("location.reload()")
            self.browser.wait("the map", "return document.querySelectorAll('#map .box').length == 3")
            for _ in range(3):
                self.page.ask("/api/call", {"to": "Cart/add"})
            self.browser.wait("the call", "return document.querySelector('#tape').textContent.includes('Cart/add')")
            moving = "return [...document.querySelectorAll('#map .dots')].filter(path => path.getAttribute('d')).length"
            self.assertEqual(self.browser.run(moving), 0)
        finally:
            self.browser.media(prefers_reduced_motion="no-preference")

    def test_the_number_of_elements_stays_the_same(self) -> None:
        def nodes() -> Any:
            return self.browser.run("return document.querySelectorAll('*').length")

        def storm() -> None:
            self.page.ask("/api/call", {"to": "Store/storm", "params": {"seconds": 3}, "timeout": 60000})

        storm()
        before = nodes()
        for _ in range(3):
            storm()
        self.assertLess(abs(nodes() - before), 60)
        figures = self.browser.run("return window.strataFigures")
        self.assertGreater(figures["updates"], 10)


if __name__ == "__main__":
    unittest.main()
