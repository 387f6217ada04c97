#include "tests/placement/scheduler/reconcile/scene.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include "state/base/time_units.h"
#include "tests/placement/job_check/job_build.h"
#include "tests/placement/scheduler/world_private.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { SLOT_READY, SLOT_DOWN, SLOT_GONE, SLOT_DRAIN, SLOT_AWAY };

static const struct uuid eval_id = {{0xe0}}, other_eval_id = {{0xe1}}, deployment_id = {{0xd0}};

static bool is(const char *word, const char *name)
{
	return strcmp(word, name) == 0;
}

// Reads the number after "<name>=".
static bool takes(const char *word, const char *name, int64_t *number)
{
	size_t size = strlen(name);
	if (strncmp(word, name, size) != 0 || word[size] != '=')
		return false;
	*number = strtoll(word + size + 1, NULL, 10);
	return true;
}

static void for_words(const char *words, void (*take)(struct scene *, void *, const char *),
	struct scene *s, void *context)
{
	char *copy = text_copy(text_of(words)), *text = copy, *word;
	while ((word = strsep(&text, " ")))
		if (*word)
			take(s, context, word);
	free(copy);
}

static void add_nodes(struct scene *s)
{
	static struct drain_strategy drain;
	for (int slot = SLOT_READY; slot <= SLOT_AWAY; slot++)
		world_node(s->world, "");
	s->world->nodes[SLOT_DOWN]->status = NODE_DOWN;
	s->world->nodes[SLOT_DRAIN]->drain = &drain;
	s->world->nodes[SLOT_AWAY]->status = NODE_DISCONNECTED;
}

static struct update_strategy *update_of(struct task_group *group)
{
	if (!group->update)
		group->update = block(&update_description);
	return group->update;
}

static void take_limit(struct task_group *group, const char *value)
{
	char *interval;
	group->reschedule->attempts = strtoll(value, &interval, 10);
	group->reschedule->interval_ns = strtoll(interval + 1, NULL, 10) * NS_PER_S;
	group->reschedule->unlimited.value = false;
}

static bool take_group_word(struct task_group *group, const char *word)
{
	int64_t number;
	if (takes(word, "count", &number))
		group->count = number;
	else if (takes(word, "update", &number))
		update_of(group)->max_parallel = number;
	else if (takes(word, "canary", &number))
		update_of(group)->canary = number;
	else if (is(word, "auto-promote"))
		update_of(group)->auto_promote = (struct optional_bool){true, true};
	else if (takes(word, "stop-after", &number))
		group->stop_after_client_disconnect_ns =
			(struct optional_i64){true, number * NS_PER_S};
	else if (takes(word, "disconnect", &number))
		group->max_client_disconnect_ns = (struct optional_i64){true, number * NS_PER_S};
	else if (takes(word, "reschedule", &number))
		group->reschedule->delay_ns = number * NS_PER_S;
	else if (strncmp(word, "limited=", 8) == 0)
		take_limit(group, word + 8);
	else if (is(word, "never"))
		group->reschedule->unlimited.value = false;
	else
		return false;
	return true;
}

static void take_job_word(struct scene *s, void *context, const char *word)
{
	struct job *job = context;
	int64_t number;
	if (take_group_word(group_of(job), word))
		return;
	if (takes(word, "version", &number))
		job->version = (uint64_t)number;
	else if (takes(word, "kill", &number))
		task_of(job)->kill_timeout_ns = number * NS_PER_S;
	else if (is(word, "in-place"))
		s->in_place = true;
	else if (is(word, "batch"))
		s->batch = true;
	else if (is(word, "stopped"))
		job->stop = true;
	else if (is(word, "purged"))
		s->purged = true;
	else if (is(word, "multiregion"))
		job->multiregion = block(&multiregion_description);
	else
		CHECK(!"a word of a job that is not known");
}

static struct reschedule_policy *default_reschedule(void)
{
	struct reschedule_policy *policy = block(&reschedule_description);
	policy->delay_ns = 30 * NS_PER_S;
	set(&policy->delay_function, "constant");
	policy->unlimited = (struct optional_bool){true, true};
	return policy;
}

static void add_job(struct scene *s, const char *words)
{
	s->before = world_job(s->world, "service job");
	group_of(s->before)->reschedule = default_reschedule();
	add_task(add_group(s->before, "removed"), "t");
	world_job_changed(s->before);
	for_words(words, take_job_word, s, s->before);
	s->job = s->before;
	if (s->before->version > 0) {
		s->before->version--;
		s->job = world_job_version(s->world, s->before);
		s->before->stop = false;
	}
	// The newest version lost the last group.
	ARRAY_AT(&s->job->task_groups, struct task_group, 1)->count = 0;
	set(&ARRAY_AT(&s->job->task_groups, struct task_group, 1)->name, "zero");
}

