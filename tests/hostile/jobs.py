"""Jobs and other bodies that are made to cost."""
import json
import urllib.parse

from daemon import ask, expect

MIB = 1 << 20


def job(name, groups=None, **more):
    tasks = [{"Name": "t", "Driver": "raw_exec", "Config": {"command": "/bin/true"}}]
    groups = groups or [{"Name": "g", "Count": 1, "Tasks": tasks}]
    return {"Job": dict({"ID": name, "Name": name, "Type": "service", "Datacenters": ["dc1"], "TaskGroups": groups},
                        **more)}


def group(name="g", count=1, **more):
    tasks = [{"Name": "t", "Driver": "raw_exec", "Config": {"command": "/bin/true"}}]
    return dict({"Name": name, "Count": count, "Tasks": tasks}, **more)


def put(body):
    return ask("PUT", "/v1/jobs", body if isinstance(body, (str, bytes)) else json.dumps(body))


def refused(name, body, *words):
    """It is refused, with a sentence that has one of the words."""
    status, text = put(body)
    if status not in (400, 413, 500):
        raise AssertionError(f"{name}: {status} {text[:200]}")
    if words and not any(word in text for word in words):
        raise AssertionError(f"{name}: {text[:300]}")


def taken(name, body):
    status, text = put(body)
    if status != 200:
        raise AssertionError(f"{name}: {status} {text[:300]}")
    expect(f"purge of {name}", ask("DELETE", f"/v1/job/{name}?purge=true")[0], 200)


def counts(daemon):
    """A million instances of each of many groups: kept as ranges, or refused."""
    refused("count", job("counts", [group(count=1 << 40)]))
    refused("counts", job("counts", [group(f"g{i}", 16_000_000) for i in range(256)]))
    taken("million", job("million", [group(count=1_000_000)]))


def many_groups(daemon):
    refused("groups", job("groups", [group(f"g{i}") for i in range(5000)]), "256", "at most")
    refused("tasks", job("tasks", [dict(group(), Tasks=group()["Tasks"] * 5000)]))


