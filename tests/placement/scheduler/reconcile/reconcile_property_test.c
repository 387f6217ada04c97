// Random jobs, versions, allocations, nodes and deployments go on under the reconciler and a naive model of the
// applier, of clients and of the watchers, until nothing changes any more. On the way no pass may place more than is
// wanted, or stop a healthy instance without a reason; in the end the count is reached, and another pass does nothing.
#include "placement/scheduler/common/allocation_facts.h"
#include "tests/placement/job_check/job_build.h"
#include "tests/placement/scheduler/reconcile/life.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define LIVES 3000u
#define PASSES_MAX 120u

static bool is_well(const struct life *l, const struct allocation *a)
{
	const struct node *node = allocation_node(&l->view, a);
	return a->desired == ALLOC_RUN && a->client_status == ALLOC_RUNNING && node &&
	       node->status == NODE_READY && !allocation_is_to_migrate(a) &&
	       !allocation_needs_reconnect(a) && a->job == l->job;
}

static bool is_of_former(const struct life *l, const struct allocation *a)
{
	const struct deployment *d = l->deployment;
	return a->details->deployment_status && a->details->deployment_status->canary &&
	       (!d || d->status == DEPLOYMENT_FAILED || d->job_version != l->job->version ||
		       !uuid_equal(&a->details->deployment_id, &d->id));
}

static void stops_have_reasons(const struct life *l, const struct reconciliation *r)
{
	uint32_t surplus = 0, known = 0, reconnected = 0;
	for (uint32_t i = 0; i < l->count; i++)
		known += l->allocations[i]->desired == ALLOC_RUN &&
			 l->allocations[i]->client_status != ALLOC_UNKNOWN;
	for (uint32_t i = 0; i < r->stops.count; i++) {
		const struct reconcile_stop *stop = ARRAY_AT(&r->stops, struct reconcile_stop, i);
		if (!is_well(l, stop->allocation) || is_of_former(l, stop->allocation))
			continue;
		assert_true(stop->cause == STOP_NOT_NEEDED || stop->cause == STOP_RECONNECTED);
		surplus += stop->cause == STOP_NOT_NEEDED;
		reconnected += stop->cause == STOP_RECONNECTED;
	}
	if (!l->job->stop)
		assert_true(surplus == 0 || known >= group_of(l->job)->count + surplus);
	assert_true(reconnected <= r->reconnects.count);
}

static void no_more_than_wanted(
	const struct life *l, const struct reconciliation *r, uint32_t before)
{
	int64_t count = l->job->stop ? 0 : group_of(l->job)->count;
	const struct update_strategy *update = group_of(l->job)->update;
	int64_t most = before > count ? before : count;
	// An allocation that may come back counts beside its replacement; canaries exceed the count.
	assert_true(life_wanted(l) <= most + life_unknown(l) + (update ? update->canary : 0));
	if (update && update->max_parallel > 0)
		assert_true(r->destructive.count <= update->max_parallel);
}

static bool is_named(const struct array *updates, const struct allocation *a)
{
	for (uint32_t i = 0; i < updates->count; i++)
		if (ARRAY_AT(updates, struct reconcile_update, i)->allocation == a)
			return true;
	return false;
}

static void each_is_told_one_thing(const struct reconciliation *r)
{
	for (uint32_t i = 0; i < r->stops.count; i++) {
		const struct allocation *a =
			ARRAY_AT(&r->stops, struct reconcile_stop, i)->allocation;
		assert_false(is_named(&r->attribute_updates, a) || is_named(&r->disconnects, a));
		for (uint32_t j = 0; j < i; j++)
			assert_ptr_not_equal(
				ARRAY_AT(&r->stops, struct reconcile_stop, j)->allocation, a);
		for (uint32_t j = 0; j < r->destructive.count; j++)
			assert_ptr_not_equal(
				ARRAY_AT(&r->destructive, struct reconcile_place, j)->previous, a);
	}
	for (uint32_t i = 0; i < r->destructive.count; i++) {
		const struct allocation *a =
			ARRAY_AT(&r->destructive, struct reconcile_place, i)->previous;
		// A follow-up is noted too: the update may find no room.
		assert_false(is_named(&r->disconnects, a));
	}
	for (uint32_t i = 0; i < r->place.count; i++)
		for (uint32_t j = 0; j < i; j++) {
			const struct allocation *a =
				ARRAY_AT(&r->place, struct reconcile_place, i)->previous;
			assert_true(!a ||
				    a != ARRAY_AT(&r->place, struct reconcile_place, j)->previous);
		}
}

// Returns whether the reconciler asked for anything.
static bool pass(struct life *l)
{
	struct reconciliation r;
	uint32_t before = life_wanted(l);
	life_reconcile(l, &r);
	stops_have_reasons(l, &r);
	each_is_told_one_thing(&r);
	bool changes = life_changes(&r);
	life_apply(l, &r);
	no_more_than_wanted(l, &r, before);
	reconciliation_release(&r);
	return changes;
}

static void the_count_is_there(const struct life *l)
{
	int64_t count = group_of(l->job)->count;
	if (l->job->stop) {
		assert_int_equal(life_living(l), 0);
	} else {
		assert_true(life_living(l) <= count);
		// Allocations that failed for good are not replaced, nor completed ones of a batch job.
		assert_true(life_living(l) + life_over(l) >= count);
	}
}

static void all_are_of_the_newest_version(const struct life *l)
{
	for (uint32_t i = 0; i < l->count; i++) {
		const struct allocation *a = l->allocations[i];
		if (!allocation_is_terminal(a))
			assert_ptr_equal(a->job, l->job);
	}
}

static uint32_t passes_most, changes_all;
static uint64_t living; // seed of the present life

static void live(uint64_t seed)
{
	struct life l;
	uint32_t passes = 0, changes = 0;
	living = seed;
	life_begin(&l, seed);
	for (bool more = true; more; passes++) {
		if (passes == PASSES_MAX)
			fail_msg("life %llu comes to no rest", (unsigned long long)seed);
		bool changed = pass(&l);
		changes += changed;
		more = changed | life_go_on(&l, passes) || life_wait(&l);
	}
	the_count_is_there(&l);
	all_are_of_the_newest_version(&l);
	assert_false(pass(&l));
	passes_most = passes > passes_most ? passes : passes_most;
	changes_all += changes;
	life_end(&l);
	living = 0;
}

static int name_life(void **state)
{
	if (living)
		print_error("LIFE=%llu\n", (unsigned long long)living);
	return 0;
}

static void lives_come_to_rest(void **state)
{
	const char *one = getenv("LIFE");
	if (one) {
		live(strtoull(one, NULL, 10));
		return;
	}
	for (uint64_t seed = 1; seed <= LIVES; seed++)
		live(seed);
	print_message(
		"%u changes in %u lives, at most %u passes\n", changes_all, LIVES, passes_most);
	// In most lives something happens.
	assert_true(changes_all > 2 * LIVES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(lives_come_to_rest, name_life)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
