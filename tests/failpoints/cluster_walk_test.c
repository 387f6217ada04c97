// Whatever the system refuses to a member of a cluster that starts and follows the log, or comes to lead it: it is
// said, what the log has is neither lost nor changed, and the next start follows and leads.
#include "state/base/check.h"
#include "state/base/log.h"
#include "state/base/memory.h"
#include "state/cluster/epoch.h"
#include "tests/failpoints/call_walk.h"
#include "tests/state/cluster/etcd_keys.h"
#include "tests/state/cluster/member.h"
#include "tests/state/store/store_dir.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#define EPOCH "5"
#define NODES 3u
#define PATIENCE_NS 10000000000ull

struct member_life {
	char directory[64];
	uint64_t index; // that is in the log, and acknowledged
};

static struct member joined; // of which each walk has a copy

static bool await_index(struct member *m, uint64_t index)
{
	uint64_t began_ns = time_monotonic_ns(&time_source_real);
	struct cluster_status status = {0};

	while (status.index < index && m->failed == 0 && m->lost == 0 &&
		time_monotonic_ns(&time_source_real) - began_ns < PATIENCE_NS) {
		usleep(1000);
		cluster_status(m->cluster, &status);
	}
	return status.index >= index;
}

static bool await_lead(struct member *m)
{
	uint64_t began_ns = time_monotonic_ns(&time_source_real);

	while (!cluster_leads(m->cluster) && m->failed == 0 && m->lost == 0 &&
		time_monotonic_ns(&time_source_real) - began_ns < PATIENCE_NS)
		usleep(1000);
	return cluster_leads(m->cluster);
}

// It has the log, and where it is to lead appends to it.
static bool live_as_member(struct member_life *l, bool leads)
{
	struct member *m = memory_take(sizeof *m);
	uint32_t descriptors = walk_descriptors();

	// What fails is asked again after the time of one question.
	*m = (struct member){.name = "walked", .ttl_ms = 20000, .etcd_timeout_ms = 400};
	memcpy(m->directory, l->directory, sizeof m->directory);
	bool is_started = member_try_start(m);
	bool is_done = is_started && await_index(m, l->index);
	if (is_done && leads)
		is_done = await_lead(m) && member_register(m, NODES) == OUTCOME_DONE;
	CHECK(is_done || !is_started || m->failed > 0 || m->lost > 0); // who started comes to it
	if (is_started)
		member_stop(m);
	if (is_done)
		l->index = state_index(m->core.state);
	walk_said(is_done ? "" : m->sentence);
	if (is_started)
		member_close(m);
	free(m);
	CHECK(walk_descriptors() == descriptors);
	return is_done;
}

static bool start_and_lead(void *shared)
{
	return live_as_member(shared, true);
}

static void look_at_member(void *shared)
{
	CHECK(live_as_member(shared, false));
}

static void *prepare_member(const struct walk_row *row)
{
	struct member_life *l = walk_shared(sizeof *l);

	snprintf(l->directory, sizeof l->directory, "%s", dir_create());
	dir_copy(joined.directory, l->directory);
	l->index = etcd_keys_newest_index();
	return l;
}

static void clear_member(void *shared)
{
	struct member_life *l = shared;

	dir_remove(l->directory);
	assert_int_equal(munmap(l, sizeof *l), 0);
}

// In a process of its own: the threads that a state has are not there after a fork.
static bool fill_log(void *shared)
{
	struct member *first = shared;

	member_start(first);
	member_await_leadership(first);
	for (uint32_t i = 0; i < NODES; i++)
		CHECK(member_register(first, i) == OUTCOME_DONE);
	member_stop(first);
	member_close(first);
	return true;
}

// A cluster whose state was restored once, so that its epoch is not the first; its log has some batches.
static void begin_cluster(void)
{
	struct member first;

	assert_int_equal(etcd_keys_begin(NULL), 0);
	member_create(&first, "first");
	member_create(&joined, "walked");
	member_init(&first);
	member_join(&joined);
	etcd_keys_put("lineage", EPOCH, strlen(EPOCH));
	assert_int_equal(epoch_note(first.directory, strtoull(EPOCH, NULL, 10)), 0);
	assert_int_equal(epoch_note(joined.directory, strtoull(EPOCH, NULL, 10)), 0);
	assert_int_equal(walk_run(&(struct walk){.work = fill_log}, &first, true), WALK_DONE);
	member_remove(&first);
}

static void end_cluster(void)
{
	member_remove(&joined);
	(void)etcd_keys_end(NULL);
}

#define PARTS(...) ((const char *const[]){__VA_ARGS__, NULL})
// What cannot fail, or need not be heard; the store and etcd have walks of their own.
#define NEVER                                                                                  \
	"state/base/memory.c", "pthread_mutex_init", "pthread_cond_init", "state/base/prng.c", \
		"write at state/base/log.c", "at state/store/", "at state/etcd/"

static void what_a_member_is_refused_is_said_and_the_log_is_whole(void **unused)
{
	const struct walk walk = {
		.prepare = prepare_member, start_and_lead, look_at_member, clear_member};
	const struct call_walk_excuses excuses = {
		.only = PARTS(" state/cluster/"), .cannot_fail = PARTS(NEVER)};

	begin_cluster();
	walk_calls(&walk, &excuses);
	end_cluster();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_member_is_refused_is_said_and_the_log_is_whole),
	};
	log_configure(LOG_WARN, false);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
