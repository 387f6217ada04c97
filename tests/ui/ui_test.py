"""The web page in a real browser, at a real controller with a real fleet: started by ui.sh.

ui_test.py small NODES     every page: what it shows, where clicks lead, what it does
ui_test.py large NODES     the map of a large fleet
"""
import sys

import fleet_steps
import webdriver

FPS_LEAST = 20


def expect_silence(browser):
    """What the page asks and is refused is told by the browser, too: only where a step expects it."""
    errors = browser.errors()
    assert not errors, f"the browser complains: {errors}"


def small(browser, nodes):
    fleet_steps.the_root_leads_to_the_fleet(browser, nodes)
    fleet_steps.pointing_at_a_node_tells_it_and_a_click_opens_it(browser)
    fleet_steps.the_keyboard_goes_from_node_to_node(browser)
    fleet_steps.a_node_is_found_by_its_name(browser, "agent1")
    fleet_steps.colours_and_groups_can_be_chosen(browser)
    fleet_steps.a_node_that_goes_down_changes_its_cell(browser, "agent2")
    expect_silence(browser)


def large(browser, nodes):
    fleet_steps.the_root_leads_to_the_fleet(browser, nodes)
    fleet_steps.it_stays_smooth(browser, FPS_LEAST)
    expect_silence(browser)


def main():
    steps = {"small": small, "large": large}[sys.argv[1]]
    with webdriver.Browser() as browser:
        steps(browser, int(sys.argv[2]))


if __name__ == "__main__":
    main()
