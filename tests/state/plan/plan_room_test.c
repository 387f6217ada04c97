// What is to stop keeps its room on its node until the node has said that it ended (row A47): for every plan but the
// one that stops it, for clients that place, and for virtual machines.
#include "state/apply/apply.h"
#include "state/records/alloc_details.h"
#include "tests/state/plans.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { NODES = 2, SPECIAL = 50 }; // numbers and slots 0 …, generation 1; SPECIAL is at slot NODES

struct world {
	struct controller *c;
	struct planned_job web, db;
	uint64_t reports;
};

static void register_special(struct controller *c)
{
	struct node_registration n;

	build_node(&n, SPECIAL, 1);
	n.pairs[n.pair_count++] =
		(struct node_pair){PAIR_SETTING, TEXT("cores.reservable"), TEXT("0-3")};
	n.device_group_count = 1;
	n.device_groups[0] =
		(struct node_device_group){TEXT("nvidia"), TEXT("gpu"), TEXT("a100"), 2};
	assert_int_equal(core_join(&c->core, &n), OUTCOME_DONE);
}

static int setup(void **test)
{
	struct world *w = calloc(1, sizeof *w);

	w->c = controller_with_nodes((struct state_limits){0}, NODES);
	register_special(w->c);
	w->web = plan_job(w->c, "web", JOB_SERVICE);
	w->db = plan_job(w->c, "db", JOB_SERVICE);
	*test = w;
	return 0;
}

// Verifies the state, and again after a replay and from a snapshot.
static int teardown(void **test)
{
	struct world *w = *test;

	controller_verify(w->c);
	controller_end(w->c);
	free(w);
	return 0;
}

static void report(struct world *w, uint32_t slot, uint32_t id, enum alloc_client status)
{
	assert_int_equal(
		report_status(w->c, slot, 1, ++w->reports, id, status, NULL), OUTCOME_DONE);
}

static uint32_t number_of(uint32_t slot)
{
	return slot == NODES ? SPECIAL : slot;
}

static struct plan_placement *place(struct plan *plan, uint32_t id, uint32_t slot)
{
	struct plan_placement *p = plan_place(plan, id, number_of(slot), slot);
	p->name_index = id;
	return p;
}

// Four quarters of node 0, by the job "web": 100 … 103.
static void fill(struct world *w)
{
	struct plan *plan = build_plan(&w->web);

	for (uint32_t i = 0; i < 4; i++)
		place(plan, 100 + i, 0);
	commit_plan(w->c, plan);
}

static void stop(struct world *w, uint32_t id)
{
	struct plan *plan = build_plan(&w->web);

	plan_stop(plan, id, STOP_NOT_NEEDED);
	commit_plan(w->c, plan);
}

static void expect(struct world *w, struct plan *plan, uint32_t slot, const char *reason)
{
	struct plan_result result;

	assert_int_equal(run_plan(w->c, plan, &result), OUTCOME_DONE);
	if (reason) {
		assert_int_equal(result.placements_committed, 0);
		assert_string_equal(rejection_of(&result, number_of(slot)), reason);
	} else {
		assert_int_equal(result.rejections.count, 0);
	}
	plan_result_release(&result);
}

static struct plan *of_other(struct world *w, uint32_t id, uint32_t slot)
{
	struct plan *plan = build_plan(&w->db);
	place(plan, id, slot);
	return plan;
}

static void its_room_is_free_when_its_node_says_so(void **test)
{
	struct world *w = *test;

	fill(w);
	stop(w, 100);
	assert_int_equal(use_of(w->c, 0).used.cpu_mhz, 4000);
	assert_int_equal(use_of(w->c, 0).living, 3);
	expect(w, of_other(w, 200, 0), 0, "cpu");
	report(w, 0, 100, ALLOC_RUNNING);
	expect(w, of_other(w, 200, 0), 0, "cpu");
	report(w, 0, 100, ALLOC_COMPLETE);
	assert_int_equal(use_of(w->c, 0).used.cpu_mhz, 3000);
	expect(w, of_other(w, 200, 0), 0, NULL);
}

static void the_plan_that_stops_it_takes_its_place(void **test)
{
	struct world *w = *test;

	fill(w);
	struct plan *plan = build_plan(&w->web);
	plan_stop(plan, 100, STOP_UPDATING);
	place(plan, 110, 0);
	expect(w, plan, 0, NULL);
	assert_int_equal(use_of(w->c, 0).used.cpu_mhz, 5000);
	stop(w, 110);
	report(w, 0, 100, ALLOC_COMPLETE);
	expect(w, of_other(w, 200, 0), 0, "cpu");
	report(w, 0, 110, ALLOC_FAILED);
	expect(w, of_other(w, 200, 0), 0, NULL);
}

static void clients_do_not_get_it_either(void **test)
{
	struct world *w = *test;
	const struct resources ask = {1000, 2048, 0};
	struct command_place result;

	assert_int_equal(controller_job(w->c, build_job("calls", &ask, 1)), OUTCOME_DONE);
	fill(w);
	stop(w, 101);
	assert_int_equal(controller_place(w->c, "ann", "calls", 1, 1, &result), OUTCOME_DONE);
	assert_int_equal(result.items[0].node_slot, 1);
	report(w, 0, 101, ALLOC_COMPLETE);
	assert_int_equal(controller_place(w->c, "ann", "calls", 2, 1, &result), OUTCOME_DONE);
	assert_int_equal(result.items[0].node_slot, 0);
}

