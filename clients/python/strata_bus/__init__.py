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

from .background import Retry
from .codec import FrameDecoder, encode_frame
from .errors import BusError, Root
from .handlers import Call, Context, Last, Notice
from .instances import Instance, Instances, NewInstance
from .metrics import Counter, Gauge, Metrics, Timer
from .module import Module
from .observers import Observation
from .offers import Offer
from .operator import Operator
from .registrations import Registration
from .streams import Stream

__all__ = [
    "BusError", "Call", "Context", "Counter", "FrameDecoder", "Gauge", "Instance", "Instances", "Last",
    "Metrics", "Module", "NewInstance", "Notice", "Observation", "Offer", "Operator", "Registration", "Retry", "Root",
    "Stream", "Timer", "encode_frame",
]  # fmt: skip
