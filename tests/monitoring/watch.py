"""What a real Prometheus makes of a real daemon, and of the board and the alerts in packaging/.

watch.py PROMETHEUS-URL described    every family of the daemon has help, a type, and the unit of its name
watch.py PROMETHEUS-URL asked        board and alerts ask for what is there, and each expression is understood
watch.py PROMETHEUS-URL silent       no alert fires
watch.py PROMETHEUS-URL fires ALERT  this alert fires, and says which controller
"""
import json
import pathlib
import re
import sys
import urllib.parse
import urllib.request

PACKAGING = pathlib.Path(__file__).resolve().parents[2] / "packaging"
ALERTS = PACKAGING / "prometheus/alerts.yml"
NAME = re.compile(r"\b(?:berth|nomad|process)_[a-z0-9_]+\b")
EXPRESSION = re.compile(r"^        expr: (?:>-\n((?: {10}.*\n)+)|(.*)\n)", re.M)
UNITS = ("milliseconds", "seconds", "bytes", "ms", "cycles", "entries")
FAMILIES_LEAST = 190
# What the board's variables stand for.
VARIABLES = {"$job": "berth", "$instance": ".*", "$__rate_interval": "1m"}


class Wrong(Exception):
    pass


def ask(url, path, **parameters):
    with urllib.request.urlopen(f"{url}/api/v1/{path}?{urllib.parse.urlencode(parameters)}", timeout=10) as answer:
        said = json.load(answer)
    if said["status"] != "success":
        raise Wrong(f"{path} {parameters}: {said}")
    return said["data"]


def expressions_of_board():
    for board in PACKAGING.glob("grafana/*.json"):
        for panel in json.loads(board.read_text())["panels"]:
            for target in panel.get("targets", []):
                expression = target["expr"]
                for variable, value in VARIABLES.items():
                    expression = expression.replace(variable, value)
                yield f"{board.name}: {panel['title']}", expression


def expressions_of_alerts():
    for folded, plain in EXPRESSION.findall(ALERTS.read_text()):
        yield ALERTS.name, " ".join((folded or plain).split())


def expressions():
    found = [*expressions_of_board(), *expressions_of_alerts()]
    alerts = ALERTS.read_text().count("- alert:")
    if len(found) < alerts + 50:
        raise Wrong(f"{len(found)} expressions are few for {alerts} alerts and a board")
    return found


def unit_of(family):
    name = family.removesuffix("_total")
    return next((unit for unit in UNITS if name.endswith("_" + unit)), "")


def check_described(url):
    families = ask(url, "targets/metadata", match_target='{job="berth"}')
    if len(families) < FAMILIES_LEAST:
        raise Wrong(f"only {len(families)} families")
    for family in families:
        name = family["metric"]
        if not family["help"] or not family["type"]:
            raise Wrong(f"{name} does not say what it is: {family}")
        if family["unit"] != unit_of(name):
            raise Wrong(f"{name} has the unit {family['unit']!r}, and its name {unit_of(name)!r}")
    return f"{len(families)} families are described"


def check_asked(url):
    there = set(ask(url, "label/__name__/values"))
    for where, expression in expressions():
        missing = set(NAME.findall(expression)) - there
        if missing:
            raise Wrong(f"{where}: the daemon has no {', '.join(sorted(missing))}")
        ask(url, "query", query=expression)
    return f"{len(expressions())} expressions are understood"


def firing(url):
    return [alert for alert in ask(url, "alerts")["alerts"] if alert["state"] == "firing"]


def check_silent(url):
    alerts = firing(url)
    if alerts:
        raise Wrong(f"fires without a reason: {alerts}")
    return "no alert fires"


def check_fires(url, name):
    for alert in firing(url):
        if alert["labels"]["alertname"] == name and alert["labels"]["instance"] in alert["annotations"]["summary"]:
            return alert["annotations"]["summary"]
    raise Wrong(f"{name} does not fire")


def main():
    url, what, *rest = sys.argv[1:]
    checks = {"described": check_described, "asked": check_asked, "silent": check_silent, "fires": check_fires}
    try:
        print(checks[what](url, *rest))
    except (Wrong, OSError) as problem:
        print(problem, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
