# SPDX-License-Identifier: Apache-2.0
"""What is measured."""

from dataclasses import dataclass

from load import H2load, H2loadConnection, H2loadStreams, Wrk


@dataclass(frozen=True)
class Goal:
    """What bearerd may take at most, as a multiple of what another takes in the same round."""

    # "cpu" or "p99".
    key: str
    most: float
    # "nginx" or "floor"; "plain" is bearerd itself at that target.
    of: str
    target: str = "plain"


@dataclass(frozen=True)
class SignedGoal:
    """What a bound token may cost at most, in µs of CPU time beyond one without and one signature."""

    most: float


@dataclass(frozen=True)
class Bulk:
    """What goes on meanwhile, at the same target."""

    path: str
    script: str = ""
    connections: int = 1


@dataclass(frozen=True)
class Scenario:
    name: str
    title: str
    path: str = "/1k"
    connections: int = 32
    # Where requests go, one after the other in each round.
    targets: tuple = ("plain",)
    headers: tuple = ()
    script: str = ""
    generator: type = Wrk
    # Whether one upstream connection for each client connection is the least that can be done.
    has_floor: bool = False
    # Lines of bearerd's configuration that are measured.
    settings: str = ""
    # Whether there is an access log, and how many routes there are beside the one for all paths; for `count`.
    logs: bool = True
    routes: int = 0
    # Whether events are counted that come over open streams, rather than requests.
    streams: bool = False
    bulk: tuple = ()
    # Where the client is whose requests are timed beside the bulk; empty for the same target.
    timed: str = ""
    # The only proxy that can do it; empty for all.
    only: str = ""
    # The proxies that can do it, the one that others are compared with first; empty for those of HTTP/1.1.
    among: tuple = ()
    goals: tuple = ()


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

# Those that speak HTTP/2 on both sides.
STREAMS = ("nghttpx", "envoy", "bearerd")
STREAM_GOALS = (Goal("cpu", 0.9, "nghttpx"), Goal("cpu", 0.5, "envoy"))
H2_GOALS = tuple(Goal(goal.key, goal.most, goal.of, target="h2") for goal in STREAM_GOALS)
CALL = ("content-type: application/grpc", "te: trailers")
MESSAGE = "0000000064" + "78" * 100

DOWNLOAD = Bulk("/10m")
UPLOADING = Bulk("/post", UPLOAD)
REFUSING = Bulk("/1k", REFUSED)

SCENARIOS = [
    Scenario("get-1k", "GET 1 KiB, 32 connections", has_floor=True,
             goals=(Goal("cpu", 1.2, "floor"), Goal("cpu", 0.88, "nginx"), Goal("p99", 1, "nginx"))),
    Scenario("get-1k-256", "GET 1 KiB, 256 connections", connections=256, has_floor=True,
             goals=(Goal("p99", 1, "nginx"),)),
    Scenario("unix", "GET 1 KiB, 32 connections by h2load: TCP, Unix sockets of clients, of both sides",
             targets=("plain", "unix", "unix-both"), generator=H2load, has_floor=True,
             goals=(Goal("cpu", 0.82, "plain", target="unix"),)),
    Scenario("get-64k", "GET 64 KiB, 32 connections", path="/64k", has_floor=True, goals=(Goal("cpu", 0.6, "nginx"),)),
    Scenario("post-4k", "POST 4 KiB, 32 connections", path="/post", script=POST_4K, has_floor=True),
    Scenario("close", "GET 1 KiB, one client connection per request", headers=("Connection: close",)),
    Scenario("tls", "GET 1 KiB, TLS upstream kept alive", targets=("tls",)),
    Scenario("tls-new", "GET 1 KiB, new TLS upstream connection per request, system's CAs", targets=("tls-bundle",)),
    Scenario("get-10m", "GET 10 MiB, 8 connections", path="/10m", connections=8, has_floor=True),
    Scenario("beside", "GET 1 KiB, one client beside a download, an upload and refused requests in a pipeline",
             connections=1, bulk=(DOWNLOAD, UPLOADING, REFUSING), goals=(Goal("p99", 5, "nginx"),)),
    Scenario("beside-bulk", "GET 1 KiB, one client beside three downloads", connections=1,
             bulk=(DOWNLOAD, DOWNLOAD, DOWNLOAD), goals=(Goal("p99", 5, "nginx"),)),
    Scenario("dpop", "GET 1 KiB, 32 connections: bearer tokens, tokens that are bound to a key",
             targets=("plain", "dpop"), only="bearerd", goals=(SignedGoal(5),)),
    Scenario("beside-dpop", "GET 1 KiB, one client with bearer tokens beside 32 connections with either",
             connections=1, targets=("plain", "dpop"), bulk=(Bulk("/1k", connections=32),), timed="plain",
             only="bearerd", goals=(Goal("p99", 1.1, "plain", target="dpop"),)),
    Scenario("h2-h1", "HTTP/2 to HTTP/1.1: GET 1 KiB, 32 connections of 10 streams", generator=H2loadStreams,
             among=STREAMS, goals=STREAM_GOALS),
    Scenario("h1-h2", "HTTP/1.1 to HTTP/2: GET 1 KiB, 32 connections", targets=("h2",), generator=H2load,
             among=STREAMS, goals=H2_GOALS),
    Scenario("h2-h2", "HTTP/2 to HTTP/2: GET 1 KiB, 32 connections of 10 streams", targets=("h2",),
             generator=H2loadStreams, among=STREAMS, goals=H2_GOALS),
    Scenario("grpc", "gRPC: unary calls of 100 bytes, 32 connections of 10 streams", path="/bench.Service/Call",
             targets=("h2",), headers=CALL, script=MESSAGE, generator=H2loadStreams, among=STREAMS, goals=H2_GOALS),
]

