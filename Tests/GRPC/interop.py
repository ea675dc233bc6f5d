# SPDX-License-Identifier: Apache-2.0
"""gRPC's own interoperability tests, client and server through bearerd: cases and numbers are those of their description.

The server judges the token of each call when it begins, and takes none for longer than it lives."""

import concurrent.futures
import threading
import time

import grpc

INITIAL, TRAILING = "x-grpc-test-echo-initial", "x-grpc-test-echo-trailing-bin"


class Tokens:
    """What the token endpoint gives, and until when the service takes it."""

    def __init__(self, lifetime):
        self.lifetime = lifetime
        self.lock = threading.Lock()
        self.ends = {}
        self.revoked = set()

    def next(self):
        with self.lock:
            token = f"not-a-secret-but-a-token-{len(self.ends) + 1}"
            self.ends[token] = time.monotonic() + self.lifetime
        return {"access_token": token, "token_type": "Bearer", "expires_in": self.lifetime}

    def takes(self, token):
        with self.lock:
            return token not in self.revoked and time.monotonic() < self.ends.get(token, 0)


def server(modules, tokens):
    """A server of the interop service, not started, its port, and what it has seen."""
    messages, (_, stubs) = modules["messages"][0], modules["test"]
    empty = modules["empty"][0]
    seen = {"tokens": [], "refused": 0, "cancelled": threading.Event()}

    def judge(context):
        metadata = dict(context.invocation_metadata())
        token = metadata.get("authorization", "").removeprefix("Bearer ")
        seen["tokens"].append(token)
        if not tokens.takes(token):
            seen["refused"] += 1
            context.abort(grpc.StatusCode.UNAUTHENTICATED, "the token is not good")
        if INITIAL in metadata:
            context.send_initial_metadata(((INITIAL, metadata[INITIAL]),))
        if TRAILING in metadata:
            context.set_trailing_metadata(((TRAILING, metadata[TRAILING]),))
        return token

    def echo_status(request, context):
        if request.HasField("response_status"):
            context.set_code(request.response_status.code)
            context.set_details(request.response_status.message)

    def payload(size):
        return messages.Payload(type=messages.COMPRESSABLE, body=bytes(size))

    class Service(stubs.TestServiceServicer):
        def EmptyCall(self, request, context):
            judge(context)
            return empty.Empty()

        def UnaryCall(self, request, context):
            judge(context)
            echo_status(request, context)
            return messages.SimpleResponse(payload=payload(request.response_size))

        def StreamingOutputCall(self, request, context):
            judge(context)
            context.add_callback(seen["cancelled"].set)
            echo_status(request, context)
            for parameters in request.response_parameters:
                if parameters.interval_us:
                    time.sleep(parameters.interval_us / 1e6)
                yield messages.StreamingOutputCallResponse(payload=payload(parameters.size))

        def StreamingInputCall(self, requests, context):
            judge(context)
            context.add_callback(seen["cancelled"].set)
            size = sum(len(request.payload.body) for request in requests)
            return messages.StreamingInputCallResponse(aggregated_payload_size=size)

        def FullDuplexCall(self, requests, context):
            token = judge(context)
            context.add_callback(seen["cancelled"].set)
            for request in requests:
                if token in tokens.revoked:
                    context.abort(grpc.StatusCode.UNAUTHENTICATED, "the token was revoked")
                echo_status(request, context)
                for parameters in request.response_parameters:
                    if parameters.interval_us:
                        time.sleep(parameters.interval_us / 1e6)
                    yield messages.StreamingOutputCallResponse(payload=payload(parameters.size))

        def HalfDuplexCall(self, requests, context):
            judge(context)
            sizes = [parameters.size for request in requests for parameters in request.response_parameters]
            for size in sizes:
                yield messages.StreamingOutputCallResponse(payload=payload(size))

    made = grpc.server(concurrent.futures.ThreadPoolExecutor(16),
                       options=[("grpc.max_receive_message_length", 32 << 20)])
    stubs.add_TestServiceServicer_to_server(Service(), made)
    return made, made.add_insecure_port("127.0.0.1:0"), seen


