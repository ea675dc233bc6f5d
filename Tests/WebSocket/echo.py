# SPDX-License-Identifier: Apache-2.0
"""The library's server: sends each message back, and does what some of them ask for."""

import asyncio
import queue
import threading

from websockets.asyncio.server import serve

LARGEST = 4 << 20


class EchoServer:
    def __init__(self):
        self.ends = queue.Queue()  # how each connection ended, as this side saw it
        self.heads = queue.Queue()  # the request of each connection
        self.loop = asyncio.new_event_loop()
        started = threading.Event()
        threading.Thread(target=lambda: self.loop.run_until_complete(self._run(started)), daemon=True).start()
        started.wait(10)

    async def _run(self, started):
        self.stopped = asyncio.Event()
        # Nothing of its own accord: what it sends must depend on what it receives alone.
        server = await serve(
            self._serve, "127.0.0.1", 0, ping_interval=None, max_size=LARGEST, close_timeout=2, server_header=None,
            select_subprotocol=self._choose, process_request=self._judge)
        self.port = server.sockets[0].getsockname()[1]
        started.set()
        async with server:
            await self.stopped.wait()

    @staticmethod
    def _choose(connection, offered):
        return "second.test" if "second.test" in offered else None

    @staticmethod
    def _judge(connection, request):
        if request.path == "/refused":
            return connection.respond(403, "not you\n")
        return None

    async def _serve(self, connection):
        self.heads.put(connection.request)
        try:
            async for message in connection:
                if isinstance(message, str) and message.startswith("close "):
                    _, code, reason = message.split(" ", 2)
                    await connection.close(int(code), reason)
                elif message == "cut":
                    connection.transport.abort()
                elif message == "pieces":
                    await connection.send(["in ", "", "many ", "pieces"])
                else:
                    await connection.send(message)
        except Exception:  # how it ended is told below
            pass
        self.ends.put((connection.close_code, connection.close_reason))

    def end(self):
        return self.ends.get(timeout=10)

    def __enter__(self):
        return self

    def __exit__(self, *arguments):
        self.loop.call_soon_threadsafe(self.stopped.set)
