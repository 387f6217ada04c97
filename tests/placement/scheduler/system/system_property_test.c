// Random histories of a small fleet: no committed plan ever breaks an invariant (the committer checks after each), the
// scheduler comes to rest, and then every node has what it should have.
#include "placement/scheduler/stack/stack.h"
#include "state/base/prng.h"
#include "state/base/time_units.h"
#include "state/tables/jobs/job_reevaluations.h"
#include "tests/placement/job_check/job_build.h"
#include "tests/placement/scheduler/committer.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define SEEDS 150u
#define STEPS 40u
#define RUNS_MAX 60u

struct history {
	struct world *world;
	struct committer committer;
	struct prng prng;
	uint32_t seed, step;
	struct job *system, *sysbatch; // their newest versions
};

static uint32_t below(struct history *h, uint32_t bound)
{
	return (uint32_t)prng_below(&h->prng, bound);
}

static void node_joins(struct history *h)
{
	static const char *const words[] = {"cpu=1000", "cpu=600", "cpu=2000 dc=dc2", "cpu=300"};
	char text[96], id[UUID_TEXT_BYTES];
	struct uuid uuid = prng_uuid(&h->prng);
	if (h->world->node_count >= 24)
		return;
	snprintf(text, sizeof text, "id=%s %s", uuid_format(&uuid, id),
		words[below(h, COUNT(words))]);
	world_node(h->world, text);
}

static void node_changes(struct history *h)
{
	static const struct drain_strategy drain;
	struct node *n = h->world->nodes[below(h, h->world->node_count)];
	if (!n)
		return;
	switch (below(h, 4)) {
	case 0: n->status = n->status == NODE_READY ? NODE_DOWN : NODE_READY; break;
	case 1: n->status = n->status == NODE_READY ? NODE_DISCONNECTED : NODE_READY; break;
	case 2:
		n->eligibility = n->eligibility == NODE_ELIGIBLE ? NODE_INELIGIBLE : NODE_ELIGIBLE;
		break;
	default: n->drain = n->drain ? NULL : &drain; break;
	}
}

static void node_leaves(struct history *h)
{
	if (below(h, 3) == 0)
		world_purge(h->world, below(h, h->world->node_count));
}

static void job_changes(struct history *h, struct job **job)
{
	struct job *next = world_job_version(h->world, *job);
	struct task_group *group =
		ARRAY_AT(&next->task_groups, struct task_group, below(h, next->task_groups.count));
	struct task *task = ARRAY_AT(&group->tasks, struct task, 0);
	switch (below(h, 5)) {
	case 0: set(&task->user, next->version % 2 ? "x" : "y"); break;
	case 1: task->resources.cpu = 50 + below(h, 400); break;
	case 2: group->count = below(h, next->type == JOB_SYSBATCH ? 3 : 2); break;
	case 3: set(ARRAY_AT(&next->datacenters, char *, 0), below(h, 2) ? "dc1" : "dc*"); break;
	default: next->stop = below(h, 4) == 0; break;
	}
	world_job_changed(next);
	*job = next;
}

// The node reports: an allocation starts, ends, or is found again.
static void allocation_changes(struct history *h)
{
	for (struct world_allocation *a = h->world->allocations; a; a = a->next) {
		struct allocation *record = &a->record;
		if (allocation_has_ended(record) || below(h, 6))
			continue;
		if (allocation_is_terminal(record)) {
			record->client_status = ALLOC_COMPLETE;
			continue;
		}
		bool is_there = record->node_slot != NODE_SLOT_NONE &&
				h->world->nodes[record->node_slot]->status == NODE_READY;
		if (below(h, 8) == 0) {
			if (!record->details)
				record->details = alloc_details_create();
			record->details->transition.migrate = (struct optional_bool){true, true};
		} else if (is_there) {
			static const uint8_t ends[] = {
				ALLOC_RUNNING, ALLOC_RUNNING, ALLOC_COMPLETE, ALLOC_FAILED};
			record->client_status = ends[below(h, COUNT(ends))];
		}
	}
}

static void something_happens(struct history *h)
{
	switch (below(h, 6)) {
	case 0: node_joins(h); break;
	case 1: node_changes(h); break;
	case 2: node_leaves(h); break;
	case 3: job_changes(h, below(h, 2) ? &h->system : &h->sysbatch); break;
	default: allocation_changes(h); break;
	}
}