static struct plan_placement *special(struct plan *plan, uint32_t id)
{
	struct plan_placement *p = place(plan, id, NODES);
	p->details = core_details(2);
	p->devices.groups[0] = 1;
	return p;
}

// Cores and devices belong to both, the old one and what takes its place, until both have ended.
static void cores_and_devices_are_free_when_nobody_has_them(void **test)
{
	struct world *w = *test;
	struct plan *plan = build_plan(&w->web);

	special(plan, 100);
	commit_plan(w->c, plan);
	plan = build_plan(&w->web);
	plan_stop(plan, 100, STOP_UPDATING);
	special(plan, 110);
	commit_plan(w->c, plan);
	report(w, NODES, 100, ALLOC_COMPLETE);
	assert_int_equal(use_of(w->c, NODES).devices.groups[0], 1);
	stop(w, 110);
	plan = build_plan(&w->db);
	place(plan, 200, NODES)->devices.groups[0] = 1;
	expect(w, plan, NODES, "device oversubscribed");
	plan = build_plan(&w->db);
	place(plan, 200, NODES)->details = core_details(2);
	expect(w, plan, NODES, "cores");
	report(w, NODES, 110, ALLOC_COMPLETE);
	assert_int_equal(use_of(w->c, NODES).devices.groups[0], 0);
	assert_int_equal(use_of(w->c, NODES).with_details, 0);
	plan = build_plan(&w->db);
	special(plan, 200);
	expect(w, plan, NODES, NULL);
}

static void ports_too(void **test)
{
	struct world *w = *test;
	struct plan *plan = build_plan(&w->web);

	place(plan, 100, 0)->details = port_details("10.0.0.1", 8080);
	commit_plan(w->c, plan);
	stop(w, 100);
	plan = build_plan(&w->db);
	place(plan, 200, 0)->details = port_details("10.0.0.1", 8080);
	expect(w, plan, 0, "network: port collision");
	report(w, 0, 100, ALLOC_FAILED);
	plan = build_plan(&w->db);
	place(plan, 200, 0)->details = port_details("10.0.0.1", 8080);
	expect(w, plan, 0, NULL);
}

static void a_node_that_is_purged_holds_nothing(void **test)
{
	struct world *w = *test;

	fill(w);
	stop(w, 100);
	struct command purge = {.type = COMMAND_NODE_PURGE, .node_named = {.node = number_uuid(0)}};
	assert_int_equal(controller_run(w->c, &purge), OUTCOME_DONE);
	assert_int_equal(controller_register(w->c, 0, NULL), OUTCOME_DONE);
	assert_int_equal(use_of(w->c, 0).used.cpu_mhz, 0);
}

static void what_the_scheduler_takes_for_lost_is_gone(void **test)
{
	struct world *w = *test;

	fill(w);
	stop(w, 100);
	assert_int_equal(controller_node(w->c, COMMAND_NODE_EXPIRED, 0, 1), OUTCOME_DONE);
	struct plan *plan = build_plan(&w->web);
	plan_stop(plan, 100, STOP_LOST)->lost = true;
	commit_plan(w->c, plan);
	assert_int_equal(controller_node(w->c, COMMAND_NODE_RETURNED, 0, 1), OUTCOME_DONE);
	assert_int_equal(use_of(w->c, 0).used.cpu_mhz, 3000);
	// It runs nevertheless, as its node says, and then it has ended.
	report(w, 0, 100, ALLOC_RUNNING);
	assert_int_equal(use_of(w->c, 0).used.cpu_mhz, 4000);
	report(w, 0, 100, ALLOC_COMPLETE);
	assert_int_equal(use_of(w->c, 0).used.cpu_mhz, 3000);
}

// A journal may hold what was decided when such room was free at once. It is read again all the same.
static void what_was_decided_before_is_read_again(void **test)
{
	struct world *w = *test;
	const struct resources ask = {1000, 2048, 0};

	assert_int_equal(controller_job(w->c, build_job("calls", &ask, 1)), OUTCOME_DONE);
	fill(w);
	stop(w, 100);
	struct plan *plan = of_other(w, 200, 0);
	struct entry planned = {
		.kind = ENTRY_PLAN, .plan = {.placements = plan->placements, .is_view = true}};
	assert_int_equal(entry_check(w->c->state, &planned), 0);
	ARRAY_AT(&plan->placements, struct plan_placement, 0)->resources.cpu_mhz = 1001;
	assert_int_not_equal(entry_check(w->c->state, &planned), 0);
	plan_free(plan);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(its_room_is_free_when_its_node_says_so),
		TEST(the_plan_that_stops_it_takes_its_place),
		TEST(clients_do_not_get_it_either),
		TEST(cores_and_devices_are_free_when_nobody_has_them),
		TEST(ports_too),
		TEST(a_node_that_is_purged_holds_nothing),
		TEST(what_the_scheduler_takes_for_lost_is_gone),
		TEST(what_was_decided_before_is_read_again),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
