// Metrics of schedulers, broker and queues, under the names that operators of Nomad know.
#include "tools/berthd/metrics_pipeline.h"
#include "state/base/memory.h"
#include "state/base/time_units.h"
#include "state/records/evaluation.h"
#include <stdio.h>
#include <stdlib.h>

// Most series of delayed evaluations: more would be a list, not a metric.
#define DELAYED_MAX 64u

void metrics_tame_label(char *text)
{
	for (; *text; text++)
		if (*text == '"' || *text == '\\' || *text == '\n')
			*text = '_';
}

static void timing(const struct metric_sink *m, enum metric_family family,
	const struct pipeline_timing *timing)
{
	metric_put_histogram(m, family, timing->us, (double)timing->us_sum);
}

static void emit_delayed(const struct metric_sink *m, struct pipeline *p)
{
	struct broker_delayed delayed[DELAYED_MAX];
	char labels[64], id[UUID_TEXT_BYTES];
	uint32_t count = pipeline_delayed(p, delayed, DELAYED_MAX);

	uint32_t shown = count < DELAYED_MAX ? count : DELAYED_MAX;

	metric_put(m, METRIC_EVALUATIONS_WAITING_NOT_SHOWN, count - shown);
	for (uint32_t i = 0; i < shown; i++) {
		snprintf(labels, sizeof labels, "eval_id=\"%s\"", uuid_format(&delayed[i].id, id));
		metric_put_of(
			m, METRIC_BROKER_EVAL_WAITING, labels, (double)delayed[i].due_in_ns / 1e9);
		free(delayed[i].namespace_name);
		free(delayed[i].job_id);
	}
}

static void emit_reschedule(const struct metric_sink *m, struct reschedule_gauge *g)
{
	char labels[4 * NAME_BYTES_MAX], id[UUID_TEXT_BYTES];
	metrics_tame_label(g->job);
	metrics_tame_label(g->namespace_name);
	metrics_tame_label(g->group);
	int size = snprintf(labels, sizeof labels,
		"alloc_id=\"%s\",job=\"%s\",namespace=\"%s\",task_group=\"%s\"",
		uuid_format(&g->allocation, id), g->job, g->namespace_name, g->group);
	if (!uuid_is_zero(&g->follow_up)) {
		snprintf(labels + size, sizeof labels - (size_t)size, ",followup_eval_id=\"%s\"",
			uuid_format(&g->follow_up, id));
		metric_put_of(m, METRIC_SCHEDULER_ALLOCS_RESCHEDULE_WAIT_UNTIL, labels,
			(double)(g->wait_until_ns / NS_PER_S));
	}
	metric_put_of(
		m, METRIC_SCHEDULER_ALLOCS_RESCHEDULE_ATTEMPTED, labels, (double)g->attempted);
	metric_put_of(m, METRIC_SCHEDULER_ALLOCS_RESCHEDULE_LIMIT, labels, (double)g->limit);
}

static void emit_reschedules(const struct metric_sink *m, struct pipeline *p)
{
	struct reschedule_gauge *gauges = memory_take_array(RESCHEDULES_MAX, sizeof *gauges);
	uint32_t count = pipeline_reschedules(p, gauges);
	for (uint32_t i = 0; i < count; i++)
		emit_reschedule(m, &gauges[i]);
	free(gauges);
}

static void emit_broker(const struct metric_sink *m, const struct broker_stats *s)
{
	metric_put(m, METRIC_BROKER_TOTAL_READY, s->ready);
	metric_put(m, METRIC_BROKER_TOTAL_UNACKED, s->unacked);
	metric_put(m, METRIC_BROKER_TOTAL_PENDING, s->pending);
	metric_put(m, METRIC_BROKER_TOTAL_WAITING, s->waiting);
	metric_put(m, METRIC_BROKER_TOTAL_CANCELABLE, s->cancelable);
	metric_put(m, METRIC_BROKER_FAILED_READY, s->failed);
	for (uint32_t t = 0; t < EVAL_TYPES; t++) {
		metric_put(m, METRIC_BROKER_SERVICE_READY + t, s->ready_by_type[t]);
		metric_put(m, METRIC_BROKER_SERVICE_UNACKED + t, s->unacked_by_type[t]);
	}
}

static void emit_scheduler_threads(const struct metric_sink *m, const struct pipeline_stats *s)
{
	timing(m, METRIC_WORKER_DEQUEUE_EVAL, &s->dequeue);
	timing(m, METRIC_WORKER_SEND_ACK, &s->send_ack);
	timing(m, METRIC_WORKER_WAIT_FOR_INDEX, &s->wait_for_index);
	timing(m, METRIC_WORKER_SUBMIT_PLAN, &s->submit_plan);
	timing(m, METRIC_WORKER_UPDATE_EVAL, &s->update_eval);
	timing(m, METRIC_WORKER_CREATE_EVAL, &s->create_eval);
	timing(m, METRIC_WORKER_REBLOCK_EVAL, &s->reblock_eval);
	for (uint32_t t = 0; t < EVAL_TYPES; t++)
		timing(m, METRIC_WORKER_INVOKE_SCHEDULER_SERVICE + t, &s->invoke[t]);
	metric_put(m, METRIC_EVALUATIONS_PROCESSED_TOTAL, (double)s->processed);
	metric_put(m, METRIC_EVALUATIONS_NACKED_TOTAL, (double)s->nacked);
	metric_put(m, METRIC_EVALUATIONS_YIELDED_TOTAL, (double)s->yielded);
	metric_put(m, METRIC_EVALUATIONS_BROKEN_TOTAL, (double)s->broken);
}

void berthd_metrics_pipeline(const struct metric_sink *m, struct pipeline *p)
{
	struct pipeline_stats s;

	pipeline_stats(p, &s);
	emit_broker(m, &s.broker);
	emit_delayed(m, p);
	emit_reschedules(m, p);
	emit_scheduler_threads(m, &s);
	metric_put(m, METRIC_PLAN_QUEUE_DEPTH, s.plan_queue_depth);
	timing(m, METRIC_PLAN_SUBMIT, &s.submit_plan);
	metric_put(m, METRIC_PLAN_NODE_REJECTED, (double)s.nodes_rejected);
	metric_put(m, METRIC_PLANS_SUBMITTED_TOTAL, (double)s.plans_submitted);
	metric_put(m, METRIC_PLANS_PARTIAL_TOTAL, (double)s.plans_partial);
	metric_put(m, METRIC_BLOCKED_EVALS_TOTAL_BLOCKED, s.blocked.blocked);
	metric_put(m, METRIC_BLOCKED_EVALS_TOTAL_ESCAPED, s.blocked.escaped);
	metric_put(m, METRIC_BLOCKED_EVALS_TOTAL_QUOTA_LIMIT, s.blocked.quota_limited);
	metric_put(m, METRIC_BLOCKED_EVALS_CPU, (double)s.blocked.cpu);
	metric_put(m, METRIC_BLOCKED_EVALS_MEMORY, (double)s.blocked.memory_mb);
}
