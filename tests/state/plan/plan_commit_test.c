// What becomes of plans: what nodes take, what they do not and why, and what is left behind.
#include "state/records/alloc_details.h"
#include "state/records/allocation_end.h"
#include "state/records/metrics.h"
#include "tests/state/plans.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { NODES = 4 }; // numbers and slots 0 …, generation 1

static int setup(void **test)
{
	*test = controller_with_nodes((struct state_limits){0}, NODES);
	return 0;
}

static int teardown(void **test)
{
	controller_end(*test);
	return 0;
}

static void down(struct controller *c, uint32_t slot)
{
	assert_int_equal(controller_node(c, COMMAND_NODE_EXPIRED, slot, 1), OUTCOME_DONE);
}

static void placements_are_committed_together(void **test)
{
	struct controller *c = *test;
	struct planned_job job = plan_job(c, "web", JOB_SYSTEM);
	struct plan *plan = build_plan(&job);
	struct shared_metrics *metrics = shared_metrics_create(&(struct alloc_metrics){0}, NULL);
	char name[64];

	*(struct shared_metrics **)array_append(&plan->metrics, sizeof metrics) = metrics;
	for (uint32_t i = 0; i < NODES; i++)
		plan_place(plan, 100 + i, i, i)->metrics = 0;
	uint64_t before = state_index(c->state);
	uint32_t batches = c->log.count;
	struct plan_result result;
	assert_int_equal(run_plan(c, plan, &result), OUTCOME_DONE);
	assert_int_equal(c->log.count, batches + 1);
	assert_int_equal(result.placements_committed, NODES);
	assert_int_equal(applier_counters(c->applier)->placements, NODES);
	assert_int_equal(count_get(&result.placed_by_group, "g0"), NODES);
	assert_int_equal(result.refresh_index, 0);
	plan_result_release(&result);

	state_read_begin();
	const struct allocation *a = published_allocation(c, 101);
	assert_string_equal(allocation_name(a, name, sizeof name), "web.g0[0]");
	assert_true(uuid_equal(&a->eval_id, &job.eval));
	assert_int_equal(a->node_slot, 1);
	assert_int_equal(a->client_status, ALLOC_PENDING);
	assert_int_equal(a->create_time_ns, (int64_t)c->time.wall_ns);
	assert_true(a->record.create_index > before);
	assert_int_equal(a->alloc_modify_index, a->record.create_index);
	assert_int_equal(alloc_index_of(c, 1), a->record.create_index);
	assert_ptr_equal(a->metrics, published_allocation(c, 102)->metrics);
	assert_int_equal(state_job(c->state, TEXT("default"), TEXT("web"))->status, JOB_RUNNING);
	state_read_end();
	assert_int_equal(use_of(c, 3).used.cpu_mhz, 1000);
	struct evaluation *e = published_evaluation(c, &job.eval);
	assert_int_equal(e->record.modify_index, before + 1);
	evaluation_free(e);
}

static void a_plan_without_changes_is_answered_without_a_write(void **test)
{
	struct controller *c = *test;
	struct planned_job job = plan_job(c, "web", JOB_SYSTEM);
	uint32_t batches = c->log.count;
	struct plan_result result;

	assert_int_equal(run_plan(c, build_plan(&job), &result), OUTCOME_DONE);
	assert_int_equal(result.alloc_index, 0);
	assert_int_equal(result.refresh_index, 0);
	struct plan *plan = build_plan(&job);
	plan_stop(plan, 999, STOP_NOT_NEEDED); // nobody has it
	plan_preempt(plan, 998, 1);
	assert_int_equal(run_plan(c, plan, &result), OUTCOME_DONE);
	assert_int_equal(result.stops_committed, 0);
	assert_int_equal(c->log.count, batches);
	plan = build_plan(&job);
	plan->eval_id = number_uuid(4242); // nobody knows it
	assert_int_equal(run_plan(c, plan, &result), OUTCOME_BAD_DESCRIPTION);
}

// A plan of two placements, on node 0 and on node 1; what is done to the second decides about it.
struct pair {
	struct planned_job job;
	struct plan *plan;
	struct plan_placement *second;
};

static struct pair build_pair(struct controller *c)
{
	struct pair pair = {.job = plan_job(c, "web", JOB_SYSTEM)};

