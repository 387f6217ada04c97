// A check that finds nothing is worth what it would have found: each invariant is broken once.
#include "state/records/namespaces/job_namespace.h"
#include "state/records/namespaces/quota.h"
#include "state/tables/alloc_cell.h"
#include "state/tables/client.h"
#include "state/tables/jobs/alloc_table.h"
#include "state/tables/jobs/evaluation_table.h"
#include "state/tables/jobs/job_cell.h"
#include "state/tables/jobs/job_keep.h"
#include "state/tables/namespaces/namespace_table.h"
#include "state/tables/namespaces/quota_table.h"
#include "state/tables/node_table.h"
#include "state/tables/nodes/node_extra.h"
#include "state/tables/sequence.h"
#include "state/tables/state.h"
#include "state/tables/tables.h"
#include "tests/state/evaluations.h"
#include "tests/support/broken.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static const struct resources small = {1000, 1000, 100};

struct broken {
	struct controller c;
	struct node *node;
	struct allocation *a;
	struct job_cell *job;
	struct alloc_cell *cell;
};

static void build(struct broken *b)
{
	struct command_place place;

	controller_init(&b->c, (struct state_limits){0});
	controller_open(&b->c);
	controller_register(&b->c, 1, NULL);
	controller_job(&b->c, build_job("web", &small, 1));
	controller_place(&b->c, "ann", "web", 1, 3, &place);
	controller_release(&b->c, &place.items[2].allocation, 1, NULL);
	state_read_begin();
	b->node = b->c.state->cells[0].working;
	b->job = job_cell_find(b->c.state, TEXT("default"), TEXT("web"));
	b->cell = alloc_cell_find(b->c.state, &place.items[0].allocation);
	b->a = b->cell->working;
	state_read_end();
	controller_verify(&b->c);
}

#define BREAKS(b, what, value) BREAKS_STATE(&(b)->c, what, value)

static void nodes(void **unused)
{
	struct broken b;

	build(&b);
	struct node_cell *cell = &b.c.state->cells[0];
	BREAKS(&b, cell->used.cpu_mhz, 1);
	BREAKS(&b, node_extra_make(b.c.state, cell)->devices_used.groups[1], 1);
	BREAKS(&b, cell->allocation_count, 2);
	BREAKS(&b, cell->published, NULL);
	BREAKS(&b, b.node->slot, 1);
	BREAKS(&b, b.node->generation, 0);
	BREAKS(&b, b.node->status, NODE_DOWN);
	BREAKS(&b, b.node->register_index, 999);
	BREAKS(&b, b.node->total.cpu_mhz, 1999); // two instances of 1000
	BREAKS(&b, b.node->total.memory_mb, 1);
	BREAKS(&b, b.node->total.disk_mb, 1);
	BREAKS(&b, b.node->node_class->nodes, 2);
	BREAKS(&b, b.c.state->node_table->block_owner[0], NODE_BLOCK_UNOWNED);
	BREAKS(&b, b.c.state->block_used[0], 0);
	BREAKS(&b, b.c.state->counts.nodes[NODE_READY], 2);
	BREAKS(&b, b.c.state->classes.count, 2);
	BREAKS(&b, cell->living, 0);
	BREAKS(&b, b.c.state->counts.nodes_running, 0);
	BREAKS(&b, b.node->snapshot, "another");
	BREAKS(&b, b.node->standing.lost_ns, 1);
	BREAKS(&b, b.node->standing.offlined, true);
	BREAKS(&b, b.node->standing.forgotten, true);
	BREAKS(&b, b.c.state->counts.nodes_standing[NODE_HEALTHY], 2);
	BREAKS(&b, b.c.state->counts.nodes_lost, 1);
	BREAKS(&b, b.c.state->counts.nodes_flaky, 1);
	BREAKS(&b, b.c.state->counts.nodes_unready, 1);
	BREAKS(&b, b.c.state->counts.nodes_running, 0);
	controller_free(&b.c);
}

static void allocations(void **unused)
{
	struct broken b;

	build(&b);
	BREAKS(&b, b.a->resources.cpu_mhz, 4000);
	BREAKS(&b, b.a->node_slot, 1);
	BREAKS(&b, b.a->id.bytes[3], 77);
	BREAKS(&b, b.a->group, 1);
	BREAKS(&b, b.a->client_status, ALLOC_LOST);
	BREAKS(&b, b.a->record.modify_index, 1);
	BREAKS(&b, b.a->record.modify_index, 999);
	static const struct device_set one = {{1}};
	BREAKS(&b, b.a->devices, &one);
	BREAKS(&b, b.a->index, 3); // the next number
	BREAKS(&b, b.cell->position, 1);
	BREAKS(&b, b.cell->change_position, 1);
	BREAKS(&b, b.cell->job_cell, NULL);
	BREAKS(&b, b.c.state->counts.allocations, 2);
	BREAKS(&b, b.c.state->counts.allocations_terminal, 0);
	controller_free(&b.c);
}

