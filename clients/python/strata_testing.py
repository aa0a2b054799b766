"""A harness for tests of an app: it runs the app of a manifest, plays modules of it, and asks.

    import strata_testing

    with strata_testing.app("strata.yaml", play=["Fetcher"]) as app:
        tool, fetcher = app.tool(), app.module("Fetcher")
        app.wait_ready("Rules")
        asked = tool.ask("Rules/check", {"rule": "disk"})
        fetcher.expect_call("Fetcher/get", {"url": "a"}).reply({"status": 200})
        asked.gives({"state": "on"})
        tool.expect("Rules/status", gives={"disk": "on"})

It needs the program `strata`, whose command `strata test` runs the app, and `strata_bus` beside it.
Tests are plain functions: everything here blocks. The client runs on a thread of its own.

An expected body may be a part of the real one: members that aren't named are ignored, at any depth,
and `...` stands for any value. Every expectation has `within`, in seconds; without it it fails after
120 s, or after `STRATA_TEST_PATIENCE`. The guide is README.md beside this file.
"""

import asyncio
import collections
import importlib
import json
import math
import os
import pathlib
import queue
import shutil
import subprocess
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable, Iterator, Mapping
from typing import Any, NoReturn, Self, TypeVar

import strata_bus

__all__ = ["App", "Asked", "Failed", "OpenStream", "PlayedModule", "ReceivedCall", "ReceivedNotice", "Tool", "app",
           "strata_app"]  # fmt: skip

_ResultT = TypeVar("_ResultT")
_LINES = 200
"""The app's lines that are kept."""
_SHOWN = 40
"""The lines that a failure shows."""
_POLL = 0.05
"""How often it is looked whether the app has ended, in seconds, while a test waits."""


class Failed(AssertionError):
    """An expectation that wasn't met, or an app that can't be run. It shows the app's last lines."""


def app(
    manifest: str | os.PathLike[str] | None = "strata.yaml",
    *,
    play: Iterable[str] = (),
    settings: Mapping[str, Any] | None = None,
    node: str | None = None,
    strata: str | None = None,
    within: float | None = None,
) -> "App":
    """Returns an app to be run by `with`: all its rows as they are, but for those that are played.

    Args:
        manifest: the app's manifest. None is the app of the `strata test` that runs this program.
        play: the rows that the test plays. They run no process, and are connected before `with`
            returns, because other rows may call them in their own start.
        settings: values for the manifest's settings, such as `{"log.level": "debug"}`.
        node: which node this is, in an app with nodes.
        strata: the program. By default `STRATA` names it, or it is in `PATH`, or in `.build` of the
            manifest's folder or of one above it.
        within: seconds for the start.
    """
    return App(manifest, tuple(play), dict(settings or {}), node, strata, within)


def strata_app(
    manifest: str | os.PathLike[str] | None = "strata.yaml",
    *,
    scope: str = "function",
    name: str | None = None,
    **options: Any,
) -> Any:
    """Returns a pytest fixture that runs an app: `rules_app = strata_testing.strata_app("strata.yaml", …)`.

    Args:
        scope: how long one app lasts, as pytest names it.
        name: the fixture's name, if it isn't the variable's.
        options: those of `app`.
    """
    pytest: Any = importlib.import_module("pytest")

    def fixture() -> Iterator[App]:
        with app(manifest, **options) as running:
            yield running

    return pytest.fixture(scope=scope, name=name)(fixture)


