"""The harness for tests of apps: `strata_testing`, with `strata test`."""

import json
import os
import pathlib
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import unittest
from unittest import mock

from support import CLIENT, PATIENCE, environment, strata_bus, strata_program

import strata_testing
from strata_testing import Failed

MANIFEST = """
app: harness
schemes: [rules]
settings: {rules.mood: calm}
guests: {level: topout, most: 2}
modules:
  Fetcher: {level: basic, run: [fetcher.py], provides: [Fetcher], observes: [rules.alarm]}
  Rules: {level: middle, run: [rules.py], provides: [Rules], urls: {"rules/show/:rule": Rules/show}}
  Screen: {level: topout, start: manual, observes: [rules.told]}
  Broken: {level: topout, start: on-demand, restart: never, run: [broken.py], provides: [Broken]}
"""

RULES = """
import strata_bus
module = strata_bus.Module("Rules")
changes = strata_bus.Topic()
module.stream_from("Rules/changes", changes, starting_with=lambda call: [{"state": "all", "extra": 1}])

@module.action("Rules/check")
async def check(call):
    print("checking", call.params, flush=True)
    return {"rule": call.params, "said": await module.call("Fetcher/get", {"url": "a", "timeout": 5})}

@module.action("Rules/status")
def status(call):
    return {"disk": "on", "net": {"ports": [1, 2], "up": True}, "mood": module.context.settings.get("rules.mood")}

module.action("Rules/show")(lambda call: call.params)

@module.action("Rules/refuse")
def refuse(call):
    raise strata_bus.BusError("Rules.none", "there is no such rule")

@module.action("Rules/push")
async def push(call):
    await changes.send(call.params)

@module.action("Rules/finish")
def finish(call):
    changes.finish(strata_bus.BusError("Rules.over", "no more") if call.params else None)

@module.action("Rules/tell")
def tell(call):
    module.broadcast("rules.told", {"rule": "disk", "on": True}, object="disk")

@module.action("Rules/alarm")
async def alarm(call):
    return await module.report("rules.alarm", {"loud": 5}, to="Fetcher")

@module.action("Rules/parts")
async def parts(call):
    stream = module.stream("Fetcher/parts")
    return [[part async for part in stream], stream.result]

@module.action("Rules/impatient")
async def impatient(call):
    return await module.call("Fetcher/get", deadline=0.05)

@module.observe("fetch.done")
async def done(notice):
    await changes.send(["done", notice.params])

@module.event("app.hurry")
def hurry(call):
    return call.params["how"] == "much"

module.main()
"""


class AppCase(unittest.TestCase):
    """A folder with an app."""

    def setUp(self) -> None:
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="strata harness ")))
        self.manifest = self.folder / "strata.yaml"
        self.manifest.write_text(MANIFEST)
        self.program("rules.py", RULES)
        self.program("broken.py", "import sys\nprint('it is broken', flush=True)\nsys.exit(3)")
        self.enterContext(mock.patch.dict(os.environ, {"STRATA": strata_program(), "PYTHONPATH": str(CLIENT)}))

    def program(self, name: str, text: str) -> None:
        path = self.folder / name
        path.write_text(f"#!{sys.executable}\n{text}")
        path.chmod(0o755)

    def fails(self, *texts: str) -> "unittest.case._AssertRaisesContext[Failed]":
        """Fails with a message that has all these texts."""
        return self.assertRaisesRegex(Failed, "(?s)" + "".join(f"(?=.*{text})" for text in texts))


