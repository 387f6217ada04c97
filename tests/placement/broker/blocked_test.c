// Rows B47–B51 one by one.
#include "placement/broker/blocked.h"
#include "placement/broker/unblocks.h"
#include "tests/placement/broker/evals.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define ALL 0xffu

struct fixture {
	struct manual_time time;
	struct time_source source;
	struct broker *broker;
	struct blocked *blocked;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);

	f->source = time_source_manual(&f->time);
	f->broker = broker_create(&(struct broker_settings){.time = &f->source,
		.seed = 1,
		.nack_timeout_ns = 60000000000,
		.delivery_limit = 3,
		.first_nack_delay_ns = 1000000000,
		.nack_delay_ns = 20000000000});
	f->blocked = blocked_create(f->broker, &f->source);
	broker_set_enabled(f->broker, true);
	blocked_set_enabled(f->blocked, true);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	blocked_destroy(f->blocked);
	broker_destroy(f->broker);
	free(f);
	return 0;
}

static struct evaluation *blocked_eval(struct eval_ask ask)
{
	ask.status = EVAL_BLOCKED;
	return make_eval(ask);
}

static void block(struct fixture *f, struct eval_ask ask)
{
	struct evaluation *e = blocked_eval(ask);

	blocked_add(f->blocked, e, 0);
	evaluation_free(e);
}

static struct blocked_stats stats(struct fixture *f)
{
	struct blocked_stats s;
	blocked_stats(f->blocked, &s);
	return s;
}

static uint32_t ready(struct fixture *f)
{
	struct broker_stats s;
	broker_stats(f->broker, &s);
	return s.ready;
}

static uint32_t duplicate(struct fixture *f)
{
	struct evaluation *e;
	if (blocked_take_duplicates(f->blocked, &e, 1) == 0)
		return 0;
	uint32_t number = eval_number(e);
	evaluation_free(e);
	return number;
}

static void unblock_node(struct fixture *f, uint32_t number, uint64_t index)
{
	struct uuid node = eval_node(number);
	blocked_unblock_nodes(f->blocked, &node, 1, index);
}

static void b24_disabled_forgets(void **state)
{
	struct fixture *f = *state;

	block(f, (struct eval_ask){.number = 1});
	block(f, (struct eval_ask){.number = 2});
	blocked_set_enabled(f->blocked, false);
	block(f, (struct eval_ask){.number = 3});
	assert_int_equal(stats(f).blocked, 0);
	assert_int_equal(duplicate(f), 0);
	blocked_unblock_class(f->blocked, "v1:1", 100);
	blocked_set_enabled(f->blocked, true);
	block(f, (struct eval_ask){.number = 4, .snapshot_index = 4});
	assert_int_equal(stats(f).blocked, 1); // the evaluation did not see the unblock
}

static void b47_a_job_is_untracked(void **state)
{
	struct fixture *f = *state;

	block(f, (struct eval_ask){.number = 1});
	block(f, (struct eval_ask){.number = 2, .namespace_name = "apart"});
	block(f, (struct eval_ask){.number = 3, .type = EVAL_SYSTEM, .node = 1});
	block(f, (struct eval_ask){.number = 4, .type = EVAL_SYSTEM, .node = 2});
	blocked_untrack(f->blocked, "default", "job");
	assert_int_equal(stats(f).blocked, 1);
	blocked_unblock_class(f->blocked, "v1:1", 100);
	assert_int_equal(ready(f), 1);
}

static void b48_the_newer_one_stays(void **state)
{
	struct fixture *f = *state;

	block(f, (struct eval_ask){.number = 5, .snapshot_index = 20});
	block(f, (struct eval_ask){.number = 6, .snapshot_index = 19}); // older
	assert_int_equal(duplicate(f), 6);
	block(f, (struct eval_ask){.number = 7, .create_index = 20}); // as new: the newcomer
	assert_int_equal(duplicate(f), 5);
	block(f, (struct eval_ask){.number = 8, .create_index = 21});
	assert_int_equal(duplicate(f), 7);
	assert_int_equal(duplicate(f), 0);
	assert_int_equal(stats(f).blocked, 1);
}