class App:
    """A running app: `app` makes one. It ends with the `with` block, and everything of it with it."""

    def __init__(
        self, manifest: str | os.PathLike[str] | None, play: tuple[str, ...], settings: dict[str, Any],
        node: str | None, strata: str | None, within: float | None,
    ) -> None:  # fmt: skip
        self.socket = ""
        """The path of the bus's socket."""
        self._manifest = None if manifest is None else pathlib.Path(manifest).resolve()
        self._play = play
        self._settings = settings
        self._node = node
        self._strata = strata
        self._within = within
        self._process: subprocess.Popen[str] | None = None
        self._lines: collections.deque[str] = collections.deque(maxlen=_LINES)
        self._written = threading.Condition()
        self._threads: list[threading.Thread] = []
        self._loop: asyncio.AbstractEventLoop | None = None
        self._operator: strata_bus.Operator | None = None
        self._modules: dict[str, PlayedModule] = {}
        self._tools: list[Tool] = []

    @property
    def lines(self) -> list[str]:
        """The last lines that the app and its modules have written; 200 at most."""
        with self._written:
            return list(self._lines)

    def expect_line(self, text: str, *, within: float | None = None) -> str:
        """Waits until one of the last lines has this text. Returns the line."""
        limit = time.monotonic() + _patience(within)
        while True:
            with self._written:
                for line in self._lines:
                    if text in line:
                        return line
                self._written.wait(min(_POLL, max(0.0, limit - time.monotonic())))
            if time.monotonic() >= limit or not self._is_running:
                self._fail(f"the app was expected to write {text!r}, and did not")

    def module(self, name: str, *, observes: Iterable[str] = ()) -> "PlayedModule":
        """Returns a row that the test plays. It brings what its row provides and observes.

        A row with `start: manual`, and a guest, needn't be in `play`; it is connected now.

        Args:
            observes: notifications that it observes besides its row's.
        """
        module = self._modules.get(name)
        if module is None:
            module = self._run(self._connected(name), None, f"connecting as {name}")
        for notification in observes:
            module.call("bus/observe", {"name": notification})
        return module

    def tool(self) -> "Tool":
        """Returns an operator's tool, such as `strata call`."""
        tool = self._run(self._connected_tool(), None, "connecting a tool")
        self._tools.append(tool)
        return tool

    def wait_ready(self, *rows: str, within: float | None = None) -> None:
        """Waits until rows are ready: these, or all that start by themselves.

        Fails at once if one has failed for good.
        """
        names = set(rows) or {row["name"] for row in self._rows() if row["start"] in ("eager", "async")}
        if unknown := names - {row["name"] for row in self._rows()} - set(self._modules):
            self._fail(f"the manifest has no row {', '.join(sorted(unknown))}")
        missing = set(names)

        async def wait() -> None:
            assert self._operator is not None
            async with self._operator.watch() as states:
                async for state in states:
                    if state["module"] in missing and state["state"] == "ready":
                        missing.discard(state["module"])
                    elif state["module"] in missing and state["state"] == "failed":
                        raise Failed(f"{state['module']} has failed: {state.get('reason', 'no reason is known')}")
                    if not missing:
                        return

        try:
            self._run(wait(), within, "waiting for rows to be ready")
        except Failed as failed:
            text = str(failed).partition("\n")[0]
            for row in self._rows() if self._is_running else []:
                if row["name"] in missing:
                    text += f"\n  {row['name']} is {row['state']}" + (f": {row['reason']}" if "reason" in row else "")
            self._fail(text)

    def state(self, row: str) -> dict[str, Any]:
        """Returns what `bus/modules` says of a row: `state`, `pid`, `restarts` and more."""
        for one in self._rows():
            if one["name"] == row:
                return one
        self._fail(f"the manifest has no row {row}")

    def _rows(self) -> list[dict[str, Any]]:
        assert self._operator is not None
        answer = self._run(self._operator.call("bus/modules"), None, "asking for the rows")
        rows: list[dict[str, Any]] = answer["modules"]
        return rows

    # -- beginning and end

    def __enter__(self) -> Self:
        self._loop = asyncio.new_event_loop()
        self._begin_thread(self._loop.run_forever, "strata client")
        try:
            self._start()
            self._operator = self._run(self._connected_operator(), self._within, "connecting to the bus")
            for name in self._play:
                self._run(self._connected(name), self._within, f"connecting as {name}")
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        code = self._end()
        if kind is None and code:
            self._fail(f"the app ended with the exit code {code}")

    def _start(self) -> None:
        """Starts `strata test`, and waits until the bus takes connections."""
        if self._manifest is None:
            self.socket = os.environ.get("STRATA_SOCKET", "")
            if not self.socket:
                self._fail("there is no app around this program: run it by `strata test`, or name a manifest")
            return
        command = [self._strata or _program(self._manifest), "test", str(self._manifest)]
        for name in self._play:
            command += ["--play", name]
        for key, value in self._settings.items():
            command += ["--set", f"{key}={value if isinstance(value, str) else json.dumps(value)}"]
        if self._node is not None:
            command += ["--node", self._node]
        # Its standard input ends with this process, however that ends, and so does the app.
        holder = ["sh", "-c", 'echo "$STRATA_SOCKET"; exec cat > /dev/null']
        environment = {name: value for name, value in os.environ.items() if name not in _OF_A_BUS}
        process = subprocess.Popen(
            [*command, "--", *holder], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, errors="replace", env=environment)  # fmt: skip
        self._process = process
        said: queue.Queue[str] = queue.Queue()

        def read_lines() -> None:
            assert process.stderr is not None
            for line in process.stderr:
                with self._written:
                    self._lines.append(line.rstrip("\n"))
                    self._written.notify_all()

        def read_socket() -> None:
            assert process.stdout is not None
            said.put(process.stdout.readline())

        self._begin_thread(read_lines, "strata lines")
        self._begin_thread(read_socket, "strata socket")
        try:
            self.socket = said.get(timeout=_patience(self._within)).strip()
        except queue.Empty:
            self._fail(f"the app didn't start within {_patience(self._within):g} s")
        if not self.socket:
            process.wait()
            self._threads[1].join()  # so that all its lines are there
            self._fail(f"the app can't start: strata test ended with the exit code {process.returncode}")

    def _begin_thread(self, work: Callable[[], None], name: str) -> None:
        thread = threading.Thread(target=work, name=name, daemon=True)
        thread.start()
        self._threads.append(thread)

    def _end(self) -> int:
        """Ends all of it. Returns the app's exit code, 0 if it isn't this harness's."""
        assert self._loop is not None
        try:
            asyncio.run_coroutine_threadsafe(self._close(), self._loop).result(_patience(None))
        finally:
            code = self._end_process()
            self._loop.call_soon_threadsafe(self._loop.stop)
            for thread in self._threads:
                thread.join()
            self._loop.close()
        return code

    async def _close(self) -> None:
        for module in self._modules.values():
            module._player.give_up()
        for bus in [module._bus for module in self._modules.values()] + [tool._bus for tool in self._tools]:
            await bus.close()
        if self._operator is not None:
            await self._operator.close()
        others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    def _end_process(self) -> int:
        process = self._process
        if process is None:
            return 0
        assert process.stdin is not None and process.stdout is not None and process.stderr is not None
        process.stdin.close()
        try:
            code = process.wait(_patience(None))
        except subprocess.TimeoutExpired:
            process.kill()
            code = process.wait()
        for thread in self._threads[1:]:
            thread.join()
        process.stdout.close()
        process.stderr.close()
        return code

    # -- on the client's thread

    async def _connected_operator(self) -> strata_bus.Operator:
        operator = strata_bus.Operator(self.socket)
        await operator.connect()
        return operator

    async def _connected_tool(self) -> "Tool":
        return Tool(self, await self._connected_operator(), "the tool")

    async def _connected(self, name: str) -> "PlayedModule":
        assert self._operator is not None
        listed = (await self._operator.call("bus/interfaces"))["interfaces"]
        player = _Player(name, [row["name"] for row in listed if row["module"] == name])
        try:
            await player.connect(self.socket)
        except strata_bus.BusError as error:
            raise Failed(f"the test can't be {name}: {error}: is {name} in play=[…]?") from None
        self._modules[name] = PlayedModule(self, player, name)
        return self._modules[name]

    # -- on the test's thread

    @property
    def _is_running(self) -> bool:
        return self._process is None or self._process.poll() is None

    def _run(self, work: Coroutine[Any, Any, _ResultT], within: float | None, doing: str) -> _ResultT:
        """Runs work on the client's thread, and waits for it; `doing` is for the failure."""
        assert self._loop is not None
        seconds = _patience(within)
        limit = time.monotonic() + seconds
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            while True:
                try:
                    return future.result(min(_POLL, max(0.0, limit - time.monotonic())))
                except TimeoutError:
                    if future.done():
                        raise
                    if not self._is_running:
                        assert self._process is not None
                        self._fail(f"{doing}: the app has ended, with the exit code {self._process.returncode}")
                    if time.monotonic() >= limit:
                        self._fail(f"{doing}: it didn't come within {seconds:g} s")
        except Failed as failed:
            self._fail(str(failed).partition("\nThe app's last lines:")[0])
        finally:
            future.cancel()

    def _fail(self, text: str) -> NoReturn:
        """Raises Failed, with the app's last lines."""
        if lines := self.lines[-_SHOWN:]:
            text += "\nThe app's last lines:" + "".join(f"\n  {line}" for line in lines)
        raise Failed(text) from None


