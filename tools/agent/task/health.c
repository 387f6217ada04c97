#include "tools/agent/task/health.h"
#include "state/base/time_units.h"
#include <string.h>

static bool is_in_deployment(const struct alloc_spec *spec)
{
	return *spec->deployment_id != '\0';
}

static const struct health_rule *rule_of(const struct alloc_spec *spec)
{
	return is_in_deployment(spec) ? &spec->update : &spec->migrate;
}

void health_watch(struct health *h, const struct alloc_spec *spec, int64_t now_ns)
{
	const struct health_rule *rule = rule_of(spec);
	bool is_service = strcmp(spec->job_type, "service") == 0;
	h->verdict = WIRE_HEALTH_UNSAID;
	h->deadline_ns = 0;
	if (is_service && !rule->by_hand)
		h->deadline_ns = now_ns + rule->healthy_deadline_ns;
}

void health_leave(struct health *h)
{
	h->deadline_ns = 0;
}

// Only tasks of a hook that are no sidecars may end. Callers leave out poststop tasks.
static bool may_end(const struct task *t)
{
	return t->spec->hook != HOOK_MAIN && !t->spec->sidecar;
}

static bool is_wrong(const struct task *t)
{
	return task_is_over(t) && (t->failed || !may_end(t));
}

// Since when all tasks have been up; 0: one is not up, or has failed.
static int64_t all_up_since(const struct task *tasks, uint32_t count)
{
	int64_t since = 0;
	for (uint32_t i = 0; i < count; i++) {
		const struct task *t = &tasks[i];
		bool is_up = task_runs(t) || (task_is_over(t) && !is_wrong(t));
		if (t->spec->hook == HOOK_POSTSTOP)
			continue;
		if (!is_up)
			return 0;
		since = t->started_ns > since ? t->started_ns : since;
	}
	return since;
}

// Since when the allocation is as its rule asks; 0: it is not.
static int64_t well_since(const struct health *h, const struct health_rule *rule,
	const struct task *tasks, uint32_t count)
{
	int64_t since = all_up_since(tasks, count);
	if (!since || !rule->by_checks || !h->has_checks)
		return since;
	return h->checks_well_ns && h->checks_well_ns < since ? since : h->checks_well_ns;
}

static bool any_is_wrong(const struct task *tasks, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (tasks[i].spec->hook != HOOK_POSTSTOP && is_wrong(&tasks[i]))
			return true;
	return false;
}

static void explain_verdict(
	const struct health *h, struct task *t, const struct health_rule *rule, int64_t now_ns)
{
	double deadline_s = (double)rule->healthy_deadline_ns / NS_PER_S;
	if (is_wrong(t))
		task_note(t, now_ns, 0, "Alloc Unhealthy", "Unhealthy because of failed task");
	else if (!task_is_up(t) && !task_is_over(t))
		task_note(t, now_ns, 0, "Alloc Unhealthy",
			"Task not running by healthy_deadline of %.6gs", deadline_s);
	else if (task_is_up(t) && now_ns - t->started_ns < rule->min_healthy_time_ns)
		task_note(t, now_ns, 0, "Alloc Unhealthy",
			"Task not running for min_healthy_time of %.6gs by healthy_deadline of "
			"%.6gs",
			(double)rule->min_healthy_time_ns / NS_PER_S, deadline_s);
	else if (rule->by_checks && h->has_checks)
		task_note(t, now_ns, 0, "Alloc Unhealthy", "Services not healthy by deadline");
}

bool health_judge(struct health *h, const struct alloc_spec *spec, struct task *tasks,
	uint32_t task_count, int64_t now_ns)
{
	const struct health_rule *rule = rule_of(spec);
	if (!h->deadline_ns)
		return false;
	int64_t since = well_since(h, rule, tasks, task_count);
	int64_t well_at_ns = since ? since + rule->min_healthy_time_ns : INT64_MAX;
	if (now_ns >= well_at_ns && well_at_ns <= h->deadline_ns)
		h->verdict = WIRE_HEALTHY;
	else if (any_is_wrong(tasks, task_count) || now_ns >= h->deadline_ns)
		h->verdict = WIRE_UNHEALTHY;
	else
		return false;
	h->deadline_ns = 0;
	for (uint32_t i = 0; i < task_count && h->verdict == WIRE_UNHEALTHY; i++)
		if (is_in_deployment(spec) && tasks[i].spec->hook != HOOK_POSTSTOP)
			explain_verdict(h, &tasks[i], rule, now_ns);
	return true;
}

int64_t health_due_ns(const struct health *h, const struct alloc_spec *spec,
	const struct task *tasks, uint32_t task_count)
{
	int64_t since = h->deadline_ns ? well_since(h, rule_of(spec), tasks, task_count) : 0;
	int64_t well_at_ns = since ? since + rule_of(spec)->min_healthy_time_ns : INT64_MAX;
	return well_at_ns < h->deadline_ns ? well_at_ns : h->deadline_ns;
}
