"""Connecting to the bus's socket."""

import asyncio
import socket
import struct
from collections.abc import Callable

from .connection import Connection
from .descriptor_transport import DescriptorTransport
from .limits import BACKLOG


async def connected(path: str, make: Callable[[], Connection]) -> Connection:
    """Connects, and returns a connection that has said hello. Raises OSError.

    Args:
        make: makes the connection.
    """
    client = socket.socket(socket.AF_UNIX)
    try:
        # If the listener's backlog is full, a blocking connect waits for a place in it. A
        # non-blocking one fails, and asyncio would take the socket for connected.
        client.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", BACKLOG, 0))
        client.connect(path)
        client.setblocking(False)
        connection = make()
        DescriptorTransport(connection.loop, client, connection)
    except BaseException:
        client.close()
        raise
    return connection