static void run_once(struct history *h, const struct job *job, bool with_faults)
{
	struct evaluation *eval = evaluation_for(job, TRIGGER_NODE_UPDATE);
	h->committer.rejected_slot = below(h, h->world->node_count);
	h->committer.rejections = with_faults ? below(h, 3) : 0;
	h->committer.refreshes = below(h, 2);
	if (committer_run(&h->committer, eval) != 0)
		fail_msg("seed %u step %u: an error", h->seed, h->step);
	evaluation_free(eval);
	h->committer.rejections = 0;
}

// Repeats until nothing changes. Each time the scheduler may still make a plan that is refused, because it chooses
// victims as if the job's own instances were not there.
static void come_to_rest(struct history *h, const struct job *job)
{
	for (uint32_t i = 0; i < RUNS_MAX; i++) {
		bool with_faults = i % 2 == 0;
		run_once(h, job, with_faults);
		if (!with_faults && !h->committer.changes)
			return;
	}
	fail_msg("seed %u step %u: %s never comes to rest", h->seed, h->step, job->id);
}

static const struct allocation *find(const struct world *w, uint32_t slot, const struct job *job,
	const char *group, uint32_t index, bool living)
{
	for (const struct world_allocation *a = w->of_node[slot]; a; a = a->next_of_node) {
		const struct allocation *r = &a->record;
		const char *name =
			ARRAY_AT(&r->job->task_groups, struct task_group, r->group)->name;
		if (r->index == index && strcmp(r->job->id, job->id) == 0 &&
			strcmp(name, group) == 0 && allocation_is_terminal(r) == !living)
			return r;
	}
	return NULL;
}

static bool has_failed(const struct history *h, const char *group)
{
	uint32_t at;
	return map_find(&committer_end(&h->committer)->failed_groups, sizeof(struct failed_group),
		group, &at);
}

// A node that takes instances has each of them in the job's version, unless it ended for good or has no room.
static void expect_instance(struct history *h, const struct node *n, const struct job *job,
	const struct task_group *group, uint32_t index)
{
	const struct allocation *a = find(h->world, n->slot, job, group->name, index, true);
	if (a && a->job->job_modify_index == job->job_modify_index)
		return;
	bool unknown = a && a->client_status == ALLOC_UNKNOWN;
	bool ended = job->type == JOB_SYSBATCH &&
		     find(h->world, n->slot, job, group->name, index, false);
	if (!unknown && !ended && !has_failed(h, group->name))
		fail_msg("seed %u step %u: node %u has no %s.%s[%u] of version %llu", h->seed,
			h->step, n->slot, job->id, group->name, index,
			(unsigned long long)job->version);
}

static void expect_rest(struct history *h, const struct job *job)
{
	for (uint32_t slot = 0; slot < h->world->node_count; slot++) {
		const struct node *n = h->world->nodes[slot];
		if (!n || !node_is_usable(n) || !job_targets_node(job, n) || job->stop)
			continue;
		for (uint32_t g = 0; g < job->task_groups.count; g++) {
			const struct task_group *group =
				ARRAY_AT(&job->task_groups, struct task_group, g);
			for (uint32_t i = 0; i < group->count; i++)
				expect_instance(h, n, job, group, i);
		}
	}
	if (job->stop && world_living(h->world, job) != 0)
		fail_msg("seed %u step %u: %s is stopped and lives", h->seed, h->step, job->id);
}

static struct job *begin_job(struct history *h, const char *words)
{
	struct job *job = world_job(h->world, words);
	struct task *task = add_task(add_group(job, "b"), "t");
	task->resources.cpu = 150;
	job->update = job->type == JOB_SYSTEM ? block(&update_description) : NULL;
	if (job->update) {
		job->update->max_parallel = 1 + below(h, 4);
		job->update->stagger_ns = NS_PER_S;
	}
	group_of(job)->max_client_disconnect_ns = (struct optional_i64){true, 1000 * NS_PER_S};
	world_job_changed(job);
	return job;
}

static void random_histories_come_to_rest(void **state)
{
	for (uint32_t seed = 1; seed <= SEEDS; seed++) {
		struct history h = {.world = world_create(), .seed = seed};
		prng_seed(&h.prng, seed);
		committer_init(&h.committer, h.world);
		h.system = begin_job(&h, "system web dc=dc* priority=80");
		h.sysbatch = begin_job(&h, "sysbatch once dc=dc* priority=40");
		for (uint32_t i = 0; i < 8; i++)
			node_joins(&h);
		for (h.step = 0; h.step < STEPS; h.step++) {
			something_happens(&h);
			come_to_rest(&h, h.system);
			expect_rest(&h, h.system);
			come_to_rest(&h, h.sysbatch);
			expect_rest(&h, h.sysbatch);
		}
		committer_release(&h.committer);
		world_destroy(h.world);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_histories_come_to_rest),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