static void b48_system_evaluations_by_node(void **state)
{
	struct fixture *f = *state;

	block(f, (struct eval_ask){.number = 1, .type = EVAL_SYSTEM, .node = 1});
	block(f, (struct eval_ask){.number = 2, .type = EVAL_SYSTEM, .node = 2});
	block(f, (struct eval_ask){.number = 3, .type = EVAL_SYSBATCH, .node = 3});
	assert_int_equal(stats(f).blocked, 3);
	block(f, (struct eval_ask){.number = 4, .type = EVAL_SYSTEM, .node = 2});
	assert_int_equal(duplicate(f), 2);
	assert_int_equal(stats(f).blocked, 3);
}

static bool has_equal(struct fixture *f, struct eval_ask ask, uint64_t job_modify_index)
{
	struct evaluation *e = blocked_eval(ask);

	e->job_modify_index = job_modify_index;
	bool equal = blocked_has_equal(f->blocked, e);
	evaluation_free(e);
	return equal;
}

static void an_equal_one_is_not_needed(void **state)
{
	struct fixture *f = *state;

	block(f, (struct eval_ask){.number = 1, .type = EVAL_SYSTEM, .node = 1});
	block(f, (struct eval_ask){.number = 2, .type = EVAL_BATCH, .job = "b"});
	assert_true(has_equal(f, (struct eval_ask){.type = EVAL_SYSTEM, .node = 1}, 0));
	assert_false(has_equal(f, (struct eval_ask){.type = EVAL_SYSTEM, .node = 2}, 0));
	assert_false(has_equal(f, (struct eval_ask){.type = EVAL_SYSTEM, .node = 1}, 5));
	assert_false(
		has_equal(f, (struct eval_ask){.type = EVAL_SYSTEM, .node = 1, .priority = 9}, 0));
	assert_false(has_equal(f, (struct eval_ask){.type = EVAL_BATCH, .job = "b"}, 0));
}

static void reblocked_replaces_itself(void **state)
{
	struct fixture *f = *state;

	block(f, (struct eval_ask){.number = 1});
	block(f, (struct eval_ask){.number = 1, .snapshot_index = 9});
	assert_int_equal(duplicate(f), 0);
	assert_int_equal(stats(f).blocked, 1);
}

static void b49_missed_on_a_class(void **state)
{
	struct fixture *f = *state;

	blocked_unblock_class(f->blocked, "v1:1", 100);
	struct evaluation *e =
		blocked_eval((struct eval_ask){.number = 1, .job = "a", .snapshot_index = 99});
	set_class(e, "v1:1", false);
	blocked_add(f->blocked, e, 0); // it would not have fitted there
	assert_int_equal(ready(f), 0);
	evaluation_free(e);
	e = blocked_eval((struct eval_ask){.number = 2, .job = "b", .snapshot_index = 99});
	set_class(e, "v1:1", true);
	blocked_add(f->blocked, e, 0);
	assert_int_equal(ready(f), 1);
	evaluation_free(e);
	block(f, (struct eval_ask){.number = 3, .job = "c", .snapshot_index = 99}); // not seen
	assert_int_equal(ready(f), 2);
	block(f, (struct eval_ask){.number = 4, .job = "d", .snapshot_index = 100}); // seen since
	assert_int_equal(ready(f), 2);
	e = blocked_eval((struct eval_ask){.number = 5, .job = "e", .snapshot_index = 99});
	set_class(e, "v1:1", false);
	e->escaped_computed_class = true;
	blocked_add(f->blocked, e, 0); // any change will do
	evaluation_free(e);
	assert_int_equal(ready(f), 3);
	assert_int_equal(stats(f).blocked, 2);
}

