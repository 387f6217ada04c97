"""Those who dial the address for nodes and are none."""
import os
import socket
import ssl
import time

from daemon import LINE_PORT, ask, connect, dial, expect


def silent(daemon):
    """A thousand dialers who never speak: the oldest makes room for a newer one."""
    before = daemon.metric("berth_line_refused_total", 'reason="crowded"')
    held = [connect("127.0.0.2", LINE_PORT) for _ in range(1000)]
    for _ in range(100):
        if daemon.metric("berth_line_refused_total", 'reason="crowded"') >= before + 600:
            break
        time.sleep(0.05)
    else:
        raise AssertionError("nobody had to make room")
    for s in held:
        s.close()


def context_without_key():
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


def hello():
    """The first record of a handshake."""
    said = ssl.MemoryBIO()
    try:
        context_without_key().wrap_bio(ssl.MemoryBIO(), said).do_handshake()
    except ssl.SSLWantReadError:
        pass
    return said.read()


def slow_handshakes(daemon):
    """200 hellos that come byte by byte: each is cut off after five seconds, whatever it sends."""
    before = daemon.metric("berth_line_refused_total", 'reason="slow"')
    slow, text = [connect("127.0.0.2", LINE_PORT) for _ in range(200)], hello()
    for at in range(60):
        for s in slow:
            try:
                s.send(text[at:at + 1])
            except OSError:
                pass
        if daemon.metric("berth_line_refused_total", 'reason="slow"') >= before + 200:
            break
        time.sleep(0.5)
    else:
        raise AssertionError("not cut off")
    for s in slow:
        s.close()


def say_hello_again(port):
    """A handshake that is begun again and again on one connection, or comes in records of one byte."""
    text = hello()
    kind, body = text[:3], text[5:]
    crumbs = b"".join(kind + b"\x00\x01" + body[at:at + 1] for at in range(len(body)))
    empty = kind + b"\x00\x00"
    for said in [text * 2000, crumbs, crumbs * 20, empty * 100_000, text + b"\x17\x03\x03\x00\x01x" * 20_000]:
        for _ in range(10):
            with dial("127.0.0.2", port) as s:
                try:
                    s.sendall(said)
                    s.shutdown(socket.SHUT_WR)
                    while s.recv(65536):
                        pass
                except OSError:
                    pass


def many_hellos(daemon):
    before = daemon.metric("berth_line_accepted_total")
    say_hello_again(LINE_PORT)
    expect("connections of nodes", daemon.metric("berth_line_accepted_total"), before)


def wrong_keys(daemon):
    """Handshakes without a key, and other protocols, by hundreds: none is a connection of a node."""
    context = context_without_key()
    before = daemon.metric("berth_line_accepted_total")
    for i in range(300):
        with connect("127.0.0.2", LINE_PORT, timeout=5) as s:
            try:
                if i % 3 == 0:
                    s.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n" * 50)
                    s.recv(100)
                elif i % 3 == 1:
                    s.sendall(b"\x16\x03\x03\xff\xff" + os.urandom(5000))
                    s.recv(100)
                else:
                    context.wrap_socket(s)
                    raise AssertionError("a handshake without a key succeeds")
            except OSError:
                pass
    expect("connections of nodes", daemon.metric("berth_line_accepted_total"), before)
    expect("the API", ask("GET", "/v1/regions")[0], 200)


CASES = [
    ("dialers who never speak", silent, 3, 64),
    ("handshakes byte by byte", slow_handshakes, 3, 64),
    ("handshakes begun again and again", many_hellos, 3, 32),
    ("handshakes without a key", wrong_keys, 6, 48),
]