	pair.plan = build_plan(&pair.job);
	plan_place(pair.plan, 100, 0, 0);
	pair.second = plan_place(pair.plan, 101, 1, 1);
	return pair;
}

static void expect_rejected(struct controller *c, struct pair *pair, const char *reason)
{
	struct plan_result result;
	struct uuid rejected = pair->second->node_id;

	assert_int_equal(run_plan(c, pair->plan, &result), OUTCOME_DONE);
	assert_int_equal(result.rejections.count, 1);
	const struct plan_rejection *r = result.rejections.items;
	assert_true(uuid_equal(&r->node_id, &rejected));
	assert_string_equal(r->reason, reason);
	assert_int_equal(result.placements_planned, 2);
	assert_int_equal(result.placements_committed, 1);
	assert_int_equal(count_get(&result.placed_by_group, "g0"), 1);
	assert_true(result.refresh_index >= result.alloc_index);
	state_read_begin();
	assert_non_null(published_allocation(c, 100));
	assert_null(published_allocation(c, 101));
	state_read_end();
	plan_result_release(&result);
}

static void a_node_that_is_not_there_is_rejected(void **test)
{
	struct pair pair = build_pair(*test);

	pair.second->node_id = number_uuid(77); // another node has the slot
	expect_rejected(*test, &pair, "node does not exist");
}

static void a_node_that_is_down_is_rejected(void **test)
{
	struct pair pair = build_pair(*test);

	down(*test, 1);
	expect_rejected(*test, &pair, "node is not ready for placements");
}

static void what_is_exhausted_is_named(void **test)
{
	static const struct {
		struct resources resources;
		const char *reason;
	} asks[] = {
		{{4001, 9000, 200000}, "cpu"},
		{{4000, 9000, 200000}, "memory"},
		{{4000, 8192, 200000}, "disk"},
	};
	struct controller *c = *test;

	for (uint32_t i = 0; i < 3; i++) {
		struct planned_job job = plan_job(c, "web", JOB_SYSTEM);
		struct plan *plan = build_plan(&job);
		struct plan_result result;
		plan_place(plan, 100, 0, 0)->resources = asks[i].resources;
		assert_int_equal(run_plan(c, plan, &result), OUTCOME_DONE);
		assert_string_equal(rejection_of(&result, 0), asks[i].reason);
		plan_result_release(&result);
	}
}

static void everything_of_a_node_counts_together(void **test)
{
	struct controller *c = *test;
	struct planned_job job = plan_job(c, "web", JOB_BATCH);
	struct plan *plan = build_plan(&job);
	struct plan_result result;

	for (uint32_t i = 0; i < 5; i++) // four fit
		plan_place(plan, 100 + i, 0, 0)->name_index = i;
	assert_int_equal(run_plan(c, plan, &result), OUTCOME_DONE);
	assert_string_equal(rejection_of(&result, 0), "cpu");
	assert_int_equal(result.placements_committed, 0);
	plan_result_release(&result);
	plan = build_plan(&job);
	for (uint32_t i = 0; i < 4; i++)
		plan_place(plan, 100 + i, 0, 0)->name_index = i;
	commit_plan(c, plan);
	plan = build_plan(&job); // the next plan sees them
	plan_place(plan, 110, 0, 0)->name_index = 7;
	assert_int_equal(run_plan(c, plan, &result), OUTCOME_DONE);
	assert_string_equal(rejection_of(&result, 0), "cpu");
	plan_result_release(&result);
	plan = build_plan(&job); // what stops makes room in the same plan
	plan_stop(plan, 100, STOP_UPDATING);
	plan_place(plan, 110, 0, 0)->details = alloc_details_create();
	ARRAY_AT(&plan->placements, struct plan_placement, 0)->details->previous_allocation =
		number_uuid(100);
	commit_plan(c, plan);
	state_read_begin();
	const struct allocation *before = published_allocation(c, 100);
	struct uuid next = number_uuid(110);
	assert_int_equal(before->desired, ALLOC_STOP);
	assert_string_equal(
		end_cause_text(before->end_cause), "alloc is being updated due to job update");
	assert_true(uuid_equal(&before->details->next_allocation, &next));
	state_read_end();
}

