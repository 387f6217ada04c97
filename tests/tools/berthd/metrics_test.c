// The whole daemon on a device that is silent: every counter of its parts is among its metrics, and what is said once
// in its configuration is known to all of them.
#include "placement/pipeline/pipeline_parts.h"
#include "state/base/memory.h"
#include "state/base/time_units.h"
#include "state/records/allocation.h"
#include "state/records/nodes/vm.h"
#include "tests/support/core/builders.h"
#include "tests/tools/api/prometheus_reader.h"
#include "tests/tools/berthd/silent_daemon.h"
#include "tools/api/metrics/metric_set.h"
#include "tools/api/server/server.h"
#include "tools/berthd/berthd.h"
#include "tools/berthd/metrics.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define EXPORTED_MOST 4096u

// What the daemon told the sink; buckets of histograms are values of their own.
static struct {
	char name[512];
	double value;
} exported[EXPORTED_MOST];
static uint32_t exported_count;

static void keep(void *sink, enum metric_family family, const char *labels, double value)
{
	const char *name = metric_descriptions[family].name;
	assert_true(exported_count < EXPORTED_MOST);
	bool is_of_worker = strstr(labels, "worker_name=") || strstr(labels, "alloc_id=");
	snprintf(exported[exported_count].name, sizeof exported->name,
		is_of_worker ? "%s{%s}" : "%s", name, labels);
	exported[exported_count++].value = value;
}

static void keep_buckets(void *sink, enum metric_family family,
	const uint64_t buckets[METRIC_BUCKETS], double sum_us)
{
	for (uint32_t i = 0; i < METRIC_BUCKETS; i++)
		keep(sink, family, "", (double)buckets[i]);
	keep(sink, family, "", sum_us);
}

static void collect(struct berthd *b)
{
	const struct metric_sink sink = {NULL, keep, keep_buckets};
	exported_count = 0;
	berthd_metrics(b, &sink);
}

// How often it was told, and the last name.
static uint32_t times_exported(double value, const char **name)
{
	uint32_t times = 0;
	for (uint32_t i = 0; i < exported_count; i++) {
		if (exported[i].value != value)
			continue;
		*name = exported[i].name;
		times++;
	}
	return times;
}

static double value_of(const char *name)
{
	for (uint32_t i = 0; i < exported_count; i++)
		if (strcmp(exported[i].name, name) == 0)
			return exported[i].value;
	fail_msg("%s is not exported", name);
	return 0;
}

// Gives each counter a value that nothing else has, and finds each among the metrics.
static void each_is_exported(struct berthd *b, const void *counters, size_t bytes)
{
	static uint32_t fresh = 77000001;
	const uint32_t first = fresh;
	_Atomic uint64_t *values = (_Atomic uint64_t *)(uintptr_t)counters;
	for (uint32_t i = 0; i < bytes / sizeof *values; i++)
		values[i] = fresh++;
	collect(b);
	for (uint32_t i = 0; i < bytes / sizeof *values; i++) {
		const char *name = "";
		uint32_t times = times_exported(first + i, &name);
		if (times != 1)
			fail_msg("the counter at byte %zu is exported %u times: %s",
				i * sizeof *values, times, name);
	}
}

// What dashboards made for Nomad ask for.
static void dashboards_find_their_names(void)
{
	static const char *const names[] = {"nomad.nomad.heartbeat.active",
		"nomad.nomad.broker.total_ready", "nomad.nomad.broker.total_unacked",
		"nomad.nomad.broker.total_pending", "nomad.nomad.broker.total_waiting",
		"nomad.nomad.broker.total_cancelable", "nomad.nomad.broker.service.ready",
		"nomad.nomad.broker.service.unacked", "nomad.nomad.broker._core.ready",
		"nomad.nomad.broker._failed.ready", "nomad.nomad.blocked_evals.total_blocked",
		"nomad.nomad.plan.queue_depth", "nomad.nomad.plan.submit",
		"nomad.nomad.plan.evaluate", "nomad.nomad.plan.node_rejected",
		"nomad.nomad.worker.dequeue_eval", "nomad.nomad.worker.send_ack",
		"nomad.nomad.worker.wait_for_index", "nomad.nomad.worker.submit_plan",
		"nomad.nomad.worker.update_eval", "nomad.nomad.worker.create_eval",
		"nomad.nomad.worker.reblock_eval", "nomad.nomad.worker.invoke_scheduler.service",
		"nomad.nomad.worker.invoke_scheduler.sysbatch",
		"nomad.nomad.worker.invoke_scheduler._core",
		"nomad.nomad.worker.invoke_scheduler.batch",
		"nomad.nomad.worker.invoke_scheduler.system", "nomad.nomad.job_status.pending",
		"nomad.nomad.job_status.running", "nomad.nomad.job_status.dead", "availableNodes",
		"freeNodes", "runningNodes", "lostNodes"};
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		assert_int_equal(value_of(names[i]), 0);
}

