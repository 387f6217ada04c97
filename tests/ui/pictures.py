"""Pictures of the page for the documentation: a fleet that is used unevenly, with nodes that are down and that drain, a
deployment that waits for its canaries, and a job that finds no room."""
import pathlib
import time

import controller
import job_steps

JOBS = (("cache", 2400, 1500, 4000), ("search", 1300, 9000, 24000), ("api", 4000, 1000, 2000),
        ("batch", 2400, 2500, 1500), ("db", 500, 20000, 60000), ("train", 500, 40000, 160000))


def use_the_fleet():
    for name, count, cpu, memory in JOBS:
        controller.job(name, count=count, cpu=cpu, memory=memory, Datacenters=["dc1", "dc2"] if name == "db" else ["*"],
                       Spreads=[{"Attribute": "${node.datacenter}", "Weight": 50}], group={"Update": None})
    nodes = sorted(controller.get("/v1/nodes"), key=lambda node: node["Name"])
    for node in nodes[100:1500:20]:
        controller.put(f"/v1/node/{node['ID']}/eligibility", {"Eligibility": "ineligible"})
    busy = [node for node in nodes[1500:1800] if controller.get(f"/v1/berth/node/{node['ID']}")["Lifecycle"]["Busy"]]
    for node in busy[:25]:
        controller.put(f"/v1/node/{node['ID']}/drain", {"DrainSpec": {"Deadline": 3600_000_000_000}})


def deploy_with_canaries(browser):
    update = {**job_steps.UPDATE, "MaxParallel": 10, "Canary": 4, "ProgressDeadline": 600_000_000_000}
    controller.job("frontend", count=40, env={"V": "1"}, group={"Update": update})
    browser.wait("the first version is deployed", lambda: (
        controller.get("/v1/job/frontend/deployment") or {}).get("Status") == "successful", 30)
    controller.job("frontend", count=40, env={"V": "2"}, group={"Update": update})


def take(browser, _nodes, folder):
    folder = pathlib.Path(folder)

    def picture(name, page, is_ready):
        browser.open(f"{controller.URL}/ui/#/{page}")
        browser.wait(f"the picture {name}", is_ready, 40)
        time.sleep(1)
        browser.picture(folder / f"ui-{name}.png")

    browser.open(f"{controller.URL}/ui/#/metrics")
    use_the_fleet()
    deploy_with_canaries(browser)
    controller.job("giant", count=3, cpu=50000, memory=250000,
                   Constraints=[{"LTarget": "${node.class}", "Operand": "=", "RTarget": "new"}])
    browser.wait("nodes that are down", lambda: len([
        node for node in controller.get("/v1/nodes") if node["Status"] == "down"]) >= 70, 40)
    picture("metrics", "metrics", lambda: len(browser.all("path.curve")) >= 8)
    picture("fleet", "fleet", lambda: "down" in browser.text("ul.legend"))
    browser.choose("#colour", "cpu")
    browser.choose("#group", "class")
    time.sleep(1)
    browser.picture(folder / "ui-fleet-cpu.png")
    picture("deployment", "job/default/frontend", lambda: "4 of 4 canaries placed" in browser.text(".rollout"))
    picture("why", "job/default/giant", lambda: browser.all(".why"))
    browser.click("button.explain")
    browser.wait_text("nearest", "main")
    browser.picture(folder / "ui-why.png")
