"""A client of the wire: PLACE and RELEASE as docs/wire.md has them, with the codec of the test vectors."""
import pathlib
import socket
import struct
import sys
import time
import uuid

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "dataplane/wire"))
import vectors  # noqa: E402

PLACED, RELEASED, REFUSED = (vectors.TYPES[name] for name in ("PLACED", "RELEASED", "REFUSED"))
ROOM_BYTES = 128  # of a question, so that a refusal can say everything
# Wait and ask the same again: overloaded, table-full, store-full, stopping.
PASSING = {10, 11, 12, 13}


def master_key(path):
    """The newest key of a file: its number and its bytes."""
    for line in pathlib.Path(path).read_text().splitlines():
        words = line.split("#")[0].split()
        if words:
            return int(words[0]), bytes.fromhex(words[1])
    raise ValueError(f"{path} holds no key")


class Refused(Exception):
    def __init__(self, reason, retry_after_ms):
        super().__init__(f"refused for reason {reason}")
        self.reason, self.retry_after_ms = reason, retry_after_ms


class WireClient:
    def __init__(self, name, server, key_file):
        self.name, self.server = name, server
        self.key_id, master = master_key(key_file)
        vectors.MASTERS[self.key_id] = master
        self.key = vectors.client_key(name, self.key_id)
        self.sequence = time.time_ns()
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)

    def ask(self, kind, fields, timeout_s):
        """One question and its answer's type and body; None when there was none. Raises Refused."""
        self.sequence += 1
        header = {"key_id": self.key_id, "flags": 0, "slot": vectors.NO_SLOT, "generation": 0,
                  "sequence": self.sequence}
        body, least = vectors.BODIES[kind](fields)
        self.socket.sendto(vectors.frame(kind, self.key, header, body, max(least, ROOM_BYTES)), self.server)
        end = time.monotonic() + timeout_s
        while (left := end - time.monotonic()) > 0:
            self.socket.settimeout(left)
            try:
                got = self.socket.recv(2048)
            except OSError:
                return None
            answer = self.open(got)
            if answer:
                return answer
        return None

    def open(self, got):
        if len(got) < 40 or struct.unpack_from("<Q", got, 16)[0] != self.sequence:
            return None
        if vectors.siphash128(self.key, got[:-16]) != got[-16:]:
            return None
        if got[3] == REFUSED:
            raise Refused(got[25], struct.unpack_from("<I", got, 28)[0])
        return got[3], got

    def place(self, request, job, group, count, timeout_s):
        """request: (issued_ms, number). Index and [(allocation, node)], or None."""
        answer = self.ask("PLACE", {"client": self.name, "issued_ms": request[0], "request": request[1],
                                    "count": count, "namespace": "", "job": job, "group": group}, timeout_s)
        if answer is None or answer[0] != PLACED:
            return None
        index, placed = struct.unpack_from("<QB", answer[1], 24)
        items = [answer[1][40 + 40 * i:72 + 40 * i] for i in range(placed)]
        return index, [(str(uuid.UUID(bytes=i[:16])), str(uuid.UUID(bytes=i[16:]))) for i in items]

    def release(self, ids, timeout_s):
        """Index and a result for each: 0 done, 1 already, 2 unknown; or None."""
        answer = self.ask("RELEASE", {"client": self.name, "ids": ids}, timeout_s)
        if answer is None or answer[0] != RELEASED:
            return None
        index, count = struct.unpack_from("<QB", answer[1], 24)
        return index, list(answer[1][33:33 + count])
