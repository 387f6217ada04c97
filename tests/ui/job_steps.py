"""Jobs: how far they are, why something of them is not placed, and deployments that clicks move on."""
import controller

UPDATE = {"MaxParallel": 2, "Canary": 1, "HealthCheck": "task_states", "MinHealthyTime": 100_000_000,
          "HealthyDeadline": 10_000_000_000, "ProgressDeadline": 20_000_000_000}


def open_job(browser, name):
    browser.open(f"{controller.URL}/ui/#/job/default/{name}")
    browser.wait_text(name, "main h2")


def running(name):
    summary = controller.get(f"/v1/job/{name}/summary")["Summary"]
    return summary["web"]["Running"]


def a_job_is_listed_and_opened(browser):
    controller.job("shop", count=3)
    browser.click("nav a[href='#/jobs']")
    browser.wait_text("shop", "main table")
    browser.click("main table a[href='#/job/default/shop']")
    browser.wait_text("shop", "main h2")
    browser.wait("three instances run", lambda: browser.text("main").count("shop.web[") == 3)
    browser.wait("all of them run", lambda: running("shop") == 3)
    browser.wait("so says the page", lambda: browser.text("main").count("\trunning\trun") >= 3)
    browser.click("main table a[href^='#/allocation/']")
    browser.wait_text("It is to run", ".why")
    browser.wait_text("running", "main h2")
    browser.click("dl.facts a[href^='#/job/']")
    browser.wait_text("shop", "main h2")


def what_is_too_large_is_explained(browser):
    controller.job("giant", count=2, cpu=4_000_000)
    open_job(browser, "giant")
    browser.wait_text("2 instances could not be placed.", ".why")
    why = browser.text(".why")
    assert "too little room left" in why and "lack CPU" in why, why
    browser.click("button.explain")
    browser.wait_text("Too little left", "main")
    assert "nearest:" in browser.text("main"), browser.text("main")


def a_constraint_that_no_node_meets_is_named(browser):
    controller.job("picky", Constraints=[{"LTarget": "${node.class}", "Operand": "=", "RTarget": "quantum"}])
    open_job(browser, "picky")
    browser.wait_text("not meet “${node.class} = quantum”", ".why")
    browser.click("main table a[href^='#/evaluation/']")
    browser.wait_text("Evaluation", "main h2")
    browser.wait_text("because of", "dl.facts")


def no_datacenter_is_named(browser):
    controller.job("elsewhere", Datacenters=["mars"])
    open_job(browser, "elsewhere")
    browser.wait_text("No node that takes work is in the datacenters of the job", ".why")


def a_deployment_is_promoted_by_a_click(browser):
    controller.job("site", count=4, env={"V": "1"}, group={"Update": UPDATE})
    open_job(browser, "site")
    browser.wait_text("4 of 4 healthy", ".rollout")
    browser.wait_text("successful", ".deployment h3")
    controller.job("site", count=4, env={"V": "2"}, group={"Update": UPDATE})
    browser.click("nav a[href='#/deployments']")
    browser.wait_text("1 of 1 canaries placed, not promoted", ".rollout")
    browser.wait_text("1 of 4 healthy", ".rollout")
    browser.click(".deployment button.promote")
    browser.wait("it is promoted", lambda: controller.get("/v1/job/site/deployment")["TaskGroups"]["web"]["Promoted"])
    browser.wait("it is successful", lambda: controller.get("/v1/job/site/deployment")["Status"] == "successful")
    browser.wait_text("site\t1\tsuccessful", "main table")


def a_deployment_is_failed_by_a_click(browser):
    controller.job("site", count=4, env={"V": "3"}, group={"Update": UPDATE})
    open_job(browser, "site")
    browser.wait("its buttons", lambda: browser.all(".deployment button.fail"))
    browser.click(".deployment button.fail")
    browser.wait("it failed", lambda: controller.get("/v1/job/site/deployment")["Status"] == "failed")
    browser.wait_text("failed", ".deployment h3")


def a_job_is_stopped_by_two_clicks(browser):
    open_job(browser, "shop")
    browser.click("button.stop")
    browser.click("button.stop.sure")
    browser.wait("it is stopped", lambda: controller.get("/v1/job/shop")["Stop"])
    browser.wait_text("stopped", "main h2")
