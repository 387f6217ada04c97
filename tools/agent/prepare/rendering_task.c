// All templates of a task: rendered before it starts, and again when a variable changes.
#include "state/base/memory.h"
#include "state/base/time_units.h"
#include "tools/agent/prepare/prepare_inner.h"
#include <ctype.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILE_BYTES_MAX (1u << 20) // that a template reads
// A task that waits for what is missing says so when it has waited for a while: most comes at once.
#define MISSING_TOLD_NS (3 * NS_PER_S)
// Until a variable that cannot be watched, for want of a thread for instance, is tried again.
#define WATCH_AGAIN_NS (1 * NS_PER_S)

// What the functions of a template reach.
struct sight {
	const struct prepare_stage *stage;
	const struct environment *environment;
	int top; // folder of the allocation
	char trouble[160];
};

static const char *see_environment(void *context, const char *name)
{
	const struct sight *sight = context;
	return environment_look_up(sight->environment, sight->stage->start->node, name);
}

static bool see_file(void *context, const char *path, struct bytes_writer *contents, char *message,
	uint32_t message_size)
{
	const struct sight *sight = context;
	char inner[INNER_PATH_BYTES];

	if (!inner_path(sight->stage->start->folders, sight->stage->p->task, path, inner)) {
		snprintf(message, message_size,
			"\"%.100s\" is not below the folder of the allocation", path);
		return false;
	}
	return inner_read(sight->top, inner, FILE_BYTES_MAX, contents, message, message_size);
}

static void escape_into(char *to, size_t size, const char *text, size_t text_size)
{
	static const char digits[] = "0123456789ABCDEF";
	size_t at = 0;

	for (size_t i = 0; i < text_size && at + 4 < size; i++) {
		uint8_t c = (uint8_t)text[i];
		if (isalnum(c) || strchr("-_.~/", c ? c : '%')) {
			to[at++] = (char)c;
			continue;
		}
		to[at++] = '%';
		to[at++] = digits[c >> 4];
		to[at++] = digits[c & 15];
	}
	to[at] = '\0';
}

// PATH, or PATH@NAMESPACE, or PATH@NAMESPACE.REGION.
static void write_target(const struct prepared_task *p, const char *what, const char *join,
	const char *path, char target[static 600])
{
	const char *at = strchr(path, '@');
	const char *name = at ? at + 1 : p->namespace_name;
	size_t path_size = at ? (size_t)(at - path) : strlen(path);
	size_t name_size = at ? strcspn(name, ".") : strlen(name);
	char escaped[300], namespace_escaped[200];

	if (name_size == 0) {
		name = p->namespace_name;
		name_size = strlen(name);
	}
	escape_into(escaped, sizeof escaped, path, path_size);
	escape_into(namespace_escaped, sizeof namespace_escaped, name, name_size);
	snprintf(target, 600, "/v1/%s%s%snamespace=%s", what, escaped, join, namespace_escaped);
}

static struct variable_watch *watch_of(struct sight *sight, const char *target)
{
	struct prepared_task *p = sight->stage->p;

	for (uint32_t i = 0; i < p->watch_count; i++)
		if (strcmp(variable_watch_target(p->watches[i]), target) == 0)
			return p->watches[i];
	struct variable_watch *w = variables_watch(p->all->variables, &p->allocation, p->task,
		target, sight->trouble, sizeof sight->trouble);
	if (!w) {
		p->watch_ns = sight->stage->start->now_ns + WATCH_AGAIN_NS;
		stage_wake(sight->stage, p->watch_ns);
		return NULL;
	}
	p->watches = memory_resize(p->watches, (p->watch_count + 1) * sizeof p->watches[0]);
	p->watches[p->watch_count++] = w;
	return w;
}

static enum template_found see_target(struct sight *sight, const char *target, const json_t **value)
{
	const struct variable_watch *w = watch_of(sight, target);
	const char *trouble = "";
	enum template_found found = w ? variable_watch_now(w, value, &trouble) : TEMPLATE_UNKNOWN;

	if (*trouble)
		snprintf(sight->trouble, sizeof sight->trouble, "%s", trouble);
	return found;
}