static void finished(struct command *c)
{
	atomic_store((_Atomic bool *)c->context, true);
}

static void run(struct berthd *b, struct command *c)
{
	_Atomic bool is_done = false;
	c->done = finished;
	c->context = (void *)&is_done;
	assert_true(command_queue_push(b->queue, COMMAND_PRODUCER_SHARED, c));
	while (!atomic_load(&is_done))
		usleep(100);
	assert_int_equal(c->outcome, OUTCOME_DONE);
}

static void see_worker(struct berthd *b)
{
	struct vm_worker *worker = vm_worker_create();
	worker->name = text_copy(TEXT("w"));
	worker->machine_id = text_copy(TEXT("m"));
	struct command c = {.type = COMMAND_VM_WORKER, .vm_worker = {.worker = worker}};
	run(b, &c);
}

static void ask_for_machine(struct berthd *b)
{
	struct vm *vm = vm_create();
	vm->name = text_copy(TEXT("a"));
	vm->image = text_copy(TEXT("i"));
	struct command_vm_create create = {.vm = vm};
	struct command c = {.type = COMMAND_VM_CREATE, .vm_create = &create};
	run(b, &c);
}

static struct vm *machine(struct berthd *b)
{
	state_read_begin();
	struct vm *vm = vm_copy(state_vm(b->state, TEXT("a")));
	state_read_end();
	return vm;
}

static bool is_scheduled(struct berthd *b)
{
	struct vm *vm = machine(b);
	bool scheduled = vm_is_scheduled(vm);
	vm_free(vm);
	return scheduled;
}

static bool is_failed(struct berthd *b)
{
	struct vm *vm = machine(b);
	bool failed = vm_is_failed(vm);
	vm_free(vm);
	return failed;
}

// The watcher finds that the worker is silent for too long, the applier that it is right, and the API says so.
static void all_agree_who_is_offline(void **state)
{
	struct berthd *b = *state;
	ask_for_machine(b);
	for (int i = 0; i < 6000 && !is_scheduled(b); i++) {
		see_worker(b);
		usleep(10000);
	}
	assert_true(is_scheduled(b));
	for (int i = 0; i < 6000 && !is_failed(b); i++)
		usleep(10000);
	struct vm *vm = machine(b);
	assert_int_equal(vm->status, VM_FAILED);
	assert_string_equal(vm->status_message, VM_TEXT_WORKER_LOST);
	vm_free(vm);
	assert_int_equal(b->api->settings.vm_offline_after_ns, 300000000);
}

static bool is_exported(const char *name)
{
	for (uint32_t i = 0; i < exported_count; i++)
		if (strcmp(exported[i].name, name) == 0)
			return true;
	return false;
}

// Row D27: a series for each worker is for those who ask for it.
static void names_of_orchard_are_off_by_default(void **state)
{
	static const char *const names[] = {"orchard_scheduler_loop_iteration_total", "orchard_vms",
		"orchard_workers{worker_name=\"w\",status=\"online\"}",
		"orchard_workers{worker_name=\"w\",status=\"offline\"}",
		"org.cirruslabs.orchard.controller.scheduling_time"};
	struct berthd *b = *state;
	collect(b);
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		assert_false(is_exported(names[i]));
	b->config.vm_metrics = true;
	collect(b);
	b->config.vm_metrics = false;
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		assert_true(is_exported(names[i]));
	assert_int_equal(value_of(names[2]), 0);
	assert_int_equal(value_of(names[3]), 1);
	assert_true(value_of(names[0]) > 0);
}