class HarnessTests(AppCase):
    def setUp(self) -> None:
        super().setUp()
        self.app = self.enterContext(strata_testing.app(self.manifest, play=["Fetcher"]))
        self.app.wait_ready()
        self.tool, self.fetcher = self.app.tool(), self.app.module("Fetcher")

    def settle_rules(self) -> None:
        """Waits until Rules has sent what follows from the calls before.

        Its tasks begin after all calls that it has read at once, so it takes two rounds.
        """
        for _ in range(2):
            self.tool.expect("Rules/status", gives={})

    # -- calls

    def test_a_played_module_answers_what_it_expects(self) -> None:
        asked = self.tool.ask("Rules/check", "disk")
        call = self.fetcher.expect_call("Fetcher/get", {"url": "a"})
        self.assertEqual((call.params, call.call.sender), ({"url": "a", "timeout": 5}, "Rules"))
        call.reply({"status": 200})
        self.assertEqual(asked.gives({"said": {"status": 200}}), {"rule": "disk", "said": {"status": 200}})
        with self.fails("answered already"):
            call.reply()
        with self.fails("expected to give the call up"):
            call.expect_cancelled()
        self.fetcher.expect_nothing()

    def test_it_fails_and_its_caller_gets_that(self) -> None:
        asked = self.tool.ask("Rules/check")
        self.fetcher.expect_call("Fetcher/get").fail("Fetcher.offline", "no cable", body={"since": 1})
        error = asked.refused("Fetcher.offline")
        self.assertEqual((error.message, error.body), ("no cable", {"since": 1}))

    def test_it_answers_with_a_stream(self) -> None:
        asked = self.tool.ask("Rules/parts")
        call = self.fetcher.expect_call("Fetcher/parts")
        for part in range(3):
            call.partial_reply(part)
        call.reply("end")
        asked.gives([[0, 1, 2], "end"])

    def test_a_caller_that_gives_up_is_seen(self) -> None:
        asked = self.tool.ask("Rules/impatient")
        self.fetcher.expect_call("Fetcher/get").expect_cancelled()
        asked.refused("failed")
        asked = self.tool.ask("Rules/check")
        call = self.fetcher.expect_call("Fetcher/get")
        with self.fails("expected to give the call up"):
            call.expect_cancelled(within=0.01)
        for look in (asked.gives, asked.refused):
            with self.fails("Rules/check: an answer was expected: it didn't come within 0.01 s"):
                look("x", within=0.01)
        asked.cancel()
        call.expect_cancelled()

    def test_another_call_than_expected_fails(self) -> None:
        self.tool.ask("Rules/check", "disk")
        self.assertIn("Rules", self.app.expect_line("checking disk"))
        with self.fails("Fetcher expected a call of Fetcher/put, and got one of Fetcher/get", "last lines:.*checking d"):
            self.fetcher.expect_call("Fetcher/put")
        self.tool.ask("Rules/check")
        with self.fails('other params: .*url is "a" instead of "b"', 'expected: {"url": "b"}', "came: .*timeout"):
            self.fetcher.expect_call("Fetcher/get", {"url": "b"})
        with self.fails("expected a call of Fetcher/get: it didn't come within 0.01 s"):
            self.fetcher.expect_call("Fetcher/get", within=0.01)

    def test_what_is_not_expected_is_told(self) -> None:
        self.fetcher.expect_nothing()
        self.tool.ask("Rules/check")
        self.fetcher.expect_call("Fetcher/get")
        self.tool.ask("Rules/check")
        self.tool.ask("Rules/alarm")
        self.settle_rules()
        with self.fails("expected nothing, and got a call of Fetcher/get with", "the notice rules.alarm with"):
            self.fetcher.expect_nothing()

    def test_a_standing_answer_needs_no_expectation(self) -> None:
        self.fetcher.answers("Fetcher/get", 1)
        self.tool.expect("Rules/check", gives={"said": 1})
        self.fetcher.answers("Fetcher/get", lambda call: call.params["url"] + call.sender)
        self.tool.expect("Rules/check", gives={"said": "aRules"})

        async def later(call: strata_bus.Call) -> strata_bus.BusError:
            return strata_bus.BusError("Fetcher.offline")

        self.fetcher.answers("Fetcher/get", later, params={"url": "a"})
        self.tool.refused("Rules/check", with_="Fetcher.offline")
        self.fetcher.answers("Fetcher/get", 2, params={"url": "other"})
        self.tool.refused("Rules/check", with_="Fetcher.offline")
        self.fetcher.expect_nothing()

    # -- notices

    def test_notices_are_expected(self) -> None:
        screen = self.app.module("Screen")
        self.assertIs(self.app.module("Screen"), screen)
        for _ in range(3):
            self.tool.call("Rules/tell")
        screen.expect_notice("rules.told", {"on": True}, object="disk", sender="Rules")
        with self.fails("expected the notice other, and got rules.told with"):
            screen.expect_notice("other")
        with self.fails("another object"):
            screen.expect_notice("rules.told", object="net")
        with self.fails("rules.told: it didn't come within 0.01 s"):
            screen.expect_notice("rules.told", within=0.01)
        self.tool.call("Rules/tell")
        with self.fails("needs no answer"):
            screen.expect_notice("rules.told").reply()

    def test_a_report_waits_for_its_answer(self) -> None:
        asked = self.tool.ask("Rules/alarm")
        notice = self.fetcher.expect_notice("rules.alarm", {"loud": 5})
        self.assertEqual((notice.notice.via, notice.notice.level), ("report", "middle"))
        notice.reply()
        asked.gives(1)
        asked = self.tool.ask("Rules/alarm")
        self.fetcher.expect_notice("rules.alarm").fail("Fetcher.deaf", "what?")
        asked.refused("Fetcher.deaf")

    def test_a_played_module_may_observe_more(self) -> None:
        guest = self.app.module("Guest", observes=["rules.told"])
        self.tool.call("Rules/tell")
        guest.expect_notice("rules.told")

    def test_a_played_module_sends(self) -> None:
        with self.tool.stream("Rules/changes") as changes:
            changes.expect({"state": "all"})
            self.assertEqual(self.fetcher.broadcast("fetch.done", {"n": 1}), 1)
            changes.expect(["done", {"n": 1}])
        screen = self.app.module("Screen")
        screen.expect("Rules/status", gives={"disk": "on"})
        self.assertEqual(screen.report("fetch.done", 5, to="Rules"), 1)
        self.assertEqual(self.fetcher.report("rules.unknown", to="Fetcher"), 0)

    # -- tools

    def test_a_part_of_the_body_is_enough(self) -> None:
        for part in ({}, {"net": {"up": True}}, {"net": {"ports": [1, ...]}}, ..., {"disk": mock.ANY}):
            whole = self.tool.expect("Rules/status", gives=part)
            self.assertEqual(whole["mood"], "calm")
        for wrong, where in (
            ({"disk": "off"}, r"\$\.disk is \"on\" instead of \"off\""), ({"ram": 1}, r"\$ has no ram"),
            ({"net": {"ports": [1]}}, r"\$\.net\.ports has 2 elements instead of 1"),
            ({"net": {"ports": [1, 3]}}, r"\$\.net\.ports\[1\] is 2"),
            ({"net": {"up": 1}}, r"\$\.net\.up is true instead of 1"),
            ([], r"\$ is {"), ({"net": {"ports": {}}}, r"\$\.net\.ports is \[1, 2\]"),
        ):  # fmt: skip
            with self.fails("Rules/status gave something else: " + where, "expected: ", "came: .*calm"):
                self.tool.expect("Rules/status", gives=wrong)

    def test_what_fails_is_not_given(self) -> None:
        with self.fails("expected to give 1, and failed: Rules.none: there is no such rule"):
            self.tool.expect("Rules/refuse", gives=1)
        with self.fails("expected to fail with Rules.some, and failed with Rules.none"):
            self.tool.refused("Rules/refuse", with_="Rules.some")
        with self.fails("expected to fail with Rules.none, and gave {.*calm"):
            self.tool.refused("Rules/status", with_="Rules.none")
        self.assertEqual(self.tool.refused("Rules/refuse", with_="Rules.none").message, "there is no such rule")
        with self.assertRaises(strata_bus.BusError):
            self.tool.call("Rules/refuse")
        with self.assertRaises(strata_bus.BusError) as raised:
            self.tool.call("Rules/check", within=0.05)
        self.assertEqual(raised.exception.code, "deadline-exceeded")

    def test_a_tool_opens_emits_and_notifies(self) -> None:
        self.assertEqual(self.tool.emit("app.hurry", {"how": "much"}, policy="all")["answer"], True)
        with self.tool.stream("Rules/changes") as changes:
            changes.expect()
            self.assertEqual(self.tool.notify("fetch.done", 1, level="basic"), 1)
            changes.expect(["done", 1])
        self.assertEqual(self.tool.open("rules://rules/show/disk"), {"rule": "disk"})

    # -- streams

    def test_a_stream_is_read_element_by_element(self) -> None:
        changes = self.tool.stream("Rules/changes")
        changes.expect({"state": "all"})
        changes.expect_nothing()
        self.tool.call("Rules/push", 1)
        self.tool.call("Rules/push", 2)
        self.assertEqual((changes.expect(1), changes.missed), (1, 0))
        with self.fails("sent another element: .* is 2 instead of 3"):
            changes.expect(3)
        with self.fails("it didn't come within 0.01 s"):
            changes.expect(within=0.01)
        self.tool.call("Rules/push", 4)
        changes.expect(4)
        self.tool.call("Rules/finish")
        changes.expect_end(None)
        self.assertEqual(list(self.tool.stream("Rules/changes")), [{"state": "all", "extra": 1}])

    def test_a_stream_ends_with_an_error(self) -> None:
        streams = [self.tool.stream("Rules/changes") for _ in range(4)]
        for stream in streams:
            stream.expect()
        self.tool.call("Rules/finish", True)
        self.assertEqual(streams[0].expect_error("Rules.over").message, "no more")
        with self.fails("the error Rules.late was expected, and the stream ended with Rules.over"):
            streams[1].expect_error("Rules.late")
        with self.fails("an element was expected, and the stream ended with Rules.over"):
            streams[2].expect()
        with self.fails("the end was expected, and the stream ended with Rules.over"):
            streams[3].expect_end()
        late = self.tool.stream("Rules/changes")
        with self.fails("the end was expected, and {.*state.* came"):
            late.expect_end()

    def test_what_a_stream_sends_unexpectedly_is_told(self) -> None:
        changes = self.tool.stream("Rules/changes")
        changes.expect()
        with self.fails("an element was expected: it didn't come"):
            changes.expect(within=0.01)
        self.tool.call("Rules/push", 1)
        self.settle_rules()
        with self.fails("nothing was expected, and 1 came"):
            changes.expect_nothing()

    # -- rows

    def test_a_row_that_has_failed_ends_the_wait(self) -> None:
        asked = self.tool.ask("Broken/call")
        self.app.expect_line("it is broken")
        with self.fails("expected to write 'never said', and did not"):
            self.app.expect_line("never said", within=0.01)
        with self.fails("Broken has failed: .*3", "last lines:.*it is broken"):
            self.app.wait_ready("Rules", "Broken")
        asked.refused("unavailable")
        with self.fails("no row Nobody"):
            self.app.wait_ready("Nobody")

    def test_a_row_that_is_not_ready_is_named(self) -> None:
        with self.fails("it didn't come within 0.05 s", "Screen is absent"):
            self.app.wait_ready("Rules", "Screen", within=0.05)
        with self.fails("no row Nobody"):
            self.app.state("Nobody")

    def test_a_row_that_runs_can_not_be_played(self) -> None:
        with self.fails("the test can't be Rules: .*is Rules in play"):
            self.app.module("Rules")

    def test_a_module_may_be_killed(self) -> None:
        before = self.app.state("Rules")
        self.assertEqual(before["state"], "ready")
        asked = self.tool.ask("Rules/check")
        self.fetcher.expect_call("Fetcher/get")
        os.kill(before["pid"], signal.SIGKILL)
        asked.refused("died")
        self.app.wait_ready("Rules")
        self.tool.expect("Rules/status", gives={"disk": "on"})
        self.assertNotEqual(self.app.state("Rules")["pid"], before["pid"])