class _Peer:
    """What tools and played modules have in common: requests."""

    def __init__(self, app: App, bus: strata_bus.Module | strata_bus.Operator, name: str) -> None:
        self._app = app
        self._bus = bus
        self._name = name

    def call(self, to: str, params: Any = None, *, within: float | None = None) -> Any:
        """Calls `Interface/action`, and returns the reply's value. Raises the `strata_bus.BusError` if it fails."""
        return self.ask(to, params, within=within).result()

    def ask(self, to: str, params: Any = None, *, within: float | None = None) -> "Asked":
        """Begins a call, whose answer the test looks at later: it may have to play a part meanwhile."""
        return Asked(self._app, to, self._bus.call(to, params, deadline=_patience(within)), within)

    def open(self, url: str, *, within: float | None = None) -> Any:
        """Opens a URL, and returns the value that its action answers."""
        return Asked(self._app, url, self._bus.open(url, deadline=_patience(within)), within).result()

    def expect(self, to: str, params: Any = None, *, gives: Any, within: float | None = None) -> Any:
        """Calls, and fails unless the reply has what is expected. Returns the whole reply."""
        return self.ask(to, params, within=within).gives(gives)

    def refused(self, to: str, params: Any = None, *, with_: str, within: float | None = None) -> strata_bus.BusError:
        """Calls, and fails unless the answer is an error with this code. Returns the error."""
        return self.ask(to, params, within=within).refused(with_)

    def stream(self, to: str, params: Any = None, *, credit: int = 16) -> "OpenStream":
        """Begins a stream."""
        return OpenStream(self._app, to, self._bus, self._bus.stream(to, params, deadline=math.inf, credit=credit))

    def report(self, name: str, params: Any = None, *, to: str, within: float | None = None) -> int:
        """Reports to a module, and returns the number of its observers when they are done."""
        work = self._bus.report(name, params, to=to, deadline=_patience(within))
        count: int = Asked(self._app, f"the report {name}", work, within).result()
        return count

    def emit(self, event: str, params: Any = None, *, policy: str = "notify", within: float | None = None) -> Any:
        """Emits an event. Returns `{"answer": …, "answers": […]}`."""
        work = self._bus.emit(event, params, policy=policy, deadline=_patience(within))
        return Asked(self._app, f"the event {event}", work, within).result()

    def settle(self) -> None:
        """Makes a round trip: whatever the bus had sent to this peer before is here then."""
        self._app._run(self._bus.call("bus/ping"), None, f"a round trip of {self._name}")


