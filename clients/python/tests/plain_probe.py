"""A probe of docs/conformance.md without a client: sockets and JSON. It can break a rule, named by its argument."""

import json
import os
import socket
import struct
import sys
from typing import Any

FAULT = sys.argv[1] if len(sys.argv) > 1 else ""
bus = socket.socket(socket.AF_UNIX)
bus.connect(os.environ["STRATA_SOCKET"])
stream = bus.makefile("rb")


def send(header: dict[str, Any], body: bytes = b"") -> None:
    head = json.dumps(header).encode()
    lengths = struct.pack("<II" if FAULT == "little endian" else ">II", 4 + len(head) + len(body), len(head))
    bus.sendall(lengths + head + body)


def receive() -> tuple[dict[str, Any], bytes]:
    length, head = struct.unpack(">II", stream.read(8) or sys.exit(0))
    if length < 4 or head > length - 4 or length > 17 << 20:
        sys.exit("lengths that no bus sends")
    return json.loads(stream.read(head)), stream.read(length - 4 - head)


def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) < len(pairs) and FAULT != "takes names twice":
        raise ValueError("a name is there twice")
    return dict(pairs)


def call(header: dict[str, Any], body: bytes) -> None:
    wanted = json.loads(body)
    request = {"kind": "call", "id": 1 if FAULT == "an id again" else header["id"] % 2**31, "to": wanted["to"]}
    if FAULT != "no parent":
        request["parent"] = header["id"]
    if "deadline" in wanted:
        request["deadline"] = wanted["deadline"]
    send(request, json.dumps(wanted.get("params")).encode())
    asked[request["id"]] = header["id"]


def count(header: dict[str, Any], body: bytes) -> None:
    most = json.loads(body)["to"]
    credit = most if FAULT == "no credit" else header["credit"]
    streams[header["id"]] = [0, most]
    more(header["id"], credit)


def more(call: int, credit: int) -> None:
    sent, most = streams[call]
    for number in range(sent + 1, min(sent + credit, most) + 1):
        send({"kind": "reply", "id": call, "more": True}, json.dumps(number).encode())
    streams[call][0] = min(sent + credit, most)
    if streams[call][0] == most:
        del streams[call]
        send({"kind": "reply", "id": call})


def answered(header: dict[str, Any], body: bytes) -> None:
    served = asked.pop(header.get("id", 0), None)
    if served is None:
        return
    if header["kind"] == "reply":
        outcome: dict[str, Any] = {"reply": json.loads(body) if body else None}
    else:
        outcome = {"error": {name: header[name] for name in ("code", "message", "ran")}}
        if body:
            outcome["error"]["body"] = json.loads(body)
    send({"kind": "reply", "id": served}, json.dumps(outcome).encode())


asked: dict[int, int] = {}
streams: dict[int, list[int]] = {}
hello = {
    "protocol": 1,
    "module": os.environ["STRATA_MODULE"],
    "token": os.environ["STRATA_TOKEN"],
    "interfaces": {"Probe": {"actions": {"echo": {}, "call": {}, "count": {"stream": True}}}},
}
send({"kind": "call", "id": 7}, b"{}") if FAULT == "no hello" else None
send({"kind": "call", "id": 1, "to": "bus/hello"}, json.dumps(hello).encode())
while True:
    header, body = receive()
    kind, to = header["kind"], header.get("to")
    try:
        content = json.loads(body, object_pairs_hook=unique) if body else None
    except ValueError as error:
        send({"kind": "error", "id": header["id"], "code": "bad-params", "message": str(error)})
        continue
    if kind == "error" and header.get("id", 0) == 1:
        sys.exit(f"{header['code']}: {header['message']}")
    elif kind in ("reply", "error"):
        answered(header, body)
    elif kind == "credit" and header["id"] in streams:
        more(header["id"], header["credit"])
    elif kind == "cancel":
        streams.pop(header["id"], None)
    elif kind == "notice" and "id" in header:
        send({"kind": "reply", "id": header["id"]})
    elif kind == "call" and to == "Probe/echo":
        for _ in range(2_000 if FAULT == "floods" else 0):
            send({"kind": "broadcast", "name": "flood"})
        for _ in range(2 if FAULT == "twice" else 1):
            send({"kind": "reply", "id": header["id"]}, body)
    elif kind == "call" and to == "Probe/call":
        call(header, body)
    elif kind == "call" and to == "Probe/count":
        count(header, body)
    elif kind == "call" and not (FAULT == "no ping" and to == "module/ping"):
        send({"kind": "error", "id": header["id"], "code": "unknown-action", "message": to})