static void two_plans_of_one_batch_see_each_other(void **test)
{
	struct controller *c = *test;
	struct planned_job job = plan_job(c, "web", JOB_BATCH);
	struct plan *plans[2] = {build_plan(&job), build_plan(&job)};
	struct plan_result results[2];
	struct command commands[2];
	uint32_t done = 0, batches = c->log.count;

	for (uint32_t i = 0; i < 2; i++) {
		for (uint32_t j = 0; j < 3; j++)
			plan_place(plans[i], 100 + 10 * i + j, 0, 0)->name_index = 10 * i + j;
		commands[i] =
			(struct command){.type = COMMAND_PLAN, .plan = {plans[i], &results[i]}};
		controller_push(c, &commands[i], &done);
	}
	applier_step(c->applier);
	assert_int_equal(done, 2);
	assert_int_equal(c->log.count, batches + 1);
	assert_int_equal(results[0].placements_committed, 3);
	assert_int_equal(results[1].placements_committed, 0);
	for (uint32_t i = 0; i < 2; i++) {
		plan_result_release(&results[i]);
		plan_free(plans[i]);
	}
}

static void all_at_once_is_all_or_nothing(void **test)
{
	struct controller *c = *test;
	struct pair pair = build_pair(c);
	struct plan_result result;
	uint32_t batches = c->log.count;

	pair.second->resources.cpu_mhz = 5000;
	pair.plan->all_at_once = true;
	plan_stop(pair.plan, 999, STOP_NOT_NEEDED);
	assert_int_equal(run_plan(c, pair.plan, &result), OUTCOME_DONE);
	assert_int_equal(result.placements_committed, 0);
	assert_int_equal(result.alloc_index, 0);
	assert_true(result.refresh_index > 0);
	assert_int_equal(c->log.count, batches);
	plan_result_release(&result);
}

static void names_and_ids_are_given_once(void **test)
{
	struct controller *c = *test;
	struct planned_job job = plan_job(c, "web", JOB_SYSTEM);
	struct plan *plan = build_plan(&job);
	struct plan_result result;

	plan_place(plan, 100, 0, 0);
	plan_place(plan, 101, 0, 0); // the same name on the same node
	plan_place(plan, 102, 1, 1);
	plan_place(plan, 103, 2, 2);
	plan_place(plan, 103, 3, 3); // the same id
	assert_int_equal(run_plan(c, plan, &result), OUTCOME_DONE);
	assert_string_equal(rejection_of(&result, 0), "allocation name is taken");
	assert_null(rejection_of(&result, 1));
	assert_string_equal(rejection_of(&result, 3), "allocation id is taken");
	assert_int_equal(result.placements_committed, 2);
	plan_result_release(&result);

	plan = build_plan(&job); // beside what lives
	plan_place(plan, 110, 1, 1);
	plan_place(plan, 102, 3, 3);
	assert_int_equal(run_plan(c, plan, &result), OUTCOME_DONE);
	assert_string_equal(rejection_of(&result, 1), "allocation name is taken");
	assert_string_equal(rejection_of(&result, 3), "placement is not sound");
	plan_result_release(&result);

	plan = build_plan(&job); // what stops gives its name back
	plan_stop(plan, 102, STOP_UPDATING);
	plan_place(plan, 110, 1, 1);
	commit_plan(c, plan);
}

static void versions_that_are_gone_are_not_placed(void **test)
{
	struct controller *c = *test;
	struct pair pair = build_pair(c);

	pair.second->job_version = 987654;
	expect_rejected(c, &pair, "job version does not exist");
	struct planned_job direct = pair.job;
	struct job *job = build_job("direct", &(struct resources){1, 1, 1}, 1);
	assert_int_equal(controller_job(c, job), OUTCOME_DONE);
	state_read_begin();
	direct.version = state_job(c->state, TEXT("default"), TEXT("direct"))->record.modify_index;
	state_read_end();
	struct plan *plan = build_plan(&direct);
	struct plan_result result;
	plan_place(plan, 200, 2, 2);
	assert_int_equal(run_plan(c, plan, &result), OUTCOME_DONE);
	assert_string_equal(rejection_of(&result, 2), "placement is not sound");
	plan_result_release(&result);
}

