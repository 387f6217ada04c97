#include "tools/agent/readiness.h"

void readiness_open(
	struct readiness *r, struct runner *runner, const struct probe_settings *settings)
{
	*r = (struct readiness){.runner = runner};
	probe_open(&r->probe, settings);
}

void readiness_close(struct readiness *r)
{
	probe_close(&r->probe);
}

static bool is_asked(const struct readiness *r)
{
	return r->probe.process || probe_due_ns(&r->probe) != UINT64_MAX;
}

static void rest_if_nobody_asks(struct readiness *r)
{
	if (!r->is_wanted && !r->is_unready && !r->is_held)
		probe_rest(&r->probe);
}

void readiness_heard(struct readiness *r, uint32_t directives, uint64_t now_ns)
{
	r->is_wanted = directives & WIRE_DIRECTIVE_PROBE;
	if (!r->is_wanted)
		rest_if_nobody_asks(r);
	else if (!is_asked(r) && !r->has_news)
		probe_ask(&r->probe, now_ns);
}

// Allocations that end while the probe runs wait for the next answer, so that many ends cannot delay every answer.
static void ask_for_ends(struct readiness *r, uint64_t now_ns)
{
	bool is_running = r->probe.process;
	for (struct alloc_run *a = r->runner->allocs; a; a = a->next) {
		if (a->end == END_UNASKED && alloc_run_has_ended(a))
			a->end = END_WAITING;
		if (a->end != END_WAITING || is_running)
			continue;
		a->end = END_ASKED;
		r->is_held = true;
		probe_ask(&r->probe, now_ns);
	}
}

static void judge_ends(struct readiness *r, bool is_ready)
{
	for (struct alloc_run *a = r->runner->allocs; a; a = a->next) {
		if (a->end != END_ASKED)
			continue;
		a->end = is_ready ? END_READY : END_UNREADY;
		a->change++;
		r->is_unready |= !is_ready;
	}
	r->is_held = false;
}

bool readiness_step(struct readiness *r, uint64_t now_ns)
{
	if (r->probe.settings.command)
		ask_for_ends(r, now_ns);
	if (!probe_step(&r->probe, now_ns))
		return false;
	bool is_ready = r->probe.answer == PROBE_YES;
	judge_ends(r, is_ready);
	bool returns = is_ready && r->is_unready;
	r->is_unready &= !is_ready;
	r->has_news |= r->is_wanted || returns;
	r->is_on_way = false;
	rest_if_nobody_asks(r);
	if (r->probe.settings.command)
		ask_for_ends(r, now_ns);
	return returns;
}

struct wire_readiness readiness_tell(struct readiness *r)
{
	r->is_on_way = true;
	return (struct wire_readiness){r->probe.answer == PROBE_YES, r->probe.waits_ms};
}

void readiness_told(struct readiness *r)
{
	r->has_news &= !r->is_on_way;
	r->is_on_way = false;
}
