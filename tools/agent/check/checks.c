#include "tools/agent/check/checks.h"
#include "state/base/memory.h"
#include "state/base/time_units.h"
#include <stdio.h>
#include <stdlib.h>

struct checks {
	struct check_tries *tries;
};

struct check {
	struct check_state state;
	struct check_try *try; // NULL: none is under way
	bool is_on;            // what it is about runs
	int64_t run_ns;        // unix; since when
};

struct alloc_checks {
	const struct alloc_spec *spec; // whose rules these are
	struct check_rules rules;
	struct check items[];
};

struct checks *checks_open(void)
{
	struct check_tries *tries = check_tries_open();
	if (!tries)
		return NULL;
	struct checks *checks = memory_take(sizeof *checks);
	checks->tries = tries;
	return checks;
}

void checks_close(struct checks *checks)
{
	check_tries_close(checks->tries);
	free(checks);
}

int checks_fd(const struct checks *checks)
{
	return check_tries_fd(checks->tries);
}

void checks_step(struct checks *checks, int64_t now_ns)
{
	check_tries_step(checks->tries, now_ns);
}

void checks_let_go(struct alloc_run *a)
{
	struct alloc_checks *c = a->checks;
	if (!c)
		return;
	for (uint32_t i = 0; i < c->rules.count; i++) {
		check_try_drop(c->items[i].try);
		check_state_end(&c->items[i].state);
	}
	check_rules_free(&c->rules);
	free(c);
	a->checks = NULL;
}

// A new description may have other checks.
static void read_anew(struct alloc_run *a, const struct alloc_place *place)
{
	struct check_rules rules;
	checks_let_go(a);
	check_rules_read(&rules, a, place);
	struct alloc_checks *c = memory_take(sizeof *c + rules.count * sizeof c->items[0]);
	c->spec = a->spec;
	c->rules = rules;
	a->checks = c;
	for (uint32_t i = 0; i < rules.count; i++)
		check_state_begin(&c->items[i].state, &rules.items[i], place->now_ns);
}

// Since when a task runs; 0: it does not.
static int64_t task_run_ns(const struct task *t)
{
	return task_runs(t) ? t->started_ns : 0;
}

// Since when what the check is about runs: its task, or the newest of all that are to run together.
static int64_t rule_run_ns(const struct alloc_run *a, const struct check_rule *rule)
{
	int64_t newest_ns = 0;
	if (rule->task != CHECK_OF_GROUP)
		return task_run_ns(&a->tasks[rule->task]);
	for (uint32_t i = 0; i < a->task_count; i++) {
		const struct task *t = &a->tasks[i];
		if (t->spec->hook != HOOK_MAIN)
			continue;
		int64_t run_ns = task_run_ns(t);
		if (!run_ns)
			return 0;
		newest_ns = run_ns > newest_ns ? run_ns : newest_ns;
	}
	return newest_ns;
}

// Checks begin anew with what they are about.
static void follow_run(const struct alloc_run *a, struct check *c, const struct check_rule *rule,
	const struct alloc_place *place)
{
	int64_t run_ns = a->is_unwanted ? 0 : rule_run_ns(a, rule);
	if (run_ns == c->run_ns)
		return;
	check_try_drop(c->try);
	c->try = NULL;
	c->run_ns = run_ns;
	c->is_on = run_ns != 0;
	check_state_begin(&c->state, rule, place->now_ns);
}

static void restart_tasks(
	struct alloc_run *a, const struct check_rule *rule, const struct alloc_place *place)
{
	char why[160];
	snprintf(why, sizeof why, "healthcheck: check \"%.120s\" unhealthy", rule->name);
	for (uint32_t i = 0; i < a->task_count; i++) {
		struct task *t = &a->tasks[i];
		bool is_meant = rule->task == i ||
				(rule->task == CHECK_OF_GROUP && t->spec->hook == HOOK_MAIN);
		if (!is_meant || t->phase != PHASE_RUNNING)
			continue;
		task_restart(t, place->now_ns, why);
		a->change++;
		a->is_unsaved = true;
	}
}