class Questions:
    """The requests of a stream, one for each word of the caller's."""

    def __init__(self):
        self.waiting, self.requests, self.lock = threading.Semaphore(0), [], threading.Lock()

    def put(self, request):
        with self.lock:
            self.requests.append(request)
        self.waiting.release()

    def end(self):
        self.put(None)

    def __iter__(self):
        return self

    def __next__(self):
        self.waiting.acquire()
        with self.lock:
            request = self.requests.pop(0)
        if request is None:
            raise StopIteration
        return request


class Cases:
    def __init__(self, modules, port, tokens, seen):
        self.messages, self.empty = modules["messages"][0], modules["empty"][0]
        stubs = modules["test"][1]
        channel = grpc.insecure_channel(f"127.0.0.1:{port}", options=[("grpc.max_receive_message_length", 32 << 20)])
        self.stub, self.missing = stubs.TestServiceStub(channel), stubs.UnimplementedServiceStub(channel)
        self.tokens, self.seen = tokens, seen

    def payload(self, size):
        return self.messages.Payload(body=bytes(size))

    def simple(self, **parts):
        return self.messages.SimpleRequest(response_size=314159, payload=self.payload(271828), **parts)

    def output(self, *sizes, interval=0, **parts):
        parameters = [self.messages.ResponseParameters(size=size, interval_us=interval) for size in sizes]
        return self.messages.StreamingOutputCallRequest(response_parameters=parameters, **parts)

    @staticmethod
    def expect(code, call):
        try:
            call()
        except grpc.RpcError as error:
            assert error.code() == code, error
            return error
        raise AssertionError(f"no {code}")

    def empty_unary(self):
        assert self.stub.EmptyCall(self.empty.Empty(), timeout=30) == self.empty.Empty()

    def large_unary(self):
        assert len(self.stub.UnaryCall(self.simple(), timeout=30).payload.body) == 314159

    def client_streaming(self):
        requests = [self.messages.StreamingInputCallRequest(payload=self.payload(size)) for size in (27182, 8, 1828, 45904)]
        assert self.stub.StreamingInputCall(iter(requests), timeout=30).aggregated_payload_size == 74922

    def server_streaming(self):
        sizes = [31415, 9, 2653, 58979]
        answers = self.stub.StreamingOutputCall(self.output(*sizes), timeout=30)
        assert [len(answer.payload.body) for answer in answers] == sizes

    def half_duplex(self):
        sizes = [31415, 9, 2653, 58979]
        answers = self.stub.HalfDuplexCall(iter([self.output(size) for size in sizes]), timeout=30)
        assert [len(answer.payload.body) for answer in answers] == sizes

    def ping_pong(self):
        questions = Questions()
        call = self.stub.FullDuplexCall(questions, timeout=30)
        for asked, answered in ((27182, 31415), (8, 9), (1828, 2653), (45904, 58979)):
            questions.put(self.output(answered, payload=self.payload(asked)))
            assert len(next(call).payload.body) == answered
        questions.end()
        assert list(call) == [] and call.code() == grpc.StatusCode.OK

    def empty_stream(self):
        assert list(self.stub.FullDuplexCall(iter([]), timeout=30)) == []

    def cancel_after_begin(self):
        self.seen["cancelled"].clear()
        questions = Questions()
        call = self.stub.StreamingInputCall.future(questions)
        call.cancel()
        questions.end()
        assert call.cancelled() and call.code() == grpc.StatusCode.CANCELLED

    def cancel_after_first_response(self):
        self.seen["cancelled"].clear()
        questions = Questions()
        call = self.stub.FullDuplexCall(questions, timeout=60)
        questions.put(self.output(31415, payload=self.payload(27182)))
        assert len(next(call).payload.body) == 31415
        call.cancel()
        assert self.seen["cancelled"].wait(30), "the service has not heard that the caller has left"
        questions.end()
        assert call.code() == grpc.StatusCode.CANCELLED

    def timeout_on_sleeping_server(self):
        questions = Questions()
        questions.put(self.output(31415, interval=2_000_000, payload=self.payload(27182)))
        call = self.stub.FullDuplexCall(questions, timeout=0.2)
        self.expect(grpc.StatusCode.DEADLINE_EXCEEDED, lambda: next(call))
        questions.end()

    def custom_metadata(self):
        metadata = ((INITIAL, "test_initial_metadata_value"), (TRAILING, b"\xab\xab\xab"))
        _, call = self.stub.UnaryCall.with_call(self.simple(), metadata=metadata, timeout=30)
        stream = self.stub.FullDuplexCall(iter([self.output(314159, payload=self.payload(271828))]),
                                          metadata=metadata, timeout=30)
        assert len(next(stream).payload.body) == 314159 and list(stream) == []
        for one in (call, stream):
            assert dict(one.initial_metadata())[INITIAL] == "test_initial_metadata_value"
            assert dict(one.trailing_metadata())[TRAILING] == b"\xab\xab\xab"

    def status_code_and_message(self, message="test status message"):
        status = self.messages.EchoStatus(code=2, message=message)
        error = self.expect(
            grpc.StatusCode.UNKNOWN,
            lambda: self.stub.UnaryCall(self.messages.SimpleRequest(response_status=status), timeout=30))
        assert error.details() == message, error
        request = self.messages.StreamingOutputCallRequest(response_status=status)
        error = self.expect(grpc.StatusCode.UNKNOWN,
                            lambda: list(self.stub.FullDuplexCall(iter([request]), timeout=30)))
        assert error.details() == message, error

    def special_status_message(self):
        self.status_code_and_message("\t\ntest with whitespace\r\nand Unicode BMP ☺ and non-BMP 😈\t\n")

    def unimplemented_method(self):
        self.expect(grpc.StatusCode.UNIMPLEMENTED, lambda: self.stub.UnimplementedCall(self.empty.Empty(), timeout=30))

    def unimplemented_service(self):
        self.expect(grpc.StatusCode.UNIMPLEMENTED,
                    lambda: self.missing.UnimplementedCall(self.empty.Empty(), timeout=30))

    def token_expires_under_a_stream(self):
        """A stream outlives the token that it began with, and calls beside it always have one that is taken."""
        self.empty_unary()
        first = self.seen["tokens"][-1]
        questions = Questions()
        call = self.stub.FullDuplexCall(questions, timeout=120)
        begun = None
        while begun is None or self.tokens.takes(begun):
            questions.put(self.output(1000, payload=self.payload(1000)))
            assert len(next(call).payload.body) == 1000
            begun = begun or self.seen["tokens"][-1]
            self.empty_unary()
        assert self.seen["tokens"][-1] not in (first, begun) and self.seen["refused"] == 0, self.seen
        questions.put(self.output(9))
        assert len(next(call).payload.body) == 9
        questions.end()
        assert list(call) == [] and call.code() == grpc.StatusCode.OK

    def token_revoked_under_a_stream(self):
        """Status 16 at a stream's end is the caller's to see; the next call has another token, and is made once."""
        questions = Questions()
        call = self.stub.FullDuplexCall(questions, timeout=60)
        questions.put(self.output(10))
        assert len(next(call).payload.body) == 10
        revoked = self.seen["tokens"][-1]
        self.tokens.revoked.add(revoked)
        questions.put(self.output(10))
        self.expect(grpc.StatusCode.UNAUTHENTICATED, lambda: next(call))
        questions.end()
        count = len(self.seen["tokens"])
        self.empty_unary()
        assert self.seen["tokens"][count:] != [] and revoked not in self.seen["tokens"][count:], self.seen["tokens"][count:]
        assert self.seen["refused"] == 0, self.seen["refused"]


CASES = ["empty_unary", "large_unary", "client_streaming", "server_streaming", "half_duplex", "ping_pong", "empty_stream",
         "cancel_after_begin", "cancel_after_first_response", "timeout_on_sleeping_server", "custom_metadata",
         "status_code_and_message", "special_status_message", "unimplemented_method", "unimplemented_service",
         "token_expires_under_a_stream", "token_revoked_under_a_stream"]


def check_cases(modules, make_sidecar):
    """Runs all cases, and returns how many there are."""
    tokens = Tokens(lifetime=6)
    made, port, seen = server(modules, tokens)
    made.start()
    try:
        with make_sidecar(port, tokens.next) as sidecar:
            cases = Cases(modules, sidecar.port, tokens, seen)
            for case in CASES:
                try:
                    getattr(cases, case)()
                except Exception as error:
                    raise AssertionError(f"interop case {case}: {error}") from error
            assert seen["refused"] == 0, "the service has refused a token"
    finally:
        made.stop(None)
    return len(CASES)
