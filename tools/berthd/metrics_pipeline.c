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

static void pipeline_gauge(const struct metric_sink *m, const char *name, double value)
{
	m->value(m->sink, 'g', name, "", value);
}

static void timing(
	const struct metric_sink *m, const char *name, const struct pipeline_timing *timing)
{
	m->histogram(m->sink, name, "", timing->us, (double)timing->us_sum);
}

static void emit_delayed(const struct metric_sink *m, struct pipeline *p)
{
	struct broker_delayed delayed[DELAYED_MAX];
	char labels[64], id[UUID_TEXT_BYTES];
	uint32_t count = pipeline_delayed(p, delayed, DELAYED_MAX);

	uint32_t shown = count < DELAYED_MAX ? count : DELAYED_MAX;

	pipeline_gauge(m, "berth_evaluations_waiting_not_shown", count - shown);
	for (uint32_t i = 0; i < shown; i++) {
		snprintf(labels, sizeof labels, "eval_id=\"%s\"", uuid_format(&delayed[i].id, id));
		m->value(m->sink, 'g', "nomad.nomad.broker.eval_waiting", labels,
			(double)delayed[i].due_in_ns / 1e9);
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
		m->value(m->sink, 'g', "nomad.nomad.scheduler.allocs.reschedule.wait_until", labels,
			(double)(g->wait_until_ns / NS_PER_S));
	}
	m->value(m->sink, 'g', "nomad.nomad.scheduler.allocs.reschedule.attempted", labels,
		(double)g->attempted);
	m->value(m->sink, 'g', "nomad.nomad.scheduler.allocs.reschedule.limit", labels,
		(double)g->limit);
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
	char name[64];

	pipeline_gauge(m, "nomad.nomad.broker.total_ready", s->ready);
	pipeline_gauge(m, "nomad.nomad.broker.total_unacked", s->unacked);
	pipeline_gauge(m, "nomad.nomad.broker.total_pending", s->pending);
	pipeline_gauge(m, "nomad.nomad.broker.total_waiting", s->waiting);
	pipeline_gauge(m, "nomad.nomad.broker.total_cancelable", s->cancelable);
	pipeline_gauge(m, "nomad.nomad.broker._failed.ready", s->failed);
	for (uint32_t t = 0; t < EVAL_TYPES; t++) {
		snprintf(name, sizeof name, "nomad.nomad.broker.%s.ready", eval_type_names[t]);
		pipeline_gauge(m, name, s->ready_by_type[t]);
		snprintf(name, sizeof name, "nomad.nomad.broker.%s.unacked", eval_type_names[t]);
		pipeline_gauge(m, name, s->unacked_by_type[t]);
	}
}

static void emit_scheduler_threads(const struct metric_sink *m, const struct pipeline_stats *s)
{
	char name[64];

	timing(m, "nomad.nomad.worker.dequeue_eval", &s->dequeue);
	timing(m, "nomad.nomad.worker.send_ack", &s->send_ack);
	timing(m, "nomad.nomad.worker.wait_for_index", &s->wait_for_index);
	timing(m, "nomad.nomad.worker.submit_plan", &s->submit_plan);
	timing(m, "nomad.nomad.worker.update_eval", &s->update_eval);
	timing(m, "nomad.nomad.worker.create_eval", &s->create_eval);
	timing(m, "nomad.nomad.worker.reblock_eval", &s->reblock_eval);
	for (uint32_t t = 0; t < EVAL_TYPES; t++) {
		snprintf(name, sizeof name, "nomad.nomad.worker.invoke_scheduler.%s",
			eval_type_names[t]);
		timing(m, name, &s->invoke[t]);
	}
	m->value(m->sink, 'c', "berth_evaluations_processed_total", "", (double)s->processed);
	m->value(m->sink, 'c', "berth_evaluations_nacked_total", "", (double)s->nacked);
	m->value(m->sink, 'c', "berth_evaluations_yielded_total", "", (double)s->yielded);
	m->value(m->sink, 'c', "berth_evaluations_broken_total", "", (double)s->broken);
}

void berthd_metrics_pipeline(const struct metric_sink *m, struct pipeline *p)
{
	struct pipeline_stats s;

	pipeline_stats(p, &s);
	emit_broker(m, &s.broker);
	emit_delayed(m, p);
	emit_reschedules(m, p);
	emit_scheduler_threads(m, &s);
	pipeline_gauge(m, "nomad.nomad.plan.queue_depth", s.plan_queue_depth);
	timing(m, "nomad.nomad.plan.submit", &s.submit_plan);
	m->value(m->sink, 'c', "nomad.nomad.plan.node_rejected", "", (double)s.nodes_rejected);
	m->value(m->sink, 'c', "berth_plans_submitted_total", "", (double)s.plans_submitted);
	m->value(m->sink, 'c', "berth_plans_partial_total", "", (double)s.plans_partial);
	pipeline_gauge(m, "nomad.nomad.blocked_evals.total_blocked", s.blocked.blocked);
	pipeline_gauge(m, "nomad.nomad.blocked_evals.total_escaped", s.blocked.escaped);
	pipeline_gauge(m, "nomad.nomad.blocked_evals.total_quota_limit", s.blocked.quota_limited);
	pipeline_gauge(m, "nomad.nomad.blocked_evals.cpu", (double)s.blocked.cpu);
	pipeline_gauge(m, "nomad.nomad.blocked_evals.memory", (double)s.blocked.memory_mb);
}
