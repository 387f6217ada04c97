"""Those who dial the address for nodes and are none."""
import os
import ssl
import time

from daemon import LINE_PORT, ask, connect, expect


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


def wrong_keys(daemon):
    """Handshakes without a key, and other protocols, by hundreds: none is a connection of a node."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
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
    ("handshakes without a key", wrong_keys, 6, 48),
]