// A version that is not the newest any more is placed all the same: the scheduler comes again.
static void older_versions_are_placed(void **test)
{
	struct controller *c = *test;
	struct planned_job old = plan_job(c, "web", JOB_SYSTEM);
	struct command_job_register again = {0};
	struct job *job = build_scheduled_job("web", JOB_SYSTEM);

	job->priority = 60;
	assert_int_equal(register_job(c, job, &again), OUTCOME_DONE);
	struct plan *plan = build_plan(&old);
	plan_place(plan, 100, 0, 0);
	commit_plan(c, plan);
	state_read_begin();
	assert_int_equal(published_allocation(c, 100)->job->version, 0);
	state_read_end();
}

static void ports_are_given_once_per_address(void **test)
{
	struct controller *c = *test;
	struct planned_job job = plan_job(c, "web", JOB_BATCH);
	struct plan *plan = build_plan(&job);
	struct plan_result result;

	plan_place(plan, 100, 0, 0)->details = port_details("10.0.0.1", 8080);
	struct plan_placement *p = plan_place(plan, 101, 0, 0);
	p->details = port_details("10.0.0.2", 8080);
	p->name_index = 1;
	commit_plan(c, plan);
	assert_int_equal(use_of(c, 0).with_details, 2);

	plan = build_plan(&job);
	p = plan_place(plan, 110, 0, 0);
	p->details = port_details("10.0.0.1", 8080);
	p->name_index = 2;
	assert_int_equal(run_plan(c, plan, &result), OUTCOME_DONE);
	assert_string_equal(rejection_of(&result, 0), "network: port collision");
	plan_result_release(&result);

	plan = build_plan(&job);
	plan_stop(plan, 100, STOP_UPDATING);
	p = plan_place(plan, 110, 0, 0);
	p->details = port_details("10.0.0.1", 8080);
	commit_plan(c, plan);
	assert_int_equal(use_of(c, 0).with_details, 3); // the old one is not told to have ended
	assert_int_equal(report_status(c, 0, 1, 1, 100, ALLOC_COMPLETE, NULL), OUTCOME_DONE);
	assert_int_equal(use_of(c, 0).with_details, 2);

	plan = build_plan(&job); // two of one plan
	for (uint32_t i = 0; i < 2; i++) {
		p = plan_place(plan, 120 + i, 1, 1);
		p->details = port_details("10.0.0.1", 9000);
		p->name_index = 10 + i;
	}
	assert_int_equal(run_plan(c, plan, &result), OUTCOME_DONE);
	assert_string_equal(rejection_of(&result, 1), "network: port collision");
	plan_result_release(&result);
}

// A node with reserved ports and cores that may be reserved.
static void register_special(struct controller *c, uint32_t number)
{
	struct node_registration n;

	build_node(&n, number, 1);
	n.pairs[n.pair_count++] =
		(struct node_pair){PAIR_SETTING, TEXT("ports.reserved"), TEXT("22,8000-8010")};
	n.pairs[n.pair_count++] =
		(struct node_pair){PAIR_SETTING, TEXT("cores.reservable"), TEXT("0-3")};
	n.pairs[n.pair_count++] = (struct node_pair){PAIR_NETWORK, TEXT("host:eth0"), TEXT("1000")};
	n.pairs[n.pair_count++] =
		(struct node_pair){PAIR_ADDRESS, TEXT("host:eth0 10.0.0.9"), TEXT("default 9100")};
	n.device_group_count = 1;
	n.device_groups[0] =
		(struct node_device_group){TEXT("nvidia"), TEXT("gpu"), TEXT("a100"), 2};
	assert_int_equal(core_join(&c->core, &n), OUTCOME_DONE);
}

static void what_a_node_keeps_back_is_not_given(void **test)
{
	static const struct {
		const char *address;
		int64_t port;
		bool is_free;
	} ports[] = {{"10.0.0.9", 22, false}, {"10.0.0.9", 8005, false}, {"10.0.0.9", 8011, true},
		{"10.0.0.9", 9100, false}, {"10.0.0.8", 9100, true}, {"10.0.0.8", 65536, false},
		{"10.0.0.8", -1, false}};
	struct controller *c = *test;
	struct planned_job job = plan_job(c, "web", JOB_BATCH);

	register_special(c, 50);
	for (uint32_t i = 0; i < sizeof ports / sizeof ports[0]; i++) {
		struct plan *plan = build_plan(&job);
		struct plan_result result;
		struct plan_placement *p = plan_place(plan, 100 + i, 50, NODES);
		p->details = port_details(ports[i].address, ports[i].port);
		p->name_index = i;
		assert_int_equal(run_plan(c, plan, &result), OUTCOME_DONE);
		assert_int_equal(result.placements_committed, ports[i].is_free);
		plan_result_release(&result);
	}
}

