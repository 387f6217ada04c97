"""Whether everybody can use the page: everything that can be used has a name, every text stands out from what is behind
it, every page has one heading of the first order, and the focus is to be seen."""
import controller
import webdriver

PAGES = ["fleet", "nodes", "jobs", "job/default/giant", "deployments", "drains", "machines", "events", "metrics",
         "controller", "login"]
CONTRAST_LEAST = 4.5

NAMED = """
const parts = "input, select, button, a[href], canvas, svg[role=img], [role=region]";
return [...document.querySelectorAll(parts)]
    .filter(element => element.checkVisibility()).slice(0, 80)
    .map(element => [element, element.outerHTML.slice(0, 120)]);
"""

# Texts whose contrast is too weak, by the formula of WCAG 2.
WEAK = """
const numbers = colour => colour.match(/[\\d.]+/g).map(Number);
const light = ([r, g, b]) => [r, g, b].map(c => c / 255)
    .map(c => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
function behind(element) {
    for (let at = element; at; at = at.parentElement) {
        const colour = numbers(getComputedStyle(at).backgroundColor);
        if (colour.length < 4 || colour[3] > 0)
            return colour;
    }
    return [255, 255, 255];
}
const weak = [];
for (const element of document.querySelectorAll("body *")) {
    const text = [...element.childNodes].filter(node => node.nodeType === 3).map(node => node.data.trim()).join("");
    if (!text || element.closest("option, svg, canvas, :disabled") || element.getClientRects().length === 0)
        continue;
    const [a, b] = [light(numbers(getComputedStyle(element).color)), light(behind(element))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < arguments[0])
        weak.push(`${text.slice(0, 40)} (${element.tagName} ${element.className}): ${ratio.toFixed(2)}`);
}
return weak;
"""


def label_of(browser, element):
    """What a screen reader says of it; None when it is gone meanwhile, as rows of events are."""
    try:
        return browser.send("GET", f"{browser.session}/element/{element}/computedlabel")
    except RuntimeError as error:
        if "stale element" in str(error):
            return None
        raise


def pages_can_be_used_by_everybody(browser):
    for page in PAGES:
        browser.open(f"{controller.URL}/ui/#/{page}")
        browser.wait(f"the page {page}", lambda: browser.all("main h2, .map canvas"))
        for element, source in browser.run(NAMED):
            label = label_of(browser, element[webdriver.ELEMENT])
            assert label is None or label.strip(), f"{page}: a part that can be used has no name: {source}"
        assert len(browser.all("h1")) == 1, page
        weak = browser.run(WEAK, CONTRAST_LEAST)
        assert not weak, f"{page}: texts that are hard to read: {weak}"


def the_focus_is_seen_and_goes_to_the_contents(browser):
    browser.open("about:blank")  # so that the page begins anew, and with it where Tab goes
    browser.open(f"{controller.URL}/ui/#/jobs")
    browser.wait("the page", lambda: browser.all("main h2"))
    browser.press("body", "\ue004")  # Tab
    assert browser.run("return document.activeElement.className") == "skip"
    browser.press(".skip", "\ue007")  # Enter
    assert browser.run("return document.activeElement.id") == "main"
    browser.run("document.querySelector('nav a').focus()")
    browser.press("nav a", "\ue004")
    outline = browser.run("return getComputedStyle(document.activeElement).outlineStyle")
    assert outline != "none", outline
