"""Access control: what the page says without a right, and with a token."""
import controller

RULES = 'namespace "default" { policy = "read" }'


def log_in(browser, secret, said):
    browser.open(f"{controller.URL}/ui/#/login")
    browser.wait("the field", lambda: browser.all("#secret"))
    browser.type("#secret", secret)
    browser.click("#login")
    browser.wait_text(said, "#said")


def without_a_token_each_part_says_what_it_wants(browser):
    browser.open(f"{controller.URL}/ui/#/fleet")
    browser.wait_text("Permission denied. This wants a token with reading nodes", ".denied")
    browser.open(f"{controller.URL}/ui/#/jobs")
    browser.wait_text("Permission denied. This wants a token with read-job", ".denied")
    browser.click(".denied a")
    browser.wait("the field", lambda: browser.all("#secret"))


def a_token_shows_what_it_may(browser, secret):
    browser.open(f"{controller.URL}/ui/#/jobs")
    browser.wait_text("site", "main table")
    browser.open(f"{controller.URL}/ui/#/job/default/site")
    browser.wait_text("site", "main h2")
    version = controller.get("/v1/job/site", secret)["Version"]
    browser.click("button.stop")
    browser.click("button.stop.sure")
    browser.wait_text("Permission denied", ".notice")
    job = controller.get("/v1/job/site", secret)
    assert not job["Stop"] and job["Version"] == version
    browser.open(f"{controller.URL}/ui/#/fleet")
    browser.wait_text("Permission denied", ".denied")


def it_is_kept_in_the_tab_alone(browser, secret):
    assert secret not in browser.address_now()
    assert browser.run("return JSON.stringify(sessionStorage)").count(secret) == 1
    assert browser.run("return localStorage.length + document.cookie.length") == 0
    browser.open(f"{controller.URL}/ui/#/login")
    browser.wait("the button", lambda: browser.all("#logout"))
    browser.click("#logout")
    browser.wait_text("The token is forgotten.", "#said")
    assert secret not in browser.run("return JSON.stringify(sessionStorage)")


def tokens(browser):
    manager = controller.put("/v1/acl/bootstrap", {})["SecretID"]
    controller.put("/v1/acl/policy/readers", {"Name": "readers", "Rules": RULES}, manager)
    reader = controller.put("/v1/acl/token", {"Name": "alice", "Type": "client", "Policies": ["readers"]},
                            manager)["SecretID"]
    without_a_token_each_part_says_what_it_wants(browser)
    log_in(browser, "11111111-2222-4333-8444-555555555555", "Refused:")
    log_in(browser, reader, "This is the token alice (client).")
    a_token_shows_what_it_may(browser, reader)
    it_is_kept_in_the_tab_alone(browser, reader)
    log_in(browser, manager, "(management)")
    browser.click("nav a")
    browser.wait("the map", lambda: browser.all(".map canvas"))
    # The browser tells what was refused, and nothing else went wrong.
    others = [error for error in browser.errors() if " 403 " not in error and "/v1/acl/token/self" not in error]
    assert not others, f"the browser complains: {others}"