class Tool(_Peer):
    """An operator's tool: it asks the app's modules."""

    def notify(self, name: str, params: Any = None, *, level: str, object: str | None = None) -> int:
        """Broadcasts as a module of that level would. Returns the number of queued notices."""
        assert isinstance(self._bus, strata_bus.Operator)
        work = self._bus.notify(name, params, level=level, object=object)
        count: int = Asked(self._app, f"the notice {name}", work, None).result()
        return count


class PlayedModule(_Peer):
    """A row that the test plays: it expects calls and notices in their order, and answers them."""

    def __init__(self, app: App, player: "_Player", name: str) -> None:
        super().__init__(app, player, name)
        self._player = player

    def expect_call(self, to: str, params: Any = ..., *, within: float | None = None) -> "ReceivedCall":
        """Waits for the next call, and fails if it is another one, or has other params."""
        doing = f"{self._name} expected a call of {to}"
        call = self._app._run(self._player.calls.get(), within, doing)
        if call.to != to:
            self._app._fail(f"{doing}, and got one of {call.to} with {_json(call.params)}")
        _check(self._app, f"{self._name} was called at {to} with other params", params, call.params)
        return call

    def expect_notice(
        self, name: str, params: Any = ..., *, object: Any = ..., sender: Any = ..., within: float | None = None
    ) -> "ReceivedNotice":
        """Waits for the next notice, and fails if it is another one, or has another content."""
        doing = f"{self._name} expected the notice {name}"
        notice = self._app._run(self._player.notices.get(), within, doing)
        if notice.name != name:
            self._app._fail(f"{doing}, and got {notice.name} with {_json(notice.params)}")
        _check(self._app, f"{self._name} got the notice {name} with another content", params, notice.params)
        _check(self._app, f"{self._name} got the notice {name} about another object", object, notice.object)
        _check(self._app, f"{self._name} got the notice {name} from another sender", sender, notice.sender)
        return notice

    def expect_nothing(self) -> None:
        """Fails if a call or a notice has come that the test hasn't expected."""
        self.settle()
        left = [f"a call of {call.to} with {_json(call.params)}" for call in _rest(self._player.calls)]
        left += [f"the notice {notice.name} with {_json(notice.params)}" for notice in _rest(self._player.notices)]
        if left:
            self._app._fail(f"{self._name} expected nothing, and got " + "; ".join(left))

    def answers(self, to: str, answer: Any, *, params: Any = ...) -> None:
        """Answers each such call from now on, so that the test needn't expect it.

        Args:
            answer: the reply's value; a `BusError` to fail with; or a function of the
                `strata_bus.Call` that returns either, which may be `async def`. It runs on the
                client's thread.
            params: which calls; others are left to the test. The last answer that fits is taken.
        """
        self._player.standing.insert(0, (to, params, answer))

    def broadcast(self, name: str, params: Any = None, *, object: str | None = None) -> int:
        """Notifies all observers in later levels. Returns the number of queued notices."""
        work = self._player.broadcast_and_count(name, params, object=object)
        count: int = Asked(self._app, f"the broadcast {name}", work, None).result()
        return count


