#include "tools/fleet/report.h"
#include "tools/fleet/work/running.h"
#include "tools/fleet/work/running_vms.h"
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

static uint64_t refused_in_all(const uint64_t *reasons)
{
	uint64_t sum = 0;
	for (uint32_t i = 0; i < WIRE_REFUSED_REASONS; i++)
		sum += reasons[i];
	return sum;
}

static void print_refusals(FILE *out, const char *what, const uint64_t *reasons)
{
	for (uint8_t i = 0; i < WIRE_REFUSED_REASONS; i++)
		if (reasons[i])
			fprintf(out, " %s_%s=%lu", what, wire_refusal_name(i),
				(unsigned long)reasons[i]);
}

void report_line(const struct run *run)
{
	const struct fleet *f = &run->fleet;
	FILE *out = run->out;
	const struct fleet_counters *c = &f->counters;
	fprintf(out,
		"t=%.0fs nodes=%u registered=%u ready=%u away=%u registrations=%lu sent=%lu "
		"acked=%lu resyncs=%lu missed=%lu rtt_us_p50=%u rtt_us_p99=%u",
		run->seconds, f->settings.nodes, f->registered, f->ready, f->away,
		(unsigned long)c->registrations, (unsigned long)c->sent, (unsigned long)c->acked,
		(unsigned long)c->resyncs, (unsigned long)c->missed, histogram_us(&f->rtt, 0.5),
		histogram_us(&f->rtt, 0.99));
	print_refusals(out, "refused", c->refused);
	if (run->options->run) {
		const struct running_counters *r = &f->running->counters;
		fprintf(out, " running=%u started=%lu completed=%lu failed=%lu", f->running->up,
			(unsigned long)r->started, (unsigned long)r->completed,
			(unsigned long)r->failed);
	}
	if (run->placing) {
		const struct placing_counters *p = &run->placing->counters;
		fprintf(out, " placed=%lu place_us_p50=%u place_us_p99=%u",
			(unsigned long)p->placed, histogram_us(&run->placing->latency, 0.5),
			histogram_us(&run->placing->latency, 0.99));
		print_refusals(out, "place_refused", p->refused);
	}
	fprintf(out, "\n");
	fflush(out);
}

static bool say_number(bool wrong, const char *what, uint64_t number)
{
	if (wrong)
		fprintf(stderr, "berth-fleet: not seen: %s (%lu)\n", what, (unsigned long)number);
	return !wrong;
}

static bool faults_seen(const struct run *run)
{
	bool all = true;
	for (uint32_t i = 0; i < run->options->fault_count; i++) {
		const struct fault *fault = &run->options->faults[i];
		all &= say_number(!fault->struck,
			"a fault's time did not come; nodes it was meant for", fault->count);
		all &= say_number(fault->struck && fault->done < fault->count,
			"a fault found fewer nodes than it was meant for", fault->done);
	}
	return all;
}

static bool placing_seen(const struct run *run)
{
	if (!run->placing_asked)
		return true;
	if (!run->placing)
		return say_number(true, "placing did not begin; nodes that were not ready",
			run->fleet.settings.nodes - run->fleet.away - run->fleet.ready);
	const struct placing_counters *c = &run->placing->counters;
	uint64_t refused = refused_in_all(c->refused);
	bool all = say_number(!run->placing_done, "placement requests without an answer",
		run->placing_requests - c->answered);
	all &= say_number(
		c->repeated_differs, "repeated requests with another answer", c->repeated_differs);
	all &= say_number(c->duplicates, "allocation ids given twice", c->duplicates);
	all &= say_number(
		c->release_failed, "allocations that were not released", c->release_failed);
	if (!run->trace) {
		all &= say_number(refused, "placement requests refused", refused);
		all &= say_number(c->short_answers, "requests placed in part", c->short_answers);
	}
	return all;
}

static bool trace_seen(const struct run *run)
{
	const struct trace *t = run->trace;
	if (!t)
		return true;
	bool all = say_number(t->placed + t->refused < t->pods, "pods without an answer",
		t->pods - t->placed - t->refused);
	all &= say_number(t->refused != t->refused_by[WIRE_REFUSED_NO_NODE],
		"pods refused for another reason than no-node",
		t->refused - t->refused_by[WIRE_REFUSED_NO_NODE]);
	all &= say_number(t->overcommitted, "placements on a full machine", t->overcommitted);
	all &= say_number(t->wrong_model, "placements on a wrong GPU model", t->wrong_model);
	all &= say_number(t->unknown_nodes, "placements on a node that is not in the trace",
		t->unknown_nodes);
	return all;
}

bool report_verdict(const struct run *run)
{
	const struct fleet *f = &run->fleet;
	uint32_t expected = f->settings.nodes - f->away;
	bool all = say_number(f->ready < expected, "nodes ready at the end", expected - f->ready);
	all &= faults_seen(run);
	all &= placing_seen(run);
	all &= trace_seen(run);
	all &= say_number(run->capture_failed, "the capture could not be written", 0);
	return all;
}

static json_t *histogram_json(const struct histogram *h)
{
	return json_pack("{s:I,s:i,s:i,s:i}", "count", (json_int_t)h->count, "p50",
		histogram_us(h, 0.5), "p99", histogram_us(h, 0.99), "p999", histogram_us(h, 0.999));
}

static json_t *refusals_json(const uint64_t *reasons)
{
	json_t *o = json_object();
	for (uint8_t i = 0; i < WIRE_REFUSED_REASONS; i++)
		if (reasons[i])
			json_object_set_new(
				o, wire_refusal_name(i), json_integer((json_int_t)reasons[i]));
	return o;
}