// What is kept back for all addresses is enough, and so is what is kept back for one.
static void a_node_keeps_back_what_is_said_once(void **test)
{
	static const struct node_pair said[][2] = {
		{{PAIR_SETTING, TEXT("ports.reserved"), TEXT("22")},
			{PAIR_ADDRESS, TEXT("host:eth0 10.0.0.9"), TEXT("default")}},
		{{PAIR_SETTING, TEXT("ports.dynamic"), TEXT("20000-20010")},
			{PAIR_ADDRESS, TEXT("host:eth0 10.0.0.9"), TEXT("default 22")}}};
	struct controller *c = *test;
	struct planned_job job = plan_job(c, "web", JOB_BATCH);

	for (uint32_t i = 0; i < 2; i++) {
		struct node_registration n;
		build_node(&n, 50 + i, 1);
		n.pairs[n.pair_count++] =
			(struct node_pair){PAIR_NETWORK, TEXT("host:eth0"), TEXT("1000")};
		for (uint32_t j = 0; j < 2; j++)
			n.pairs[n.pair_count++] = said[i][j];
		assert_int_equal(core_join(&c->core, &n), OUTCOME_DONE);
		for (int64_t port = 22; port <= 23; port++) {
			struct plan *plan = build_plan(&job);
			struct plan_result result;
			struct plan_placement *p = plan_place(
				plan, (uint32_t)(100 + 10 * i + port), 50 + i, NODES + i);
			p->details = port_details("10.0.0.9", port);
			p->name_index = 2 * i + (uint32_t)port;
			assert_int_equal(run_plan(c, plan, &result), OUTCOME_DONE);
			assert_int_equal(result.placements_committed, port == 23);
			plan_result_release(&result);
		}
	}
}

static void cores_and_devices_are_given_once(void **test)
{
	struct controller *c = *test;
	struct planned_job job = plan_job(c, "web", JOB_BATCH);
	struct plan *plan = build_plan(&job);
	struct plan_result result;

	register_special(c, 50);
	struct plan_placement *p = plan_place(plan, 100, 50, NODES);
	p->details = core_details(2);
	p->devices.groups[0] = 2;
	commit_plan(c, plan);
	assert_int_equal(use_of(c, NODES).devices.groups[0], 2);
	for (uint32_t i = 0; i < 4; i++) {
		static const char *const reasons[] = {
			"cores", "cores", "device oversubscribed", "device oversubscribed"};
		plan = build_plan(&job);
		p = plan_place(plan, 110 + i, 50, NODES);
		p->name_index = 1 + i;
		if (i < 2)
			p->details = core_details(i == 0 ? 2 : 4); // taken; not the node's to give
		else
			p->devices.groups[0] = i == 2 ? 3 : 4;
		assert_int_equal(run_plan(c, plan, &result), OUTCOME_DONE);
		assert_string_equal(rejection_of(&result, 50), reasons[i]);
		plan_result_release(&result);
	}
	plan = build_plan(&job); // from hand to hand
	plan_stop(plan, 100, STOP_UPDATING);
	p = plan_place(plan, 120, 50, NODES);
	p->details = core_details(2);
	p->devices.groups[0] = 3;
	commit_plan(c, plan);
	assert_int_equal(use_of(c, NODES).devices.groups[0], 3);
}

static void place_planned(
	struct controller *c, const struct planned_job *job, uint32_t id, uint32_t node)
{
	struct plan *plan = build_plan(job);

	plan_place(plan, id, node, node);
	commit_plan(c, plan);
}

static void stops_fit_whatever_became_of_the_node(void **test)
{
	struct controller *c = *test;
	struct planned_job job = plan_job(c, "web", JOB_SYSTEM);

	place_planned(c, &job, 100, 0);
	down(c, 0);
	state_read_begin(); // a scheduler decides what becomes of it
	assert_int_equal(published_allocation(c, 100)->desired, ALLOC_RUN);
	state_read_end();
	struct plan *plan = build_plan(&job);
	plan_stop(plan, 100, STOP_LOST)->followup_eval = number_uuid(55);
	commit_plan(c, plan);
	state_read_begin();
	const struct allocation *a = published_allocation(c, 100);
	struct uuid followup = number_uuid(55);
	assert_int_equal(a->desired, ALLOC_STOP);
	assert_int_equal(a->client_status, ALLOC_LOST);
	assert_string_equal(end_cause_text(a->end_cause), "alloc is lost since its node is down");
	assert_true(uuid_equal(&a->details->followup_eval, &followup));
	assert_int_equal(alloc_index_of(c, 0), a->alloc_modify_index);
	state_read_end();
	assert_int_equal(use_of(c, 0).used.cpu_mhz, 0);
}