static void take_deployment_word(struct scene *s, void *context, const char *word)
{
	struct deployment *d = context;
	struct deployment_group *group = d->groups.count ? d->groups.items : NULL;
	int64_t number;
	for (int status = 0; status < DEPLOYMENT_STATUSES; status++)
		if (is(word, deployment_status_names[status])) {
			d->status = status;
			return;
		}
	if (takes(word, "version", &number))
		d->job_version = (uint64_t)number;
	else if (is(word, "group"))
		map_item(&d->groups, sizeof *group, "a");
	else if (takes(word, "total", &number))
		group->desired_total = number;
	else if (takes(word, "healthy", &number))
		group->healthy_allocs = number;
	else if (takes(word, "canaries", &number))
		group->desired_canaries = number;
	else if (is(word, "promoted"))
		group->promoted = true;
	else
		CHECK(!"a word of a deployment that is not known");
}

static void add_deployment(struct scene *s, const char *words)
{
	if (!words)
		return;
	struct deployment *d = deployment_create();
	d->id = deployment_id;
	set(&d->namespace_name, "default");
	set(&d->job_id, "job");
	d->job_create_index = s->job->record.create_index;
	d->job_version = s->job->version;
	d->is_multiregion = s->job->multiregion;
	for_words(words, take_deployment_word, s, d);
	world_deploy(s->world, d);
	s->deployment = d;
}

static void move_to(struct scene *s, struct allocation *a, uint32_t slot)
{
	a->node_slot = slot == SLOT_GONE ? NODE_SLOT_NONE : slot;
	a->node_id = s->world->nodes[slot]->id;
}

static void finish(struct allocation *a, bool failed, int64_t when_ns)
{
	a->report = alloc_report_create();
	struct task_state *task = array_append(&a->report->task_states, sizeof *task);
	set(&task->task, "t");
	task->state = TASK_DEAD;
	task->failed = failed;
	task->finished_at_ns = when_ns;
}

static void note(struct allocation *a, enum alloc_client status, int64_t time_ns)
{
	struct alloc_state *state = array_append(&a->details->states, sizeof *state);
	set(&state->field, "ClientStatus");
	set(&state->value, alloc_client_names[status]);
	state->time_ns = time_ns;
}

static struct alloc_deployment_status *health_of(struct allocation *a)
{
	if (!a->details->deployment_status)
		a->details->deployment_status = block(&alloc_deployment_status_description);
	return a->details->deployment_status;
}

static void add_canary(struct scene *s, struct allocation *a)
{
	health_of(a)->canary = true;
	struct deployment_group *group = s->deployment->groups.items;
	*(struct uuid *)array_append(&group->placed_canaries, sizeof(struct uuid)) = a->id;
}

static void add_attempts(struct allocation *a, const char *value)
{
	char *ago;
	int64_t count = strtoll(value, &ago, 10), ago_s = strtoll(ago + 1, NULL, 10);
	while (count-- > 0) {
		struct reschedule_event *event =
			array_append(&a->details->reschedule_events, sizeof *event);
		event->reschedule_time_ns = SCENE_NOW - ago_s * NS_PER_S;
		event->delay_ns = 30 * NS_PER_S;
	}
}

static void add_score(struct scene *s, struct allocation *a, int64_t percent)
{
	a->metrics = shared_metrics_create(&(struct alloc_metrics){0}, NULL);
	a->score = (double)percent / 100;
}

static bool take_place_word(struct scene *s, struct allocation *a, const char *word)
{
	static const struct {
		const char *word;
		uint32_t slot;
	} places[] = {{"down", SLOT_DOWN}, {"gone", SLOT_GONE}, {"drain", SLOT_DRAIN},
		{"away", SLOT_AWAY}};
	for (size_t i = 0; i < COUNT(places); i++)
		if (is(word, places[i].word)) {
			move_to(s, a, places[i].slot);
			return true;
		}
	return false;
}

static bool take_status_word(struct allocation *a, const char *word)
{
	for (uint8_t i = ALLOC_PENDING; i <= ALLOC_UNKNOWN; i++)
		if (is(word, alloc_client_names[i])) {
			a->client_status = i;
			return true;
		}
	if (is(word, "stop"))
		a->desired = ALLOC_STOP;
	else if (is(word, "evict"))
		a->desired = ALLOC_EVICT;
	else
		return false;
	return true;
}

static bool take_transition_word(struct allocation *a, const char *word)
{
	struct desired_transition *t = &a->details->transition;
	const struct optional_bool yes = {true, true};
	if (is(word, "migrate"))
		t->migrate = yes;
	else if (is(word, "reschedule"))
		t->reschedule = yes;
	else if (is(word, "force"))
		t->force_reschedule = yes;
	else
		return false;
	return true;
}

