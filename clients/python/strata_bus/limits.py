"""The client's limits.

The bus sends the manifest's `limits` in its answer to hello; they replace `LIMITS`. All other
limits here are fixed.
"""

LIMITS = {"frame": 16 << 20, "header": 16 << 10, "calls": 1024, "queue": 8 << 20, "body": 0}
"""The limits until hello is answered: bytes of a frame and of a header, open requests, queued
bytes, and bytes of a body in a memory file, which an older bus doesn't take."""
LARGE_BODY = 256 << 10
"""The bytes from which a body goes in a memory file. Below, copying costs less."""
EXCESS = 1024
"""The bytes by which a received frame or header may exceed what the broker takes."""
MOST_HANDLERS = 1024
"""The calls that are served at once; a further one is answered `overloaded`."""
MOST_OBSERVERS = 1024
"""The handlers of notices that run at once; further notices wait, up to `queue` bytes."""
MOST_WAITING = 1024
"""The requests that may wait for a connection, or for room to write."""
MOST_BACKGROUND = 256
"""The tasks of `Module.background`."""
SHORTEST_RETRY = 0.1
"""The shortest pause between two tries of background work, in seconds."""
MOST_INSTANCES = 4096
"""The objects of an interface with instances, unless `most` says otherwise."""
MOST_REGISTRATIONS = 1024
"""The offers that `Module.register` keeps at once."""
MOST_METRICS = 1024
"""The metrics that are kept; the same name with other labels is another metric."""
MOST_METRIC_NAME = 1024
"""The bytes of a metric's name and labels together."""
MOST_SERIES = 256
"""The names that a metric of requests or notices tells apart."""
MOST_CODES = 64
"""The outcomes that such a metric tells apart for each name."""
MOST_SPANS = 1 << 20
"""The bytes of spans that may wait for their file, as `Span.size` estimates them."""
MOST_LINE = 64 << 10
"""The bytes of a span's line."""
MOST_TEXT = 4096
"""The bytes of a text in a span's line."""
MOST_SPAN_PARTS = 128
"""The attributes of a module's own span, its events, and the elements of an attribute; more are left out."""
FLUSH = 1.0
"""The seconds for writing the spans that wait when the process ends."""
SILENCE = 10.0
"""The shortest time between two log lines on dropped spans, in seconds."""
MOST_PART = 60 << 10
"""The bytes of one part of hello or of an offer; the bus reads bodies of 64 KiB."""
MOST_VALUES = 4096
"""The JSON values of one part, which is what the bus reads."""
MOST_META = 4096
"""The bytes of `meta` as JSON."""
MOST_DEPTH = 32
"""The levels to which a header may be nested."""
MOST_INTEGER = (1 << 53) - 1
"""The largest integer in a header."""
MOST_KEY = 64
"""The bytes of the key that chooses a replica."""
MOST_NAME = 256
"""The bytes of a notification's or an event's name."""
MOST_KNOWN = 256
"""The received headers, and the destinations of calls, that are remembered so that the next one like it costs less."""
LONGEST_KNOWN = 512
"""The bytes of a header, and of a destination, that is remembered."""
DEADLINE = 30.0
"""The deadline of a request that sets none, in seconds."""
MOST_DEADLINE = 86_400_000
"""The longest deadline, in milliseconds."""
MOST_PATH = 107
"""The bytes of a socket's path."""
GATHERED = 64 << 10
"""The bytes that are gathered for one write."""
READ = 256 << 10
"""The bytes that one read takes."""
HIGH_WATER = 64 << 10
"""The unsent bytes from which requests, partial replies and answers wait."""
MOST_DESCRIPTORS = 16
"""The descriptors that go with one message."""
DESCRIPTOR_WEIGHT = 1 << 10
"""The bytes as which each unsent descriptor counts: requests wait once 64 of them are unsent."""
CREDIT = 16
"""The partial replies that are read ahead, unless `credit` says otherwise."""
FIRST_DELAY = 0.010
"""The first pause before connecting again, in seconds; each further one is twice as long."""
MOST_DELAY = 1.0
"""The longest pause before connecting again, in seconds."""
PATIENCE = 30.0
"""The seconds after which connecting again is given up."""
BACKLOG = 2
"""The seconds that connecting waits for a place in the broker's backlog."""
HELLO = 30.0
"""The seconds for the answer to hello; the broker itself gives up earlier."""
LAST = 2.0
"""The seconds for sending what is left when this end closes the connection."""
STOP = 5.0
"""The seconds for `tear_down` if the call for it sets no deadline."""