static void an_ended_allocation_may_be_marked_lost_later(void **test)
{
	struct controller *c = *test;
	struct planned_job job = plan_job(c, "web", JOB_SYSTEM);

	place_planned(c, &job, 100, 0);
	struct plan *plan = build_plan(&job);
	plan_stop(plan, 100, STOP_NOT_NEEDED);
	commit_plan(c, plan);
	place_planned(c, &job, 101, 0);
	plan = build_plan(&job);
	plan_stop(plan, 100, STOP_LOST);
	commit_plan(c, plan);
	state_read_begin();
	assert_int_equal(published_allocation(c, 100)->client_status, ALLOC_LOST);
	state_read_end();
	assert_int_equal(use_of(c, 0).used.cpu_mhz, 1000); // given back once
}

static void preempted_allocations_are_evicted(void **test)
{
	struct controller *c = *test;
	struct planned_job low = plan_job(c, "low", JOB_BATCH),
			   high = plan_job(c, "high", JOB_SYSTEM);
	struct plan *plan = build_plan(&low);
	char text[DESIRED_DESCRIPTION_BYTES], expected[DESIRED_DESCRIPTION_BYTES],
		id[UUID_TEXT_BYTES];
	struct uuid by = number_uuid(200);

	for (uint32_t i = 0; i < 4; i++)
		plan_place(plan, 100 + i, 0, 0)->name_index = i;
	commit_plan(c, plan);
	plan = build_plan(&high);
	plan_preempt(plan, 100, 200);
	plan_preempt(plan, 101, 200);
	plan_place(plan, 200, 0, 0)->resources.cpu_mhz = 2000;
	commit_plan(c, plan);
	state_read_begin();
	const struct allocation *a = published_allocation(c, 101);
	assert_int_equal(a->desired, ALLOC_EVICT);
	(void)snprintf(expected, sizeof expected, "Preempted by alloc ID %s", uuid_format(&by, id));
	assert_string_equal(allocation_desired_description(a, text), expected);
	state_read_end();
	assert_int_equal(count_evaluations(c, "low", TRIGGER_PREEMPTION), 1);

	// What is to stop may be preempted once more; what has ended is left out, and no reason to reject.
	assert_int_equal(report_status(c, 0, 1, 1, 100, ALLOC_COMPLETE, NULL), OUTCOME_DONE);
	plan = build_plan(&high);
	plan_preempt(plan, 100, 201);
	plan_preempt(plan, 101, 201);
	plan_preempt(plan, 102, 201);
	plan_place(plan, 201, 0, 0)->name_index = 1;
	struct plan_result result;
	assert_int_equal(run_plan(c, plan, &result), OUTCOME_DONE);
	assert_int_equal(result.rejections.count, 0);
	assert_int_equal(result.stops_committed, 2);
	assert_int_equal(result.placements_committed, 1);
	plan_result_release(&result);
	assert_int_equal(count_evaluations(c, "low", TRIGGER_PREEMPTION), 2);
}

static void rejected_nodes_keep_their_victims(void **test)
{
	struct controller *c = *test;
	struct planned_job low = plan_job(c, "low", JOB_BATCH),
			   high = plan_job(c, "high", JOB_SYSTEM);
	struct plan_result result;

	place_planned(c, &low, 100, 0);
	struct plan *plan = build_plan(&high);
	plan_preempt(plan, 100, 200);
	plan_place(plan, 200, 0, 0)->resources.cpu_mhz = 4001;
	assert_int_equal(run_plan(c, plan, &result), OUTCOME_DONE);
	assert_int_equal(result.stops_committed, 0);
	plan_result_release(&result);
	state_read_begin();
	assert_int_equal(published_allocation(c, 100)->desired, ALLOC_RUN);
	state_read_end();
	assert_int_equal(count_evaluations(c, "low", TRIGGER_PREEMPTION), 0);
}