// True when tasks were told to begin anew.
static bool take_answer(struct alloc_run *a, struct check *c, const struct check_rule *rule,
	const struct alloc_place *place)
{
	struct check_answer answer;
	if (!c->try || !check_try_take(c->try, place->now_ns, &answer))
		return false;
	c->try = NULL;
	if (!check_state_take(&c->state, rule, &answer, place->now_ns))
		return false;
	restart_tasks(a, rule, place);
	return true;
}

static void begin_try(struct checks *checks, const struct alloc_run *a, struct check *c,
	const struct check_rule *rule, const struct alloc_place *place)
{
	if (!c->is_on || c->try || rule->wrong || place->now_ns < c->state.due_ns ||
		!check_tries_have_room(checks->tries))
		return;
	c->state.due_ns = place->now_ns + rule->interval_ns;
	c->try = check_try_begin(checks->tries, rule, a, place);
}

// True when the health of the allocation may be another.
static bool tell_health(struct alloc_run *a)
{
	const struct alloc_checks *c = a->checks;
	struct health *h = &a->health;
	int64_t since_ns = 0, before_ns = h->checks_well_ns;
	bool all_are_well = true;
	h->has_checks = false;
	for (uint32_t i = 0; i < c->rules.count; i++) {
		const struct check_state *state = &c->items[i].state;
		if (c->rules.items[i].effect == CHECK_IS_IGNORED)
			continue;
		h->has_checks = true;
		all_are_well &= c->items[i].is_on && state->well_ns;
		since_ns = state->well_ns > since_ns ? state->well_ns : since_ns;
	}
	h->checks_well_ns = all_are_well ? since_ns : 0;
	return h->checks_well_ns != before_ns;
}

bool checks_follow(struct checks *checks, struct alloc_run *a, const struct alloc_place *place)
{
	bool is_restarting = false;
	if (!a->spec || a->is_machine)
		return false;
	if (!a->checks || a->checks->spec != a->spec)
		read_anew(a, place);
	struct alloc_checks *c = a->checks;
	for (uint32_t i = 0; i < c->rules.count; i++) {
		const struct check_rule *rule = &c->rules.items[i];
		follow_run(a, &c->items[i], rule, place);
		is_restarting |= take_answer(a, &c->items[i], rule, place);
		begin_try(checks, a, &c->items[i], rule, place);
	}
	return tell_health(a) || is_restarting;
}

int64_t checks_due_ns(const struct checks *checks, const struct alloc_run *a)
{
	const struct alloc_checks *c = a->checks;
	int64_t due_ns = c ? check_tries_due_ns(checks->tries) : 0;
	bool has_room = check_tries_have_room(checks->tries);
	for (uint32_t i = 0; c && i < c->rules.count; i++) {
		const struct check *check = &c->items[i];
		int64_t own_ns = check->try ? check_try_deadline_ns(check->try)
				 : check->is_on && !c->rules.items[i].wrong && has_room
					 ? check->state.due_ns
					 : 0;
		if (own_ns && (!due_ns || own_ns < due_ns))
			due_ns = own_ns;
	}
	return due_ns;
}

json_t *checks_json(const struct alloc_run *a)
{
	static const char *const statuses[] = {"pending", "success", "warning", "failure"};
	const struct alloc_checks *c = a->checks;
	json_t *all = json_object();
	for (uint32_t i = 0; c && i < c->rules.count; i++) {
		const struct check_rule *rule = &c->rules.items[i];
		const struct check_state *state = &c->items[i].state;
		json_t *one = json_pack("{s:s s:s s:s s:s s:s s:s s:s s:I}", "Check", rule->name,
			"Group", a->spec->name, "ID", rule->id, "Mode",
			rule->effect == CHECK_IS_IGNORED ? "readiness" : "healthiness", "Output",
			state->output, "Service", rule->service, "Status", statuses[state->status],
			"Timestamp", (json_int_t)(state->told_ns / (int64_t)NS_PER_S));
		if (state->http_code)
			json_object_set_new(one, "StatusCode", json_integer(state->http_code));
		if (rule->task != CHECK_OF_GROUP)
			json_object_set_new(
				one, "Task", json_string(a->tasks[rule->task].spec->name));
		json_object_set_new(all, rule->id, one);
	}
	return all;
}
