# SPDX-License-Identifier: Apache-2.0
"""What is measured."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Scenario:
    name: str
    title: str
    path: str = "/1k"
    connections: int = 32
    target: str = "plain"
    headers: tuple = ()
    script: str = ""
    # What goes on meanwhile: each a path and a script of wrk, on one connection.
    bulk: tuple = ()


POST_4K = """
wrk.method = "POST"
wrk.body = string.rep("x", 4096)
wrk.headers["Content-Type"] = "application/octet-stream"
"""

UPLOAD = """
wrk.method = "POST"
wrk.body = string.rep("x", 1000000)
"""

# Both refuse it themselves.
REFUSED = """
init = function()
  local requests = {}
  for index = 1, 64 do requests[index] = wrk.format("TRACE", "/1k") end
  pipeline = table.concat(requests)
end
request = function() return pipeline end
"""

SCENARIOS = [
    Scenario("get-1k", "GET 1 KiB, 32 connections"),
    Scenario("get-1k-256", "GET 1 KiB, 256 connections", connections=256),
    Scenario("get-64k", "GET 64 KiB, 32 connections", path="/64k"),
    Scenario("post-4k", "POST 4 KiB, 32 connections", path="/post", script=POST_4K),
    Scenario("close", "GET 1 KiB, one client connection per request", headers=("Connection: close",)),
    Scenario("tls", "GET 1 KiB, TLS upstream kept alive", target="tls"),
    Scenario("tls-new", "GET 1 KiB, new TLS upstream connection per request, system's CAs", target="tls-bundle"),
    Scenario("get-10m", "GET 10 MiB, 8 connections", path="/10m", connections=8),
    Scenario("beside", "GET 1 KiB, one client beside a download, an upload and refused requests in a pipeline",
             connections=1, bulk=(("/10m", ""), ("/post", UPLOAD), ("/1k", REFUSED))),
]

# What `count` counts: the least that a request can be. The answer has five lines and is not read from a file, the
# token is short.
COUNTED = [
    Scenario("get-1k", "GET 1 KiB, 32 kept connections", path="/"),
    Scenario("close", "GET 1 KiB, one client connection per request", path="/", headers=("Connection: close",)),
]
