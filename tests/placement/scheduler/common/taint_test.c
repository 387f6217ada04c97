// Conclusions from allocations and their nodes, rule by rule.
#include "placement/scheduler/common/allocation_facts.h"
#include "placement/scheduler/common/taint.h"
#include "state/base/time_units.h"
#include "tests/placement/job_check/job_build.h"
#include "tests/placement/scheduler/world.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#define NOW (100 * NS_PER_S)

struct fixture {
	struct world *world;
	struct node *node;
	struct allocation *a;
};

static int set_up(void **state)
{
	struct fixture *f = memory_take(sizeof *f);
	f->world = world_create();
	f->node = world_node(f->world, "");
	f->a = world_allocate(f->world, world_job(f->world, "service web"), 0, 0, 0);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;
	world_destroy(f->world);
	free(f);
	return 0;
}

static enum taint taint(const struct fixture *f)
{
	struct scheduler_view view = world_view(f->world);
	return allocation_taint(&view, f->a, NOW);
}

static void may_disconnect(struct fixture *f, int64_t limit_ns)
{
	ARRAY_AT(&f->a->job->task_groups, struct task_group, 0)->max_client_disconnect_ns =
		(struct optional_i64){true, limit_ns};
}

static void note(struct fixture *f, const char *field, const char *value, int64_t time_ns)
{
	if (!f->a->details)
		f->a->details = alloc_details_create();
	struct alloc_state *state = array_append(&f->a->details->states, sizeof *state);
	set(&state->field, field);
	set(&state->value, value);
	state->time_ns = time_ns;
}

static void a_sound_node_changes_nothing(void **state)
{
	assert_int_equal(taint(*state), TAINT_NONE);
}

static void down_or_gone_is_lost(void **state)
{
	struct fixture *f = *state;
	f->node->status = NODE_DOWN;
	assert_int_equal(taint(f), TAINT_LOST);
	world_purge(f->world, 0);
	assert_int_equal(taint(f), TAINT_LOST);
	f->a->client_status = ALLOC_COMPLETE;
	assert_int_equal(taint(f), TAINT_NONE);
	may_disconnect(f, NS_PER_S);
	assert_int_equal(taint(f), TAINT_IGNORE);
}

static void flagged_migrates_before_it_is_lost(void **state)
{
	struct fixture *f = *state;
	f->node->drain = &(struct drain_strategy){0};
	assert_int_equal(taint(f), TAINT_NONE);
	f->a->details = alloc_details_create();
	f->a->details->transition.migrate = (struct optional_bool){true, true};
	assert_int_equal(taint(f), TAINT_MIGRATE);
	f->node->status = NODE_DOWN;
	assert_int_equal(taint(f), TAINT_MIGRATE);
	f->a->details->transition.migrate.value = false;
	assert_int_equal(taint(f), TAINT_LOST);
}

static void disconnected_is_lost_unless_the_group_allows(void **state)
{
	struct fixture *f = *state;
	f->node->status = NODE_DISCONNECTED;
	assert_int_equal(taint(f), TAINT_LOST);
	may_disconnect(f, NS_PER_S);
	assert_int_equal(taint(f), TAINT_DISCONNECTING);
	f->a->client_status = ALLOC_PENDING;
	assert_int_equal(taint(f), TAINT_LOST);
	f->a->client_status = ALLOC_UNKNOWN;
	note(f, "ClientStatus", "unknown", NOW - NS_PER_S / 2);
	assert_int_equal(taint(f), TAINT_NONE);
	may_disconnect(f, NS_PER_S / 2);
	assert_int_equal(taint(f), TAINT_LOST);
}

// Row C8: without support in the cluster it does not matter what the group allows.
static void disconnected_is_lost_where_the_cluster_lacks_support(void **state)
{
	struct fixture *f = *state;
	struct scheduler_view view = world_view(f->world);
	view.supports_disconnect = false;
	f->node->status = NODE_DISCONNECTED;
	may_disconnect(f, NS_PER_S);
	assert_int_equal(allocation_taint(&view, f->a, NOW), TAINT_LOST);
	f->a->client_status = ALLOC_PENDING;
	assert_int_equal(allocation_taint(&view, f->a, NOW), TAINT_LOST);
}

