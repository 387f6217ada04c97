#include "placement/watch/drains/drain_status.h"
#include "state/records/evaluation.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

const char *const drain_phase_names[] = {"none", "migrating", "finishing", "system", "done", NULL};

static const char *group_name(const struct allocation *a)
{
	return allocation_group(a)->name;
}

static struct drain_reason *reason_of(struct drain_status *s, const struct allocation *a)
{
	for (uint32_t i = 0; i < s->reasons.count; i++) {
		struct drain_reason *r = ARRAY_AT(&s->reasons, struct drain_reason, i);
		if (strcmp(r->group, group_name(a)) == 0 && strcmp(r->job_id, a->job->id) == 0 &&
			strcmp(r->namespace_name, a->job->namespace_name) == 0)
			return r;
	}
	struct drain_reason *r = array_append(&s->reasons, sizeof *r);
	r->namespace_name = a->job->namespace_name;
	r->job_id = a->job->id;
	r->group = group_name(a);
	r->kind = drain_kind_of(a);
	return r;
}

static bool note_left(const struct allocation *a, void *context)
{
	struct drain_status *s = context;
	bool is_flagged = allocation_is_flagged(a) || a->desired != ALLOC_RUN;

	if (allocation_has_ended(a))
		return true;
	if (s->strategy->ignore_system_jobs && drain_kind_of(a) == DRAIN_LAST)
		return true;
	*(struct drain_left *)array_append(&s->left, sizeof(struct drain_left)) =
		(struct drain_left){a, is_flagged};
	struct drain_reason *r = reason_of(s, a);
	r->left++;
	r->flagged += is_flagged;
	return true;
}

__attribute__((format(printf, 2, 3))) static void say_reason(
	struct drain_reason *r, const char *format, ...)
{
	size_t size = strlen(r->text);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(r->text + size, sizeof r->text - size, format, arguments);
	va_end(arguments);
}

static const char *count_instances(int64_t count)
{
	return count == 1 ? "instance" : "instances";
}

static bool find_blocked(const struct evaluation *e, void *context)
{
	*(bool *)context |= e->status == EVAL_BLOCKED;
	return true;
}

static bool waits_for_room(const struct state *state, const struct drain_reason *r)
{
	bool is_blocked = false;

	state_job_evaluations(
		state, text_of(r->namespace_name), text_of(r->job_id), find_blocked, &is_blocked);
	return is_blocked;
}

static void say_unhealthy(
	const struct state *state, struct drain_reason *r, const struct drain_group *g)
{
	int64_t missing = g->count - (int64_t)g->healthy;

	say_reason(r,
		"%" PRId64 " of %" PRId64
		" instances of %s.%s %s %snot healthy yet (max_parallel %" PRId64 ")",
		missing, g->count, r->job_id, r->group, missing == 1 ? "is" : "are",
		g->leaving > 0 ? "leaving or " : "", g->max_parallel);
	if (waits_for_room(state, r))
		say_reason(r, ", and an instance waits for room");
}

static void explain_group(
	const struct state *state, struct drain_reason *r, const struct drain_group *g)
{
	uint32_t allowance = drain_group_allowance(g);

	if (allowance > 0)
		say_reason(r, "%u %s of %s.%s may leave now", allowance, count_instances(allowance),
			r->job_id, r->group);
	else if (g->max_parallel <= 0)
		say_reason(r,
			"%s.%s has a migrate block with max_parallel 0: its instances stay until "
			"the "
			"deadline",
			r->job_id, r->group);
	else
		say_unhealthy(state, r, g);
}

static void explain_service(const struct state *state, struct drain_reason *r)
{
	const struct job *job = state_job(state, text_of(r->namespace_name), text_of(r->job_id));
	struct drain_survey survey = {0};
	int index = job ? job_group_index(job, text_of(r->group)) : -1;

	if (job)
		drain_survey(state, job, &survey);
	if (index < 0 || survey.groups.count == 0)
		say_reason(r, "%u %s of %s.%s %s no part of the job any more and not stopped yet",
			r->left, count_instances(r->left), r->job_id, r->group,
			r->left == 1 ? "is" : "are");
	else
		explain_group(state, r, ARRAY_AT(&survey.groups, struct drain_group, index));
	drain_survey_release(&survey);
}

static void explain_stay(const struct state *state, struct drain_reason *r)
{
	if (r->flagged == r->left)
		say_reason(r, "%u %s of %s.%s %s told to leave and %s not ended yet", r->left,
			count_instances(r->left), r->job_id, r->group,
			r->left == 1 ? "was" : "were", r->left == 1 ? "has" : "have");
	else if (r->kind == DRAIN_MIGRATES)
		explain_service(state, r);
	else if (r->kind == DRAIN_ENDS)
		say_reason(r, "%u %s of %s.%s %s left to finish", r->left, count_instances(r->left),
			r->job_id, r->group, r->left == 1 ? "is" : "are");
	else
		say_reason(r, "system job %s stops when everything else is gone", r->job_id);
}

static int by_kind(const void *left, const void *right)
{
	const struct drain_reason *a = left, *b = right;

	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	int by_job = strcmp(a->job_id, b->job_id);
	return by_job ? by_job : strcmp(a->group, b->group);
}

static enum drain_phase phase_of(const struct drain_status *s)
{
	static const enum drain_phase phases[] = {
		[DRAIN_MIGRATES] = DRAIN_PHASE_MIGRATING,
		[DRAIN_ENDS] = DRAIN_PHASE_FINISHING,
		[DRAIN_LAST] = DRAIN_PHASE_SYSTEM,
	};

	if (s->reasons.count == 0)
		return DRAIN_PHASE_DONE;
	return phases[ARRAY_AT(&s->reasons, struct drain_reason, 0)->kind];
}

void drain_status_read(const struct state *state, const struct node *node, struct drain_status *s)
{
	*s = (struct drain_status){.strategy = node->drain, .deadline_ns = INT64_MAX};
	if (!node->drain)
		return;
	s->deadline_ns = drain_deadline(node->drain);
	state_node_allocations(state, node->slot, note_left, s);
	for (uint32_t i = 0; i < s->reasons.count; i++)
		explain_stay(state, ARRAY_AT(&s->reasons, struct drain_reason, i));
	if (s->reasons.count > 1)
		qsort(s->reasons.items, s->reasons.count, sizeof(struct drain_reason), by_kind);
	s->phase = phase_of(s);
}

void drain_status_release(struct drain_status *s)
{
	free(s->left.items);
	free(s->reasons.items);
	*s = (struct drain_status){0};
}