def deep(daemon):
    refused("lists", b"[" * MIB)
    refused("objects", b'{"a":' * (MIB // 5))
    refused("inside", b'{"Job":{"ID":"x","Meta":' + b'{"a":' * 100_000 + b"1" + b"}" * 100_000 + b"}}")
    refused("config", json.dumps(job("deep")).replace('"/bin/true"', "[" * 500 + "]" * 500))


def wide(daemon):
    """Hundreds of thousands of small values."""
    refused("lists", b"[" + b"[]," * (MIB // 3 - 10) + b"[]]")
    refused("objects", b'{"Job":[' + b"{}," * (MIB // 3 - 10) + b"{}]}")
    taken("meta", job("meta", Meta={f"k{i}": "" for i in range(50_000)}))
    refused("unknown", json.dumps({"Job": {f"k{i}": 1 for i in range(70_000)}}))


def strings(daemon):
    refused("id", job("i" * 900_000))
    refused("group", job("long", [group("g" * 900_000)]))
    taken("huge", job("huge", Meta={"text": "x" * 900_000}))
    refused("escapes", b'{"Job":{"ID":"' + b"\\u0000" * 100_000 + b'"}}')
    refused("surrogates", b'{"Job":{"ID":"\\ud800\\ud800"}}')
    refused("bytes", b'{"Job":{"ID":"\xff\xfe\xc0\x80"}}')


def constraint(operand, right, left="${attr.unique.hostname}"):
    return {"LTarget": left, "RTarget": right, "Operand": operand}


def regexps(daemon):
    """Patterns that backtrack for ever, against a node's long attribute."""
    for i, pattern in enumerate(["(a+)+$", "(a|a)*b", "(.*)*x", "^(([a-z])+.)+[A-Z]([a-z])+$", "(a?){60}a{60}",
                                 "((a{1,60}){1,60}){1,60}"]):
        body = job(f"regexp{i}", Constraints=[constraint("regexp", pattern, "${attr.long}")] * 60)
        status, text = put(body)
        expect(f"{pattern}: {text[:100]}", status, 200, 400, 500)
        if status == 200:
            expect("purge", ask("DELETE", f"/v1/job/regexp{i}?purge=true")[0], 200)
    refused("pattern", job("pattern", Constraints=[constraint("regexp", "(" * 100_000)]))
    status, _ = put(job("long", Constraints=[constraint("regexp", "(x{1,1000}){1,1000}" * 100, "${attr.long}")]))
    expect("a large pattern", status, 200, 400, 500)
    ask("DELETE", "/v1/job/long?purge=true")


def versions(daemon):
    many = ", ".join(f">= {i}.{i}.{i}" for i in range(50_000))
    digits = ".".join("9" * 300 for _ in range(100))
    for i, operand in enumerate(["version", "semver"]):
        for j, right in enumerate([many, ">= " + digits, ">= 1." + "0" * 100_000, "~>" * 100_000]):
            status, text = put(job(f"v{i}{j}", Constraints=[constraint(operand, right, "${attr.kernel.version}")] * 8))
            expect(f"{operand} {right[:20]}: {text[:100]}", status, 200, 400, 413, 500)
            ask("DELETE", f"/v1/job/v{i}{j}?purge=true")


def spreads(daemon):
    targets = [{"Value": f"dc{i}", "Percent": 1} for i in range(20_000)]
    refused("targets", job("spread", Spreads=[{"Attribute": "${node.datacenter}", "Weight": 50,
                                               "SpreadTarget": targets}]))
    affinity = {"LTarget": "${node.datacenter}", "RTarget": "dc1", "Operand": "=", "Weight": 50}
    refused("affinities", job("affinities", Affinities=[affinity] * 5000))
    refused("constraints", job("constraints", Constraints=[constraint("=", str(i)) for i in range(8000)]))
    refused("ports", job("ports", [group(Networks=[{"DynamicPorts": [{"Label": f"p{i}"} for i in range(20_000)]}])]))
    refused("datacenters", job("datacenters", Datacenters=[f"dc{i}" for i in range(50_000)]))


def crons(daemon):
    """Times that never come: nobody looks for them for ever."""
    for i, spec in enumerate(["0 0 30 2 *", "0 0 31 4,6,9,11 *", "0 0 0 1 1 * 1970", "0 0 0 29 2 * 2099",
                              "* * * * * *" * 1000]):
        body = job(f"cron{i}", Type="batch", Periodic={"Enabled": True, "SpecType": "cron", "Spec": spec})
        expect(spec[:20], put(body)[0], 200, 400, 500)
        ask("DELETE", f"/v1/job/cron{i}?purge=true")
    refused("specs", job("specs", Type="batch", Periodic={"Enabled": True, "SpecType": "cron",
                                                          "Specs": ["0 0 30 2 *"] * 10_000}))


def hcl(daemon):
    """Small files that would be large jobs."""
    doubled = "".join(f'a{i} = "${{local.a{i - 1}}}${{local.a{i - 1}}}"\n' for i in range(1, 60))
    bombs = {
        "doubling": f'locals {{\na0 = "xxxxxxxx"\n{doubled}}}\njob "x" {{ datacenters = [local.a59] }}',
        "loops": 'job "x" { meta = { a = join("", [for a in range(1000) : join("", [for b in range(1000) : '
                 'join("", [for c in range(1000) : "x"])])]) } }',
        "range": 'job "x" { priority = length(range(1000000000)) }',
        "dynamic": 'job "x" { dynamic "group" { for_each = range(1000000)\n labels = ["g${group.key}"]\n'
                   ' content { task "t" { driver = "exec" } } } }',
        "nesting": 'job "x" { priority = ' + "(" * 100_000 + "1" + ")" * 100_000 + " }",
        "blocks": 'job "x" {' * 50_000,
        "interpolation": 'job "x" { name = "' + "${" * 100_000 + '" }',
        "heredoc": 'job "x" { name = <<EOF\n' + "x\n" * 300_000,
        "regex": 'job "x" { name = regex("(a+)+$", "' + "a" * 5000 + 'b") }',
        "format": 'job "x" { name = join("", [for a in range(1000) : format("%999999999d", 1)]) }',
        "power": 'job "x" { priority = pow(10, 1000000000) }',
        "digits": 'job "x" { priority = 1' + "0" * 300_000 + " }",
    }
    for name, text in bombs.items():
        status, answer = ask("POST", "/v1/jobs/parse", json.dumps({"JobHCL": text, "Canonicalize": True}))
        expect(f"{name}: {answer[:200]}", status, 400, 413, 500)


def names(daemon):
    """What Nomad takes is taken, and comes back escaped."""
    for name, statuses in {"a\x00b": (400, 500), "a b": (400, 500), "": (400, 500), "a\nb": (200,), "\x1b[2J": (200,),
                           "a\x7fb": (200,), "\u202e": (200,), "a/../b": (200,)}.items():
        status, text = put(job(name))
        expect(f"{name!r}: {text[:100]}", status, *statuses)
        text += ask("GET", "/v1/jobs")[1]
        if any(c in text.strip() for c in "\x00\n\x1b") and status == 200:
            raise AssertionError(f"{name!r} comes back as it is")
        ask("DELETE", f"/v1/job/{urllib.parse.quote(name, safe='')}?purge=true")


def keys(daemon):
    refused("twice", '{"Job":{"ID":"a","ID":"b"}}')
    refused("inside", '{"Job":{"ID":"a","Meta":{"x":"1","x":"2"}}}')


def numbers(daemon):
    for number in ["1e400", "-1e400", "99999999999999999999", "-99999999999999999999", "1e308", "NaN", "Infinity",
                   "0x10", "1" * 100_000, "1e" + "9" * 1000, "0." + "1" * 100_000, "-0.5"]:
        refused(number[:30], json.dumps(job("number")).replace('"Count": 1', f'"Count": {number}'))


def versions_of_large(daemon):
    """A megabyte of a job, another one 25 times: the newest six are kept."""
    nowhere = [constraint("=", "nowhere")]  # an allocation would keep its version
    for i in range(25):
        body = job("large", Constraints=nowhere, Meta={"text": str(i) + "x" * 900_000})
        expect("a large version", put(body)[0], 200)
    expect("versions", ask("GET", "/v1/job/large/versions?diffs=true")[0], 200)
    expect("purge", ask("DELETE", "/v1/job/large?purge=true")[0], 200)


def differences(daemon):
    """Two versions of 50,000 pairs that have nothing in common."""
    for side in ("a", "b"):
        body = job("diff", Meta={f"{side}{i}": str(i) for i in range(50_000)})
        status, text = ask("PUT", "/v1/job/diff/plan", json.dumps(dict(body, Diff=True)))
        expect(f"plan {text[:100]}", status, 200)
        expect("register", put(body)[0], 200)
    many = {f"k{i}": {"a": [str(j) for j in range(10)]} for i in range(5000)}
    tasks = [{"Name": "t", "Driver": "raw_exec", "Config": dict(many, command="/bin/true")}]
    body = dict(job("diff", [dict(group(), Tasks=tasks)]), Diff=True)
    status, text = ask("PUT", "/v1/job/diff/plan", json.dumps(body))
    expect(f"plan of a deep config {text[:100]}", status, 200, 400, 500)
    expect("versions", ask("GET", "/v1/job/diff/versions?diffs=true")[0], 200)
    expect("purge", ask("DELETE", "/v1/job/diff?purge=true")[0], 200)


def evaluations(daemon):
    """Three hundred times: look at this job again."""
    expect("register", put(job("again", Constraints=[constraint("=", "nowhere")]))[0], 200)
    for _ in range(300):
        expect("evaluate", ask("PUT", "/v1/job/again/evaluate", "{}")[0], 200, 429)
    expect("purge", ask("DELETE", "/v1/job/again?purge=true")[0], 200)


def environments(daemon):
    """Names that stand for others, ten times each, a hundred deep; and as many environments as fit."""
    env = {f"A{i}": f"${{A{i - 1}}}" * 10 for i in range(1, 100)}
    tasks = [{"Name": "t", "Driver": "raw_exec", "Config": {"command": "/bin/true"}, "Env": dict(env, A0="xxxxxxxxxx")}]
    taken("expanding", job("expanding", [dict(group(), Tasks=tasks)]))
    templates = [{"EmbeddedTmpl": "{{ range loop 1000000000 }}x{{ end }}", "DestPath": "x"}] * 100
    tasks = [{"Name": "t", "Driver": "raw_exec", "Config": {"command": "/bin/true"}, "Templates": templates}]
    expect("templates", put(job("templates", [dict(group(), Tasks=tasks)]))[0], 200, 400, 500)
    deep = "{{ if true }}" * 20_000 + "{{ end }}" * 20_000
    tasks = [{"Name": "t", "Driver": "raw_exec", "Config": {"command": "/bin/true"},
              "Templates": [{"EmbeddedTmpl": deep, "DestPath": "x"}]}]
    expect("a deep template", put(job("templates", [dict(group(), Tasks=tasks)]))[0], 200, 400, 500)
    ask("DELETE", "/v1/job/templates?purge=true")


WRITES = [("PUT", "/v1/jobs"), ("POST", "/v1/jobs/parse"), ("PUT", "/v1/validate/job"), ("PUT", "/v1/job/x/plan"),
          ("PUT", "/v1/job/x/scale"), ("PUT", "/v1/job/x/dispatch"), ("PUT", "/v1/job/x/evaluate"),
          ("PUT", "/v1/namespace/x"), ("PUT", "/v1/node/pool/x"), ("PUT", "/v1/quota"), ("PUT", "/v1/var/x"),
          ("PUT", "/v1/search"), ("PUT", "/v1/search/fuzzy"), ("PUT", "/v1/operator/scheduler/configuration"),
          ("POST", "/v1/vms"), ("PUT", "/v1/acl/policy/x"), ("PUT", "/v1/acl/token"), ("PUT", "/v1/acl/role"),
          ("POST", "/v1/workers"), ("PUT", "/v1/deployment/fail/00000000-0000-0000-0000-000000000000"),
          ("PUT", "/v1/node/00000000-0000-0000-0000-000000000000/drain")]


def every_route(daemon):
    """A megabyte of each kind for every route that takes a body, and null with garbage behind it."""
    kinds = [b" " * MIB, b"\0" * MIB, b"[" * MIB, b'"' + b"x" * (MIB - 1), b"9" * MIB, b'{"a":' * (MIB // 5),
             b"null garbage", b"\xff" * MIB, b" " * (MIB + 1)]
    for method, path in WRITES:
        for body in kinds:
            status, text = ask(method, path, body)
            # What is not there, or not allowed without a token, may be said before anybody looks at the body. Blanks
            # are an empty body.
            fine = (200,) if body == kinds[0] else ()
            expect(f"{method} {path} {body[:12]!r} {text[:80]!r}", status, 400, 403, 404, 405, 412, 413, 500, *fine)


# What is sent; the most that it may take of the processor (s) and of memory (MiB).
CASES = [
    ("a million instances", counts, 6, 96),
    ("thousands of groups and tasks", many_groups, 2, 64),
    ("JSON 100,000 deep", deep, 2, 64),
    ("350,000 small values", wide, 4, 160),
    ("strings of a megabyte", strings, 2, 64),
    ("regular expressions that backtrack", regexps, 6, 64),
    ("versions of 50,000 parts", versions, 6, 96),
    ("thousands of targets and affinities", spreads, 3, 64),
    ("times that never come", crons, 2, 48),
    ("job files that explode", hcl, 6, 320),  # one may take 192 MiB while it is read, as they are counted
    ("names with control characters", names, 1, 32),
    ("keys that come twice", keys, 1, 32),
    ("numbers beyond 64 bits", numbers, 1, 48),
    ("a large job again and again", versions_of_large, 4, 48),
    ("versions that have nothing in common", differences, 6, 192),
    ("evaluations by the hundred", evaluations, 6, 64),
    ("environments and templates that explode", environments, 3, 64),
    ("a megabyte of each kind for each route", every_route, 8, 160),
]