static enum template_found see_variable(void *context, const char *path, const json_t **variable)
{
	struct sight *sight = context;
	char target[600];

	write_target(sight->stage->p, "var/", "?", path, target);
	return see_target(sight, target, variable);
}

static enum template_found see_variables(void *context, const char *prefix, const json_t **list)
{
	struct sight *sight = context;
	char target[600];

	write_target(sight->stage->p, "vars?prefix=", "&", prefix, target);
	return see_target(sight, target, list);
}

static void template_failed(const struct prepare_stage *s, const char *why)
{
	stage_note(s, "Template", "Template failed: %s", why);
}

// Because of the node, it may be, and not of the template.
static void node_failed(const struct prepare_stage *s, int error, const char *why)
{
	s->news->may_help = !task_error_is_its_own(error);
	template_failed(s, why);
}

// What the task's scripts have.
static bool build_within(const struct prepare_stage *s, struct environment *within, char *message,
	uint32_t message_size)
{
	struct task_folders folders;
	script_folders(s->task, s->start->folders, &folders);
	return environment_build(within, s->start->node, s->start->alloc, s->task->spec, &folders,
		message, message_size);
}

static bool read_each_template(const struct prepare_stage *s, const struct environment *e,
	const struct environment *within)
{
	struct prepared_task *p = s->p;
	const json_t *list = json_object_get(s->task->spec->json, "Templates"), *one;
	char message[400];
	size_t i;

	forget_templates(p);
	p->renderings = memory_take_array(json_array_size(list), sizeof p->renderings[0]);
	json_array_foreach(list, i, one)
	{
		struct rendering *r = &p->renderings[p->rendering_count++];
		if (rendering_read(r, one, p->task, e, s->start->node, s->start->folders, within,
			    message, sizeof message))
			continue;
		template_failed(s, message);
		return false;
	}
	return true;
}

static bool read_templates(const struct prepare_stage *s, const struct environment *e)
{
	struct environment within;
	char message[300];

	if (s->p->has_read)
		return true;
	if (build_within(s, &within, message, sizeof message))
		s->p->has_read = read_each_template(s, e, &within);
	else
		template_failed(s, message);
	environment_free(&within);
	return s->p->has_read;
}

static uint64_t all_changes(const struct prepared_task *p)
{
	uint64_t changes = 0;
	for (uint32_t i = 0; i < p->watch_count; i++)
		changes += variable_watch_changes(p->watches[i]);
	return changes;
}

// Variables that templates make.
static bool gather_environment(const struct prepare_stage *s)
{
	struct prepared_task *p = s->p;
	char message[120], text[240];

	env_list_free(&p->environment);
	s->task->variables = NULL;
	for (uint32_t i = 0; i < p->rendering_count; i++) {
		const struct rendering *r = &p->renderings[i];
		struct text made = {(const char *)r->text.data, (uint32_t)r->text.size};
		if (!r->is_environment ||
			env_list_add(&p->environment, made, message, sizeof message))
			continue;
		snprintf(text, sizeof text, "%.80s: %s", r->destination, message);
		template_failed(s, text);
		return false;
	}
	s->task->variables = p->environment.entries;
	return true;
}

// What follows for a running task from a text that is new.
static void plan_change(const struct prepare_stage *s, struct rendering *r)
{
	struct prepared_task *p = s->p;
	int64_t splay_ns = r->splay_ns > 0 ? r->splay_ns : 0;
	int64_t act_ns =
		s->start->now_ns + (int64_t)prng_below(&p->all->prng, (uint64_t)splay_ns + 1);

	if (r->change == CHANGE_NOOP)
		return;
	p->restarts |= r->change == CHANGE_RESTART;
	if (r->change == CHANGE_SCRIPT)
		r->script = SCRIPT_DUE;
	if (r->change == CHANGE_SIGNAL)
		p->signals |= UINT64_C(1) << r->signal;
	p->act_ns = act_ns > p->act_ns ? act_ns : p->act_ns;
}

static bool write_text(const struct prepare_stage *s, struct rendering *r, int top)
{
	char text[300];
	int error = inner_write(top, &r->file, r->text.data, r->text.size);

	if (!error)
		return true;
	r->has_text = false;
	snprintf(text, sizeof text, "cannot write %.150s: %s", r->destination, strerror(-error));
	node_failed(s, error, text);
	return false;
}