static bool take_history_word(struct scene *s, struct allocation *a, const char *word)
{
	int64_t number;
	if (takes(word, "ended", &number))
		finish(a, true, SCENE_NOW - number * NS_PER_S);
	else if (is(word, "done"))
		finish(a, false, SCENE_NOW - NS_PER_S);
	else if (takes(word, "unknown-for", &number))
		note(a, ALLOC_UNKNOWN, SCENE_NOW - number * NS_PER_S);
	else if (takes(word, "lost-for", &number))
		note(a, ALLOC_LOST, SCENE_NOW - number * NS_PER_S);
	else if (is(word, "back"))
		note(a, ALLOC_RUNNING, SCENE_NOW - NS_PER_S);
	else if (strncmp(word, "attempts=", 9) == 0)
		add_attempts(a, word + 9);
	else if (takes(word, "score", &number))
		add_score(s, a, number);
	else
		return false;
	return true;
}

static bool take_deployed_word(struct scene *s, struct allocation *a, const char *word)
{
	if (is(word, "deployed"))
		a->details->deployment_id = deployment_id;
	else if (is(word, "canary"))
		add_canary(s, a);
	else if (is(word, "healthy"))
		health_of(a)->healthy = (struct optional_bool){true, true};
	else if (is(word, "unhealthy"))
		health_of(a)->healthy = (struct optional_bool){true, false};
	else
		return false;
	return true;
}

static void take_allocation_word(struct scene *s, void *context, const char *word)
{
	struct allocation *a = context;
	if (take_place_word(s, a, word) || take_status_word(a, word) ||
		take_transition_word(a, word) || take_history_word(s, a, word) ||
		take_deployed_word(s, a, word))
		return;
	int64_t number;
	if (takes(word, "next", &number)) // ids are numbered from 1
		a->details->next_allocation = (struct uuid){{0xa0, [15] = (uint8_t)(number + 1)}};
	else if (takes(word, "placed", &number))
		a->create_time_ns = SCENE_NOW - number * NS_PER_S;
	else if (is(word, "own"))
		a->details->followup_eval = eval_id;
	else if (is(word, "other"))
		a->details->followup_eval = other_eval_id;
	else if (is(word, "v0"))
		a->job = s->before;
	else if (is(word, "removed")) {
		a->job = s->before;
		a->group = 1;
	} else
		CHECK(!"a word of an allocation that is not known");
}

static void add_allocation(struct scene *s, const char *words)
{
	char *rest;
	uint32_t index = (uint32_t)strtoul(words, &rest, 10);
	CHECK(rest != words && s->count < SCENE_ALLOCATIONS_MAX);
	struct allocation *a = world_allocate(s->world, s->job, 0, SLOT_READY, index);
	a->details = alloc_details_create();
	a->create_time_ns = a->modify_time_ns = SCENE_NOW;
	for_words(rest, take_allocation_word, s, a);
	s->allocations[s->count++] = a;
}

// Each successor knows whom it replaced.
static void link_back(struct scene *s)
{
	for (uint32_t i = 0; i < s->count; i++) {
		const struct uuid *next = &s->allocations[i]->details->next_allocation;
		for (uint32_t k = 0; k < s->count; k++)
			if (uuid_equal(&s->allocations[k]->id, next))
				s->allocations[k]->details->previous_allocation =
					s->allocations[i]->id;
	}
}

static void add_allocations(struct scene *s, const char *list)
{
	char *copy = text_copy(text_of(list ? list : "")), *text = copy, *words;
	while ((words = strsep(&text, ";")))
		if (words[strspn(words, " ")])
			add_allocation(s, words);
	free(copy);
	link_back(s);
}

void scene_open(struct scene *s, const struct scene_row *row)
{
	*s = (struct scene){.world = world_create()};
	prng_seed(&s->prng, 1);
	s->view = world_view(s->world);
	add_nodes(s);
	add_job(s, row->job);
	add_deployment(s, row->deployment);
	add_allocations(s, row->allocations);
	s->eval = evaluation_create();
	s->eval->id = eval_id;
	s->eval->priority = 70;
	set(&s->eval->namespace_name, "default");
	set(&s->eval->job_id, "job");
	if (row->eval && is(row->eval, "delayed"))
		s->eval->wait_until_ns = SCENE_NOW;
	s->view.supports_disconnect = !row->eval || !is(row->eval, "old-servers");
}

void scene_close(struct scene *s)
{
	reconciliation_release(&s->result);
	evaluation_free(s->eval);
	world_destroy(s->world);
}
