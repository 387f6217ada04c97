"""Clients of the HTTP API that are slow, greedy or broken."""
import gzip
import json
import socket
import time
import urllib.parse

from daemon import MEMORY_MB, ask, connect, expect, read_answer

MIB = 1 << 20
OTHER = "127.0.9.9"
PATIENCE_S = 90
HEAD = b"GET /v1/nodes HTTP/1.1\r\nHost: localhost\r\n"


def is_served(source=OTHER):
    expect(f"{source} is answered", ask("GET", "/v1/regions", source=source)[0], 200)


def close_all(sockets):
    for s in sockets:
        s.close()


def slow_headers(daemon):
    """A byte a second for ever: each is cut off after ten seconds, whatever it sends."""
    before = daemon.metric("berth_http_connections_cut_total", 'phase="headers"')
    slow = [connect("127.0.0.2") for _ in range(300)]
    begun = time.monotonic()
    for s in slow:
        s.sendall(HEAD + b"X-A: ")
    while daemon.metric("berth_http_connections_cut_total", 'phase="headers"') < before + 300:
        if time.monotonic() - begun > PATIENCE_S:
            raise AssertionError("not cut off")
        for s in slow:
            try:
                s.send(b"a")
            except OSError:
                pass
        time.sleep(1)
        is_served()
    close_all(slow)


def crowds(daemon):
    """Each of two addresses opens as many connections as it gets; others from elsewhere are served."""
    before = daemon.metric("berth_http_connections_refused_total")
    held = []
    for source in ("127.0.0.2", "127.0.0.3"):
        for _ in range(2500):
            held.append(connect(source))
    is_served()
    is_served("127.0.9.8")
    if daemon.metric("berth_http_connections_refused_total") < before + 1000:
        raise AssertionError("nobody was refused")
    close_all(held)


def bodies(daemon):
    """600 bodies of a megabyte whose last byte never comes, from three addresses."""
    head = f"PUT /v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Length: {MIB}\r\n\r\n".encode()
    held = []
    for i in range(600):
        s = connect(f"127.0.0.{2 + i % 3}")
        s.sendall(head + b" " * (MIB - 1))
        held.append(s)
    expect("a body from elsewhere", ask("PUT", "/v1/jobs", b" " * MIB, source=OTHER)[0], 400)
    statuses = []
    for s in held:
        s.sendall(b" ")
        statuses.append(read_answer(s)[0])
    expect("statuses", sorted(set(statuses)), [400, 429])
    if daemon.metric("berth_http_memory_bytes_most") > MEMORY_MB * MIB:
        raise AssertionError("more memory than there may be")
    close_all(held)


def never_read(daemon):
    """Lists, metrics and events that nobody takes."""
    held = []
    for i in range(600):
        path = ["/v1/nodes?resources", "/v1/metrics?format=prometheus", "/v1/event/stream", "/v1/openapi.json",
                "/ui/"][i % 5]
        s = socket.socket()
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        s.bind((f"127.0.0.{2 + i % 2}", 0))
        s.connect(("127.0.0.1", 4646))
        s.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: gzip\r\n\r\n".encode() * 3)
        held.append(s)
    is_served()
    close_all(held)


def pipelined(daemon):
    """10,000 requests at once over one connection, whose answers are read only then."""
    with connect("127.0.0.2", timeout=PATIENCE_S) as s:
        s.setblocking(False)
        request, sent = (HEAD + b"\r\n") * 10_000, 0
        got = b""
        answers = 0
        end = time.monotonic() + PATIENCE_S
        while answers < 10_000 and time.monotonic() < end:
            try:
                sent += s.send(request[sent:sent + 65536]) if sent < len(request) else 0
            except BlockingIOError:
                pass
            try:
                got += s.recv(1 << 20)
            except BlockingIOError:
                time.sleep(0.001)
            answers += got.count(b"HTTP/1.1 200")
            got = got[-11:] if b"HTTP/1.1 200" not in got[-11:] else b""
    if answers < 9_900:  # an answer's first line may lie on the border of what came
        raise AssertionError(f"{answers} answers")


def endless_chunks(daemon):
    """A body in chunks without end is read for 16 MiB at most."""
    with connect("127.0.0.2") as s:
        s.sendall(b"PUT /v1/jobs HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n")
        sent = 0
        try:
            while sent < 64 * MIB:
                s.sendall(b"10000\r\n" + b" " * 65536 + b"\r\n")
                sent += 65536
        except OSError:
            pass
    if sent >= 40 * MIB:
        raise AssertionError("it is read without end")
    with connect("127.0.0.2") as s:  # chunks of a byte with long extensions
        s.sendall(b"PUT /v1/jobs HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n")
        try:
            for _ in range(2000):
                s.sendall(b"1;" + b"x" * 1000 + b"\r\n \r\n")
        except OSError:
            pass


