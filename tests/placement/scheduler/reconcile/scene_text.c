// The reconciler's result for a scene, as text.
#include "state/base/check.h"
#include "state/base/time_units.h"
#include "tests/placement/job_check/job_build.h"
#include "tests/placement/scheduler/reconcile/scene.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static enum alloc_change change_of(void *context, const struct allocation *a)
{
	const struct scene *s = context;
	if (s->in_place)
		return allocation_is_terminal(a) ? CHANGE_NONE : CHANGE_IN_PLACE;
	return CHANGE_DESTRUCTIVE;
}

__attribute__((format(printf, 2, 3))) static void say(struct scene *s, const char *format, ...)
{
	size_t used = strlen(s->text);
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(s->text + used, sizeof s->text - used, format, arguments);
	va_end(arguments);
}

static void begin(struct scene *s, const char *what)
{
	say(s, "%s%s", s->text[0] ? "; " : "", what);
}

static unsigned position(const struct scene *s, const struct allocation *a)
{
	for (uint32_t i = 0; i < s->count; i++)
		if (s->allocations[i] == a)
			return i;
	fail_msg("an allocation from nowhere");
	return 0;
}

// "~30": the follow-up in 30 seconds.
static void say_followup(struct scene *s, const struct uuid *id)
{
	if (uuid_is_zero(id))
		return;
	for (uint32_t i = 0; i < s->result.follow_ups.count; i++) {
		const struct evaluation *eval =
			*ARRAY_AT(&s->result.follow_ups, struct evaluation *, i);
		if (uuid_equal(&eval->id, id)) {
			say(s, "~%lld", (long long)(eval->wait_until_ns - SCENE_NOW) / NS_PER_S);
			return;
		}
	}
	fail_msg("a follow-up that is not created");
}

static void say_stops(struct scene *s)
{
	static const char *const causes[] = {[STOP_NOT_NEEDED] = "not-needed",
		[STOP_LOST] = "lost",
		[STOP_MIGRATING] = "migrating",
		[STOP_RESCHEDULED] = "rescheduled",
		[STOP_RECONNECTED] = "reconnected"};
	for (uint32_t i = 0; i < s->result.stops.count; i++) {
		const struct reconcile_stop *stop =
			ARRAY_AT(&s->result.stops, struct reconcile_stop, i);
		assert_int_equal(stop->lost, stop->cause == STOP_LOST);
		begin(s, "stop");
		say(s, " %u %s", position(s, stop->allocation), causes[stop->cause]);
		if (stop->failed)
			say(s, " client-failed");
		say_followup(s, &stop->followup_eval);
	}
}

static void say_place(struct scene *s, const char *what, const struct reconcile_place *p)
{
	begin(s, what);
	say(s, " [%u]", p->name_index);
	if (p->previous)
		say(s, " for %u", position(s, p->previous));
	say(s, "%s%s%s%s", p->canary ? " canary" : "", p->reschedule ? " failed" : "",
		p->lost ? " lost" : "", p->migrate ? " moved" : "");
	if (p->downgrade)
		say(s, " older>=%llu", (unsigned long long)p->min_version);
}

static void say_places(struct scene *s)
{
	for (uint32_t i = 0; i < s->result.destructive.count; i++)
		say_place(s, "update", ARRAY_AT(&s->result.destructive, struct reconcile_place, i));
	for (uint32_t i = 0; i < s->result.place.count; i++) {
		struct reconcile_place place =
			*ARRAY_AT(&s->result.place, struct reconcile_place, i);
		for (uint32_t n = 0; n <= place.more; n++, place.name_index++)
			say_place(s, "place", &place);
	}
}

static void say_allocations(struct scene *s, const char *what, const struct array *list)
{
	for (uint32_t i = 0; i < list->count; i++) {
		begin(s, what);
		say(s, " %u", position(s, *ARRAY_AT(list, const struct allocation *, i)));
	}
}

static void say_updates(struct scene *s, const char *what, const struct array *list)
{
	for (uint32_t i = 0; i < list->count; i++) {
		const struct reconcile_update *update = ARRAY_AT(list, struct reconcile_update, i);
		begin(s, what);
		say(s, " %u", position(s, update->allocation));
		say_followup(s, &update->followup_eval);
	}
}

static void say_follow_ups(struct scene *s)
{
	for (uint32_t i = 0; i < s->result.follow_ups.count; i++) {
		const struct evaluation *eval =
			*ARRAY_AT(&s->result.follow_ups, struct evaluation *, i);
		assert_int_equal(eval->priority, 70);
		assert_true(uuid_equal(&eval->previous_eval, &s->eval->id));
		assert_string_equal(eval->status_description,
			eval->triggered_by == TRIGGER_ALLOC_FAILURE
				? "created for delayed rescheduling"
				: "created for delayed disconnect timeout");
		begin(s, eval_trigger_names[eval->triggered_by]);
		say(s, "~%lld", (long long)(eval->wait_until_ns - SCENE_NOW) / NS_PER_S);
	}
}

static void say_deployment(struct scene *s)
{
	const struct deployment *d = s->result.deployment;
	for (uint32_t i = 0; i < s->result.deployment_updates.count; i++) {
		const struct deployment_update *update =
			ARRAY_AT(&s->result.deployment_updates, struct deployment_update, i);
		begin(s, deployment_status_names[update->status]);
		say(s, " \"%s\"", update->description);
	}
	if (!d)
		return;
	begin(s, "deployment ");
	say(s, "%s", deployment_status_names[d->status]);
	for (uint32_t i = 0; i < d->groups.count; i++) {
		const struct deployment_group *g = ARRAY_AT(&d->groups, struct deployment_group, i);
		say(s, " %s %lld/%lld", g->group, (long long)g->desired_canaries,
			(long long)g->desired_total);
	}
}

const char *scene_reconcile(struct scene *s)
{
	struct reconcile_ask ask = {.view = &s->view,
		.job = s->purged ? NULL : s->job,
		.eval = s->eval,
		.batch = s->batch,
		.allocations = (const struct allocation *const *)s->allocations,
		.allocation_count = s->count,
		.deployment = s->deployment,
		.now_ns = SCENE_NOW,
		.prng = &s->prng,
		.change_of = change_of,
		.context = s};
	reconciliation_release(&s->result);
	reconcile(&ask, &s->result);
	s->text[0] = 0;
	say_stops(s);
	say_places(s);
	say_allocations(s, "in-place", &s->result.in_place);
	say_updates(s, "note", &s->result.attribute_updates);
	say_updates(s, "unknown", &s->result.disconnects);
	say_allocations(s, "back", &s->result.reconnects);
	say_follow_ups(s);
	say_deployment(s);
	return s->text;
}

void scene_check(const struct scene_row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct scene scene;
		scene_open(&scene, &rows[i]);
		const char *text = scene_reconcile(&scene);
		if (strcmp(text, rows[i].expected) != 0)
			print_error("%s:\n  expected: %s\n  got:      %s\n", rows[i].what,
				rows[i].expected, text);
		assert_string_equal(text, rows[i].expected);
		scene_close(&scene);
	}
}
