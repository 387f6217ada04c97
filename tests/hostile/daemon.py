"""A real berthd on the loopback of a namespace of its own, and what it costs."""
import json
import os
import pathlib
import socket
import subprocess
import sys
import threading
import time

HTTP_PORT, WIRE_PORT, LINE_PORT = 4646, 4647, 4648
TICKS = os.sysconf("SC_CLK_TCK")
MEMORY_MB = 64
TTL_MS = 20_000  # nodes in Python are slow where others need the processor
token = ""  # that every request shows; "": none
secure = None  # context of TLS for the API, where it is HTTPS


class Wrong(Exception):
    """What a case expects is not so."""


def expect(what, got, *wanted):
    if got not in wanted:
        raise Wrong(f"{what}: {got}, not {' or '.join(str(w) for w in wanted)}")


class Daemon:
    def __init__(self, build, folder, environment=None, settings=()):
        self.folder = pathlib.Path(folder)
        self.program = pathlib.Path(build) / "tools/berthd/berthd"
        self.key = self.folder / "master.key"
        self.most_kb = 0
        self.watched = False
        subprocess.run([self.program, "genkey", self.key], check=True, stdout=subprocess.DEVNULL)
        self.log = open(self.folder / "berthd.log", "ab")
        self.process = subprocess.Popen(
            [self.program, f"--data_dir={self.folder}/data", f"--master_key_file={self.key}",
             f"--http.port={HTTP_PORT}", f"--http.memory_mb={MEMORY_MB}", f"--agents.port={LINE_PORT}",
             "--agents.address=127.0.0.1", f"--wire.ttl_ms={TTL_MS}", "--ports.0.device=lo", "--ports.0.io=socket",
             "--ports.0.addresses=127.0.0.1", *settings],
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log, env={**os.environ, **(environment or {})})
        try:
            self.await_health(60)
        except BaseException:
            self.process.kill()
            raise

    def stop(self):
        self.process.terminate()
        self.process.wait(60)

    def await_health(self, seconds):
        end = time.monotonic() + seconds
        while True:
            if self.process.poll() is not None:
                sys.exit(f"berthd has ended:\n{(self.folder / 'berthd.log').read_text()[-2000:]}")
            try:
                return expect("health", ask("GET", "/v1/agent/health", source="127.0.9.9", timeout=5)[0], 200)
            except (OSError, Wrong):
                if time.monotonic() > end:
                    raise
                time.sleep(0.05)

    def master_key(self):
        number, digits = self.key.read_text().splitlines()[-1].split()
        return int(number), bytes.fromhex(digits)

    def cpu_s(self):
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(") ", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def memory_kb(self):
        for line in pathlib.Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("RssAnon:"):
                return int(line.split()[1])
        raise Wrong("the process has no RssAnon")

    def watch(self):
        """Looks at the memory until watched is False."""
        while self.watched:
            self.most_kb = max(self.most_kb, self.memory_kb())
            time.sleep(0.01)

    def metric(self, name, label=""):
        total = 0
        for line in ask("GET", "/v1/metrics?format=prometheus", source="127.0.9.9")[1].splitlines():
            if line.split("{")[0].split(" ")[0] == name and label in line:
                total += float(line.rsplit(" ", 1)[1])
        return total

    def measured(self, act):
        """Runs it; returns what it took of processor and memory, and seconds."""
        begun, cpu_s, memory_kb = time.monotonic(), self.cpu_s(), self.memory_kb()
        self.most_kb, self.watched = memory_kb, True
        watcher = threading.Thread(target=self.watch)
        watcher.start()
        try:
            act(self)
        finally:
            self.watched = False
            watcher.join()
        return self.cpu_s() - cpu_s, (self.most_kb - memory_kb) / 1024, time.monotonic() - begun


def dial(source="127.0.0.1", port=HTTP_PORT, timeout=10):
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.settimeout(timeout)
    s.bind((source, 0))
    s.connect(("127.0.0.1", port))
    return s


def connect(source="127.0.0.1", port=HTTP_PORT, timeout=10):
    s = dial(source, port, timeout)
    return secure.wrap_socket(s, server_hostname="127.0.0.1") if secure and port == HTTP_PORT else s


def unchunked(body):
    out = b""
    while body:
        size, _, rest = body.partition(b"\r\n")
        out += rest[:int(size or b"0", 16)]
        body = rest[int(size or b"0", 16) + 2:]
    return out


def read_answer(s):
    """(status, body) of one answer; status 0: the connection ended. Without Content-Length it ends with it."""
    data = b""
    try:
        while b"\r\n\r\n" not in data:
            some = s.recv(65536)
            if not some:
                return 0, ""
            data += some
        head, body = data.split(b"\r\n\r\n", 1)
        lengths = [int(h.split(b":")[1]) for h in head.split(b"\r\n") if h.lower().startswith(b"content-length:")]
        while not lengths or len(body) < lengths[0]:
            some = s.recv(65536)
            if not some:
                break
            body += some
        if b"\r\ntransfer-encoding: chunked" in head.lower():
            body = unchunked(body)
        return int(head.split(b" ")[1]), body.decode(errors="replace")
    except ConnectionError:
        return 0, ""


def ask(method, path, body=None, source="127.0.0.1", headers=(), timeout=30):
    data = body if isinstance(body, bytes) else (body or "").encode()
    head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
    if token and not any("Token" in h for h in headers):
        head += f"X-Nomad-Token: {token}\r\n"
    head += "".join(f"{h}\r\n" for h in headers)
    if data or method in ("PUT", "POST"):
        head += f"Content-Length: {len(data)}\r\n"
    with connect(source, timeout=timeout) as s:
        try:
            s.sendall(head.encode() + b"\r\n" + data)
        except ConnectionError:
            pass  # answered before all was sent
        return read_answer(s)


def ask_json(method, path, body=None):
    status, text = ask(method, path, body if body is None or isinstance(body, (str, bytes)) else json.dumps(body))
    expect(f"{method} {path}", status, 200)
    return json.loads(text)