#define SET(object, counters, name) \
	json_object_set_new(object, #name, json_integer((json_int_t)(counters)->name))

static json_t *fleet_json(const struct fleet *f)
{
	const struct fleet_counters *c = &f->counters;
	json_t *o = json_object();
	SET(o, &f->settings, nodes);
	SET(o, f, registered);
	SET(o, f, ready);
	SET(o, f, away);
	SET(o, c, sent);
	SET(o, c, send_dropped);
	SET(o, c, received);
	SET(o, c, ignored);
	SET(o, c, heartbeats);
	SET(o, c, acked);
	SET(o, c, missed);
	SET(o, c, resyncs);
	SET(o, c, registrations);
	json_object_set_new(o, "registrations_answered", json_integer((json_int_t)c->registered));
	SET(o, c, goodbyes);
	SET(o, c, gone);
	SET(o, c, old_terms);
	SET(o, c, turns);
	SET(o, c, notices);
	SET(o, c, lost_out);
	SET(o, c, lost_in);
	json_object_set_new(o, "refused", refusals_json(c->refused));
	json_object_set_new(o, "rtt_us", histogram_json(&f->rtt));
	return o;
}

static json_t *running_json(const struct running *r)
{
	const struct running_counters *c = &r->counters;
	json_t *o = json_object();
	json_object_set_new(o, "running", json_integer((json_int_t)r->up));
	json_object_set_new(o, "machines", json_integer((json_int_t)running_machines_up(r)));
	SET(o, c, started);
	SET(o, c, completed);
	SET(o, c, failed);
	SET(o, c, stopped);
	SET(o, c, forgotten);
	SET(o, c, restarted);
	SET(o, c, healthy);
	SET(o, c, unhealthy);
	SET(o, c, ready);
	SET(o, c, unready);
	SET(o, c, flaky);
	SET(o, c, questions);
	SET(o, c, reports);
	SET(o, c, descriptions);
	SET(o, c, resent);
	SET(o, c, refused);
	return o;
}

static json_t *placing_json(const struct placing *p)
{
	const struct placing_counters *c = &p->counters;
	json_t *o = json_object();
	SET(o, c, asked);
	SET(o, c, answered);
	SET(o, c, placed);
	SET(o, c, short_answers);
	SET(o, c, repeated);
	SET(o, c, repeated_differs);
	SET(o, c, duplicates);
	SET(o, c, released);
	SET(o, c, release_failed);
	SET(o, c, resent);
	SET(o, c, retried_later);
	json_object_set_new(o, "refused", refusals_json(c->refused));
	json_object_set_new(o, "latency_us", histogram_json(&p->latency));
	return o;
}

static json_t *share_json(uint64_t used, uint64_t capacity)
{
	return json_pack("{s:I,s:I,s:f}", "used", (json_int_t)used, "capacity",
		(json_int_t)capacity, "share", capacity ? (double)used / (double)capacity : 0.0);
}

static json_t *trace_json(const struct trace *t)
{
	struct trace_totals capacity, used;
	trace_totals(t, &capacity, &used);
	json_t *o = json_object();
	SET(o, t, nodes);
	SET(o, t, pods);
	SET(o, t, placed);
	SET(o, t, refused);
	SET(o, t, overcommitted);
	SET(o, t, wrong_model);
	SET(o, t, unknown_nodes);
	json_object_set_new(o, "jobs", json_integer(t->pod_shape_count));
	json_object_set_new(o, "cpu_mhz", share_json(used.cpu_mhz, capacity.cpu_mhz));
	json_object_set_new(o, "memory_mb", share_json(used.memory_mb, capacity.memory_mb));
	json_object_set_new(o, "gpus", share_json(used.gpus, capacity.gpus));
	return o;
}

int report_json(const struct run *run, bool seen, const char *path)
{
	json_t *o = json_object();
	json_object_set_new(o, "seen", json_boolean(seen));
	json_object_set_new(o, "seconds", json_real(run->seconds));
	json_object_set_new(o, "fleet", fleet_json(&run->fleet));
	if (run->options->run)
		json_object_set_new(o, "allocations", running_json(run->fleet.running));
	if (run->placing)
		json_object_set_new(o, "placing", placing_json(run->placing));
	if (run->trace)
		json_object_set_new(o, "trace", trace_json(run->trace));
	FILE *file = strcmp(path, "-") == 0 ? stdout : fopen(path, "we");
	int rc = file ? json_dumpf(o, file, JSON_INDENT(1) | JSON_REAL_PRECISION(9)) : -1;
	if (file && fputc('\n', file) == EOF)
		rc = -1;
	if (file && (file == stdout ? fflush(file) : fclose(file)) != 0)
		rc = -1;
	json_decref(o);
	return rc == 0 ? 0 : -EIO;
}

static void print_share(FILE *out, const char *name, uint64_t used, uint64_t capacity)
{
	fprintf(out, "  %-10s %12lu of %12lu  %5.1f %%\n", name, (unsigned long)used,
		(unsigned long)capacity, capacity ? 100.0 * (double)used / (double)capacity : 0.0);
}

void report_trace(const struct run *run)
{
	struct trace_totals capacity, used;
	FILE *out = run->out;
	const struct trace *t = run->trace;
	if (!t)
		return;
	trace_totals(t, &capacity, &used);
	fprintf(out,
		"trace: %u machines, %u pods of %u shapes: placed %u, refused %u, "
		"over-committed %u\n",
		t->nodes, t->pods, t->pod_shape_count, t->placed, t->refused, t->overcommitted);
	print_share(out, "cpu (MHz)", used.cpu_mhz, capacity.cpu_mhz);
	print_share(out, "memory (MB)", used.memory_mb, capacity.memory_mb);
	print_share(out, "GPUs", used.gpus, capacity.gpus);
}
