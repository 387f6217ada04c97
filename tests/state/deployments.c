#include "tests/state/deployments.h"
#include "state/base/memory.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

struct job *build_deployed_job(const char *id, int64_t priority)
{
	static const struct resources asks[2] = {{100, 100, 10}, {100, 100, 10}};
	struct job *job = build_job(id, asks, 2);

	job->type = JOB_SERVICE;
	job->priority = priority;
	job->node_pool = text_copy(TEXT("default"));
	*(char **)array_append(&job->datacenters, sizeof(char *)) = text_copy(TEXT("*"));
	return job;
}

struct planned_job deployed_job(struct controller *c, const char *id, int64_t priority)
{
	struct command_job_register result = {0};

	assert_int_equal(register_job(c, build_deployed_job(id, priority), &result), OUTCOME_DONE);
	state_read_begin();
	const struct job *found = state_job(c->state, TEXT("default"), text_of(id));
	struct planned_job planned = {id, found->record.modify_index, result.made.id};
	state_read_end();
	return planned;
}

static void add_group(struct deployment *d, const char *name, int64_t canaries)
{
	struct deployment_group *g = map_item(&d->groups, sizeof *g, name);

	g->progress_deadline_ns = DEADLINE_NS;
	g->desired_total = 3;
	g->desired_canaries = canaries;
}

struct deployment *build_deployment(
	const struct controller *c, const char *job, uint32_t number, int64_t canaries)
{
	struct deployment *d = deployment_create();

	state_read_begin();
	const struct job *newest = state_job(c->state, TEXT("default"), text_of(job));
	d->id = number_uuid(number);
	d->namespace_name = text_copy(TEXT("default"));
	d->job_id = text_copy(text_of(job));
	d->job_version = newest->version;
	d->job_modify_index = newest->record.modify_index;
	d->job_spec_modify_index = newest->job_modify_index;
	d->job_create_index = newest->record.create_index;
	d->status_description = text_copy(TEXT(DEPLOYMENT_TEXT_RUNNING));
	state_read_end();
	add_group(d, "g0", canaries);
	add_group(d, "g1", 0);
	return d;
}

struct plan *plan_deployment(const struct planned_job *job, struct deployment *d)
{
	struct plan *plan = build_plan(job);

	plan->deployment = d;
	return plan;
}

struct plan_placement *plan_deployed(
	struct plan *plan, uint32_t id, uint32_t node, uint32_t deployment, bool canary)
{
	struct plan_placement *p = plan_place(plan, id, node, node);

	p->resources = (struct resources){100, 100, 10};
	p->name_index = id;
	p->details = alloc_details_create();
	p->details->deployment_id = number_uuid(deployment);
	if (canary) {
		p->details->deployment_status = memory_take(sizeof *p->details->deployment_status);
		p->details->deployment_status->canary = true;
	}
	return p;
}

void plan_deployment_status(
	struct plan *plan, uint32_t number, enum deployment_status status, const char *text)
{
	struct deployment_update *u = array_append(&plan->deployment_updates, sizeof *u);

	*u = (struct deployment_update){number_uuid(number), (int)status, text_copy(text_of(text))};
}

struct deployment *published_deployment(const struct controller *c, uint32_t number)
{
	struct uuid id = number_uuid(number);

	state_read_begin();
	const struct deployment *d = state_deployment(c->state, &id);
	struct deployment *copy = d ? deployment_copy(d) : NULL;
	state_read_end();
	return copy;
}

struct deployment_group *group_of(const struct deployment *d, const char *group)
{
	struct deployment_group *g = deployment_group_of(d, text_of(group));

	assert_non_null(g);
	return g;
}

enum command_outcome report_as(struct controller *c, uint32_t slot, const struct uuid *id,
	enum alloc_client status, struct optional_bool healthy)
{
	static uint64_t sequence;
	struct alloc_update_item item = {
		.allocation = *id, .client_status = (uint8_t)status, .healthy = healthy};
	struct command_alloc_update update = {slot, 1, ++sequence, 1, &item};
	struct command command = {.type = COMMAND_ALLOC_UPDATE, .alloc_update = &update};

	return controller_run(c, &command);
}

enum command_outcome report_health(
	struct controller *c, uint32_t slot, uint32_t id, struct optional_bool healthy)
{
	struct uuid allocation = number_uuid(id);

	return report_as(c, slot, &allocation, ALLOC_RUNNING, healthy);
}

enum command_outcome change_deployment(struct controller *c, uint32_t number,
	enum deployment_action action, struct command_deployment *change)
{
	struct command command = {.type = COMMAND_DEPLOYMENT, .deployment = change};

	change->id = number_uuid(number);
	change->action = action;
	return controller_run(c, &command);
}

enum command_outcome ask_deployment(
	struct controller *c, uint32_t number, enum deployment_action action)
{
	struct command_deployment change = {0};

	return change_deployment(c, number, action, &change);
}

void expect_status(const struct controller *c, uint32_t number, enum deployment_status status,
	const char *description)
{
	struct deployment *d = published_deployment(c, number);

	assert_non_null(d);
	assert_string_equal(deployment_status_names[d->status], deployment_status_names[status]);
	assert_string_equal(d->status_description, description);
	deployment_free(d);
}

bool version_is_stable(const struct controller *c, const char *job, uint64_t version)
{
	state_read_begin();
	const struct job *found =
		state_job_version(c->state, TEXT("default"), text_of(job), version);
	assert_non_null(found);
	bool stable = found->stable;
	state_read_end();
	return stable;
}
