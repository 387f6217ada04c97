// Evaluations that are worked off at the same time take different ones of equal nodes, so that two schedulers do not
// refuse each other's plans for ever.
#include "placement/pipeline/pipeline.h"
#include "tests/placement/pipeline/cluster.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

static void register_filler(struct cluster *c, uint32_t number, int64_t count, char name[16])
{
	snprintf(name, 16, "filler-%u", number);
	cluster_job(c, (struct job_ask){.id = name,
			       .type = JOB_SERVICE,
			       .count = count,
			       .cpu = 3000,
			       .memory_mb = 6000});
}

static bool note_slot(const struct allocation *a, void *context)
{
	*(uint32_t *)context = a->node_slot;
	return true;
}

static void each_evaluation_begins_elsewhere(void **state)
{
	enum { FLEET = 200, FILLERS = 8 };
	struct cluster c;
	uint32_t among_first = 0;
	char name[16];

	cluster_init(&c, 5);
	for (uint32_t n = 0; n < FLEET; n++)
		cluster_node(&c, n);
	for (uint32_t j = 0; j < FILLERS; j++) {
		uint32_t slot = FLEET;
		register_filler(&c, j, 1, name);
		(void)cluster_settle(&c);
		state_read_begin();
		state_job_allocations(c.state, TEXT("default"), text_of(name), note_slot, &slot);
		state_read_end();
		assert_in_range(slot, 0, FLEET - 1);
		among_first += slot < FILLERS;
	}
	assert_in_range(among_first, 0, FILLERS / 2);
	cluster_free(&c);
}

// Jobs that fill the fleet exactly, each instance a whole node, worked off at the same time by two schedulers.
static void two_schedulers_share_an_empty_fleet(void **state)
{
	enum { FLEET = 2600, FILLERS = 13, EACH = FLEET / FILLERS };
	struct cluster c;
	char name[16];

	cluster_init_threads(&c, 2);
	for (uint32_t n = 0; n < FLEET; n++)
		cluster_node(&c, n);
	pipeline_pause_threads(c.pipeline, true);
	for (uint32_t j = 0; j < FILLERS; j++)
		register_filler(&c, j, EACH, name);
	pipeline_pause_threads(c.pipeline, false);
	for (uint32_t j = 0; j < FILLERS; j++) {
		snprintf(name, sizeof name, "filler-%u", j);
		cluster_await(&c, name, EACH);
		assert_int_equal(cluster_evaluations(&c, name, EVAL_FAILED, -1), 0);
	}
	cluster_free(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_evaluation_begins_elsewhere),
		cmocka_unit_test(two_schedulers_share_an_empty_fleet),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
