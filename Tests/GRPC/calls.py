# SPDX-License-Identifier: Apache-2.0
"""A gRPC service without generated code: its messages are bytes, and its methods say what they have seen."""

import concurrent.futures
import threading

import grpc

SERVICE = "bearerd.test.Echo"


class Service(grpc.GenericRpcHandler):
    def __init__(self):
        self.authorizations = []
        self.cancelled = threading.Event()
        self.refused = set()

    def service(self, details):
        method = details.method.rsplit("/", 1)[1]
        kinds = {
            "Unary": grpc.unary_unary_rpc_method_handler(self.unary),
            "Fail": grpc.unary_unary_rpc_method_handler(self.fail),
            "Deadline": grpc.unary_unary_rpc_method_handler(self.deadline),
            "Download": grpc.unary_stream_rpc_method_handler(self.download),
            "Upload": grpc.stream_unary_rpc_method_handler(self.upload),
            "Chat": grpc.stream_stream_rpc_method_handler(self.chat),
            "Hang": grpc.unary_stream_rpc_method_handler(self.hang),
        }
        return kinds.get(method)

    def judge(self, context):
        authorization = dict(context.invocation_metadata()).get("authorization")
        self.authorizations.append(authorization)
        if authorization is None or authorization in self.refused:
            context.abort(grpc.StatusCode.UNAUTHENTICATED, "the token is not good")

    def unary(self, request, context):
        self.judge(context)
        context.set_trailing_metadata((("x-length", str(len(request))),))
        return request

    def fail(self, request, context):
        self.judge(context)
        context.abort(grpc.StatusCode.FAILED_PRECONDITION, "50 % of it\nis wrong: ü")

    def deadline(self, request, context):
        self.judge(context)
        return str(context.time_remaining()).encode()

    def download(self, request, context):
        self.judge(context)
        for number in range(int(request)):
            yield b"%d" % number

    def upload(self, requests, context):
        self.judge(context)
        return b"%d" % sum(len(request) for request in requests)

    def chat(self, requests, context):
        self.judge(context)
        for request in requests:
            yield b"re: " + request

    def hang(self, request, context):
        self.judge(context)
        context.add_callback(self.cancelled.set)
        yield b"begun"
        self.cancelled.wait(60)


class Server:
    def __init__(self):
        self.service = Service()
        self.server = grpc.server(
            concurrent.futures.ThreadPoolExecutor(16), options=[("grpc.max_receive_message_length", 32 << 20)])
        self.server.add_generic_rpc_handlers((self.service,))
        self.port = self.server.add_insecure_port("127.0.0.1:0")

    def __enter__(self):
        self.server.start()
        return self

    def __exit__(self, *arguments):
        self.server.stop(None)


def check_calls(server, sidecar):
    """Makes each kind of call through bearerd with a client that knows no OAuth.

    Returns how many there were."""
    service, token = server.service, "Bearer " + sidecar.token
    channel = grpc.insecure_channel(
        f"127.0.0.1:{sidecar.port}", options=[("grpc.max_receive_message_length", 32 << 20)])
    path = f"/{SERVICE}/"
    count = 0

    answer, call = channel.unary_unary(path + "Unary").with_call(b"hello", timeout=30)
    assert answer == b"hello" and dict(call.trailing_metadata())["x-length"] == "5", call
    assert service.authorizations[-1] == token, "the service has not seen the token"
    large = bytes(8 << 20)
    assert channel.unary_unary(path + "Unary")(large, timeout=60) == large
    count += 2

    try:
        channel.unary_unary(path + "Fail")(b"", timeout=30)
        raise AssertionError("a call that fails has not failed")
    except grpc.RpcError as error:
        assert error.code() == grpc.StatusCode.FAILED_PRECONDITION, error
        assert error.details() == "50 % of it\nis wrong: ü", error
    remaining = float(channel.unary_unary(path + "Deadline")(b"", timeout=20))
    assert 0 < remaining < 21, remaining
    count += 2

    assert len(list(channel.unary_stream(path + "Download")(b"1000", timeout=60))) == 1000
    pieces = [bytes(1000)] * 1000
    assert channel.stream_unary(path + "Upload")(iter(pieces), timeout=60) == b"1000000"
    waiting = threading.Semaphore(0)

    def questions():
        for number in range(20):
            yield b"%d" % number
            waiting.acquire(timeout=30)

    seen = 0
    for answer in channel.stream_stream(path + "Chat")(questions(), timeout=60):
        assert answer == b"re: %d" % seen, answer
        seen += 1
        waiting.release()
    assert seen == 20, seen
    count += 3

    call = channel.unary_stream(path + "Hang")(b"", timeout=60)
    assert next(call) == b"begun"
    call.cancel()
    assert service.cancelled.wait(30), "the service has not heard that the caller has left"
    service.cancelled.clear()
    call = channel.unary_stream(path + "Hang")(b"", timeout=0.5)
    try:
        list(call)
        raise AssertionError("a call is over its deadline")
    except grpc.RpcError as error:
        assert error.code() == grpc.StatusCode.DEADLINE_EXCEEDED, error
    count += 2

    # A token that the service takes no longer: one refresh, one replay, and the caller notices nothing.
    service.refused.add(token)
    sidecar.renew()
    assert channel.unary_unary(path + "Unary")(b"again", timeout=30) == b"again"
    assert service.authorizations[-1] == "Bearer " + sidecar.token, service.authorizations[-2:]
    count += 1

    try:
        channel.unary_unary(path + "Missing")(b"", timeout=30)
        raise AssertionError("a method that is not there has answered")
    except grpc.RpcError as error:
        assert error.code() == grpc.StatusCode.UNIMPLEMENTED, error
    return count + 1
