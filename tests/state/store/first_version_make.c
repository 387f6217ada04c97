// Makes what first_version_test.c reads: two stores as this program writes them, with something of every kind, one of a
// log alone and one with a snapshot of the same. It was run once, when formats began at version 1, and what it made is
// kept. How a store of a later version is made and packed, to be kept beside it:
//
//	mkdir -p /tmp/first/log /tmp/first/snapshot
//	build/tests/state/store/make_first_version /tmp/first/log /tmp/first/snapshot
//	tar -C /tmp/first -cS --exclude=lock . | gzip -9n > tests/state/store/first_version/store.tar.gz
#include "state/base/memory.h"
#include "state/records/scheduler_config.h"
#include "state/store/store.h"
#include "tests/state/deployments.h"
#include "tests/state/store/first_version.h"
#include "tests/state/vms.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static void run(struct controller *c, struct command command)
{
	assert_int_equal(controller_run(c, &command), OUTCOME_DONE);
}

static void register_node(struct controller *c, uint32_t number)
{
	struct node_registration *node = memory_take(sizeof *node);

	assert_int_equal(controller_register(c, number, node), OUTCOME_DONE);
	free(node);
}

static void configure(struct controller *c)
{
	struct scheduler_config config;
	struct cluster_settings *settings = record_create(&cluster_settings_description);

	record_init(&scheduler_config_description, &config);
	config.algorithm = ALGORITHM_SPREAD;
	run(c, (struct command){
		       .type = COMMAND_SCHEDULER_CONFIG, .scheduler_config = {.config = &config}});
	settings->scheduler_profile = text_copy(TEXT(FIRST_PROFILE));
	run(c, (struct command){.type = COMMAND_CLUSTER_SETTINGS, .cluster_settings = {settings}});
}

static void place_by_hand(struct controller *c)
{
	static const struct resources ask = {500, 500, 10};
	struct command_place place;
	struct command_release release = {0};

	assert_int_equal(controller_job(c, build_job("direct", &ask, 1)), OUTCOME_DONE);
	assert_int_equal(controller_place(c, "ann", "direct", 1, 3, &place), OUTCOME_DONE);
	assert_int_equal(
		controller_release(c, &place.items[0].allocation, 1, &release), OUTCOME_DONE);
}

// Deployment 1 of job "web": canary 100 is healthy, and 102 runs.
static void deploy(struct controller *c)
{
	struct planned_job job = deployed_job(c, "web", 50);
	struct plan *plan = plan_deployment(&job, build_deployment(c, "web", 1, 1));

	plan_deployed(plan, 100, 0, 1, true);
	plan_deployed(plan, 102, 2, 1, false);
	commit_plan(c, plan);
	assert_int_equal(
		report_health(c, 0, 100, (struct optional_bool){true, true}), OUTCOME_DONE);
	assert_int_equal(report_health(c, 2, 102, (struct optional_bool){0}), OUTCOME_DONE);
}

// Allocation 110 of job "batch" fails, 111 is stopped by its plan.
static void plan_batch(struct controller *c)
{
	struct planned_job job = plan_job(c, "batch", JOB_BATCH);
	struct plan *plan = build_plan(&job);

	plan_place(plan, 110, 1, 1);
	plan_place(plan, 111, 3, 3)->details = port_details("192.0.2.3", 8080);
	commit_plan(c, plan);
	bool known;
	assert_int_equal(report_status(c, 1, 1, 50, 110, ALLOC_FAILED, &known), OUTCOME_DONE);
	plan = build_plan(&job);
	plan_stop(plan, 111, STOP_NOT_NEEDED);
	commit_plan(c, plan);
}

static void make_machines(struct controller *c)
{
	static const struct worker_setting settings[] = {
		{"vm.resource." VM_RESOURCE_CORES, "4"}, {"vm.worker", "1"}, {0}};
	struct command_vm_report report = {.status = {true, VM_RUNNING}, .status_message = "up"};

	assert_int_equal(register_worker(c, 4, "worker-4", settings, NULL), OUTCOME_DONE);
	assert_int_equal(put_worker(c, build_worker("by-hand", "m1", 8)), OUTCOME_DONE);
	assert_int_equal(put_worker(c, build_worker("gone", "m2", 8)), OUTCOME_DONE);
	assert_int_equal(create_vm(c, build_vm("a", 2)), OUTCOME_DONE);
	assert_int_equal(create_vm(c, build_vm("b", 1)), OUTCOME_DONE);
	assert_int_equal(create_vm(c, build_vm("gone", 1)), OUTCOME_DONE);
	assert_int_equal(assign_vm(c, "a", "worker-4"), VM_ASSIGNED);
	assert_int_equal(report_vm(c, "a", NULL, &report), OUTCOME_DONE);
	assert_int_equal(set_power(c, "b", VM_POWER_STOPPED), OUTCOME_DONE);
	assert_int_equal(pause_worker(c, "by-hand", true), OUTCOME_DONE);
	assert_int_equal(see_worker(c, "by-hand"), OUTCOME_DONE);
	assert_int_equal(delete_worker(c, "gone"), OUTCOME_DONE);
	assert_int_equal(delete_vm(c, "gone"), OUTCOME_DONE);
}

