#!/usr/bin/env python3
"""A registry of the image tiny:1, made of the files below FOLDER/image when it is asked for first: what an engine asks
of one to pull it.

registry.py FOLDER    writes two ports to FOLDER/registry: of one that is open, and of one that wants ann:secret
"""
import base64
import functools
import gzip
import hashlib
import http.server
import io
import json
import os
import platform
import sys
import tarfile
import threading

MANIFEST = "application/vnd.docker.distribution.manifest.v2+json"
PASSWORD = "Basic " + base64.b64encode(b"ann:secret").decode()


def digest(data):
    return "sha256:" + hashlib.sha256(data).hexdigest()


def make_image(folder):
    """Blobs by digest, and the manifest."""
    files = io.BytesIO()
    with tarfile.open(fileobj=files, mode="w") as tar:
        tar.add(folder, arcname=".")
    layer = gzip.compress(files.getvalue(), 1)
    architecture = {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
    config = json.dumps({"architecture": architecture, "os": "linux", "config": {"Cmd": ["/bin/sh"]},
                         "rootfs": {"type": "layers", "diff_ids": [digest(files.getvalue())]}}).encode()
    manifest = json.dumps({
        "schemaVersion": 2, "mediaType": MANIFEST,
        "config": {"mediaType": "application/vnd.docker.container.image.v1+json", "size": len(config),
                   "digest": digest(config)},
        "layers": [{"mediaType": "application/vnd.docker.image.rootfs.diff.tar.gzip", "size": len(layer),
                    "digest": digest(layer)}]}).encode()
    return {digest(config): config, digest(layer): layer}, manifest


@functools.lru_cache
def image_of(folder):
    return make_image(folder)


class Registry(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, status, kind, data, more=()):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        for name, value in more:
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def do_GET(self):
        blobs, manifest = image_of(self.server.folder)
        name = self.path.rsplit("/", 1)[1]
        if self.server.is_locked and self.headers.get("Authorization") != PASSWORD:
            self.answer(401, "text/plain", b"who is it?", [("WWW-Authenticate", 'Basic realm="test"')])
        elif self.path == "/v2/":
            self.answer(200, "application/json", b"{}")
        elif self.path.startswith("/v2/tiny/manifests/") and name in ("1", digest(manifest)):
            self.answer(200, MANIFEST, manifest, [("Docker-Content-Digest", digest(manifest))])
        elif self.path.startswith("/v2/tiny/blobs/") and name in blobs:
            self.answer(200, "application/octet-stream", blobs[name])
        else:
            self.answer(404, "text/plain", b"not here")

    do_HEAD = do_GET

    def log_message(self, *arguments):
        pass


def main():
    folder = sys.argv[1]
    servers = []
    for is_locked in (False, True):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Registry)
        server.folder, server.is_locked = folder + "/image", is_locked
        threading.Thread(target=server.serve_forever).start()
        servers.append(server)
    with open(folder + "/registry.new", "w", encoding="ascii") as file:
        file.write(" ".join(str(server.server_address[1]) for server in servers) + "\n")
    os.rename(folder + "/registry.new", folder + "/registry")


main()
