// Virtual machines and their workers (row D27).
#include "tools/berthd/metrics_vms.h"
#include "state/base/clock/steady_time.h"
#include "state/base/time_units.h"
#include "state/records/nodes/vm.h"
#include "tools/berthd/metrics_pipeline.h"
#include <stdio.h>

// Workers that one read section visits.
#define WORKERS_PER_SECTION 4096u

static void emit_statuses(
	const struct metric_sink *m, enum metric_family family, const struct berthd *b)
{
	struct state_counts counts;
	char labels[32];

	state_counts(b->state, &counts);
	for (uint32_t i = 0; vm_status_names[i]; i++) {
		snprintf(labels, sizeof labels, "status=\"%s\"", vm_status_names[i]);
		metric_put_of(m, family, labels, counts.vms[i]);
	}
}

static void emit_vm_worker(const struct metric_sink *m, const char *name, bool is_offline)
{
	char tame[NAME_BYTES_MAX + 1], labels[NAME_BYTES_MAX + 64];

	snprintf(tame, sizeof tame, "%s", name);
	metrics_tame_label(tame);
	snprintf(labels, sizeof labels, "worker_name=\"%s\",status=\"online\"", tame);
	metric_put_of(m, METRIC_ORCHARD_WORKERS, labels, !is_offline);
	snprintf(labels, sizeof labels, "worker_name=\"%s\",status=\"offline\"", tame);
	metric_put_of(m, METRIC_ORCHARD_WORKERS, labels, is_offline);
}

static void emit_workers(const struct metric_sink *m, const struct berthd *b)
{
	int64_t now_ns = (int64_t)time_wall_ns(&time_source_steady),
		limit_ns = b->config.vm_offline_after_ms * NS_PER_MS;
	const struct vm_worker *worker;
	uint64_t cursor = 0;

	do {
		state_read_begin();
		for (uint32_t i = 0; i < WORKERS_PER_SECTION; i++) {
			worker = state_next(b->state, STATE_VM_WORKERS, &cursor);
			if (!worker)
				break;
			emit_vm_worker(
				m, worker->name, vm_worker_is_offline(worker, now_ns, limit_ns));
		}
		state_read_end();
	} while (worker);
}

static void emit_scheduling(
	const struct metric_sink *m, enum metric_family family, const struct watchers_stats *s)
{
	metric_put_histogram(m, family, s->vm_scheduling.us, (double)s->vm_scheduling.us_sum);
}

// Emits the names that dashboards for Orchard need, with a series for each worker: off by default.
static void emit_orchard(
	const struct metric_sink *m, const struct berthd *b, const struct watchers_stats *s)
{
	metric_put(m, METRIC_ORCHARD_SCHEDULER_LOOP_ITERATION_TOTAL, (double)s->vm_turns);
	emit_statuses(m, METRIC_ORCHARD_VMS, b);
	emit_workers(m, b);
	emit_scheduling(m, METRIC_ORCHARD_SCHEDULING_TIME, s);
}

void berthd_metrics_vms(
	const struct metric_sink *m, const struct berthd *b, const struct watchers_stats *s)
{
	emit_statuses(m, METRIC_VMS, b);
	metric_put_of(m, METRIC_VM_WORKERS, "status=\"online\"", s->vm_workers_online);
	metric_put_of(m, METRIC_VM_WORKERS, "status=\"offline\"", s->vm_workers_offline);
	metric_put(m, METRIC_VM_TURNS_TOTAL, (double)s->vm_turns);
	metric_put(m, METRIC_VMS_ASSIGNED_TOTAL, (double)s->vms_assigned);
	emit_scheduling(m, METRIC_VM_SCHEDULING_SECONDS, s);
	if (b->config.vm_metrics)
		emit_orchard(m, b, s);
}
