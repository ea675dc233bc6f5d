# SPDX-License-Identifier: Apache-2.0
"""Frames as RFC 6455 section 5 has them and as it forbids them, cut in several ways.

What comes back, byte by byte, and how the connection ends must be the same with bearerd and without.
"""

import socket
import struct
from concurrent.futures import ThreadPoolExecutor

TEXT, BINARY, CLOSE, PING, PONG = 1, 2, 8, 9, 10
MASK = b"\x11\x22\x33\x44"
END = b"then, once that is answered:"


def frame(opcode, payload=b"", final=True, reserved=0, masked=True, length=None, form=None):
    """One frame; `form` forces the length into 16 or 64 bits, `length` lets it lie."""
    length = len(payload) if length is None else length
    form = form or (7 if length < 126 else 16 if length < 65536 else 64)
    head = bytes([(0x80 if final else 0) | reserved << 4 | opcode])
    sign = 0x80 if masked else 0
    if form == 7:
        head += bytes([sign | length])
    elif form == 16:
        head += bytes([sign | 126]) + struct.pack(">H", length)
    else:
        head += bytes([sign | 127]) + struct.pack(">Q", length)
    if not masked:
        return head + payload
    whole = len(payload) // 4 + 1
    mask = int.from_bytes((MASK * whole)[:len(payload)], "big")
    return head + MASK + (int.from_bytes(payload, "big") ^ mask).to_bytes(len(payload), "big")


def bye(code=None, reason=b""):
    return frame(CLOSE, b"" if code is None else struct.pack(">H", code) + reason)


