// Changes of the state give room to blocked evaluations (rows B50, B51), and tell of evaluations that begin and end
// (B47). Evaluations of type batch stand for those that wait for any node.
#include "placement/pipeline/observer.h"
#include "placement/pipeline/pipeline_parts.h"
#include "state/records/nodes/node_metadata.h"
#include "state/records/nodes/vm.h"
#include "tests/placement/broker/evals.h"
#include "tests/placement/pipeline/cluster.h"
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static int setup(void **state)
{
	struct cluster *c = calloc(1, sizeof *c);

	cluster_init(c, 11);
	cluster_node(c, 1);
	cluster_node(c, 2);
	*state = c;
	return 0;
}

static int teardown(void **state)
{
	struct cluster *c = *state;

	cluster_free(c);
	free(c);
	return 0;
}

static uint32_t blocked(struct cluster *c)
{
	struct blocked_stats s;
	blocked_stats(c->pipeline->blocked, &s);
	return s.blocked;
}

static struct evaluation *waiting(struct cluster *c, uint32_t number, const char *job)
{
	return make_eval((struct eval_ask){.number = number,
		.job = job,
		.type = EVAL_BATCH,
		.status = EVAL_BLOCKED,
		.snapshot_index = state_index(c->state)});
}

static void block(struct cluster *c, struct evaluation *e)
{
	blocked_add(c->pipeline->blocked, e, 0);
	evaluation_free(e);
}

// A node's class under the name that evaluations use.
static void class_of(struct cluster *c, uint32_t number, char name[32])
{
	struct uuid id = cluster_node_id(number);

	state_read_begin();
	snprintf(name, 32, "v1:%" PRIu64, state_node_by_id(c->state, &id)->node_class->hash);
	state_read_end();
}

static void a_new_node_is_room(void **state)
{
	struct cluster *c = *state;

	block(c, waiting(c, 1, "a"));
	assert_int_equal(blocked(c), 1);
	cluster_node(c, 3);
	assert_int_equal(blocked(c), 0);
}

static void a_class_that_does_not_suit_is_no_room(void **state)
{
	struct cluster *c = *state;
	struct evaluation *e = waiting(c, 1, "a");
	char name[32];

	class_of(c, 1, name);
	set_class(e, name, false);
	block(c, e);
	cluster_node(c, 5); // of the class of node 1
	assert_int_equal(blocked(c), 1);
	cluster_node(c, 3);
	assert_int_equal(blocked(c), 0);
}

static void a_node_that_returns_is_room(void **state)
{
	struct cluster *c = *state;

	block(c, waiting(c, 1, "a"));
	cluster_node_down(c, 1);
	assert_int_equal(blocked(c), 1);
	cluster_node_returned(c, 1);
	assert_int_equal(blocked(c), 0);
}

static void set_eligible(struct cluster *c, uint32_t number, bool eligible)
{
	struct command command = {.type = COMMAND_NODE_ELIGIBILITY,
		.node_eligibility = {.node = cluster_node_id(number), .eligible = eligible}};
	assert_int_equal(cluster_run(c, &command), OUTCOME_DONE);
}

static void a_node_that_takes_work_again_is_room(void **state)
{
	struct cluster *c = *state;

	block(c, waiting(c, 1, "a"));
	set_eligible(c, 1, false);
	assert_int_equal(blocked(c), 1);
	set_eligible(c, 1, true);
	assert_int_equal(blocked(c), 0);
}

static void a_node_with_other_metadata_is_room(void **state)
{
	static const struct metadata_change rack = {TEXT("rack"), TEXT("r2"), false};
	struct cluster *c = *state;
	struct evaluation *e = waiting(c, 1, "a");
	struct command command = {.type = COMMAND_NODE_METADATA,
		.node_metadata = {.node = cluster_node_id(1), .changes = &rack, .count = 1}};
	char name[32];

	class_of(c, 1, name);
	set_class(e, name, false);
	block(c, e);
	assert_int_equal(cluster_run(c, &command), OUTCOME_DONE);
	assert_int_equal(blocked(c), 0);
}

static struct evaluation *waiting_for_node(struct cluster *c, uint32_t number, uint32_t node)
{
	struct evaluation *e = make_eval((struct eval_ask){.number = number,
		.job = "other",
		.type = EVAL_SYSTEM,
		.status = EVAL_BLOCKED,
		.snapshot_index = state_index(c->state)});
	e->node_id = cluster_node_id(node);
	return e;
}

static void one_node_is_room_on_that_node(void **state)
{
	struct cluster *c = *state;

	block(c, waiting_for_node(c, 1, 1));
	block(c, waiting_for_node(c, 2, 2));
	cluster_node_down(c, 1);
	cluster_node_returned(c, 1);
	assert_int_equal(blocked(c), 1);
	cluster_node(c, 9);
	assert_int_equal(blocked(c), 1);
}

static void what_ends_is_room_on_its_nodes(void **state)
{
	struct cluster *c = *state;

	cluster_job(c, (struct job_ask){.id = "agent", .type = JOB_SYSTEM});
	(void)cluster_settle(c);
	block(c, waiting(c, 1, "a"));
	block(c, waiting_for_node(c, 2, 1));
	block(c, waiting_for_node(c, 3, 7)); // a missing node
	cluster_stop_job(c, "agent");
	assert_int_equal(blocked(c), 3);
	// The evaluation stops them; its plan is committed meanwhile.
	assert_true(pipeline_step(c->pipeline));
	assert_int_equal(cluster_allocations(c, "agent").live, 0);
	assert_int_equal(blocked(c), 3);
	cluster_stopped(c);
	assert_int_equal(blocked(c), 1);
}