static void jobs_and_requests(void **unused)
{
	struct broken b;
	uint64_t cursor = 0;

	build(&b);
	struct place_request *request =
		sequence_next(&b.c.state->tables[STATE_PLACE_REQUESTS].order, &cursor);
	struct job *job = b.job->working->versions[0];
	BREAKS(&b, b.job->live_count, 1);
	BREAKS(&b, b.job->present_count, 1);
	BREAKS(&b, b.job->allocation_count, 1);
	BREAKS(&b, b.job->is_stopped_listed, true);
	BREAKS(&b, b.job->index, 1);
	BREAKS(&b, b.job->working->status, JOB_PENDING);
	BREAKS(&b, b.job->working->version_count, 0);
	BREAKS(&b, b.job->working->counters[0].next, 1);
	BREAKS(&b, job->status, JOB_DEAD);
	BREAKS(&b, job->references, 0);
	BREAKS(&b, job->record.create_index, 1);
	BREAKS(&b, b.c.state->counts.jobs, 0);
	BREAKS(&b, b.c.state->counts.jobs_by_status[JOB_DEAD], 1);
	BREAKS(&b, request->request, 2);
	BREAKS(&b, request->count, 0);
	BREAKS(&b, b.c.state->counts.place_requests, 2);
	BREAKS(&b, b.c.state->counts.clients, 2);
	BREAKS(&b, b.c.state->clients[0]->changes.count, 9);
	BREAKS(&b, b.c.state->index, 999);
	controller_free(&b.c);
}

static void evaluations(void **unused)
{
	struct controller c;
	struct node_registration node;
	struct command_job_register result = {0};

	controller_init(&c, (struct state_limits){0});
	controller_open(&c);
	register_job(&c, build_scheduled_job("sys", JOB_SYSTEM), &result);
	controller_register(&c, 1, &node); // marks the job
	place_one(&c, &result.made.id, "sys", &node, 1);
	store_evaluation(&c, build_evaluation(1, "sys", EVAL_BLOCKED));
	struct uuid id = placed_id(1), blocked_id = number_uuid(1000001);
	struct broken b = {.c = c};
	struct eval_cell *eval = eval_cell_find(c.state, &result.made.id);
	struct eval_cell *blocked = eval_cell_find(c.state, &blocked_id);
	struct alloc_cell *alloc = alloc_cell_find(c.state, &id);
	struct job_cell *job = eval->job_cell;
	assert_int_equal(state_verify(c.state, NULL, NULL), 0);
	BREAKS(&b, eval->published, NULL);
	BREAKS(&b, eval->cell.position, 1);
	BREAKS(&b, eval->allocations, 2);
	BREAKS(&b, eval->job_cell, NULL);
	BREAKS(&b, eval->working->id.bytes[3], 77);
	BREAKS(&b, eval->working->status, EVAL_COMPLETE);
	BREAKS(&b, eval->working->record.modify_index, 999);
	BREAKS(&b, eval->working->modify_time_ns, 1);
	BREAKS(&b, blocked->working->status, EVAL_PENDING);
	BREAKS(&b, alloc->eval_cell, blocked);
	BREAKS(&b, alloc->counted_status, 0);
	BREAKS(&b, job->evaluation_count, 1);
	BREAKS(&b, job->evaluations_present, 1);
	BREAKS(&b, job->evaluations_live, 1);
	BREAKS(&b, job->is_marked, false);
	BREAKS(&b, job->is_system_listed, false);
	BREAKS(&b, job->working->mark.first_ns, 0);
	BREAKS(&b, job->working->counters[0].clients[ALLOC_PENDING], 2);
	BREAKS(&b, c.state->counts.jobs_marked, 0);
	BREAKS(&b, c.state->counts.evaluations, 1);
	BREAKS(&b, c.state->counts.evaluations_pending, 2);
	BREAKS(&b, c.state->counts.evaluations_blocked, 0);
	BREAKS(&b, c.state->tables[STATE_SCHEDULER_CONFIG].one->published, NULL);
	controller_free(&c);
}

// The namespace of the job, with a quota that it names.
static void limit_default(struct controller *c)
{
	struct quota *quota = record_create(&quota_description);
	struct job_namespace *n = record_create(&job_namespace_description);
	struct command command = {.type = COMMAND_QUOTA, .quota = {quota}};

	quota->name = text_copy(TEXT("small"));
	assert_int_equal(controller_run(c, &command), OUTCOME_DONE);
	n->name = text_copy(TEXT("default"));
	n->quota = text_copy(TEXT("small"));
	command = (struct command){.type = COMMAND_NAMESPACE, .namespace = {n}};
	assert_int_equal(controller_run(c, &command), OUTCOME_DONE);
}

static void namespaces(void **unused)
{
	struct broken b;

	build(&b);
	struct namespace_cell *space = b.job->space;
	BREAKS(&b, space->jobs, 2);
	BREAKS(&b, space->used.instances, 1);
	BREAKS(&b, space->used.cpu_mhz, 1);
	BREAKS(&b, space->used.memory_mb, 1);
	limit_default(&b.c);
	BREAKS(&b, space->quota, NULL);
	BREAKS(&b, space->quota->namespaces, 2);
	BREAKS(&b, space->quota->used.instances, 1);
	controller_free(&b.c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nodes),
		cmocka_unit_test(allocations),
		cmocka_unit_test(jobs_and_requests),
		cmocka_unit_test(evaluations),
		cmocka_unit_test(namespaces),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
