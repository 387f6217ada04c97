"""The web page in a real browser, at a real controller with a real fleet: started by ui.sh.

ui_test.py small NODES     every page: what it shows, where clicks lead, what it does
ui_test.py large NODES     the map of a large fleet
"""
import sys

import fleet_steps
import job_steps
import token_steps
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
    job_steps.a_job_is_listed_and_opened(browser)
    job_steps.what_is_too_large_is_explained(browser)
    job_steps.a_constraint_that_no_node_meets_is_named(browser)
    job_steps.no_datacenter_is_named(browser)
    job_steps.a_deployment_is_promoted_by_a_click(browser)
    job_steps.a_deployment_is_failed_by_a_click(browser)
    job_steps.a_job_is_stopped_by_two_clicks(browser)
    fleet_steps.back_to_the_map(browser)
    fleet_steps.a_node_that_goes_down_changes_its_cell(browser, "agent2")
    expect_silence(browser)
    token_steps.tokens(browser)


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