class AppTests(AppCase):
    def test_nothing_is_left_of_it(self) -> None:
        with strata_testing.app(self.manifest, play=["Fetcher"]) as app:
            app.wait_ready("Rules")
            pid, socket = app.state("Rules")["pid"], app.socket
            app.tool().ask("Rules/check")
            app.module("Fetcher").expect_call("Fetcher/get")  # and never answers
            self.assertTrue(os.path.exists(socket))
            self.assertIn(app.expect_line("checking"), app.lines)
        self.assertFalse(os.path.exists(socket))
        with self.assertRaises(ProcessLookupError):
            os.kill(pid, 0)

    def test_it_ends_when_the_test_is_killed(self) -> None:
        test = (
            "import strata_testing, sys\n"
            "with strata_testing.app(sys.argv[1], play=['Fetcher']) as app:\n"
            "    app.wait_ready('Rules')\n"
            "    print(app.state('Rules')['pid'], flush=True)\n"
            "    app.module('Fetcher').expect_call('Fetcher/get')\n"
        )
        process = subprocess.Popen(
            [sys.executable, "-c", test, str(self.manifest)], env=environment(STRATA=strata_program()),
            stdout=subprocess.PIPE, text=True)  # fmt: skip
        with process:
            assert process.stdout is not None
            rules = os.pidfd_open(int(process.stdout.readline()))
            try:
                process.kill()
                self.assertTrue(select.select([rules], [], [], PATIENCE)[0], "the module still runs")
            finally:
                os.close(rules)

    def test_a_played_row_is_there_for_the_start_of_others(self) -> None:
        self.program("rules.py", (
            "import strata_bus\nmodule = strata_bus.Module('Rules')\nmodule.action('Rules/a')(lambda call: 1)\n"
            "@module.did_start\nasync def started():\n"
            "    while True:\n"
            "        try:\n            print('got', await module.call('Fetcher/get'), flush=True)\n            return\n"
            "        except strata_bus.BusError as error:\n            assert error.code == 'unavailable', error\n"
            "module.main()\n"))  # fmt: skip
        with strata_testing.app(self.manifest, play=["Fetcher"]) as app:
            app.module("Fetcher").expect_call("Fetcher/get").reply(7)
            app.wait_ready("Rules")

    def test_settings_are_given(self) -> None:
        with strata_testing.app(self.manifest, play=["Fetcher"], settings={"rules.mood": ["wild", 1]}) as app:
            app.wait_ready("Rules")
            app.tool().expect("Rules/status", gives={"mood": ["wild", 1]})

    def test_an_app_that_can_not_start_says_why(self) -> None:
        self.manifest.write_text("app: harness\nmodules:\n  Rules: {level: none}\n")
        with self.fails("the app can't start: strata test ended with the exit code 3", "last lines:.*none"):
            with strata_testing.app(self.manifest):
                raise AssertionError
        self.manifest.write_text(MANIFEST)
        with self.fails("exit code 2", "did you mean Fetcher"):
            with strata_testing.app(self.manifest, play=["Fetchr"]):
                raise AssertionError

    def test_an_app_that_ends_fails_what_waits(self) -> None:
        with self.fails("the app has ended, with the exit code"):
            with strata_testing.app(self.manifest, play=["Fetcher"]) as app:
                app.wait_ready("Rules")
                assert app._process is not None
                app._process.terminate()
                app.module("Fetcher").expect_call("Fetcher/get")

    def test_an_error_of_the_test_passes_through(self) -> None:
        with self.assertRaises(ZeroDivisionError):
            with strata_testing.app(self.manifest, play=["Fetcher"]):
                raise ZeroDivisionError

    def test_it_uses_the_app_of_strata_test_around_it(self) -> None:
        test = (
            "import strata_testing\n"
            "with strata_testing.app(None, play=['Fetcher']) as app:\n"
            "    app.wait_ready('Rules')\n"
            "    asked = app.tool().ask('Rules/check', 'disk')\n"
            "    app.module('Fetcher').expect_call('Fetcher/get').reply(5)\n"
            "    print(asked.gives({'said': 5}))\n"
        )
        run = subprocess.run(
            [strata_program(), "test", str(self.manifest), "--play", "Fetcher", "--", sys.executable, "-c", test],
            env=environment(), capture_output=True, text=True, timeout=PATIENCE)  # fmt: skip
        self.assertEqual((run.returncode, run.stdout), (0, "{'rule': 'disk', 'said': 5}\n"), run.stderr)
        with mock.patch.dict(os.environ):
            os.environ.pop("STRATA_SOCKET", None)
            with self.fails("run it by `strata test`"):
                with strata_testing.app(None):
                    raise AssertionError

    def test_the_program_is_found_beside_the_manifest(self) -> None:
        below = self.folder / "apps"
        (self.folder / ".build" / "debug").mkdir(parents=True)
        below.mkdir()
        with mock.patch.dict(os.environ, {"PATH": ""}):
            del os.environ["STRATA"]
            with self.fails("there is no program strata"):
                strata_testing._program(below / "strata.yaml")
            built = self.folder / ".build" / "debug" / "strata"
            built.write_text("")
            self.assertEqual(strata_testing._program(below / "strata.yaml"), str(built))

    def test_it_works_with_the_bundle(self) -> None:
        copies = self.folder / "copies"
        copies.mkdir()
        subprocess.run([sys.executable, CLIENT / "bundle", copies / "strata_bus.py"], check=True, timeout=PATIENCE)
        shutil.copy(CLIENT / "strata_testing.py", copies)
        test = textwrap.dedent(f"""
            import strata_testing
            with strata_testing.app({str(self.manifest)!r}, play=["Fetcher"]) as app:
                app.wait_ready("Rules")
                fetcher, tool = app.module("Fetcher"), app.tool()
                asked = tool.ask("Rules/alarm")
                fetcher.expect_notice("rules.alarm").reply()
                asked.gives(1)
                asked = tool.ask("Rules/parts")
                call = fetcher.expect_call("Fetcher/parts")
                call.partial_reply(1)
                call.reply(2)
                asked.gives([[1], 2])
                tool.stream("Rules/changes").expect()
        """)
        run = subprocess.run(
            [sys.executable, "-c", test], env=environment(PYTHONPATH=str(copies), STRATA=strata_program()),
            capture_output=True, text=True, timeout=PATIENCE)  # fmt: skip
        self.assertEqual((run.returncode, run.stdout), (0, ""), run.stderr)