def conversations():
    """Name and frames of each; what comes after END is sent once they are answered."""
    end = END + bye(1000)
    for length in [0, 1, 125, 126, 127, 128, 65535, 65536, 65537, 1 << 20]:
        yield f"text of {length}", frame(TEXT, b"x" * length) + end
        yield f"binary of {length}", frame(BINARY, bytes(range(256)) * (length // 256) + b"y" * (length % 256)) + end
    for length, form in [(5, 16), (5, 64), (200, 64)]:
        yield f"{length} in a length of {form} bits", frame(BINARY, b"z" * length, form=form) + end
    for length in [0, 1, 125]:
        yield f"ping of {length}", frame(PING, b"p" * length) + end
        yield f"unasked pong of {length}", frame(PONG, b"p" * length) + end
    yield "ten pings", b"".join(frame(PING, b"%d" % number) for number in range(10)) + end
    for opcode in [PING, PONG]:
        yield f"control frame {opcode} of 126", frame(opcode, b"p" * 126)
        yield f"control frame {opcode} in fragments", frame(opcode, b"p", final=False) + frame(0, b"q")
    for sizes in [(1, 1), (0, 0, 0), (125, 126, 3), (65536, 1), (1, 65536), (1000,) * 50]:
        pieces = [frame(TEXT if number == 0 else 0, b"f" * size, final=number == len(sizes) - 1)
                  for number, size in enumerate(sizes)]
        yield f"fragments of {sizes[:5]}", b"".join(pieces) + end
        yield f"pings between fragments of {sizes[:5]}", frame(PING, b"!").join(pieces) + end
    yield "two messages at once", frame(TEXT, b"one") + frame(BINARY, b"two") + end
    yield "continuation of nothing", frame(0, b"lost") + end
    yield "a message inside another", frame(TEXT, b"a", final=False) + frame(TEXT, b"b") + end
    for reserved in range(1, 8):
        yield f"reserved bits {reserved}", frame(TEXT, b"r", reserved=reserved) + end
    for opcode in [3, 4, 5, 6, 7, 11, 12, 13, 14, 15]:
        yield f"opcode {opcode}", frame(opcode, b"o") + end
    yield "a frame without its mask", frame(TEXT, b"bare", masked=False) + end
    for text in ["κόσμε".encode(), b"\xce\xba\xe1\xbd\xb9\xcf\x83", b"\xf4\x8f\xbf\xbf", b"\xef\xbf\xbf"]:
        yield f"text {text!r}", frame(TEXT, text) + end
        yield f"text {text!r} cut inside a character", frame(TEXT, text[:1], final=False) + frame(0, text[1:]) + end
    for text in [b"\xff", b"\xc0\xaf", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"ok\x80"]:
        yield f"no text {text!r}", frame(TEXT, text) + end
    for code in [0, 999, 1000, 1001, 1002, 1003, 1004, 1005, 1006, 1007, 1008, 1011, 1014, 1015, 1016, 1100, 2000,
                 2999, 3000, 3999, 4000, 4999, 5000, 65535]:
        yield f"close {code}", bye(code, b"why")
    yield "close without a code", bye()
    yield "close with half a code", frame(CLOSE, b"\x03")
    yield "close with a long reason", bye(1000, b"r" * 123)
    yield "close with too long a reason", bye(1000, b"r" * 124)
    yield "close with no text", bye(1000, b"\xff\xfe")
    yield "close inside fragments", frame(TEXT, b"a", final=False) + end
    yield "a message after close", bye(1000) + frame(TEXT, b"late")
    yield "two closes", bye(1000) + bye(1000)
    yield "a length beyond all", frame(BINARY, b"", length=1 << 62, form=64)
    yield "a length with the sign bit", frame(BINARY, b"", length=1 << 63, form=64)
    yield "half a frame", frame(TEXT, b"half of it")[:7]
    yield "nothing", b""


def whole(data):
    return [data] if data else []


def pieces(size):
    return lambda data: [data[start:start + size] for start in range(0, len(data), size)]


CUTS = {"whole": (whole, None), "byte by byte": (pieces(1), 2000), "by sevens": (pieces(7), 20000),
        "by 1460s": (pieces(1460), None)}


def read(wire, received, is_enough):
    """Reads until it is enough, or the server falls silent; False when there is nothing more to come."""
    while not is_enough(received):
        try:
            part = wire.recv(65536)
        except TimeoutError:
            return True
        except ConnectionResetError:
            return False  # behind the last byte it depends on the moment
        if not part:
            return False
        received += part
    return True


def send(wire, sends):
    try:
        for part in sends:
            wire.sendall(part)
    except OSError:
        pass  # the server has said that it wants no more


def converse(port, sends, ending, answer_length=None):
    """Sends after a handshake, and the ending after the answer; returns the answer's length and all that came back.

    Without its length the answer is what comes before a silence.
    """
    with socket.create_connection(("127.0.0.1", port), timeout=20) as wire:
        wire.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        wire.sendall(f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                     "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n".encode())
        received = bytearray()
        assert read(wire, received, lambda received: b"\r\n\r\n" in received)
        head, rest = bytes(received).split(b"\r\n\r\n", 1)
        assert head.startswith(b"HTTP/1.1 101") and b"s3pPLMBiTxaQ9kYGzzhZRbK+xOo=" in head, head
        received = bytearray(rest)
        with ThreadPoolExecutor(max_workers=1) as sender:
            sending = sender.submit(send, wire, sends)
            if answer_length is None:
                sending.result()
                wire.settimeout(0.3)
            enough = float("inf") if answer_length is None else answer_length
            goes_on = read(wire, received, lambda received: len(received) >= enough)
            sending.result()
        answer_length = len(received)
        wire.settimeout(20)
        if goes_on:
            send(wire, [ending])
            try:
                wire.shutdown(socket.SHUT_WR)
            except OSError:
                pass
            assert not read(wire, received, lambda received: False), "the connection does not end"
        return answer_length, bytes(received)


def check_frames(direct, through):
    def check(case):
        name, data, how, cut = case
        data, _, ending = data.partition(END)
        for _ in range(3):  # a server that is slow to answer is taken for silent
            length, one = converse(direct, cut(data), ending)
            _, other = converse(through, cut(data), ending, length)
            if one == other:
                return None
        return f"{name}, sent {how}: directly {one!r:.300}, through bearerd {other!r:.300}"

    cases = [(name, data, how, cut) for name, data in conversations() for how, (cut, most) in CUTS.items()
             if most is None or len(data) <= most]
    with ThreadPoolExecutor(max_workers=16) as workers:
        differences = [difference for difference in workers.map(check, cases) if difference]
    if differences:
        raise AssertionError("\n".join(differences))
    return len(cases)