static void change_nodes(struct controller *c)
{
	const struct node_pair why = {.name = TEXT("why"), .value = TEXT("fan")};
	struct command_node_drain drain = {
		.node = number_uuid(3), .deadline_ns = -1, .meta = &why, .meta_count = 1};
	struct uuid offline = number_uuid(5);
	struct command_node_standing standing = {
		.action = STANDING_OFFLINE, .nodes = &offline, .count = 1};

	run(c, (struct command){.type = COMMAND_NODE_DRAIN, .node_drain = &drain});
	run(c, (struct command){.type = COMMAND_NODE_STANDING, .standing = &standing});
	run(c, (struct command){
		       .type = COMMAND_NODE_ELIGIBILITY, .node_eligibility = {number_uuid(6)}});
	assert_int_equal(controller_node(c, COMMAND_NODE_EXPIRED, 1, 1), OUTCOME_DONE);
	run(c, (struct command){.type = COMMAND_NODE_PURGE, .node_named = {number_uuid(7)}});
}

static void change_jobs(struct controller *c)
{
	struct command_job_scale scale = {.id = TEXT("batch"),
		.group = TEXT("g0"),
		.count = {true, 3},
		.message = TEXT("more")};
	struct uuid web = number_uuid(102);
	struct desired_transition migrate = {.migrate = {true, true}};

	run(c, (struct command){.type = COMMAND_JOB_SCALE, .job_scale = &scale});
	run(c, (struct command){.type = COMMAND_JOB_STABLE,
		       .job_stable = {.id = TEXT("batch"), .stable = true}});
	struct command_alloc_transitions transitions = {
		.ids = &web, .count = 1, .transition = &migrate, .trigger = TRIGGER_ALLOC_STOP};
	run(c, (struct command){
		       .type = COMMAND_ALLOC_TRANSITIONS, .alloc_transitions = &transitions});
	assert_int_equal(ask_deployment(c, 1, DEPLOYMENT_PAUSE), OUTCOME_DONE);
	assert_int_equal(
		register_job(c, build_scheduled_job("gone", JOB_SERVICE), NULL), OUTCOME_DONE);
	assert_int_equal(controller_stop_job(c, "gone", true), OUTCOME_DONE);
	assert_int_equal(
		register_job(c, build_scheduled_job("stopped", JOB_SERVICE), NULL), OUTCOME_DONE);
	assert_int_equal(controller_stop_job(c, "stopped", false), OUTCOME_DONE);
	run(c, (struct command){.type = COMMAND_GC, .gc = {.evals_before_ns = 1}});
}

static struct store *open_store(const char *directory)
{
	struct store_settings settings = {.directory = directory,
		.map_bytes = 128ll << 20,
		.sync = true,
		.snapshot_log_bytes = 32ll << 20};
	struct store_recovery recovery;
	char message[1024];
	struct controller empty;
	struct store *store;

	controller_init(&empty, FIRST_LIMITS);
	if (store_open(&settings, &store, message, sizeof message) < 0 ||
		store_recover(store, empty.state, empty.applier, &recovery, message,
			sizeof message) < 0) {
		fprintf(stderr, "%s\n", message);
		exit(1);
	}
	controller_free(&empty);
	return store;
}

static void write_store(struct controller *c, const char *directory, bool with_snapshot)
{
	struct store *store = open_store(directory);
	struct command_log log = store_log(store);

	for (uint32_t i = 0; i < c->log.count; i++) {
		const struct memory_batch *b = &c->log.batches[i];
		assert_int_equal(
			log.append(log.context, b->first_index, b->entries, b->data, b->size), 0);
	}
	if (with_snapshot)
		assert_int_equal(store_snapshot(store, c->state), 0);
	store_close(store);
}

int main(int argc, char **argv)
{
	struct controller c;

	if (argc != 3) {
		fprintf(stderr, "usage: make_first_version LOG SNAPSHOT (directories)\n");
		return 1;
	}
	controller_init(&c, FIRST_LIMITS);
	controller_open(&c);
	for (uint32_t i = 0; i < FIRST_NODES; i++)
		if (i != 4)
			register_node(&c, i);
	configure(&c);
	place_by_hand(&c);
	make_machines(&c);
	deploy(&c);
	plan_batch(&c);
	change_nodes(&c);
	change_jobs(&c);
	controller_verify(&c);
	write_store(&c, argv[1], false);
	write_store(&c, argv[2], true);
	printf("index %lu\n", state_index(c.state));
	controller_free(&c);
	return 0;
}