static void tell_missing(
	const struct prepare_stage *s, const struct sight *sight, const char *missing)
{
	struct prepared_task *p = s->p;
	char text[160];

	snprintf(text, sizeof text, *sight->trouble ? "%.80s: %.70s" : "%.150s", missing,
		sight->trouble);
	if (!p->missing_since_ns)
		p->missing_since_ns = s->start->now_ns;
	if (strcmp(p->missing, text) == 0)
		return;
	if (s->start->now_ns < p->missing_since_ns + MISSING_TOLD_NS) {
		stage_wake(s, p->missing_since_ns + MISSING_TOLD_NS);
		return;
	}
	memcpy(p->missing, text, sizeof p->missing);
	stage_note(s, "Template", "%s", text);
}

// Renders all, and writes what is new or, before a start, all. What is missing counts more than what fails.
static enum template_end render_all(
	const struct prepare_stage *s, struct sight *sight, bool writes_all)
{
	struct prepared_task *p = s->p;
	const struct template_data data = {.context = sight,
		.env = see_environment,
		.variable = see_variable,
		.list = see_variables,
		.file = see_file,
		.now_ns = s->start->now_ns};
	char message[400], missing[400] = "";

	for (uint32_t i = 0; i < p->rendering_count; i++) {
		struct rendering *r = &p->renderings[i];
		bool is_new;
		enum template_end end = rendering_render(
			r, &data, sight->top, writes_all, &is_new, message, sizeof message);
		if (end == TEMPLATE_FAILED) {
			template_failed(s, message);
			return end;
		}
		if (end == TEMPLATE_WAITS && !*missing)
			snprintf(missing, sizeof missing, "%s", message);
		if (end == TEMPLATE_RENDERED && is_new && !writes_all)
			plan_change(s, r);
		if (end == TEMPLATE_RENDERED && (is_new || writes_all) &&
			!write_text(s, r, sight->top))
			return TEMPLATE_FAILED;
	}
	if (*missing) {
		tell_missing(s, sight, missing);
		return TEMPLATE_WAITS;
	}
	p->missing_since_ns = 0;
	p->missing[0] = '\0';
	return gather_environment(s) ? TEMPLATE_RENDERED : TEMPLATE_FAILED;
}

static enum template_end render_with(const struct prepare_stage *s, bool begins)
{
	struct environment e;
	char message[300];
	struct sight sight = {.stage = s, .environment = &e, .top = inner_open(s->start->folders)};
	enum template_end end = TEMPLATE_FAILED;
	bool was_read = s->p->has_read;

	s->p->watch_ns = 0;
	if (!environment_build(&e, s->start->node, s->start->alloc, s->task->spec,
		    s->start->folders, message, sizeof message)) {
		template_failed(s, message);
	} else if (sight.top < 0) {
		node_failed(s, sight.top, strerror(-sight.top));
	} else if (read_templates(s, &e)) {
		// An agent that starts again finds what was rendered in the files.
		for (uint32_t i = 0; !was_read && !begins && i < s->p->rendering_count; i++)
			rendering_take_file(&s->p->renderings[i], sight.top);
		s->p->changes_seen = all_changes(s->p);
		end = render_all(s, &sight, begins);
	}
	environment_free(&e);
	if (sight.top >= 0)
		close(sight.top);
	return end;
}

static bool has_templates(const struct prepare_stage *s)
{
	return json_array_size(json_object_get(s->task->spec->json, "Templates")) > 0;
}

// Whether a variable that could not be watched is to be tried again now.
static bool watches_again(const struct prepare_stage *s)
{
	const struct prepared_task *p = s->p;

	if (p->watch_ns > s->start->now_ns)
		stage_wake(s, p->watch_ns);
	return p->watch_ns && p->watch_ns <= s->start->now_ns;
}

// Whether a task that waits for variables would wait on.
static bool nothing_came(const struct prepare_stage *s)
{
	const struct prepared_task *p = s->p;
	int64_t told_ns = p->missing_since_ns + MISSING_TOLD_NS;

	if (watches_again(s) || !p->missing_since_ns || all_changes(p) != p->changes_seen)
		return false;
	if (p->missing[0])
		return true;
	stage_wake(s, told_ns);
	return s->start->now_ns < told_ns;
}