static void await_value(struct berthd *b, const char *name, double value)
{
	for (int i = 0; i < 6000; i++) {
		collect(b);
		if (value_of(name) == value)
			return;
		usleep(10000);
	}
	fail_msg("%s is %f", name, value_of(name));
}

static struct command_node register_node(struct berthd *b)
{
	static struct node_registration node;
	describe_plain_node(&node, 1, 1);
	struct command c = {.type = COMMAND_NODE_REGISTER, .node_register = &node};
	run(b, &c);
	struct command beats = {
		.type = COMMAND_NODE_RETURNED, .node = {node.slot, node.generation}};
	run(b, &beats);
	return beats.node;
}

// Row E28: a node comes, is lost, and is forgotten by a sweep, whose time is measured.
static void gauges_of_nodes_move(void **state)
{
	struct berthd *b = *state;
	collect(b);
	assert_int_equal(value_of("schedUpdateClusterLatency_ms"), 0);
	struct command expired = {.type = COMMAND_NODE_EXPIRED, .node = register_node(b)};
	collect(b);
	assert_int_equal(value_of("availableNodes"), 1);
	assert_int_equal(value_of("freeNodes"), 1);
	assert_int_equal(value_of("lostNodes"), 0);
	uint64_t from_ns = time_monotonic_ns(&time_source_real);
	run(b, &expired);
	collect(b);
	assert_int_equal(value_of("availableNodes"), 0);
	assert_int_equal(value_of("freeNodes"), 0);
	// A busy machine comes here when it is forgotten already.
	if (time_monotonic_ns(&time_source_real) - from_ns < SILENT_DAEMON_LOST_MS * NS_PER_MS)
		assert_int_equal(value_of("lostNodes"), 1);
	await_value(b, "lostNodes", 0);
	await_value(b, "berth_nodes_swept_total", 1);
	assert_true(value_of("schedUpdateClusterLatency_ms") > 0);
	assert_true(value_of("berth_node_update_seconds") > 0);
}

// Row C29: what a scheduler decided about a failed allocation, with all that names it.
static void gauges_of_rescheduling_name_the_allocation(void **state)
{
	struct berthd *b = *state;
	struct job *job = plain_job("web", JOB_SERVICE);
	(void)add_plain_group(job, "g", (struct resources){1, 1, 1});
	struct allocation failed = {.id = number_uuid(5), .job = job};
	struct evaluation *later = evaluation_create();
	char id[UUID_TEXT_BYTES], follow_up[UUID_TEXT_BYTES], name[512];
	later->id = number_uuid(6);
	later->wait_until_ns = 1234 * NS_PER_S;
	struct reschedule_note note = {&failed, later, 2, 3};
	reschedules_note(b->pipeline->reschedules, &note, time_monotonic_ns(&time_source_real));
	collect(b);
	static const struct {
		const char *gauge;
		double value;
	} gauges[] = {{"attempted", 2}, {"limit", 3}, {"wait_until", 1234}};
	for (size_t i = 0; i < sizeof gauges / sizeof gauges[0]; i++) {
		snprintf(name, sizeof name,
			"nomad.nomad.scheduler.allocs.reschedule.%s{alloc_id=\"%s\",job=\"web\","
			"namespace=\"default\",task_group=\"g\",followup_eval_id=\"%s\"}",
			gauges[i].gauge, uuid_format(&failed.id, id),
			uuid_format(&later->id, follow_up));
		assert_true(value_of(name) == gauges[i].value);
	}
	evaluation_free(later);
	job_free(job);
}

static void wait_for_its_time(struct berthd *b, uint32_t number)
{
	struct evaluation *e = evaluation_create();
	char job[16];
	snprintf(job, sizeof job, "job-%u", number);
	e->id = number_uuid(1000 + number);
	e->namespace_name = text_copy(TEXT("default"));
	e->job_id = text_copy(text_of(job));
	e->type = EVAL_SERVICE;
	e->status = EVAL_PENDING;
	e->wait_until_ns = INT64_MAX / 2;
	broker_enqueue(b->pipeline->broker, e, 0);
	evaluation_free(e);
}