static void allocations_go_on_under_another_version(void **test)
{
	struct controller *c = *test;
	struct planned_job job = plan_job(c, "web", JOB_SYSTEM);

	place_planned(c, &job, 100, 0);
	for (uint32_t i = 1; i <= JOB_VERSIONS_MAX + 1; i++) { // the first is forgotten at last
		struct command_job_register again = {0};
		struct job *changed = build_scheduled_job("web", JOB_SYSTEM);
		changed->priority = 50 + i;
		assert_int_equal(register_job(c, changed, &again), OUTCOME_DONE);
		state_read_begin();
		job.version =
			state_job(c->state, TEXT("default"), TEXT("web"))->record.modify_index;
		state_read_end();
		struct plan *plan = build_plan(&job);
		plan->eval_id = job.eval = again.made.id;
		plan_update(plan, 100);
		uint64_t seen = state_node_feed_head(c->state);
		uint32_t slot = NODE_SLOT_NONE;
		commit_plan(c, plan);
		assert_int_equal(state_node_feed_read(c->state, &seen, &slot, 1), 1);
		assert_int_equal(slot, 0); // victims are kept by their priorities
		controller_verify(c);
	}
	state_read_begin();
	const struct allocation *a = published_allocation(c, 100);
	assert_int_equal(a->job->priority, 50 + JOB_VERSIONS_MAX + 1);
	assert_true(uuid_equal(&a->eval_id, &job.eval));
	state_read_end();
	assert_int_equal(use_of(c, 0).used.cpu_mhz, 1000);
}

static void updates_of_what_is_not_to_run_are_left_out(void **test)
{
	struct controller *c = *test;
	struct planned_job job = plan_job(c, "web", JOB_SYSTEM);
	struct plan_result result;

	place_planned(c, &job, 100, 0);
	struct plan *plan = build_plan(&job);
	plan_stop(plan, 100, STOP_NOT_NEEDED);
	plan_update(plan, 100);
	assert_int_equal(run_plan(c, plan, &result), OUTCOME_DONE);
	assert_int_equal(result.updates_committed, 0);
	assert_int_equal(result.stops_committed, 1);
	assert_int_equal(result.refresh_index, state_index(c->state)); // look again
	plan = build_plan(&job);
	plan_update(plan, 100);
	assert_int_equal(run_plan(c, plan, &result), OUTCOME_DONE);
	assert_int_equal(result.updates_committed, 0);
	place_planned(c, &job, 101, 0);
	plan = build_plan(&job);
	plan_update(plan, 101)->job_version = 1u << 30; // nobody keeps it
	assert_int_equal(run_plan(c, plan, &result), OUTCOME_DONE);
	assert_int_equal(result.updates_committed, 0);
	plan_result_release(&result);
}

struct plan_source {
	struct command commands[3];
	uint32_t next;
};

static struct command *give_plan(void *context)
{
	struct plan_source *source = context;
	return source->next < 3 ? &source->commands[source->next++] : NULL;
}

static void count_done(struct command *command)
{
	(*(uint32_t *)command->context)++;
}

static void asked_plans_come_when_nothing_else_waits(void **test)
{
	struct controller *c = *test;
	struct plan_source source = {0};
	struct plan_result results[3];
	struct planned_job job = plan_job(c, "web", JOB_BATCH);
	uint32_t done = 0;

	c->next_plan = give_plan;
	c->plan_context = &source;
	for (uint32_t i = 0; i < 3; i++) {
		struct plan *plan = build_plan(&job);
		plan_place(plan, 100 + i, i, i)->name_index = i;
		source.commands[i] = (struct command){.type = COMMAND_PLAN,
			.done = count_done,
			.context = &done,
			.plan = {plan, &results[i]}};
	}
	applier_step(c->applier);
	assert_int_equal(done, 3);
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(results[i].placements_committed, 1);
		plan_result_release(&results[i]);
		plan_free(source.commands[i].plan.plan);
	}
	c->next_plan = NULL;
}

