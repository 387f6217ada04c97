"""Who makes handshakes of TLS with the API, and with the address for nodes, and wants nothing else."""
import subprocess
import threading
import time

from daemon import HTTP_PORT, LINE_PORT, Wrong, ask, dial, expect
from frames import Node
from line import context_without_key, hello, say_hello_again

OTHER = "127.0.9.9"
FLOOD_S = 2  # or longer, where the machine is slow, until there were so many
FLOOD_LEAST = 100
PATIENCE_S = 60


def is_served_at_once():
    begun = time.monotonic()
    expect("somebody else is answered", ask("GET", "/v1/regions", source=OTHER)[0], 200)
    if time.monotonic() - begun > 2:
        raise Wrong("somebody else waits")


def half_hellos(daemon):
    """A thousand who say half of a hello, and no more."""
    text = hello()
    held = [dial("127.0.0.2", HTTP_PORT) for _ in range(1000)]
    for s in held:
        s.sendall(text[:len(text) // 2])
    is_served_at_once()
    for s in held:
        s.close()


def again_at_once(daemon):
    say_hello_again(HTTP_PORT)


def without_end(daemon):
    """Eight at once who finish their handshakes and go; a node is heard meanwhile."""
    node = Node(daemon, "beats").register()
    done, context, begun = [0] * 8, context_without_key(), time.monotonic()

    def goes_on():
        took_s = time.monotonic() - begun
        return took_s < FLOOD_S or (sum(done) < FLOOD_LEAST and took_s < PATIENCE_S)

    def flood(which):
        while goes_on():
            with context.wrap_socket(dial("127.0.0.2", HTTP_PORT)):
                done[which] += 1

    threads = [threading.Thread(target=flood, args=(i,)) for i in range(len(done))]
    for thread in threads:
        thread.start()
    beats = daemon.metric("berth_heartbeats_accepted_total")
    node.say(node.beat())
    while goes_on():
        is_served_at_once()
        time.sleep(0.2)
    for thread in threads:
        thread.join()
    if sum(done) < FLOOD_LEAST:
        raise AssertionError(f"{sum(done)} handshakes are no flood")
    expect("its nodes are heard", daemon.metric("berth_heartbeats_accepted_total") > beats, True)


def anew(port, letter, done, most, *flags):
    """Has OpenSSL's client begin anew (R) or change its keys (K) again and again: the other side ends
    that when it was done as often as it may."""
    with subprocess.Popen(["openssl", "s_client", "-connect", f"127.0.0.1:{port}", *flags], bufsize=0,
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as client:
        said = []
        reader = threading.Thread(target=lambda: said.append(client.stdout.read()))
        reader.start()
        end = time.monotonic() + PATIENCE_S
        try:
            while client.poll() is None and time.monotonic() < end:
                time.sleep(0.02)
                client.stdin.write(letter + b"\n")
        except BrokenPipeError:
            client.wait(PATIENCE_S)
        was_ended = client.poll() is not None
        client.kill()
        reader.join()
    if b"Cipher is " not in said[0] or b"Cipher is (NONE)" in said[0]:
        raise Wrong(f"no first handshake: {said[0][-300:]}")
    expect(f"{said[0].count(done)} times {done}", was_ended and said[0].count(done) <= most, True)


def begun_anew(daemon):
    anew(HTTP_PORT, b"R", b"RENEGOTIATING", 1, "-tls1_2")
    is_served_at_once()


def keys_changed(daemon):
    anew(HTTP_PORT, b"K", b"KEYUPDATE", 20, "-tls1_3")
    is_served_at_once()


def begun_anew_by_a_node(daemon):
    node = Node(daemon, "begins-anew").register()
    key = ["-psk_identity", f"{node.key_id}:{node.id}", "-psk", node.key.hex(), "-alpn", "http/1.1"]
    before = daemon.metric("berth_line_accepted_total")
    anew(LINE_PORT, b"R", b"RENEGOTIATING", 1, "-tls1_2", "-cipher", "ECDHE-PSK-CHACHA20-POLY1305", *key)
    expect("connections of the node", daemon.metric("berth_line_accepted_total"), before + 1)


# Over an API that is HTTPS.
CASES = [
    ("half of a hello, and no more", half_hellos, 2, 128),
    ("hellos again and again", again_at_once, 2, 32),
    ("handshakes without end", without_end, 4, 64),
    ("handshakes begun anew", begun_anew, 1, 32),
    ("keys changed without end", keys_changed, 1, 32),
]
# Over the line.
LINE_CASES = [("handshakes of a node begun anew", begun_anew_by_a_node, 1, 32)]