def lengths(daemon):
    for length in ["99999999999999999999999", "-1", "18446744073709551615", "1 1", "0x10", "1e3", "+5", ""]:
        with connect("127.0.0.2") as s:
            s.sendall(f"PUT /v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n\r\n".encode())
            s.shutdown(socket.SHUT_WR)
            status = read_answer(s)[0]
            expect(f"Content-Length {length!r}", status, 0, 400, 413)
    smuggled = (b"PUT /v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n"
                b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n")
    with connect("127.0.0.2") as s:
        s.sendall(smuggled + HEAD + b"\r\n")
        expect("both lengths", read_answer(s)[0], 0, 400)


def headers(daemon):
    for header in ["X: " + "a" * 100_000, "X: " + "a" * 20_000]:
        status = ask("GET", "/v1/nodes", source="127.0.0.2", headers=[header])[0]
        expect(header[:10], status, 200, 431, 0)
    expect("many headers", ask("GET", "/v1/nodes", source="127.0.0.2", headers=["A: b"] * 20_000)[0], 431, 413, 0)
    ranges = "Range: bytes=" + ",".join(f"{i}-{i}" for i in range(3000))
    expect("ranges", ask("GET", "/ui/", source="127.0.0.2", headers=[ranges])[0], 200, 206, 301, 302, 307)
    expect("a path", ask("GET", "/" + "a/" * 12_000, source="127.0.0.2")[0], 404)
    expect("a long path", ask("GET", "/" + "a" * 100_000, source="127.0.0.2")[0], 414, 431, 0)
    expect("escapes", ask("GET", "/v1/job/" + "%2e%2e%2f" * 2000, source="127.0.0.2")[0], 404, 400)


def packed(daemon):
    """A gigabyte of zeros packed into one megabyte is not unpacked."""
    bomb = gzip.compress(bytes(64 * MIB))
    for encoding in ("gzip", "deflate", "br", "gzip, gzip"):
        expect(encoding, ask("PUT", "/v1/jobs", bomb, headers=[f"Content-Encoding: {encoding}"])[0], 415)


def web_sockets(daemon):
    """Frames that are masked wrongly, huge, of odd lengths or without end, after a handshake for what is not there."""
    key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="
    head = ("GET /v1/client/allocation/00000000-0000-0000-0000-000000000000/exec?task=t&command=%5B%22sh%22%5D"
            "&ws_handshake=true HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
            f"Sec-WebSocket-Version: 13\r\n{key}\r\n\r\n")
    odd = [bytes([0x82, 0xFE]) + length.to_bytes(2, "big") + b"mask" + b"x" * length for length in (0, 1, 125)]
    odd += [bytes([0x82, 0xFF]) + length.to_bytes(8, "big") + b"mask" + b"x" * min(length, 65535)
            for length in (0, 1, 65535, (1 << 31) - 1, 1 << 32, (1 << 63) - 1, 1 << 63)]
    odd += [b"\x88\x81maskx", b"\x88\xfe\x00\x80mask" + b"x" * 128, b"\x09\x80mask", b"\x80\x80mask", b"\xc2\x80mask"]
    for frame in odd + [b"\x81\x05hello", b"\x81\xff" + b"\xff" * 8, b"\x01\x80aaaa" * 100_000, b"\xff\xff" * 1000,
                  b"\x89\xfe\xff\xff" + b"x" * 70_000, b"\x83\x80aaaa"]:
        with connect("127.0.0.2") as s:
            s.sendall(head.encode())
            expect("handshake", s.recv(12), b"HTTP/1.1 101")
            try:
                for _ in range(20):
                    s.sendall(frame)
                while s.recv(65536):
                    pass
            except OSError:
                pass


def waiting(daemon):
    """A thousand queries that wait for what does not come; they cost nothing, and leave without trouble."""
    held = []
    for i in range(1000):
        s = connect(f"127.0.0.{2 + i % 3}")
        s.sendall(b"GET /v1/nodes?index=99999999&wait=300s HTTP/1.1\r\nHost: localhost\r\n\r\n")
        held.append(s)
    is_served()
    close_all(held)
    end = time.monotonic() + PATIENCE_S  # they wait for longer
    while daemon.metric("berth_http_parked") >= 10:
        if time.monotonic() > end:
            raise AssertionError("they are still waited for")
        time.sleep(0.05)


def filters(daemon):
    for text in ["(" * 3000 + "Name==a" + ")" * 3000, "not " * 3000 + "Name==a", " or ".join(["Name==a"] * 1500),
                 'Name matches "(a+)+$"', 'Name matches "' + "(" * 5000 + '"', 'Name matches "(x{1,1000}){1,1000}"',
                 "Name==" + "`" + "x" * 20_000, "Attributes." + "a." * 5000 + "b == c"]:
        status, answer = ask("GET", "/v1/nodes?filter=" + urllib.parse.quote(text), source="127.0.0.2")
        expect(f"{text[:20]}: {answer[:100]}", status, 200, 400, 500, 431, 414)


def prefixes(daemon):
    for i in range(1500):
        expect("prefix", ask("GET", f"/v1/nodes?prefix={i % 4096:04x}", source="127.0.0.2")[0], 200)
    for text in ["", "a" * 10_000, "%", "\\", "-" * 1000]:
        for path in ("/v1/search", "/v1/search/fuzzy"):
            body = json.dumps({"Prefix": text, "Text": text, "Context": "all"})
            expect(path, ask("PUT", path, body, source="127.0.0.2")[0], 200, 400, 500)
    parameters = "&".join(f"a{i}=b" for i in range(300))
    expect("parameters", ask("GET", "/v1/nodes?" + parameters, source="127.0.0.2")[0], 400)


CASES = [
    ("headers that never end", slow_headers, 3, 64),
    ("two addresses that take all connections", crowds, 4, 256),
    ("bodies that never end", bodies, 6, 48 + MEMORY_MB),
    ("answers that nobody reads", never_read, 8, 192),
    ("ten thousand requests at once", pipelined, 6, 64),
    ("chunks without end", endless_chunks, 3, 32),
    ("lengths that cannot be", lengths, 1, 32),
    ("headers, ranges and paths without end", headers, 1, 32),
    ("packed bodies", packed, 1, 32),
    ("frames of WebSockets", web_sockets, 3, 64),
    ("a thousand waiting queries", waiting, 3, 96),
    ("filters that explode", filters, 4, 64),
    ("prefixes by the thousand", prefixes, 4, 48),
]
