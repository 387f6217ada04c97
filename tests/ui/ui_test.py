"""The web page in a real browser, at a real controller with a real fleet: started by ui.sh.

ui_test.py small NODES     every page: what it shows, where clicks lead, what it does
ui_test.py large NODES     the map of a large fleet
ui_test.py pictures NODES FOLDER     pictures of pages for the documentation
"""
import sys

import access_steps
import fleet_steps
import job_steps
import page_steps
import pictures
import token_steps
import webdriver

FPS_LEAST = 20


def expect_silence(browser, besides=None):
    """Browsers also tell what a page asks for and is refused."""
    errors = [error for error in browser.errors() if not besides or besides not in error]
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
    page_steps.nodes_are_listed_by_state_and_name(browser, "agent1")
    page_steps.a_drain_is_begun_shown_and_stopped(browser, "agent1")
    page_steps.machines_and_their_workers_are_shown(browser)
    page_steps.events_come_as_they_happen(browser)
    page_steps.metrics_are_plotted(browser)
    page_steps.the_controller_says_what_it_is(browser)
    access_steps.pages_can_be_used_by_everybody(browser)
    access_steps.the_focus_is_seen_and_goes_to_the_contents(browser)
    with webdriver.Browser(is_dark=False) as bright:
        access_steps.pages_can_be_used_by_everybody(bright)
        expect_silence(bright, besides="/v1/berth/cluster")
    # The one thing that is asked for and is not there.
    expect_silence(browser, besides="/v1/berth/cluster")
    fleet_steps.back_to_the_map(browser)
    fleet_steps.a_node_that_goes_down_changes_its_cell(browser, "agent2")
    expect_silence(browser)
    token_steps.tokens(browser)


def large(browser, nodes):
    fleet_steps.the_root_leads_to_the_fleet(browser, nodes)
    fleet_steps.it_stays_smooth(browser, FPS_LEAST)
    expect_silence(browser)


def main():
    steps = {"small": small, "large": large, "pictures": pictures.take}[sys.argv[1]]
    with webdriver.Browser() as browser:
        steps(browser, int(sys.argv[2]), *sys.argv[3:])


if __name__ == "__main__":
    main()