// Each has a series of its own, up to so many; of the others it is told how many there are.
static void evaluations_that_wait_are_shown_or_counted(void **state)
{
	enum { SHOWN = 64, MORE = 6 };
	struct berthd *b = *state;
	uint32_t series = 0;
	collect(b);
	assert_int_equal(value_of("berth_evaluations_waiting_not_shown"), 0);
	for (uint32_t i = 0; i < SHOWN + MORE; i++)
		wait_for_its_time(b, i);
	collect(b);
	for (uint32_t i = 0; i < exported_count; i++)
		series += strcmp(exported[i].name, "nomad.nomad.broker.eval_waiting") == 0;
	assert_int_equal(series, SHOWN);
	assert_int_equal(value_of("berth_evaluations_waiting_not_shown"), MORE);
	assert_int_equal(value_of("nomad.nomad.broker.total_waiting"), SHOWN + MORE);
	broker_set_enabled(b->pipeline->broker, false);
	broker_set_enabled(b->pipeline->broker, true);
}

static void expect_help(const struct prometheus *p)
{
	assert_true(p->family_count > 100);
	for (uint32_t i = 0; i < p->family_count; i++)
		if (!p->families[i].help)
			fail_msg("%s has no help", p->families[i].name);
}

// What the daemon emits, in the forms in which it is scraped.
static void scrapers_can_read_all_of_it(void **state)
{
	struct berthd *b = *state;
	struct metric_set set = {0};
	struct metric_sink sink = metric_set_sink(&set);
	struct json_writer classic = {0}, openmetrics = {0};
	struct prometheus p;
	char problem[256];
	b->config.vm_metrics = true;
	berthd_metrics(b, &sink);
	b->config.vm_metrics = false;
	metric_set_sort(&set);
	metric_set_prometheus(&set, &classic);
	char *text = json_writer_take(&classic);
	if (!prometheus_read(text, &p, problem, sizeof problem))
		fail_msg("%s\n%s", problem, text);
	expect_help(&p);
	prometheus_free(&p);
	free(text);
	metric_set_openmetrics(&set, &openmetrics);
	text = json_writer_take(&openmetrics);
	if (!openmetrics_read(text, &p, problem, sizeof problem))
		fail_msg("%s\n%s", problem, text);
	expect_help(&p);
	prometheus_free(&p);
	free(text);
	metric_set_free(&set);
}

static void all_counters_are_exported(void **state)
{
	struct berthd *b = *state;
	collect(b);
	assert_int_equal(value_of("berth_packets_unaccounted"), 0);
	assert_int_equal(value_of("berth_placement_bad_choices_total"), 0);
	dashboards_find_their_names();
	assert_int_equal(value_of("berth_vms"), 0); // that are pending
	assert_int_equal(value_of("berth_vm_workers"), 0);
	assert_int_equal(value_of("berth_vms_assigned_total"), 1);
	assert_true(value_of("berth_vm_turns_total") > 0);
	assert_int_equal(value_of("berth_vm_scheduling_seconds"), 0); // within a microsecond
	// Nobody else counts any more.
	store_stop_snapshots(b->store);
	b->snapshots_run = false;
	applier_stop(b->applier, 1000);
	b->applier_runs = false;
	dataplane_stop(b->dataplane);
	b->dataplane_runs = false;
	assert_int_equal(dataplane_workers(b->dataplane), 1);
	each_is_exported(
		b, dataplane_counters(b->dataplane, 0), offsetof(struct hot_counters, clock_ms));
	each_is_exported(b, applier_counters(b->applier), sizeof(struct applier_counters));
	each_is_exported(b, store_counters(b->store), sizeof(struct store_counters));
	each_is_exported(b, placement_counters(b->placement), sizeof(struct placement_counters));
}

// The last test stops what counts.
int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_agree_who_is_offline),
		cmocka_unit_test(names_of_orchard_are_off_by_default),
		cmocka_unit_test(gauges_of_nodes_move),
		cmocka_unit_test(gauges_of_rescheduling_name_the_allocation),
		cmocka_unit_test(evaluations_that_wait_are_shown_or_counted),
		cmocka_unit_test(scrapers_can_read_all_of_it),
		cmocka_unit_test(all_counters_are_exported),
	};
	return cmocka_run_group_tests(tests, silent_daemon_begin, silent_daemon_end);
}