static void back_again_it_reconnects_or_is_too_late(void **state)
{
	struct fixture *f = *state;
	may_disconnect(f, 10 * NS_PER_S);
	note(f, "ClientStatus", "unknown", NOW - 5 * NS_PER_S);
	assert_int_equal(taint(f), TAINT_RECONNECTING);
	f->node->drain = &(struct drain_strategy){0};
	assert_int_equal(taint(f), TAINT_RECONNECTING);
	f->a->client_status = ALLOC_UNKNOWN;
	may_disconnect(f, 4 * NS_PER_S);
	assert_int_equal(taint(f), TAINT_LOST);
	may_disconnect(f, 10 * NS_PER_S);
	f->a->client_status = ALLOC_FAILED;
	assert_int_equal(taint(f), TAINT_RECONNECTING);
	f->a->desired = ALLOC_STOP;
	f->node->drain = NULL;
	assert_int_equal(taint(f), TAINT_IGNORE);
	f->a->desired = ALLOC_RUN;
	f->a->client_status = ALLOC_RUNNING;
	note(f, "ClientStatus", "running", NOW);
	assert_int_equal(taint(f), TAINT_NONE);
}

static void only_client_statuses_are_looked_at(void **state)
{
	struct fixture *f = *state;
	may_disconnect(f, 10 * NS_PER_S);
	assert_false(allocation_needs_reconnect(f->a));
	note(f, "Other", "unknown", NOW);
	assert_false(allocation_needs_reconnect(f->a));
	note(f, "ClientStatus", "unknown", NOW - 20 * NS_PER_S);
	note(f, "Other", "running", NOW);
	assert_true(allocation_needs_reconnect(f->a));
	f->a->client_status = ALLOC_UNKNOWN;
	assert_true(allocation_is_expired(f->a, NOW));
	note(f, "ClientStatus", "unknown", NOW - NS_PER_S);
	assert_false(allocation_is_expired(f->a, NOW));
	may_disconnect(f, INT64_MAX);
	assert_false(allocation_is_expired(f->a, INT64_MAX));
}

static void success_is_every_task_dead_and_none_failed(void **state)
{
	struct fixture *f = *state;
	assert_false(allocation_ran_successfully(f->a));
	f->a->report = alloc_report_create();
	assert_false(allocation_ran_successfully(f->a));
	struct task_state *task = array_append(&f->a->report->task_states, sizeof *task);
	task->state = TASK_RUNNING;
	assert_false(allocation_ran_successfully(f->a));
	task->state = TASK_DEAD;
	assert_true(allocation_ran_successfully(f->a));
	task->failed = true;
	assert_false(allocation_ran_successfully(f->a));
}

static void names_are_compared_as_texts(void **state)
{
	struct fixture *f = *state;
	struct allocation *b = world_allocate(f->world, f->a->job, 0, 0, 10);
	struct allocation *c = world_allocate(f->world, f->a->job, 0, 0, 2);
	assert_true(allocation_name_compare(b, c) < 0);
	assert_true(allocation_name_compare(f->a, b) < 0);
	assert_true(allocation_name_compare(c, c) == 0);
	struct job *system = world_job(f->world, "system web name=agent");
	assert_string_equal(allocation_name_prefix(system), "agent");
	assert_string_equal(allocation_name_prefix(f->a->job), "web");
}

#define ROW(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ROW(a_sound_node_changes_nothing),
		ROW(down_or_gone_is_lost),
		ROW(flagged_migrates_before_it_is_lost),
		ROW(disconnected_is_lost_unless_the_group_allows),
		ROW(disconnected_is_lost_where_the_cluster_lacks_support),
		ROW(back_again_it_reconnects_or_is_too_late),
		ROW(only_client_statuses_are_looked_at),
		ROW(success_is_every_task_dead_and_none_failed),
		ROW(names_are_compared_as_texts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
