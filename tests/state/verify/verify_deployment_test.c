// Each invariant of deployments is broken once, and has to be found.
#include "state/records/alloc_details.h"
#include "state/tables/alloc_cell.h"
#include "state/tables/jobs/alloc_table.h"
#include "state/tables/jobs/deployment_table.h"
#include "state/tables/jobs/job_cell.h"
#include "state/tables/state.h"
#include "state/tables/tables.h"
#include "tests/state/deployments.h"
#include "tests/support/broken.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

struct broken {
	struct controller c;
	struct deployment_cell *cell;
	struct deployment_group *group;
	struct alloc_cell *canary;
};

static void build(struct broken *b)
{
	static const struct optional_bool healthy = {true, true}, unhealthy = {true, false};
	struct uuid id = number_uuid(1), canary = number_uuid(100);

	controller_init(&b->c, (struct state_limits){0});
	controller_open(&b->c);
	controller_register(&b->c, 0, NULL);
	struct planned_job job = deployed_job(&b->c, "web", 50);
	struct plan *plan = plan_deployment(&job, build_deployment(&b->c, "web", 1, 1));
	plan_deployed(plan, 100, 0, 1, true);
	plan_deployed(plan, 101, 0, 1, false);
	commit_plan(&b->c, plan);
	assert_int_equal(report_health(&b->c, 0, 100, healthy), OUTCOME_DONE);
	assert_int_equal(report_health(&b->c, 0, 101, unhealthy), OUTCOME_DONE);
	state_read_begin();
	b->cell = deployment_cell_find(b->c.state, &id);
	b->canary = alloc_cell_find(b->c.state, &canary);
	state_read_end();
	b->group = group_of(b->cell->working, "g0");
	controller_verify(&b->c);
}

#define BREAKS(b, what, value) BREAKS_STATE(&(b)->c, what, value)

static void records(void **unused)
{
	struct broken b;

	build(&b);
	struct state *state = b.c.state;
	struct deployment *d = b.cell->working;
	BREAKS(&b, b.cell->published, NULL);
	BREAKS(&b, d->id.bytes[3], 77);
	BREAKS(&b, d->record.modify_index, 9999);
	BREAKS(&b, d->record.create_index, 1);
	BREAKS(&b, d->status, DEPLOYMENT_FAILED);
	BREAKS(&b, d->status, DEPLOYMENT_STATUSES);
	BREAKS(&b, d->modify_time_ns, 0);
	BREAKS(&b, b.cell->job_cell->deployment_count, 2);
	BREAKS(&b, b.cell->job_cell->deployments_active, 0);
	BREAKS(&b, state->counts.deployments, 2);
	BREAKS(&b, state->counts.deployments_active, 2);
	BREAKS(&b, state->index, state->index + 1);
	controller_free(&b.c);
}

static void counts(void **unused)
{
	struct broken b;

	build(&b);
	BREAKS(&b, b.cell->living, 3);
	BREAKS(&b, b.canary->deployment_cell, NULL);
	BREAKS(&b, b.group->placed_allocs, 1);
	BREAKS(&b, b.group->healthy_allocs, 0);
	BREAKS(&b, b.group->healthy_allocs, 2);
	BREAKS(&b, b.group->unhealthy_allocs, 0);
	BREAKS(&b, b.group->unhealthy_allocs, -1);
	BREAKS(&b, b.group->placed_canaries.count, 0);
	BREAKS(&b, b.group->require_progress_by_ns, 0);
	BREAKS(&b, b.group->progress_deadline_ns, 0);
	struct alloc_details *details = b.canary->working->details;
	BREAKS(&b, b.canary->working->health.healthy.value, false);
	BREAKS(&b, details->deployment_id.bytes[5], 9);
	controller_free(&b.c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records),
		cmocka_unit_test(counts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
