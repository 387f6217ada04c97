"""The other pages: nodes, drains, machines, events, metrics, the controller itself."""
import controller


def open_page(browser, name):
    browser.click(f"nav a[href='#/{name}']")
    browser.wait(f"the menu says {name}, and nothing else", lambda: browser.run(
        "return [...document.querySelectorAll('[aria-current]')].map(a => a.hash).join()") == f"#/{name}")


def nodes_are_listed_by_state_and_name(browser, agent):
    open_page(browser, "nodes")
    browser.wait_text("fleet-", "main table")
    browser.type("#find", agent)
    browser.wait("the agent alone", lambda: browser.text("main table tbody").count("\n") == 0 and
                 agent in browser.text("main table tbody"))
    browser.choose("#state", "5")
    browser.wait_text("Nodes: none", "main")


def a_drain_is_begun_shown_and_stopped(browser, agent):
    node = controller.node_named(agent)["ID"]
    here = [{"LTarget": "${node.unique.id}", "Operand": "=", "RTarget": node}]
    controller.job("bound", count=1, Constraints=here)
    browser.wait("it runs there", lambda: any(
        a["ClientStatus"] == "running" and a["JobID"] == "bound"
        for a in controller.get(f"/v1/node/{node}/allocations")))
    browser.open(f"{controller.URL}/ui/#/node/{node}")
    browser.wait_text("bound.web[0]", "main table")
    browser.click(".actions button")
    browser.wait_text("draining", "main h2")
    open_page(browser, "drains")
    browser.wait_text(agent, ".drains h3")
    browser.wait_text("1 allocation to move", ".drains")
    browser.click(".drains button")
    browser.wait_text("No node drains.", "main")
    assert controller.get(f"/v1/node/{node}")["SchedulingEligibility"] == "eligible"


def machines_and_their_workers_are_shown(browser):
    controller.put("/v1/vms", {"name": "builder", "image": "debian:12", "cpu": 1, "memory": 512})
    open_page(browser, "machines")
    browser.wait_text("builder", "main table")
    browser.wait("it runs", lambda: "running" in browser.text("main table"))


def events_come_as_they_happen(browser):
    open_page(browser, "events")
    browser.wait_text("NodeDrain", "main table")
    controller.job("newcomer", count=1)
    browser.wait_text("newcomer", "main table")
    browser.click("#pause")
    browser.wait_text("Go on", "#pause")
    controller.job("unseen", count=1)
    controller.get("/v1/job/unseen")
    assert "unseen" not in browser.text("main table")
    browser.click("#pause")
    browser.wait_text("unseen", "main table")


def metrics_are_plotted(browser):
    open_page(browser, "metrics")
    browser.wait("curves", lambda: len([d for d in browser.run(
        "return [...document.querySelectorAll('path.curve')].map(p => p.getAttribute('d'))") if "L" in d]) >= 5)
    heartbeats = browser.run("return document.querySelector('.plot svg').getAttribute('aria-label')")
    assert heartbeats.startswith("Heartbeats a second: accepted ") and not heartbeats.endswith(" 0"), heartbeats


def the_controller_says_what_it_is(browser):
    open_page(browser, "controller")
    browser.wait_text("It stands alone: no cluster is configured.", "main")
    browser.wait_text("Expiry of silent nodes: as ever", "main")
    browser.click("details summary")
    browser.wait_text("http.ui\ttrue", "details table")