class Asked:
    """A call that was begun."""

    def __init__(self, app: App, to: str, work: Awaitable[Any], within: float | None) -> None:
        assert app._loop is not None
        self._app = app
        self._to = to
        self._within = within

        async def ask() -> Any:
            return await work

        self._future = asyncio.run_coroutine_threadsafe(ask(), app._loop)

    def result(self, *, within: float | None = None) -> Any:
        """Waits for the reply, and returns its value. Raises the `strata_bus.BusError` if it failed."""
        # The bus's own deadline comes first, and says more.
        seconds = _patience(self._within) + 5 if within is None else within

        async def wait() -> Any:
            # A test that gives up doesn't end the call.
            return await asyncio.shield(asyncio.wrap_future(self._future))

        return self._app._run(wait(), seconds, f"{self._to}: an answer was expected")

    def gives(self, expected: Any, *, within: float | None = None) -> Any:
        """Waits for the reply, and fails unless it has what is expected. Returns the whole reply."""
        try:
            value = self.result(within=within)
        except strata_bus.BusError as error:
            self._app._fail(f"{self._to} was expected to give {_json(expected)}, and failed: {error}")
        _check(self._app, f"{self._to} gave something else", expected, value)
        return value

    def refused(self, code: str, *, within: float | None = None) -> strata_bus.BusError:
        """Waits for the answer, and fails unless it is an error with this code. Returns the error."""
        try:
            value = self.result(within=within)
        except strata_bus.BusError as error:
            if error.code != code:
                self._app._fail(f"{self._to} was expected to fail with {code}, and failed with {error}")
            return error
        self._app._fail(f"{self._to} was expected to fail with {code}, and gave {_json(value)}")

    def cancel(self) -> None:
        """Cancels the call."""
        self._future.cancel()


