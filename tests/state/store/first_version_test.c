// What the first version of this program stored is read for ever: its log, its snapshot, and all that is in them. The
// store was made by first_version_make.c and is never made again; a change of a format that this test does not pass is
// a mistake (docs/store.md, "How formats grow").
#include "state/records/alloc_details.h"
#include "state/records/job_notes.h"
#include "state/records/scheduler_config.h"
#include "state/store/store.h"
#include "tests/state/deployments.h"
#include "tests/state/store/first_version.h"
#include "tests/state/store/store_dir.h"
#include "tests/state/vms.h"
#include <setjmp.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <cmocka.h>

extern char **environ;
static const char *stored; // the archive

struct opened {
	char directory[64];
	struct store *store;
	struct controller c;
	struct store_recovery recovery;
};

static void unpack(const char *directory)
{
	char tar[] = "tar", unzip[] = "-xzf", into[] = "-C", archive[256], to[64];
	char *argv[] = {tar, unzip, archive, into, to, NULL};
	pid_t child;
	int status;

	snprintf(archive, sizeof archive, "%s", stored);
	snprintf(to, sizeof to, "%s", directory);
	assert_int_equal(posix_spawnp(&child, tar, NULL, NULL, argv, environ), 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static void open_store(struct opened *o, bool with_snapshot)
{
	char message[1024], path[128];

	snprintf(o->directory, sizeof o->directory, "%s", dir_create());
	unpack(o->directory);
	snprintf(path, sizeof path, "%s/%s", o->directory, with_snapshot ? "snapshot" : "log");
	struct store_settings settings = {.directory = path,
		.map_bytes = 128ll << 20,
		.sync = true,
		.snapshot_log_bytes = 32ll << 20};
	controller_init(&o->c, FIRST_LIMITS);
	if (store_open(&settings, &o->store, message, sizeof message) < 0 ||
		store_recover(o->store, o->c.state, o->c.applier, &o->recovery, message,
			sizeof message) < 0)
		fail_msg("%s", message);
}

static void close_store(struct opened *o)
{
	controller_verify(&o->c);
	controller_free(&o->c);
	store_close(o->store);
	dir_remove(o->directory);
}

static void snapshot_and_log_are_read(void **unused)
{
	struct opened o, from_log;

	open_store(&o, true);
	assert_int_equal(o.recovery.snapshot_index, FIRST_INDEX);
	assert_int_equal(state_index(o.c.state), FIRST_INDEX);
	open_store(&from_log, false);
	assert_int_equal(from_log.recovery.snapshot_index, 0);
	assert_int_equal(state_index(from_log.c.state), FIRST_INDEX);
	struct bytes_writer a = controller_image(&o.c), b = controller_image(&from_log.c);
	assert_int_equal(a.size, b.size);
	assert_memory_equal(a.data, b.data, a.size);
	bytes_writer_free(&a);
	bytes_writer_free(&b);
	close_store(&from_log);
	controller_open(&o.c); // and it goes on from there
	assert_int_equal(state_index(o.c.state), FIRST_INDEX + 1);
	close_store(&o);
}

static void nodes_are_there(void **unused)
{
	struct opened o;

	open_store(&o, true);
	state_read_begin();
	const struct state *state = o.c.state;
	const struct node *nodes[FIRST_NODES];
	for (uint32_t i = 0; i < FIRST_NODES; i++) {
		struct uuid id = number_uuid(i);
		nodes[i] = state_node_by_id(state, &id);
		assert_int_equal(nodes[i] != NULL, i != 7);
	}
	assert_int_equal(nodes[0]->status, NODE_READY);
	assert_int_equal(nodes[1]->status, NODE_DOWN);
	assert_int_equal(nodes[3]->drain->deadline_ns, -1);
	assert_string_equal(node_last_drain(nodes[3])->meta[0].value, "fan");
	assert_string_equal(nodes[4]->name, "worker-4");
	assert_true(nodes[5]->standing.offlined);
	assert_int_equal(nodes[6]->eligibility, NODE_INELIGIBLE);
	assert_int_equal(nodes[2]->eligibility, NODE_ELIGIBLE);
	state_read_end();
	close_store(&o);
}

static void jobs_are_there(void **unused)
{
	struct opened o;

	open_store(&o, true);
	state_read_begin();
	const struct state *state = o.c.state;
	const struct job *direct = state_job(state, TEXT("default"), TEXT("direct"));
	const struct job *batch = state_job(state, TEXT("default"), TEXT("batch"));
	const struct job *stopped = state_job(state, TEXT("default"), TEXT("stopped"));
	assert_int_equal(direct->type, JOB_DIRECT);
	assert_int_equal(batch->type, JOB_BATCH);
	assert_int_equal(batch->version, 1);
	assert_int_equal(ARRAY_AT(&batch->task_groups, struct task_group, 0)->count, 3);
	assert_true(stopped->stop);
	assert_int_equal(stopped->version, 1);
	assert_null(state_job(state, TEXT("default"), TEXT("gone")));
	state_read_end();
	assert_true(version_is_stable(&o.c, "batch", 0));
	assert_int_equal(count_evaluations(&o.c, "batch", TRIGGER_JOB_REGISTER), 1);
	assert_int_equal(count_evaluations(&o.c, "batch", TRIGGER_JOB_SCALING), 1);
	assert_int_equal(count_evaluations(&o.c, "web", TRIGGER_ALLOC_STOP), 1);
	close_store(&o);
}

static void allocations_are_there(void **unused)
{
	struct state_counts counts;
	struct opened o;

	open_store(&o, true);

	state_read_begin();
	state_counts(o.c.state, &counts);
	assert_int_equal(counts.clients, 1);
	assert_int_equal(counts.place_requests, 1);
	const struct allocation *canary = published_allocation(&o.c, 100);
	assert_int_equal(canary->client_status, ALLOC_RUNNING);
	assert_true(allocation_health(canary)->healthy.value);
	const struct allocation *moves = published_allocation(&o.c, 102);
	assert_true(moves->details->transition.migrate.value);
	assert_int_equal(moves->node_slot, 2);
	const struct allocation *failed = published_allocation(&o.c, 110);
	assert_int_equal(failed->client_status, ALLOC_FAILED);
	const struct allocation *stopped = published_allocation(&o.c, 111);
	assert_int_equal(stopped->desired, ALLOC_STOP);
	struct array *ports = &stopped->details->ports;
	assert_int_equal(ports->count, 1);
	state_read_end();
	struct deployment *d = published_deployment(&o.c, 1);
	assert_int_equal(d->status, DEPLOYMENT_PAUSED);
	assert_int_equal(group_of(d, "g0")->placed_allocs, 2);
	assert_int_equal(group_of(d, "g0")->healthy_allocs, 1);
	assert_int_equal(group_of(d, "g0")->placed_canaries.count, 1);
	deployment_free(d);
	close_store(&o);
}

static void machines_and_settings_are_there(void **unused)
{
	struct opened o;

	open_store(&o, true);
	struct vm *a = published_vm(&o.c, "a"), *b = published_vm(&o.c, "b");
	assert_int_equal(a->status, VM_RUNNING);
	assert_string_equal(a->worker, "worker-4");
	assert_string_equal(a->status_message, "up");
	assert_int_equal(b->power_state, VM_POWER_STOPPED);
	assert_null(published_vm(&o.c, "gone"));
	vm_free(a);
	vm_free(b);
	struct vm_worker *by_hand = published_worker(&o.c, "by-hand");
	assert_true(by_hand->scheduling_paused);
	assert_string_equal(by_hand->machine_id, "m1");
	assert_null(published_worker(&o.c, "gone"));
	vm_worker_free(by_hand);
	state_read_begin();
	assert_string_equal(state_cluster_settings(o.c.state)->scheduler_profile, FIRST_PROFILE);
	assert_int_equal(state_scheduler_config(o.c.state)->algorithm, ALGORITHM_SPREAD);
	state_read_end();
	close_store(&o);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(snapshot_and_log_are_read),
		cmocka_unit_test(nodes_are_there),
		cmocka_unit_test(jobs_are_there),
		cmocka_unit_test(allocations_are_there),
		cmocka_unit_test(machines_and_settings_are_there),
	};

	stored = argv[1];
	return argc == 2 ? cmocka_run_group_tests(tests, NULL, NULL) : 1;
}
