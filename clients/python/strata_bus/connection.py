"""The connection: one socket to the bus."""

import asyncio
import collections
import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from .arrivals import Arrivals
from .codec import FrameDecoder, decode_answer, decode_error, encode, encode_frame, requests_in
from .descriptor_transport import DescriptorTransport
from .descriptors import BodyWithDescriptors, Descriptor, WithDescriptors, close_all
from .errors import BusError
from .frame_writer import FrameWriter
from .hello import divided, missing_feature
from .limits import EXCESS, HELLO, HIGH_WATER, LARGE_BODY, LAST, READ
from .log import logger
from .memory_files import file_for, may_answer_in_file, may_have_file
from .streams import Parts

if TYPE_CHECKING:
    from .bus import Bus
    from .handlers import Served
    from .observers import Observer

_ENDING = frozenset([
    "bad-frame", "bad-header", "too-large", "not-registered", "bad-version", "slow-consumer", "shutting-down",
    "failed", "overloaded", "incompatible",
])  # fmt: skip
"""The errors without a request's number that end the connection."""


class Connection(FrameWriter):
    """One socket, from connecting to its end: frames in and out, and the open requests.

    It says hello by itself, and passes received calls and notices to its bus.
    """

    def __init__(self, bus: "Bus", hello: dict[str, Any]) -> None:
        super().__init__()
        self.bus = bus
        self.welcome: asyncio.Future[dict[str, Any]] = self.loop.create_future()
        """The answer to hello."""
        self.ended: asyncio.Future[BusError] = self.loop.create_future()
        """The reason for the connection's end."""
        self.open: dict[int, asyncio.Future[bytes] | Parts] = {}
        """This end's open requests, by number."""
        self.hooks: dict[int, Callable[[bytes], None]] = {}
        """What runs with a request's answer, by number, before the next frame is read."""
        self.served: dict[int, Served] = {}
        """The received calls and reports whose handlers run, by number."""

        # The module's observers keep here what ends with the connection.
        self.observing: set[Served] = set()
        self.held: collections.deque[tuple[Observer, dict[str, Any], bytes, Served]] = collections.deque()
        self.held_bytes = 0
        self.observations: dict[int, Observer] = {}
        self.numbers: list[int] = []  # of the observations in hello, in their order

        self.carries = bool(hello.get("descriptors"))
        """Whether its hello says that the program's descriptors go with its frames."""
        self._arrivals = Arrivals()
        self._hello_parts = collections.deque(divided({**hello, "memory": True}))
        self._urls: list[dict[str, str]] = hello.get("urls", [])
        self._decoder = FrameDecoder()
        # All reads share one buffer; the kernel would map a new one each time.
        self._incoming = memoryview(bytearray(READ))
        self._number = 1
        self._timer: asyncio.TimerHandle | None = None

    # -- called by asyncio

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Says hello."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        transport.set_write_buffer_limits(high=HIGH_WATER)
        self._timer = self.loop.call_later(
            HELLO, self.fail, BusError("closed", f"hello had no answer within {HELLO:.0f} s", ran="maybe")
        )
        self.send(encode_frame(b'{"kind":"call","id":1,"to":"bus/hello"}', encode(self._hello_parts.popleft())))

    def get_buffer(self, sizehint: int) -> memoryview:
        """Returns where the next bytes are read to."""
        return self._incoming

    def buffer_updated(self, nbytes: int) -> None:
        """Takes the bytes that were read."""
        self.received(self._incoming[:nbytes])

    def received(self, data: bytes | memoryview) -> None:
        """Takes the frames that these bytes complete."""
        self._reading = True
        try:
            try:
                for header, body in self._decoder.feed(data):
                    if self._reason is not None:
                        return
                    self._take(header, body)
            finally:
                self._reading = False
                self._end_round()
            # Those of one unfinished frame may be here.
            if len(self._arrivals) > (1 if self._decoder.kept else 0):
                raise BusError("bad-frame", "descriptors came without a frame that names them", ran="no")
        except BusError as error:
            self.fail(BusError(error.code, f"the bus sent what can't be read: {error.message}", ran="no"))
        except Exception as error:
            logger.debug("a frame can't be taken", exc_info=error)
            what = f"{type(error).__name__}: {error}"
            self.fail(BusError("bad-header", f"the bus sent a header that lacks or mistypes members: {what}", ran="no"))

    def descriptors_received(self, descriptors: list[Descriptor], is_whole: bool) -> None:
        """Keeps the descriptors of a frame until it is complete.

        Args:
            is_whole: whether all have come.
        """
        self._arrivals.add(descriptors, is_whole)

    def connection_lost(self, _: Exception | None) -> None:
        """Ends all requests and handlers."""
        if self._reason is None:
            self._reason = BusError("closed", "the connection was closed", ran="maybe")
        if self._timer is not None:
            self._timer.cancel()
        unsent = requests_in(self._gathered)
        for number, request in list(self.open.items()):
            ran = "no" if number in unsent else "maybe"
            self._settle(request, BusError("died", f"the connection to the bus ended: {self._reason}", ran=ran))
        self.open.clear()
        self._arrivals.close()
        for served in [*self.served.values(), *self.observing]:
            served.cancel()
        self.paused = False
        self._wake_writers()
        if not self.welcome.done():
            self.welcome.set_exception(self._reason)
            self.welcome.exception()  # asyncio would log an exception that nobody reads
        self.bus._closed(self)
        if not self.ended.done():
            self.ended.set_result(self._reason)

    # -- sending

    def request(
        self,
        header: dict[str, Any],
        body: bytes,
        answer: asyncio.Future[bytes] | Parts | None = None,
        descriptors: Sequence[Descriptor] = (),
    ) -> tuple[int, asyncio.Future[bytes] | Parts]:
        """Sends a request. Returns its number, and where its answer will be."""
        if len(self.open) >= self.most_calls:
            raise self._too_many()
        number = self._number + 1
        header["id"] = number
        if descriptors:
            header["descriptors"] = len(descriptors)
        file = None
        if len(body) >= LARGE_BODY and not descriptors and may_have_file(header):
            file = file_for(body, self.limits)
        if file is None:
            frame = self.encoded(header, body)
        else:
            header["memory"] = len(body)
            descriptors = [file]
            try:
                frame = self.encoded(header, b"")
            except BusError:
                file.close()
                raise
        self._number = number
        if answer is None:
            answer = self.loop.create_future()
        self.open[number] = answer
        self.send(frame, descriptors)
        return number, answer

    def call(self, members: bytes, body: bytes) -> tuple[int, asyncio.Future[bytes]]:
        """Sends a call like `request`, with a header that is written already.

        Making the header as a dictionary, and writing that, takes 2 µs more.

        Args:
            members: those after `id`, which a comma precedes.
        """
        if len(body) >= LARGE_BODY:  # which may go in a file
            answer: asyncio.Future[bytes] = self.loop.create_future()
            number, _ = self.request(json.loads(b'{"kind":"call","id":0%b}' % members), body, answer)
            return number, answer
        if len(self.open) >= self.most_calls:
            raise self._too_many()
        number = self._number + 1
        frame = self.framed(b'{"kind":"call","id":%d%b}' % (number, members), body)
        self._number = number
        answer = self.open[number] = self.loop.create_future()
        self.send(frame)
        return number, answer

    def _too_many(self) -> BusError:
        return BusError("overloaded", f"{len(self.open)} requests are open, the bus takes no more", ran="no")

    def cancel(self, number: int) -> None:
        """Cancels a request if it is open."""
        if number in self.open:
            self.send(encode_frame(b'{"kind":"cancel","id":%d}' % number))

    def add_credit(self, number: int, credit: int) -> None:
        """Lets the callee send this many more partial replies."""
        if number in self.open:
            self.send(encode_frame(b'{"kind":"credit","id":%d,"credit":%d}' % (number, credit)))

    def reply(self, number: int, value: Any, more: bool = False, to: dict[str, Any] | None = None) -> None:
        """Sends a partial or the final reply. Raises ValueError if the value can't be sent.

        Args:
            to: the header of the call that it answers; without it the value goes in the frame.
        """
        file = None
        try:
            body = encode(value)
            if len(body) >= LARGE_BODY and to is not None and may_answer_in_file(to):
                file = file_for(body, self.limits)
            if file is None:
                head = b'{"kind":"reply","id":%d,"more":true}' if more else b'{"kind":"reply","id":%d}'
                self.send(self.framed(head % number, body))
                return
        except (ValueError, BusError) as error:
            raise ValueError(f"the answer can't be sent: {error}") from None
        self.send(encode_frame(b'{"kind":"reply","id":%d,"memory":%d}' % (number, len(body))), [file])

    def reply_with(self, number: int, answer: WithDescriptors[Any], to: dict[str, Any]) -> None:
        """Sends the final reply with descriptors. Raises ValueError if they can't be sent."""
        descriptors = answer.descriptors
        head = b'{"kind":"reply","id":%d,"descriptors":%d}' % (number, len(descriptors))
        if not descriptors:
            self.reply(number, answer.value, to=to)
            return
        if not self.carries:
            raise ValueError("the answer can't be sent: the action doesn't declare its descriptors")
        try:
            frame = self.framed(head, encode(answer.value))
        except (ValueError, BusError) as error:
            raise ValueError(f"the answer can't be sent: {error}") from None
        self.send(frame, descriptors)

    def reply_part(self, number: int, body: bytes, missed: int) -> None:
        """Sends a partial reply whose bytes are made already, and says how many were left out before it."""
        meta = b',"meta":{"missed":%d}' % missed if missed else b""
        try:
            frame = self.framed(b'{"kind":"reply","id":%d,"more":true%b}' % (number, meta), body)
        except BusError as error:
            raise ValueError(f"the answer can't be sent: {error}") from None
        self.send(frame)

    def refuse(self, number: int, error: BusError) -> None:
        """Answers with an error."""
        header: dict[str, Any] = {"kind": "error", "id": number, "code": error.code, "message": error.message[:2048]}
        if error.ran is not None:
            header["ran"] = error.ran
        try:
            frame = self.encoded(header, encode(error.body))
        except (ValueError, BusError):
            frame = encode_frame(
                b'{"kind":"error","id":%d,"code":"failed","message":"the error can\'t be sent"}' % number
            )
        self.send(frame)

    def close(self) -> None:
        """Ends the connection once everything is sent, after 2 s at the latest."""
        if self._transport is not None and self._reason is None:
            self._flush()
            self._reason = BusError("closed", "this end closed it", ran="maybe")
            self._transport.close()
            self._timer = self.loop.call_later(LAST, self._transport.abort)

    # -- receiving

    def _take(self, header: dict[str, Any], body: bytes) -> None:
        if len(header) == 2 and not self.hooks and header["kind"] == "reply":  # the final one, and only its body
            request = self.open.get(header["id"])
            if request is not None and not isinstance(request, Parts):
                del self.open[header["id"]]
                if not request.done():
                    request.set_result(body)
                return
        if "memory" in header or "descriptors" in header:
            try:
                body = self._arrivals.take(header, body)
            except BusError as error:
                if error.code != "overloaded":
                    raise
                self._refuse_frame(header, error)
                return
        kind = header["kind"]
        if kind == "call":
            self.bus._called(self, header, body)
        elif kind == "reply":
            self._take_reply(header, body)
        elif kind == "notice":
            self.bus._noticed(self, header, body)
        elif kind == "error":
            self._take_error(header.get("id"), decode_error(header, body))
        elif kind == "cancel":
            served = self.served.get(header["id"])
            if served is not None:
                served.cancel()
        elif kind == "credit":
            served = self.served.get(header["id"])
            if served is not None:
                served.add_credit(header["credit"])

    def _refuse_frame(self, header: dict[str, Any], error: BusError) -> None:
        """Answers a request, or ends one, whose descriptors or body this process can't take."""
        logger.error("a %s is lost: %s", header["kind"], error.message)
        number = header["id"]
        if header["kind"] != "reply":
            self.refuse(number, error)
            return
        error.ran = "yes"
        request = self.open.pop(number, None)
        self.hooks.pop(number, None)
        if request is not None:
            self._settle(request, error)

    def _take_reply(self, header: dict[str, Any], body: bytes) -> None:
        number = header["id"]
        request = self.open.get(number)
        if request is None:
            if number == 1 and not self.welcome.done():
                self._take_welcome(body)
        elif "more" in header and header["more"]:
            if isinstance(request, Parts):
                request.add(body, _missed(header))
            else:  # a plain call only wants the final reply
                self.add_credit(number, 1)
        else:
            del self.open[number]
            if number in self.hooks:
                self.hooks.pop(number)(body)
            if isinstance(request, Parts):
                request.end(body)
            elif not request.done():
                if "descriptors" in header:
                    body = BodyWithDescriptors(body)
                    body.descriptors = header["descriptors"]
                request.set_result(body)

    def _take_welcome(self, body: bytes) -> None:
        """Takes the answer to hello's first part."""
        hello = decode_answer(body)
        self.take_limits(hello["limits"])
        self._decoder.frame = self.most_frame + EXCESS
        self._decoder.header = self.most_header + EXCESS
        assert self._timer is not None
        self._timer.cancel()
        missing = missing_feature(self._urls, hello.get("features", []), self.carries)
        if missing is not None:
            self.fail(missing)
            return
        self._say_rest(hello, hello)

    def _say_rest(self, hello: dict[str, Any], answer: dict[str, Any]) -> None:
        """Takes the answer to a part of hello, and says the next part.

        After the last part the connection is open.
        """
        self.numbers += answer.get("subscriptions", [])
        self.bus._numbered(self)
        if not self._hello_parts:
            self.bus._opened(self, hello)
            self.welcome.set_result(hello)
            return

        def refused(answer: asyncio.Future[bytes]) -> None:
            error = answer.exception()
            if isinstance(error, BusError):
                self.fail(error)

        header: dict[str, Any] = {"kind": "call", "id": 0, "to": "bus/register"}
        number, part = self.request(header, encode(self._hello_parts.popleft()))
        assert isinstance(part, asyncio.Future)
        part.add_done_callback(refused)
        self.hooks[number] = lambda body: self._say_rest(hello, decode_answer(body))

    def _take_error(self, number: int | None, error: BusError) -> None:
        if not self.welcome.done() and number in (None, 1) or number is None and error.code in _ENDING:
            self.fail(error)
        elif number is None:
            logger.warning("the bus remarks: %s", error)
        else:
            request = self.open.pop(number, None)
            self.hooks.pop(number, None)
            if request is not None:
                self._settle(request, error)

    @staticmethod
    def _settle(request: asyncio.Future[bytes] | Parts, error: BusError) -> None:
        if isinstance(request, Parts):
            request.end(None, error)
        elif not request.done():
            request.set_exception(error)


def _missed(header: dict[str, Any]) -> int:
    """Returns how many elements were left out before a partial reply, as its `meta` says."""
    meta = header.get("meta")
    missed = meta.get("missed") if isinstance(meta, dict) else None
    return missed if type(missed) is int and missed > 0 else 0