enum preparedness render_templates(const struct prepare_stage *s)
{
	if (!has_templates(s))
		return PREPARED;
	s->p->act_ns = 0;
	s->p->restarts = false;
	s->p->signals = 0;
	leave_scripts(s->p); // they were for the run before
	s->p->changed_first_ns = 0;
	if (nothing_came(s))
		return PREPARING;
	enum template_end end = render_with(s, true);
	return end == TEMPLATE_RENDERED ? PREPARED
	       : end == TEMPLATE_WAITS  ? PREPARING
					: PREPARING_ENDS;
}

static int64_t most_wait(const struct prepared_task *p, bool most)
{
	int64_t wait_ns = 0;
	for (uint32_t i = 0; i < p->rendering_count; i++) {
		const struct rendering *r = &p->renderings[i];
		int64_t own = most ? r->wait_most_ns : r->wait_least_ns;
		wait_ns = own > wait_ns ? own : wait_ns;
	}
	return wait_ns;
}

// Changes that come soon after another are waited for, as the blocks say.
static bool changes_are_settled(const struct prepare_stage *s)
{
	struct prepared_task *p = s->p;
	uint64_t changes = all_changes(p);

	if (changes != p->changes_seen) {
		p->changes_seen = changes;
		p->changed_last_ns = s->start->now_ns;
		p->changed_first_ns = p->changed_first_ns ? p->changed_first_ns : s->start->now_ns;
	}
	if (!p->changed_first_ns)
		return false;
	int64_t due_ns = p->changed_last_ns + most_wait(p, false);
	int64_t latest_ns = p->changed_first_ns + most_wait(p, true);
	due_ns = due_ns < latest_ns ? due_ns : latest_ns;
	if (s->start->now_ns >= due_ns)
		return true;
	stage_wake(s, due_ns);
	return false;
}

// The task's first process, as Nomad's drivers do: a shell's children know nothing of the signal.
static void signal_task(const struct prepare_stage *s, int number)
{
	const struct process *p = &s->task->process;

	if (p->task == 0 && s->task->driver != &driver_mock) // which any would end
		s->task->driver->signal(s->task, number, s->start->now_ns);
	else if (process_is_there(p->task, p->task_started) > 0)
		kill(p->task, number);
}

static void act_on_change(const struct prepare_stage *s)
{
	struct prepared_task *p = s->p;
	struct task *t = s->task;

	if (!p->act_ns)
		return;
	if (s->start->now_ns < p->act_ns) {
		stage_wake(s, p->act_ns);
		return;
	}
	p->act_ns = 0;
	if (p->restarts && t->phase == PHASE_RUNNING) {
		task_begin_anew(t, ANEW_AT_ONCE, s->start->now_ns,
			"Template with change_mode restart re-rendered");
		s->news->has_noted = true;
	}
	for (int i = 1; i < 64 && !p->restarts; i++) {
		if (!(p->signals >> i & 1))
			continue;
		stage_note(s, "Signaling", "Template re-rendered");
		signal_task(s, i);
	}
	wish_scripts(p, !p->restarts);
	p->restarts = false;
	p->signals = 0;
}

void follow_templates(const struct prepare_stage *s)
{
	if (!has_templates(s))
		return;
	if (!s->p->has_read || watches_again(s) || changes_are_settled(s)) {
		render_with(s, false);
		s->p->changed_first_ns = 0;
		s->p->has_read = true; // what is wrong with them was said once
	}
	act_on_change(s);
	follow_scripts(s);
}

void forget_templates(struct prepared_task *p)
{
	leave_scripts(p);
	for (uint32_t i = 0; i < p->rendering_count; i++)
		rendering_free(&p->renderings[i]);
	for (uint32_t i = 0; i < p->watch_count; i++)
		variables_leave(p->all->variables, p->watches[i]);
	free(p->renderings);
	free(p->watches);
	p->renderings = NULL;
	p->watches = NULL;
	p->rendering_count = p->watch_count = 0;
	p->has_read = false;
}