# A collector that nothing is sent to.
TRACES = """
telemetry:
  otlp_endpoint: http://127.0.0.1:4318
  sample: 0.000001
"""
PARENT = "traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00"

LINES = tuple(f"X-Line-{number:02}: the value of line {number:02}" for number in range(20))
COOKIE = "Cookie: session=" + "0123456789abcdef" * 448

# What `count` counts: the least that a request can be. The answer has five lines and is not read from a file, the
# token is short.
COUNTED = [
    Scenario("get-1k-no-log", "GET 1 KiB, 32 kept connections, no log", path="/", logs=False),
    Scenario("get-1k", "GET 1 KiB, 32 kept connections", path="/"),
    Scenario("close", "GET 1 KiB, one client connection each", path="/", headers=("Connection: close",)),
    Scenario("post-4k", "POST 4 KiB", path="/post", script=POST_4K),
    Scenario("lines", "GET 1 KiB, 20 extra lines", path="/", headers=LINES),
    Scenario("cookie", "GET 1 KiB, a cookie of 7 KiB", path="/", headers=(COOKIE,)),
    Scenario("tls", "GET 1 KiB, TLS upstream, kept", path="/", targets=("tls",)),
    Scenario("tls-new", "GET 1 KiB, new TLS upstream connection each", path="/", targets=("tls-bundle",)),
    Scenario("routes-first", "GET 1 KiB, no log, the 1st of 1,000 routes", path="/routes/0000", logs=False, routes=1000),
    Scenario("routes-middle", "the same, the 500th", path="/routes/0499", logs=False, routes=1000),
    Scenario("routes-none", "the same, the one for all other paths", path="/", logs=False, routes=1000),
    Scenario("streams", "a chunk of an event stream, 1,000 streams", connections=1000, targets=("streams",), streams=True),
    Scenario("dpop", "GET 1 KiB, bound tokens", path="/", targets=("dpop",), only="bearerd"),
    Scenario("parent", "GET 1 KiB, with a traceparent", path="/", headers=(PARENT,), only="bearerd"),
    Scenario("unsampled", "GET 1 KiB, traces configured, not sampled", path="/", settings=TRACES, only="bearerd"),
    Scenario("unsampled-parent", "the same, and by a traceparent not sampled", path="/", settings=TRACES,
             headers=(PARENT,), only="bearerd"),
    Scenario("h2-h1", "HTTP/2 to HTTP/1.1, 32 streams", path="/", connections=1, generator=H2loadConnection, among=STREAMS),
    Scenario("h1-h2", "HTTP/1.1 to HTTP/2, 32 connections", path="/", targets=("h2",), generator=H2load, among=STREAMS),
    Scenario("h2-h2", "HTTP/2 to HTTP/2, 32 streams", path="/", connections=1, targets=("h2",), generator=H2loadConnection,
             among=STREAMS),
    Scenario("grpc", "gRPC, unary calls, 32 streams", path="/bench.Service/Call", connections=1, targets=("h2",),
             headers=CALL, script=MESSAGE, generator=H2loadConnection, among=STREAMS),
]
