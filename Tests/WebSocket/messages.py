# SPDX-License-Identifier: Apache-2.0
"""Messages between the library's client and server: each conversation once directly and once through bearerd."""

import os
from concurrent.futures import ThreadPoolExecutor

from fixed_sidecar import TOKEN
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

LENGTHS = [0, 1, 125, 126, 127, 65535, 65536, 65537, 1 << 20]
CODES = [1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014, 3000, 3999, 4000, 4999]


def expect(holds, what):
    if not holds:
        raise AssertionError(what)


def opened(port, path="/", **options):
    options.setdefault("compression", None)
    return connect(f"ws://127.0.0.1:{port}{path}", ping_interval=None, max_size=None, close_timeout=10, proxy=None,
                   **options)


def echoes(port, compression):
    """Every length, as text and binary, whole and in fragments."""
    count = 0
    with opened(port, compression=compression) as connection:
        for length in LENGTHS:
            for message in [os.urandom(length), "é" * (length // 2) + "x" * (length % 2)]:
                connection.send(message)
                expect(connection.recv(10) == message, f"{length} came back changed")
                step = max(1, length // 7)
                connection.send(message[start:start + step] for start in range(0, max(1, len(message)), step))
                expect(connection.recv(10) == message, f"{length} in fragments came back changed")
                count += 2
        connection.send("pieces")
        expect(list(connection.recv_streaming())[:4] == ["in ", "", "many ", "pieces"], "fragments were joined")
        for payload in [b"", b"x", os.urandom(125)]:
            expect(connection.ping(payload).wait(10), "no pong")
            count += 1
    return count


def closes(server, port):
    """Close codes and reasons, from either side, and connections that are cut; as the two sides saw them."""
    seen = []
    for code in CODES:
        with opened(port) as connection:
            connection.send(f"close {code} because of {code}")
            try:
                connection.recv(10)
            except ConnectionClosed as closed:
                seen.append(("server", closed.rcvd.code, closed.rcvd.reason, server.end()))
        connection = opened(port)
        connection.close(code, f"I am {code}")
        seen.append(("client", code, server.end()))
    with opened(port) as connection:
        connection.send("cut")
        try:
            connection.recv(10)
        except ConnectionClosed as closed:
            seen.append(("cut by the server", closed.rcvd, server.end()))
    connection = opened(port)
    connection.socket.shutdown(2)
    seen.append(("cut by the client", server.end()))
    return seen


def handshakes(server, port):
    """What the two sides learn of each other before the first message."""
    seen = []
    while not server.heads.empty():
        server.heads.get()
    with opened(port, "/path?query=1", subprotocols=["second.test", "other.test"], compression="deflate",
                additional_headers={"Cookie": "a=b", "X-Odd": "value"}) as connection:
        head = server.heads.get(timeout=10)
        seen.append((connection.subprotocol, connection.response.headers["Sec-WebSocket-Extensions"],
                     head.path, head.headers["Cookie"], head.headers["X-Odd"], head.headers["Sec-WebSocket-Version"]))
    server.end()
    try:
        opened(port, "/refused")
    except InvalidStatus as refusal:
        seen.append((refusal.response.status_code, refusal.response.body))
    return seen, head


def many(port, number):
    with opened(port) as connection:
        for turn in range(20):
            message = f"{number} {turn} " + "x" * (turn * 997)
            connection.send(message)
            expect(connection.recv(30) == message, "somebody else's message")


def check_messages(server, sidecar):
    count = 0
    for compression in [None, "deflate"]:
        for port in [server.port, sidecar.port]:
            count += echoes(port, compression)
            expect(server.end()[0] == 1000, "the end of the echoes")
    direct, through = closes(server, server.port), closes(server, sidecar.port)
    expect(direct == through, f"closed directly: {direct}\nthrough bearerd: {through}")
    (direct, _), (through, head) = handshakes(server, server.port), handshakes(server, sidecar.port)
    expect(direct == through, f"directly: {direct}\nthrough bearerd: {through}")
    expect(head.headers["Authorization"] == f"Bearer {TOKEN}", "the handshake has no token")
    with ThreadPoolExecutor(max_workers=100) as workers:
        list(workers.map(lambda number: many(sidecar.port, number), range(100)))
    return count // 2 + len(direct) + 2 * len(CODES) + 2 + 100