PYTEST = """
import strata_testing

rules_app = strata_testing.strata_app("strata.yaml", play=["Fetcher"], scope="module")

def test_one(rules_app):
    rules_app.wait_ready("Rules")
    rules_app.tool().expect("Rules/status", gives={"disk": "on"})

def test_other(rules_app):
    rules_app.tool().expect("Rules/status", gives={"disk": "off"})
"""


class PytestTests(AppCase):
    def test_a_fixture_runs_the_app(self) -> None:
        try:
            import pytest  # type: ignore[import-not-found,unused-ignore]  # noqa: F401
        except ImportError:
            self.skipTest("there is no pytest")
        (self.folder / "test_rules.py").write_text(PYTEST)
        run = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"], cwd=self.folder,
            env=environment(STRATA=strata_program()), capture_output=True, text=True, timeout=PATIENCE)  # fmt: skip
        self.assertIn("1 failed, 1 passed", run.stdout, run.stderr)
        self.assertIn('$.disk is "on" instead of "off"', run.stdout)

    def test_pytest_is_needed_for_the_fixture_only(self) -> None:
        run = subprocess.run(
            [sys.executable, "-c", "import sys, json, strata_testing; print(json.dumps('pytest' in sys.modules))"],
            env=environment(), capture_output=True, text=True, timeout=PATIENCE)  # fmt: skip
        self.assertIs(json.loads(run.stdout), False)
