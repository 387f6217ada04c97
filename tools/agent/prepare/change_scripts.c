// Scripts of templates whose texts changed: run inside their task, one of a task at a time.
#include "state/base/check.h"
#include "state/base/time_units.h"
#include "tools/agent/prepare/prepare_inner.h"
#include <stdio.h>
#include <string.h>

// Until a script that waits for its turn looks again.
#define TURN_NS (100 * (int64_t)NS_PER_MS)

// As Go's programs write a list.
static void write_arguments(char *const *arguments, char *text, size_t size)
{
	size_t at = (size_t)snprintf(text, size, "[");
	for (; *arguments && at < size; arguments++)
		at += (size_t)snprintf(text + at, size - at, "%s%s", at > 1 ? " " : "", *arguments);
	if (at < size)
		snprintf(text + at, size - at, "]");
}

static void script_failed(const struct prepare_stage *s, const struct rendering *r, const char *why)
{
	char arguments[80];
	write_arguments(r->arguments + 1, arguments, sizeof arguments);
	stage_note(s, "Task hook failed",
		"Template failed to run script %.50s with arguments %.60s "
		"on change: %s",
		r->arguments[0], arguments, why);
	if (!r->script_fails_task || s->task->phase != PHASE_RUNNING)
		return;
	stage_note(s, "Killing", "Template script failed, task is being killed");
	s->task->failed = true;
	task_stop(s->task, s->start->now_ns);
}

static void take_script_end(const struct prepare_stage *s)
{
	struct prepared_task *p = s->p;
	const struct rendering *r = &p->renderings[p->script_of];
	struct script_end end;
	char text[120], arguments[80];

	script_finish(p->script, &end);
	p->script = NULL;
	p->all->script_count--;
	if (end.is_task_over)
		return;
	if (end.is_known && end.exit_code == 0) {
		write_arguments(r->arguments + 1, arguments, sizeof arguments);
		stage_note(s, "Task hook message",
			"Template successfully ran script %.50s with arguments: %.60s. Exit code: "
			"0",
			r->arguments[0], arguments);
		return;
	}
	if (end.is_known)
		snprintf(text, sizeof text, "it exited with code: %d", end.exit_code);
	else if (end.is_late)
		snprintf(text, sizeof text, "no end within %.6gs",
			(double)r->script_timeout_ns / NS_PER_S);
	else
		snprintf(text, sizeof text, "%.110s", end.message);
	script_failed(s, r, text);
}

static void begin_script(const struct prepare_stage *s, uint32_t number)
{
	struct prepared_task *p = s->p;
	struct rendering *r = &p->renderings[number];
	struct script_start start = {.task = s->task,
		.alloc = s->start->alloc,
		.node = s->start->node,
		.folders = s->start->folders,
		.confine = s->start->confine,
		.arguments = r->arguments,
		.timeout_ns = r->script_timeout_ns,
		.wake_fd = p->all->wake_fd};
	char message[200] = "the task's driver runs no commands inside its tasks";

	r->script = SCRIPT_IDLE;
	if (script_may_run_in(s->task->driver))
		p->script = script_begin(&start, message, sizeof message);
	if (!p->script) {
		script_failed(s, r, message);
		return;
	}
	p->script_of = number;
	p->all->script_count++;
}

void wish_scripts(struct prepared_task *p, bool are_wanted)
{
	for (uint32_t i = 0; i < p->rendering_count; i++)
		if (p->renderings[i].script == SCRIPT_DUE)
			p->renderings[i].script = are_wanted ? SCRIPT_WANTED : SCRIPT_IDLE;
}

void follow_scripts(const struct prepare_stage *s)
{
	struct prepared_task *p = s->p;

	if (p->script && script_is_over(p->script))
		take_script_end(s);
	for (uint32_t i = 0; i < p->rendering_count && !p->script; i++) {
		if (p->renderings[i].script != SCRIPT_WANTED || !task_runs(s->task))
			continue;
		if (p->all->script_count >= CHANGE_SCRIPTS_MAX) {
			stage_wake(s, s->start->now_ns + TURN_NS);
			return;
		}
		begin_script(s, i);
	}
}

void leave_scripts(struct prepared_task *p)
{
	struct preparations *all = p->all;

	for (uint32_t i = 0; i < p->rendering_count; i++)
		p->renderings[i].script = SCRIPT_IDLE;
	if (!p->script)
		return;
	uint32_t at = 0;
	while (at < CHANGE_SCRIPTS_MAX && all->leaving[at])
		at++;
	CHECK(at < CHANGE_SCRIPTS_MAX); // no more run than there is room for
	script_stop(p->script);
	all->leaving[at] = p->script;
	p->script = NULL;
}

void reap_scripts(struct preparations *all, bool waits)
{
	for (uint32_t i = 0; i < CHANGE_SCRIPTS_MAX; i++) {
		struct script *script = all->leaving[i];
		if (!script || (!waits && !script_is_over(script)))
			continue;
		script_finish(script, NULL);
		all->leaving[i] = NULL;
		all->script_count--;
	}
}
