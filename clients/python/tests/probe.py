"""The probe of docs/conformance.md, with the client in Python."""

import asyncio
import dataclasses
import json
import sys
from collections.abc import AsyncIterator, Awaitable
from typing import Any

from support import strata_bus

module = strata_bus.Module("Probe")
steps: list[str] = []
notices: list[dict[str, Any]] = []
observations: dict[str, list[strata_bus.Observation]] = {}
crates: dict[str, strata_bus.Instance] = {}
cancels = 0


@dataclasses.dataclass
class ProbeSettings:
    word: str = strata_bus.Setting("probe.word")


settings = module.settings(ProbeSettings)


@module.settings_changed
def changed(_: ProbeSettings) -> None:
    steps.append("settings")


@module.set_up
def set_up(_: strata_bus.Context) -> None:
    steps.append("setUp")


@module.initialize
def initialize() -> None:
    steps.append("initialize")


@module.did_start
def did_start() -> None:
    steps.append("didStart")


def refused(failure: strata_bus.BusError) -> dict[str, Any]:
    error = {"code": failure.code, "message": failure.message, "ran": failure.ran}
    if failure.body is not None:
        error["body"] = failure.body
    return {"error": error}


async def outcome(request: Awaitable[Any]) -> dict[str, Any]:
    try:
        return {"reply": await request}
    except strata_bus.BusError as failure:
        return refused(failure)


@module.action("Probe/echo")
def echo(call: strata_bus.Call) -> Any:
    return call.params


@module.action("Probe/fail")
def fail(call: strata_bus.Call) -> None:
    wanted = call.params
    options = {name: wanted[name] for name in ("ran", "body") if name in wanted}
    raise strata_bus.BusError(wanted["code"], wanted["message"], **options)


@module.action("Probe/hang")
async def hang(_: strata_bus.Call) -> None:
    global cancels
    try:
        await asyncio.Event().wait()
    except asyncio.CancelledError:
        cancels += 1
        raise


@module.action("Probe/cancels")
def count_cancels(_: strata_bus.Call) -> int:
    return cancels


@module.action("Probe/count")
async def count(call: strata_bus.Call) -> AsyncIterator[int]:
    global cancels
    try:
        for number in range(1, call.params["to"] + 1):
            yield number
    except (asyncio.CancelledError, GeneratorExit):
        cancels += 1
        raise


@module.action("Probe/call")
async def make_call(call: strata_bus.Call) -> Any:
    wanted = call.params
    options = {"deadline": wanted["deadline"] / 1000} if "deadline" in wanted else {}
    to = wanted["to"]
    crate = crates.get(to.partition("/")[0])
    if crate:
        return await outcome(crate.call(to.partition("/")[2], wanted.get("params"), **options))
    return await outcome(module.call(to, wanted.get("params"), **options))


@module.action("Probe/open")
async def make_open(call: strata_bus.Call) -> Any:
    return await outcome(module.open(call.params["url"]))


@module.action("Probe/collect")
async def collect(call: strata_bus.Call) -> Any:
    wanted = call.params
    parts: list[Any] = []
    async with module.stream(wanted["to"], wanted.get("params"), credit=wanted["credit"]) as stream:
        try:
            async for part in stream:
                parts.append(part)
                if len(parts) == wanted.get("take"):
                    return {"parts": parts}
        except strata_bus.BusError as failure:
            return {"parts": parts} | refused(failure)
        return {"parts": parts, "reply": stream.result}


@module.action("Probe/broadcast")
async def broadcast(call: strata_bus.Call) -> Any:
    wanted = call.params
    count = await module.broadcast_and_count(wanted["name"], wanted.get("params"), object=wanted.get("object"))
    return {"recipients": count}


@module.action("Probe/report")
async def report(call: strata_bus.Call) -> Any:
    wanted = call.params
    answer = await outcome(
        module.report(wanted["name"], wanted.get("params"), to=wanted["to"], object=wanted.get("object"))
    )
    return {"reply": {"observers": answer["reply"]}} if "reply" in answer else answer


def keep(notice: strata_bus.Notice) -> None:
    notices.append(
        {"name": notice.name, "object": notice.object, "params": notice.params, "missed": notice.missed}
    )
    if isinstance(notice.params, dict) and "fail" in notice.params:
        raise strata_bus.BusError(notice.params["fail"], "the kit wants it")


module.observe("probe.begun")(keep)


@module.action("Probe/observe")
async def observe(call: strata_bus.Call) -> None:
    wanted = call.params
    options = {name: wanted[name] for name in ("object", "keep") if name in wanted}
    observation = await module.observe_now(wanted["name"], keep, **options)
    observations.setdefault(wanted["name"], []).append(observation)


@module.action("Probe/unobserve")
async def unobserve(call: strata_bus.Call) -> None:
    for observation in observations.pop(call.params["name"], []):
        await observation.end()


@module.action("Probe/notices")
def take_notices(_: strata_bus.Call) -> list[dict[str, Any]]:
    taken = notices.copy()
    notices.clear()
    return taken


async def watch(crate: strata_bus.Instance) -> None:
    await crate.ended()
    steps.append(f"ended {crate.name}")


@module.action("Probe/create")
async def create(call: strata_bus.Call) -> Any:
    answer = await outcome(module.create(call.params["interface"], call.params.get("params")))
    if "reply" not in answer:
        return answer
    crate = answer["reply"]
    crates[crate.name] = crate
    module.background(watch(crate))
    return {"reply": {"instance": crate.name}}


@module.action("Probe/release")
async def release(call: strata_bus.Call) -> None:
    await crates.pop(call.params["instance"]).release()


@module.action("Probe/settings")
def present_settings(_: strata_bus.Call) -> Any:
    return {"probe.word": settings.value.word}


@module.action("Probe/steps")
def present_steps(_: strata_bus.Call) -> list[str]:
    return steps


@module.event("probe.event")
def event(_: strata_bus.Call) -> bool:
    steps.append("event probe.event")
    return True


class Box:
    """An instance, which keeps what is put into it."""

    def __init__(self, new: strata_bus.NewInstance) -> None:
        if isinstance(new.params, dict) and new.params.get("refuse"):
            raise strata_bus.BusError("Probe.no-box", "the kit wants it")
        self.number = new.name.partition("#")[2]
        self.kept: Any = None
        steps.append(f"created {self.number}")


boxes = module.instances("Box", Box, released=lambda box: steps.append(f"released {box.number}"))


@boxes.action("put")
def put(box: Box, call: strata_bus.Call) -> None:
    box.kept = call.params


@boxes.action("get")
def get(box: Box, _: strata_bus.Call) -> Any:
    return box.kept


async def operate() -> int:
    try:
        async with strata_bus.Operator() as operator:
            print(json.dumps(await operator.call("Probe/echo", {"by": "operator"})))
            return 0
    except strata_bus.BusError as failure:
        print(failure.code, file=sys.stderr)
        return 1


if __name__ == "__main__":
    if sys.argv[1:] == ["--operator"]:
        sys.exit(asyncio.run(operate()))
    module.main()
