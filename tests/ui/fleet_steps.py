"""The map of the fleet: what it shows, where clicks lead, and that it lives."""
import os
import pathlib
import signal

import controller

# Places of the canvas, in its own pixels, that have a colour; with the most of one row first.
PIXELS = """
const canvas = document.querySelector(".map canvas"), [r, g, b] = arguments[0];
const {data, width} = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
const found = [];
for (let i = 0; i < data.length && found.length < 5000; i += 4)
    if (data[i] === r && data[i + 1] === g && data[i + 2] === b)
        found.push([i / 4 % width, Math.floor(i / 4 / width)]);
return found;
"""
READY = (0x2a, 0x9d, 0x8f)
DOWN = (0xd6, 0x28, 0x39)

# Moves the map about for a while, as a hand does; frames a second.
PAN = """
const canvas = document.querySelector(".map canvas"), box = canvas.getBoundingClientRect(), lasts_ms = arguments[0];
const mouse = (type, target, x, y) => target.dispatchEvent(new MouseEvent(type,
    {bubbles: true, cancelable: true, view: window, clientX: x, clientY: y, buttons: 1}));
const x = box.x + box.width / 2, y = box.y + box.height / 2;
return new Promise(done => {
    const begin = performance.now();
    let frames = 0;
    mouse("mousedown", canvas, x, y);
    const step = () => {
        const passed = performance.now() - begin;
        frames++;
        mouse("mousemove", window, x + 200 * Math.sin(passed / 300), y + 100 * Math.cos(passed / 200));
        if (passed < lasts_ms)
            return requestAnimationFrame(step);
        mouse("mouseup", window, x, y);
        done(frames / passed * 1000);
    };
    requestAnimationFrame(step);
});
"""
ZOOM = """
const canvas = document.querySelector(".map canvas"), box = canvas.getBoundingClientRect();
for (let i = 0; i < arguments[0]; i++)
    canvas.dispatchEvent(new WheelEvent("wheel", {deltaY: -300, bubbles: true, cancelable: true,
        clientX: box.x + box.width / 2, clientY: box.y + box.height / 2}));
"""


def pixels(browser, colour):
    return browser.run(PIXELS, colour)


def back_to_the_map(browser):
    browser.click("nav a")
    browser.wait("the map is back", lambda: browser.all(".map canvas") and pixels(browser, READY))


def the_root_leads_to_the_fleet(browser, nodes):
    browser.open(controller.URL + "/")
    assert browser.address_now().startswith(controller.URL + "/ui/"), browser.address_now()
    browser.wait_text(f"nodes\n{nodes:,}", "dl.facts")
    browser.wait("cells of ready nodes", lambda: len(pixels(browser, READY)) > 1000)


def pointing_at_a_node_tells_it_and_a_click_opens_it(browser):
    x, y = pixels(browser, READY)[700]
    browser.move(".map canvas", x, y)
    tip = browser.wait("what is under the mouse", lambda: browser.text(".tip"))
    name = tip.split()[0]
    assert "ready" in tip and "CPU" in tip, tip
    browser.move(".map canvas", x, y, click=True)
    browser.wait_text(name, "main h2")
    identity = controller.node_named(name)["ID"]
    assert browser.address_now().endswith(f"#/node/{identity}"), browser.address_now()
    browser.wait_text("Node registered")
    back_to_the_map(browser)


def the_keyboard_goes_from_node_to_node(browser):
    browser.press(".map canvas", "\ue014")  # right
    first = browser.wait("a first node", lambda: browser.text(".tip"))
    browser.press(".map canvas", "\ue015")  # down
    browser.wait("another node", lambda: browser.text(".tip") not in ("", first))
    name = browser.text(".tip").split()[0]
    browser.press(".map canvas", "\ue007")  # Enter
    browser.wait_text(name, "main h2")
    back_to_the_map(browser)


def a_node_is_found_by_its_name(browser, name):
    browser.type("#find", name)
    browser.wait_text(name, "ul.found")
    browser.click("ul.found a")
    browser.wait_text(name, "main h2")
    back_to_the_map(browser)


def colours_and_groups_can_be_chosen(browser):
    for group in ("none", "class", "pool", "datacenter"):
        browser.choose("#group", group)
        browser.wait("cells", lambda: pixels(browser, READY))
    for mode, word in (("cpu", "75 to 100 %"), ("memory", "0 to 25 %"), ("class", "old"), ("datacenter", "dc1"),
                       ("pool", "default"), ("status", "ready")):
        browser.choose("#colour", mode)
        browser.wait_text(word, "ul.legend")


def a_node_that_goes_down_changes_its_cell(browser, agent):
    assert not pixels(browser, DOWN)
    os.kill(int(pathlib.Path(os.environ["TESTBED_DIR"], agent + ".pid").read_text()), signal.SIGKILL)
    x, y = browser.wait("a red cell", lambda: pixels(browser, DOWN))[0]
    browser.wait_text("down 1", "ul.legend")
    browser.move(".map canvas", x + 2, y + 2)
    browser.wait_text(agent, ".tip")
    assert "down" in browser.text(".tip")


def it_stays_smooth(browser, fps_least):
    whole = browser.run(PAN, 2000)
    browser.run(ZOOM, 6)
    near = browser.run(PAN, 2000)
    print(f"frames a second while the map is moved: {whole:.0f} of all nodes, {near:.0f} from nearby")
    assert min(whole, near) > fps_least, f"{whole:.1f} and {near:.1f} frames a second"
