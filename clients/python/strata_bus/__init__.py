"""A client of the Strata bus: modules and operators' tools in Python.

It needs Python 3.11 or newer and nothing else, and runs on asyncio.

    import strata_bus

    module = strata_bus.Module("Adder")

    @module.action("Adder/add")
    async def add(call: strata_bus.Call) -> int:
        return sum(call.params)

    if __name__ == "__main__":
        module.main()

The guide is README.md in the package's folder of the repository; the protocol is docs/protocol.md.
"""

from .annotations import Format, Length, Pattern, Range, WireName
from .background import Retry
from .client import Client
from .codec import FrameDecoder, encode_frame
from .descriptors import Answer, Descriptor, DescriptorLike, Descriptors, WithDescriptors
from .errors import BusError, Root
from .following import Follow, Gap
from .handlers import Call, Context, Last, Notice
from .instances import Instance, Instances, NewInstance
from .log import LogHandler
from .metrics import Counter, Gauge, Metrics, Timer
from .module import Module
from .observers import Observation
from .offers import Offer
from .operator import Operator
from .properties import PropertyValue
from .registrations import Registration
from .secret import Secret
from .setting import Setting
from .settings import Settings
from .streams import Stream, TypedStream
from .topics import Topic

__all__ = [
    "Answer", "BusError", "Call", "Client", "Context", "Counter", "Descriptor", "DescriptorLike", "Descriptors",
    "Follow", "Format", "FrameDecoder", "Gap", "Gauge", "Instance", "Instances", "Last", "Length", "LogHandler",
    "Metrics", "Module", "NewInstance", "Notice", "Observation", "Offer", "Operator", "Pattern", "PropertyValue", "Range", "Registration",
    "Retry", "Root", "Secret", "Setting", "Settings", "Stream", "Timer", "Topic", "TypedStream", "WireName",
    "WithDescriptors", "encode_frame",
]  # fmt: skip
