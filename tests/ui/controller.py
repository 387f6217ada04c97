"""The controller's API, as the steps of the test use it to bring about what the page then shows."""
import json
import os
import urllib.error
import urllib.request

URL = f"http://127.0.0.1:{os.environ['TESTBED_HTTP']}"


def ask(method, path, body=None, token=None):
    """(status, JSON or text)"""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(URL + path, data, method=method)
    if token:
        request.add_header("X-Nomad-Token", token)
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            text = answer.read().decode()
            status = answer.status
    except urllib.error.HTTPError as error:
        text, status = error.read().decode(), error.code
    try:
        return status, json.loads(text)
    except ValueError:
        return status, text


def get(path, token=None):
    status, answer = ask("GET", path, token=token)
    assert status == 200, f"GET {path}: {status} {answer}"
    return answer


def put(path, body, token=None):
    status, answer = ask("PUT", path, body, token)
    assert status == 200, f"PUT {path}: {status} {answer}"
    return answer


def node_named(name, token=None):
    return next(node for node in get("/v1/nodes", token) if node["Name"] == name)


def job(name, count=2, cpu=100, memory=64, **more):
    """A service job of one group "web" with one task, registered."""
    group = {"Name": "web", "Count": count, "EphemeralDisk": {"SizeMB": 110},
             "Tasks": [{"Name": "main", "Driver": "mock", "Config": more.pop("config", {}), "Env": more.pop("env", None),
                        "Resources": {"CPU": cpu, "MemoryMB": memory}}]}
    group.update(more.pop("group", {}))
    whole = {"ID": name, "Name": name, "Type": "service", "Datacenters": ["*"], "TaskGroups": [group], **more}
    return put("/v1/jobs", {"Job": whole})