class OpenStream:
    """A stream that was begun: `for element in stream`, or element by element."""

    def __init__(self, app: App, to: str, bus: strata_bus.Module | strata_bus.Operator, stream: Any) -> None:
        self._app = app
        self._to = to
        self._bus = bus
        self._stream = stream
        self._step: asyncio.Future[Any] | None = None
        app._run(self._begin(), None, f"beginning {to}")

    async def _begin(self) -> None:
        if self._step is None:
            self._step = asyncio.ensure_future(anext(self._stream))
            self._step.add_done_callback(lambda step: step.cancelled() or step.exception())

    async def _taken(self) -> tuple[bool, Any]:
        """Returns the next element; or False and the final reply's value."""
        await self._begin()
        assert self._step is not None
        try:
            element = await asyncio.shield(self._step)  # a test that gives up doesn't end the stream
        except StopAsyncIteration:
            return False, self._stream.result
        self._step = None
        return True, element

    @property
    def missed(self) -> int:
        """How many elements the provider left out before the last one that was returned."""
        missed: int = self._stream.missed
        return missed

    def expect(self, element: Any = ..., *, within: float | None = None) -> Any:
        """Waits for the next element, and fails if it is another one. Returns all of it."""
        try:
            is_element, value = self._app._run(self._taken(), within, f"{self._to}: an element was expected")
        except strata_bus.BusError as error:
            self._app._fail(f"{self._to}: an element was expected, and the stream ended with {error}")
        if not is_element:
            self._app._fail(f"{self._to}: an element was expected, and the stream ended with {_json(value)}")
        _check(self._app, f"{self._to} sent another element", element, value)
        return value

    def expect_end(self, gives: Any = ..., *, within: float | None = None) -> Any:
        """Waits for the stream's end, and fails if another element comes, or an error. Returns the final value."""
        try:
            is_element, value = self._app._run(self._taken(), within, f"{self._to}: the end was expected")
        except strata_bus.BusError as error:
            self._app._fail(f"{self._to}: the end was expected, and the stream ended with {error}")
        if is_element:
            self._app._fail(f"{self._to}: the end was expected, and {_json(value)} came")
        _check(self._app, f"{self._to} ended with another value", gives, value)
        return value

    def expect_error(self, code: str, *, within: float | None = None) -> strata_bus.BusError:
        """Waits for the stream's end with an error of this code. Returns the error."""
        try:
            _, value = self._app._run(self._taken(), within, f"{self._to}: the error {code} was expected")
        except strata_bus.BusError as error:
            if error.code != code:
                self._app._fail(f"{self._to}: the error {code} was expected, and the stream ended with {error}")
            return error
        self._app._fail(f"{self._to}: the error {code} was expected, and {_json(value)} came")

    def expect_nothing(self) -> None:
        """Fails if an element or the end has come."""
        self._app._run(self._bus.call("bus/ping"), None, "a round trip")
        if self._step is None or not self._step.done():
            return
        try:
            is_element, value = self._app._run(self._taken(), None, self._to)
            came = f"{_json(value)} came" if is_element else f"the stream ended with {_json(value)}"
        except strata_bus.BusError as error:
            came = f"the stream ended with {error}"
        self._app._fail(f"{self._to}: nothing was expected, and {came}")

    def close(self) -> None:
        """Ends the call."""
        self._app._run(self._left(), None, f"leaving {self._to}")

    async def _left(self) -> None:
        if self._step is not None:
            self._step.cancel()
        await self._stream.aclose()

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Any:
        is_element, value = self._app._run(self._taken(), None, f"{self._to}: an element or the end was expected")
        if not is_element:
            raise StopIteration
        return value

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class ReceivedCall:
    """A call that a played module got. The test answers it."""

    def __init__(self, player: "_Player", call: strata_bus.Call) -> None:
        self.call = call
        """The call, with `params`, `sender`, `deadline`, `meta` and more."""
        self._player = player
        self._answers: asyncio.Queue[Any] = asyncio.Queue()
        self._has_ended = threading.Event()
        self._is_answered = False

    @property
    def to(self) -> str:
        """`Interface/action`."""
        return self.call.to

    @property
    def params(self) -> Any:
        """The params' value."""
        return self.call.params

    def reply(self, value: Any = None) -> None:
        """Answers with the final reply."""
        self._answer(strata_bus.Last(value), is_final=True)

    def partial_reply(self, value: Any) -> None:
        """Sends an element of a stream as soon as the caller takes it. `reply` ends the stream."""
        self._answer([value])

    def fail(self, code: str, message: str = "", *, body: Any = None, ran: str | None = None) -> None:
        """Answers with an error."""
        self._answer(strata_bus.BusError(code, message, body=body, ran=ran), is_final=True)

    def expect_cancelled(self, *, within: float | None = None) -> None:
        """Waits until the caller has given the call up: it cancelled, died, or its time is over."""
        if self._is_answered or not self._has_ended.wait(_patience(within)):
            raise Failed(f"{self.to}: the caller was expected to give the call up, and did not")

    def _answer(self, answer: Any, is_final: bool = False) -> None:
        if self._is_answered:
            raise Failed(f"{self.to} is answered already")
        self._is_answered = is_final
        loop = self._player.loop
        loop.call_soon_threadsafe(self._answers.put_nowait, answer)