// Puts a machine on the worker "w" that asks for so much of its memory.
static void add_machine(struct cluster *c, const char *name, int64_t memory_mib)
{
	struct command_vm_create create = {.vm = vm_create()};
	struct command command = {.type = COMMAND_VM_CREATE, .vm_create = &create};
	struct vm_assign_item item = {.vm = text_of(name), .worker = TEXT("w")};
	struct command assign = {
		.type = COMMAND_VM_ASSIGN, .vm_assign = {.items = &item, .count = 1}};
	struct named_count *memory = map_item(&create.vm->resources, sizeof *memory,
		memory_mib ? VM_RESOURCE_MEMORY : "something");

	create.vm->name = strdup(name);
	create.vm->image = strdup("image");
	memory->count = memory_mib;
	assert_int_equal(cluster_run(c, &command), OUTCOME_DONE);
	state_read_begin();
	char *uid = strdup(state_vm(c->state, item.vm)->uid);
	item.uid = text_of(uid);
	item.worker_modify_index = state_vm_worker(c->state, item.worker)->record.modify_index;
	state_read_end();
	assert_int_equal(cluster_run(c, &assign), OUTCOME_DONE);
	assert_int_equal(item.result, VM_ASSIGNED);
	free(uid);
}

static void remove_machine(struct cluster *c, const char *name)
{
	struct command command = {.type = COMMAND_VM_DELETE, .vm_named = {.name = text_of(name)}};
	assert_int_equal(cluster_run(c, &command), OUTCOME_DONE);
}

// Machines hold what they ask for by name, and nothing besides.
static void count_no_shares(struct cluster *c)
{
	struct cluster_settings *settings = record_create(&cluster_settings_description);
	struct command command = {.type = COMMAND_CLUSTER_SETTINGS, .cluster_settings = {settings}};

	settings->count_assigned = false;
	assert_int_equal(cluster_run(c, &command), OUTCOME_DONE);
}

static void a_machine_that_goes_is_room_on_its_node(void **state)
{
	struct cluster *c = *state;

	count_no_shares(c);
	cluster_worker(c, 3, "w");
	add_machine(c, "large", 4096);
	add_machine(c, "nothing", 0);
	block(c, waiting(c, 1, "a"));
	block(c, waiting_for_node(c, 2, 3));
	block(c, waiting_for_node(c, 3, 1));
	remove_machine(c, "nothing");
	assert_int_equal(blocked(c), 3);
	remove_machine(c, "large");
	assert_int_equal(blocked(c), 1);
}

static void store(struct cluster *c, struct evaluation *e)
{
	struct command command = {
		.type = COMMAND_EVALUATIONS, .evaluations = {.items = &e, .count = 1}};
	assert_int_equal(cluster_run(c, &command), OUTCOME_DONE);
}

// B47 and trap 6.
static void a_complete_evaluation_ends_the_wait(void **state)
{
	struct cluster *c = *state;

	cluster_job(c, (struct job_ask){.id = "a", .type = JOB_SYSTEM});
	store(c, waiting(c, 1, "a"));
	assert_int_equal(blocked(c), 1);
	struct evaluation *e = make_eval((struct eval_ask){.number = 2, .job = "a"});
	struct failed_group *failed = array_append(&e->failed_groups, sizeof *failed);
	record_init(&metrics_description, &failed->metrics);
	failed->group = strdup("g");
	e->status = EVAL_COMPLETE;
	store(c, e);
	assert_int_equal(blocked(c), 1);
	e = make_eval((struct eval_ask){.number = 3, .job = "a", .status = EVAL_COMPLETE});
	store(c, e);
	assert_int_equal(blocked(c), 0);
	assert_int_equal(cluster_evaluations(c, "a", EVAL_CANCELED, -1), 1);
}

// After a restart nobody knows whether a machine went before.
static void a_worker_may_have_got_room_meanwhile(void **state)
{
	struct cluster *c = *state;

	cluster_job(c, (struct job_ask){.id = "a", .type = JOB_SYSTEM});
	store(c, waiting(c, 1, "a"));
	cluster_kill(c);
	assert_int_equal(blocked(c), 1);
	cluster_worker(c, 3, "w");
	store(c, waiting(c, 2, "a"));
	assert_int_equal(blocked(c), 1);
	cluster_kill(c);
	assert_int_equal(blocked(c), 0);
}

static uint32_t ready(struct cluster *c)
{
	struct broker_stats s;
	broker_stats(c->pipeline->broker, &s);
	return s.ready + s.pending;
}

static void a_canceled_evaluation_leaves_the_broker(void **state)
{
	struct cluster *c = *state;

	cluster_job(c, (struct job_ask){.id = "a", .type = JOB_SYSTEM});
	store(c, make_eval((struct eval_ask){.number = 1, .job = "a"}));
	assert_int_equal(ready(c), 2);
	store(c, make_eval((struct eval_ask){.number = 1, .job = "a", .status = EVAL_CANCELED}));
	assert_int_equal(ready(c), 1);
	// A change of a known evaluation brings nothing new.
	store(c, make_eval((struct eval_ask){.number = 2, .job = "a"}));
	store(c, make_eval((struct eval_ask){.number = 2, .job = "a", .priority = 70}));
	assert_int_equal(ready(c), 2);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_new_node_is_room),
		TEST(a_class_that_does_not_suit_is_no_room),
		TEST(a_node_that_returns_is_room),
		TEST(a_node_that_takes_work_again_is_room),
		TEST(a_node_with_other_metadata_is_room),
		TEST(one_node_is_room_on_that_node),
		TEST(what_ends_is_room_on_its_nodes),
		TEST(a_machine_that_goes_is_room_on_its_node),
		TEST(a_worker_may_have_got_room_meanwhile),
		TEST(a_complete_evaluation_ends_the_wait),
		TEST(a_canceled_evaluation_leaves_the_broker),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