// One turn takes the beginning of a large plan, with the victims of what it places and no others; its
// scheduler comes again.
static void large_plans_take_several_turns(void **unused)
{
	struct controller c;
	struct plan_result result;

	controller_init(&c, (struct state_limits){0});
	c.plan_changes_max = 3;
	controller_open(&c);
	for (uint32_t i = 0; i < NODES; i++)
		assert_int_equal(controller_register(&c, i, NULL), OUTCOME_DONE);
	struct planned_job low = plan_job(&c, "low", JOB_SYSTEM);
	struct planned_job high = plan_job(&c, "high", JOB_SYSTEM);
	for (uint32_t i = 0; i < NODES; i++)
		place_planned(&c, &low, 100 + i, i);
	struct plan *plan = build_plan(&high);
	for (uint32_t i = 0; i < NODES; i++) {
		plan_preempt(plan, 100 + i, 200 + i);
		plan_place(plan, 200 + i, i, i)->resources.cpu_mhz = 4000;
	}
	assert_int_equal(run_plan(&c, plan, &result), OUTCOME_DONE);
	assert_int_equal(result.placements_committed, 3);
	assert_int_equal(result.stops_committed, 3);
	assert_int_equal(result.rejections.count, 0);
	assert_int_equal(result.refresh_index, state_index(c.state));
	plan_result_release(&result);
	state_read_begin();
	assert_int_equal(published_allocation(&c, 103)->desired, ALLOC_RUN);
	state_read_end();
	plan = build_plan(&high);
	plan->all_at_once = true;
	for (uint32_t i = 0; i < NODES; i++)
		plan_stop(plan, 100 + i, STOP_NOT_NEEDED);
	assert_int_equal(run_plan(&c, plan, &result), OUTCOME_BAD_DESCRIPTION);
	expect_restores(&c);
	controller_free(&c);
}

// Off by default; with a threshold a node that rejects again and again is set aside.
static void nodes_that_reject_again_and_again_are_set_aside(void **unused)
{
	struct controller c;

	controller_init(&c, (struct state_limits){0});
	c.rejections = (struct rejection_settings){.threshold = 3, .window_ns = 60000000000};
	controller_open(&c);
	assert_int_equal(controller_register(&c, 0, NULL), OUTCOME_DONE);
	struct planned_job job = plan_job(&c, "web", JOB_SYSTEM);
	for (uint32_t i = 0; i < 4; i++) {
		static const char *const reasons[] = {"cpu", "cpu", "cpu", "node is not eligible"};
		struct plan *plan = build_plan(&job);
		struct plan_result result;
		plan_place(plan, 100, 0, 0)->resources.cpu_mhz = 5000;
		assert_int_equal(run_plan(&c, plan, &result), OUTCOME_DONE);
		assert_string_equal(rejection_of(&result, 0), reasons[i]);
		plan_result_release(&result);
	}
	state_read_begin();
	const struct node *n = state_node_at(c.state, 0);
	assert_int_equal(n->eligibility, NODE_INELIGIBLE);
	assert_int_equal(node_events(n)[n->event_count - 1].message, NODE_REJECTED_PLANS);
	state_read_end();
	expect_restores(&c);
	controller_free(&c);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(placements_are_committed_together),
		TEST(a_plan_without_changes_is_answered_without_a_write),
		TEST(a_node_that_is_not_there_is_rejected),
		TEST(a_node_that_is_down_is_rejected),
		TEST(what_is_exhausted_is_named),
		TEST(everything_of_a_node_counts_together),
		TEST(two_plans_of_one_batch_see_each_other),
		TEST(all_at_once_is_all_or_nothing),
		TEST(names_and_ids_are_given_once),
		TEST(versions_that_are_gone_are_not_placed),
		TEST(older_versions_are_placed),
		TEST(ports_are_given_once_per_address),
		TEST(what_a_node_keeps_back_is_not_given),
		TEST(a_node_keeps_back_what_is_said_once),
		TEST(cores_and_devices_are_given_once),
		TEST(stops_fit_whatever_became_of_the_node),
		TEST(an_ended_allocation_may_be_marked_lost_later),
		TEST(preempted_allocations_are_evicted),
		TEST(rejected_nodes_keep_their_victims),
		TEST(allocations_go_on_under_another_version),
		TEST(updates_of_what_is_not_to_run_are_left_out),
		TEST(asked_plans_come_when_nothing_else_waits),
		cmocka_unit_test(large_plans_take_several_turns),
		cmocka_unit_test(nodes_that_reject_again_and_again_are_set_aside),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