class ReceivedNotice:
    """A notice that a played module got. A report waits until the test answers it."""

    def __init__(self, player: "_Player", connection: Any, number: int | None, notice: strata_bus.Notice) -> None:
        self.notice = notice
        """The notice, with `level`, `via`, `missed`, `meta` and more."""
        self._player = player
        self._connection = connection
        self._number = number

    @property
    def name(self) -> str:
        """The notification's name."""
        return self.notice.name

    @property
    def params(self) -> Any:
        """The content's value."""
        return self.notice.params

    @property
    def object(self) -> str | None:
        """What it is about."""
        return self.notice.object

    @property
    def sender(self) -> str:
        """The module that sent it."""
        return self.notice.sender

    def reply(self) -> None:
        """Answers a report: its observer is done."""
        self._answer(self._connection.reply, None)

    def fail(self, code: str, message: str = "") -> None:
        """Answers a report with an error."""
        self._answer(self._connection.refuse, strata_bus.BusError(code, message))

    def _answer(self, send: Callable[[int, Any], None], answer: Any) -> None:
        if self._number is None:
            raise Failed(f"the notice {self.name} needs no answer: it was broadcast, or is answered")
        self._player.loop.call_soon_threadsafe(send, self._number, answer)
        self._number = None


class _Player(strata_bus.Module):
    """The client of a played module. It belongs to the client's thread."""

    def __init__(self, name: str, interfaces: Iterable[str]) -> None:
        super().__init__(name)
        self.loop = asyncio.get_running_loop()
        self.calls: asyncio.Queue[ReceivedCall] = asyncio.Queue()
        self.notices: asyncio.Queue[ReceivedNotice] = asyncio.Queue()
        self.standing: list[tuple[str, Any, Any]] = []
        """The answers to calls that the test needn't expect."""
        self._open: set[ReceivedCall] = set()
        for interface in interfaces:
            self.any_action(interface)(self._take)

    def give_up(self) -> None:
        """Ends the calls that the test has not answered."""
        for call in self._open:
            call._answers.put_nowait(strata_bus.BusError("failed", "the test has ended"))

    async def _take(self, call: strata_bus.Call) -> AsyncIterator[Any]:
        for to, params, answer in list(self.standing):
            if to == call.to and _difference(params, call.params) is None:
                value = answer(call) if callable(answer) else answer
                if isinstance(value, Awaitable):
                    value = await value
                if isinstance(value, strata_bus.BusError):
                    raise value
                yield strata_bus.Last(value)
                return
        received = ReceivedCall(self, call)
        self._open.add(received)
        self.calls.put_nowait(received)
        try:
            while True:
                said = await received._answers.get()
                if isinstance(said, strata_bus.BusError):
                    raise said
                if isinstance(said, strata_bus.Last):
                    yield said
                    return
                yield said[0]
        finally:
            received._has_ended.set()
            self._open.discard(received)

    def _noticed(self, connection: Any, header: dict[str, Any], body: bytes) -> None:
        notice = strata_bus.Notice(header, body, header.get("missed", 0))
        self.notices.put_nowait(ReceivedNotice(self, connection, header.get("id"), notice))