static void b49_missed_on_a_node(void **state)
{
	struct fixture *f = *state;

	unblock_node(f, 1, 100);
	blocked_unblock_class(f->blocked, "v1:1", 100);
	block(f, (struct eval_ask){
			 .number = 1, .type = EVAL_SYSTEM, .node = 1, .snapshot_index = 99});
	assert_int_equal(ready(f), 1);
	block(f, (struct eval_ask){
			 .number = 2, .type = EVAL_SYSTEM, .node = 2, .snapshot_index = 99});
	block(f, (struct eval_ask){
			 .number = 3, .type = EVAL_SYSTEM, .node = 1, .snapshot_index = 100});
	assert_int_equal(ready(f), 1);
}

static void block_by_quota(struct fixture *f, struct eval_ask ask, const char *quota)
{
	struct evaluation *e = blocked_eval(ask);
	e->quota_limit_reached = strdup(quota);
	blocked_add(f->blocked, e, 0);
	evaluation_free(e);
}

// Room of a class is none of a quota, and neither is room of another quota.
static void b45_a_quota_gets_room(void **state)
{
	struct fixture *f = *state;

	blocked_unblock_class(f->blocked, "v1:1", 200);
	blocked_unblock_quota(f->blocked, "large", 200);
	blocked_unblock_quota(f->blocked, "small", 150);
	block_by_quota(f, (struct eval_ask){.number = 1, .snapshot_index = 150}, "small");
	assert_int_equal(ready(f), 0);
	assert_int_equal(stats(f).quota_limited, 1);
	blocked_unblock_quota(f->blocked, "large", 201);
	assert_int_equal(ready(f), 0);
	blocked_unblock_quota(f->blocked, "small", 202);
	assert_int_equal(ready(f), 1);
	assert_int_equal(stats(f).quota_limited, 0);
}

static void b49_missed_on_a_quota(void **state)
{
	struct fixture *f = *state;

	blocked_unblock_quota(f->blocked, "small", 151);
	block_by_quota(f, (struct eval_ask){.number = 1, .snapshot_index = 150}, "small");
	assert_int_equal(ready(f), 1);
}

static void b49_missed_keeps_its_token(void **state)
{
	struct fixture *f = *state;
	uint64_t token, index;
	struct evaluation *e = blocked_eval((struct eval_ask){.number = 1});

	broker_enqueue(f->broker, e, 0);
	evaluation_free(broker_dequeue(f->broker, ALL, 0, &token, &index));
	blocked_unblock_class(f->blocked, "v1:1", 100);
	blocked_add(f->blocked, e, token); // blocked again while it is outstanding
	assert_int_equal(ready(f), 0);
	assert_int_equal(broker_ack(f->broker, &e->id, token), 0);
	assert_int_equal(ready(f), 1);
	evaluation_free(e);
}

static void b49_old_unblocks_are_pruned(void **state)
{
	struct fixture *f = *state;

	manual_time_advance_ms(&f->time, 1000);
	blocked_unblock_class(f->blocked, "v1:1", 100);
	unblock_node(f, 1, 100);
	manual_time_advance_ms(&f->time, 15 * 60000);
	blocked_prune(f->blocked);
	block(f, (struct eval_ask){.number = 1, .job = "a"});
	assert_int_equal(ready(f), 1);
	manual_time_advance_ms(&f->time, 1);
	blocked_prune(f->blocked);
	block(f, (struct eval_ask){.number = 2, .job = "b"});
	block(f, (struct eval_ask){.number = 3, .type = EVAL_SYSTEM, .node = 1});
	assert_int_equal(ready(f), 1);
}

// Forgetting nodes for lack of room costs a needless run, but loses no evaluation.
static void many_nodes_are_forgotten_safely(void **state)
{
	struct fixture *f = *state;

	for (uint32_t n = 1; n <= UNBLOCKED_NODES_MAX + 1; n++)
		unblock_node(f, n, 100);
	block(f, (struct eval_ask){
			 .number = 1, .type = EVAL_SYSTEM, .node = 1, .snapshot_index = 99});
	assert_int_equal(ready(f), 1);
	block(f, (struct eval_ask){
			 .number = 2, .type = EVAL_SYSTEM, .node = 2, .snapshot_index = 100});
	assert_int_equal(ready(f), 1);
}

