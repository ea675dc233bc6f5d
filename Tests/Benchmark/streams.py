#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Event streams: an upstream that sends an event to each in turn, and a client that takes all it gets.

  streams.py upstream PORT               a thousand events a second, however many streams there are
  streams.py client HOST:PORT STREAMS    says "open" once each stream has had an event, then goes on
"""

import selectors
import socket
import sys
import time

EVENT = b"2d\r\ndata: " + b"x" * 37 + b"\n\n\r\n"  # one chunk of 45 bytes
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
PERIOD = 0.001


def serve(port):
    listener = socket.create_server(("127.0.0.1", port), backlog=4096)
    listener.setblocking(False)
    selector = selectors.DefaultSelector()
    selector.register(listener, selectors.EVENT_READ)
    streams, sent, following = [], 0, time.monotonic()
    while True:
        for key, _ in selector.select(max(following - time.monotonic(), 0)):
            if key.fileobj is listener:
                connection, _ = listener.accept()
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                selector.register(connection, selectors.EVENT_READ)
                continue
            connection = key.fileobj
            try:
                request = connection.recv(65536)
            except OSError:  # a client that was ended in the middle
                request = b""
            if request.startswith(b"GET /sent "):
                body = str(sent).encode()
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
            elif request:
                connection.sendall(HEAD)
                streams.append(connection)
            else:
                selector.unregister(connection)
                connection.close()
                if connection in streams:
                    streams.remove(connection)
        if time.monotonic() >= following:
            following = max(following + PERIOD, time.monotonic() - 0.05)
            if streams:
                sent += 1
                try:
                    streams[sent % len(streams)].send(EVENT)
                except OSError:
                    pass  # its end comes as an event


def take(address, count):
    host, _, port = address.rpartition(":")
    selector = selectors.DefaultSelector()
    silent = set()
    for _ in range(count):
        connection = socket.create_connection((host, int(port)))
        connection.sendall(f"GET /stream HTTP/1.1\r\nHost: {address}\r\nAccept: text/event-stream\r\n\r\n".encode())
        # One after the other: a thousand at once would be another measure.
        answer = connection.recv(65536)
        if not answer.startswith(b"HTTP/1.1 200 "):
            sys.exit(f"a stream was refused: {answer.decode()}")
        selector.register(connection, selectors.EVENT_READ)
        silent.add(connection)
    while True:
        for key, _ in selector.select():
            received = key.fileobj.recv(65536)
            if not received:
                sys.exit("a stream has ended")
            if key.fileobj in silent and b"data: " in received:
                silent.remove(key.fileobj)
                if not silent:
                    print("open", flush=True)


if __name__ == "__main__":
    if sys.argv[1] == "upstream":
        serve(int(sys.argv[2]))
    else:
        take(sys.argv[2], int(sys.argv[3]))