# -- comparing

def _check(app: App, what: str, expected: Any, came: Any) -> None:
    """Fails if what came hasn't what is expected."""
    difference = _difference(expected, came)
    if difference is not None:
        app._fail(f"{what}: {difference}\n  expected: {_json(expected)}\n  came:     {_json(came)}")


def _difference(expected: Any, came: Any, path: str = "$") -> str | None:
    """Returns the first place where a value isn't what is expected; None if there is none."""
    if expected is ...:
        return None
    if isinstance(expected, Mapping) and isinstance(came, dict):
        for name, value in expected.items():
            if name not in came:
                return f"{path} has no {name}"
            if difference := _difference(value, came[name], f"{path}.{name}"):
                return difference
        return None
    if isinstance(expected, (list, tuple)) and isinstance(came, list):
        if len(expected) != len(came):
            return f"{path} has {len(came)} elements instead of {len(expected)}"
        places = (_difference(one, other, f"{path}[{at}]") for at, (one, other) in enumerate(zip(expected, came)))
        return next((place for place in places if place), None)
    is_same = expected == came and isinstance(expected, bool) == isinstance(came, bool)
    return None if is_same else f"{path} is {_json(came)} instead of {_json(expected)}"


def _json(value: Any) -> str:
    """Returns a value as a failure shows it."""
    if value is ...:
        return "anything"
    return json.dumps(value, ensure_ascii=False, default=lambda other: "…" if other is ... else repr(other))


def _rest(waiting: asyncio.Queue[_ResultT]) -> list[_ResultT]:
    return [waiting.get_nowait() for _ in range(waiting.qsize())]


# -- where things are

_OF_A_BUS = ("STRATA_SOCKET", "STRATA_MODULE", "STRATA_TOKEN", "STRATA_LIFELINE", "STRATA_MANIFEST")
"""The variables of a bus around this process, which isn't the app's."""


def _patience(within: float | None) -> float:
    return float(os.environ.get("STRATA_TEST_PATIENCE", "120")) if within is None else within


def _program(manifest: pathlib.Path) -> str:
    """Returns the program `strata`."""
    if named := os.environ.get("STRATA") or shutil.which("strata"):
        return named
    for folder in manifest.parents:
        for kind in ("debug", "release"):
            if (built := folder / ".build" / kind / "strata").is_file():
                return str(built)
    raise Failed("there is no program strata: name it in STRATA, put it into PATH, or build it beside the manifest")