static void b50_a_class_gets_room(void **state)
{
	struct fixture *f = *state;
	struct evaluation *e = blocked_eval((struct eval_ask){.number = 1, .job = "a"});

	set_class(e, "v1:1", false);
	blocked_add(f->blocked, e, 0);
	evaluation_free(e);
	e = blocked_eval((struct eval_ask){.number = 2, .job = "b"});
	set_class(e, "v1:1", false);
	e->escaped_computed_class = true;
	blocked_add(f->blocked, e, 0);
	evaluation_free(e);
	assert_int_equal(stats(f).escaped, 1);
	block(f, (struct eval_ask){.number = 3, .job = "c"}); // has results for no class
	block(f, (struct eval_ask){.number = 4, .job = "d", .type = EVAL_SYSTEM, .node = 1});
	blocked_unblock_class(f->blocked, "v1:1", 100);
	assert_int_equal(ready(f), 2);
	assert_int_equal(stats(f).blocked, 2);
	assert_int_equal(stats(f).escaped, 0);
	blocked_unblock_class(f->blocked, "v1:2", 101);
	assert_int_equal(ready(f), 3);
	assert_int_equal(stats(f).blocked, 1); // its node had no room
}

static void b51_a_node_gets_room(void **state)
{
	struct fixture *f = *state;

	block(f, (struct eval_ask){.number = 1, .job = "a", .type = EVAL_SYSTEM, .node = 1});
	block(f, (struct eval_ask){.number = 2, .job = "b", .type = EVAL_SYSBATCH, .node = 1});
	block(f, (struct eval_ask){.number = 3, .job = "a", .type = EVAL_SYSTEM, .node = 2});
	block(f, (struct eval_ask){.number = 4, .job = "d"});
	unblock_node(f, 1, 100);
	assert_int_equal(ready(f), 2);
	assert_int_equal(stats(f).blocked, 2);
}

static void b51_plan_conflicts_are_tried_again(void **state)
{
	struct fixture *f = *state;

	block(f, (struct eval_ask){.number = 1, .job = "a", .triggered_by = TRIGGER_QUEUED_ALLOCS});
	block(f, (struct eval_ask){
			 .number = 2, .job = "b", .triggered_by = TRIGGER_MAX_PLAN_ATTEMPTS});
	blocked_unblock_failed(f->blocked);
	assert_int_equal(ready(f), 1);
	assert_int_equal(stats(f).blocked, 1);
}

static void what_they_lack_is_summed(void **state)
{
	struct fixture *f = *state;
	struct evaluation *e = blocked_eval((struct eval_ask){.number = 1});
	struct failed_group *group = array_append(&e->failed_groups, sizeof *group);

	group->group = strdup("web");
	struct exhausted_resources *r =
		array_append(&group->metrics.resources_exhausted, sizeof *r);
	*r = (struct exhausted_resources){strdup("server"), 500, 256};
	blocked_add(f->blocked, e, 0);
	assert_int_equal(stats(f).cpu, 500);
	assert_int_equal(stats(f).memory_mb, 256);
	blocked_forget(f->blocked, &e->id);
	assert_int_equal(stats(f).cpu, 0);
	assert_int_equal(stats(f).memory_mb, 0);
	evaluation_free(e);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(b24_disabled_forgets),
		TEST(b47_a_job_is_untracked),
		TEST(b48_the_newer_one_stays),
		TEST(b48_system_evaluations_by_node),
		TEST(an_equal_one_is_not_needed),
		TEST(reblocked_replaces_itself),
		TEST(b49_missed_on_a_class),
		TEST(b49_missed_on_a_node),
		TEST(b45_a_quota_gets_room),
		TEST(b49_missed_on_a_quota),
		TEST(b49_missed_keeps_its_token),
		TEST(b49_old_unblocks_are_pruned),
		TEST(many_nodes_are_forgotten_safely),
		TEST(b50_a_class_gets_room),
		TEST(b51_a_node_gets_room),
		TEST(b51_plan_conflicts_are_tried_again),
		TEST(what_they_lack_is_summed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
