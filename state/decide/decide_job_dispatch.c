// Children of periodic and parameterized jobs (rows B63 to B65).
#include "state/base/base64.h"
#include "state/base/check.h"
#include "state/base/time_units.h"
#include "state/decide/command_kinds.h"
#include "state/decide/decide.h"
#include "state/records/job_notes.h"
#include "state/records/job_traits.h"
#include "state/tables/jobs/evaluation_table.h"
#include "state/tables/jobs/job_cell.h"
#include "state/tables/jobs/job_keep.h"
#include "state/tables/state.h"
#include "state/tables/tables.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

// Nomad's bound.
#define PAYLOAD_BYTES_MAX 16384u

__attribute__((format(printf, 2, 3))) static enum command_outcome child_refuse(
	struct command_job_child *c, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(c->message, sizeof c->message, format, arguments);
	va_end(arguments);
	return OUTCOME_BAD_DESCRIPTION;
}

static enum command_outcome refuse_stopped(struct command_job_child *c, const struct job *parent)
{
	(void)child_refuse(c, "Specified job \"%s\" is stopped", parent->id);
	return OUTCOME_JOB_STOPPED;
}

static enum command_outcome may_launch(struct command_job_child *c, const struct job *parent)
{
	if (!parent->periodic)
		return child_refuse(c, "can't launch non-periodic job");
	if (parent->stop)
		return refuse_stopped(c, parent);
	if (!parent->periodic->enabled || parent->parameterized)
		return child_refuse(c, "can't force run non-tracked job");
	return c->launch_ns >= NS_PER_S ? OUTCOME_DONE : child_refuse(c, "no time to launch for");
}

static enum command_outcome check_payload(struct command_job_child *c, const char *rule)
{
	bool is_required = rule && strcmp(rule, "required") == 0;
	bool is_forbidden = rule && strcmp(rule, "forbidden") == 0;

	if (is_required && c->payload.size == 0)
		return child_refuse(c, "Payload is not provided but required by parameterized job");
	if (is_forbidden && c->payload.size > 0)
		return child_refuse(c, "Payload provided but forbidden by parameterized job");
	if (c->payload.size > PAYLOAD_BYTES_MAX)
		return child_refuse(c, "Payload exceeds maximum size; %u > %u", c->payload.size,
			PAYLOAD_BYTES_MAX);
	return OUTCOME_DONE;
}

static bool has_name(const struct array *names, struct text name)
{
	for (uint32_t i = 0; i < names->count; i++)
		if (text_equal(text_of(*ARRAY_AT(names, char *, i)), name))
			return true;
	return false;
}

static bool is_given(const struct command_job_child *c, const char *name)
{
	for (uint32_t i = 0; i < c->meta_count; i++)
		if (text_equal(c->meta[i].name, text_of(name)))
			return true;
	return false;
}

// Names in brackets, as many as there is room for.
struct name_list {
	char text[160];
	size_t size;
};

static void list_name(struct name_list *list, struct text name)
{
	int added = snprintf(list->text + list->size, sizeof list->text - list->size, "%s%.*s",
		list->size > 0 ? " " : "", (int)name.size, name.data);
	if (added > 0 && list->size + (size_t)added < sizeof list->text)
		list->size += (size_t)added;
	else
		list->text[list->size] = 0;
}

static enum command_outcome check_meta(
	struct command_job_child *c, const struct parameterized_config *config)
{
	struct name_list unpermitted = {0}, missing = {0};

	// No job declares as many (job_check), so that what the applier compares has its bound.
	if (c->meta_count > 2 * JOB_LIST_MAX)
		return child_refuse(c,
			"Dispatch request has %u metadata keys, more than the %u "
			"that a job can declare",
			c->meta_count, 2 * JOB_LIST_MAX);
	for (uint32_t i = 0; i < c->meta_count; i++) {
		struct text name = c->meta[i].name;
		for (uint32_t j = 0; j < i; j++)
			if (text_equal(c->meta[j].name, name))
				return child_refuse(c, "Duplicate key \"%.*s\" in passed metadata",
					(int)name.size, name.data);
		if (!has_name(&config->meta_required, name) &&
			!has_name(&config->meta_optional, name))
			list_name(&unpermitted, name);
	}
	if (unpermitted.text[0])
		return child_refuse(c, "Dispatch request included unpermitted metadata keys: [%s]",
			unpermitted.text);
	for (uint32_t i = 0; i < config->meta_required.count; i++) {
		const char *name = *ARRAY_AT(&config->meta_required, char *, i);
		if (!is_given(c, name))
			list_name(&missing, text_of(name));
	}
	return missing.text[0]
		       ? child_refuse(c, "Dispatch did not provide required meta keys: [%s]",
				 missing.text)
		       : OUTCOME_DONE;
}

static enum command_outcome may_dispatch(struct command_job_child *c, const struct job *parent)
{
	if (!parent->parameterized || parent->dispatched)
		return child_refuse(
			c, "Specified job \"%s\" is not a parameterized job", parent->id);
	if (parent->stop)
		return refuse_stopped(c, parent);
	enum command_outcome outcome = check_payload(c, parent->parameterized->payload);
	return outcome == OUTCOME_DONE ? check_meta(c, parent->parameterized) : outcome;
}

static void replace(char **string, const char *with)
{
	free(*string);
	*string = text_copy(text_of(with));
}

static void set_meta(struct job *child, const struct command_job_child *c)
{
	for (uint32_t i = 0; i < c->meta_count; i++) {
		char *name = text_copy(c->meta[i].name);
		struct string_pair *pair = map_item(&child->meta, sizeof *pair, name);
		free(pair->value);
		pair->value = text_copy(c->meta[i].value);
		free(name);
	}
}

static struct job *build_child(const struct job *parent, const struct command_job_child *c)
{
	struct job *child = job_copy(parent);

	replace(&child->parent_id, parent->id);
	replace(&child->id, c->child_id);
	replace(&child->name, c->child_id);
	child->stable = false;
	child->dispatched = c->dispatch;
	record_free(&periodic_config_description, child->periodic);
	child->periodic = NULL;
	if (!c->dispatch)
		return child;
	free(child->dispatch_idempotency_token);
	child->dispatch_idempotency_token =
		c->idempotency_token.size ? text_copy(c->idempotency_token) : NULL;
	free(child->payload);
	child->payload = c->payload.size ? base64_encode(c->payload) : NULL;
	set_meta(child, c);
	return child;
}

static bool name_child(struct decider *d, struct command_job_child *c, const struct job *parent)
{
	struct uuid id;
	int size;

	if (!c->dispatch) {
		size = snprintf(c->child_id, sizeof c->child_id, "%s/periodic-%ld", parent->id,
			c->launch_ns / NS_PER_S);
		return size < (int)sizeof c->child_id;
	}
	id = prng_uuid(&d->prng);
	size = snprintf(c->child_id, sizeof c->child_id, "%s/dispatch-%.*s%s%ld-%02x%02x%02x%02x",
		parent->id, (int)c->prefix.size, c->prefix.size ? c->prefix.data : "",
		c->prefix.size ? "-" : "", d->now_ns / NS_PER_S, id.bytes[0], id.bytes[1],
		id.bytes[2], id.bytes[3]);
	return size < (int)sizeof c->child_id;
}

// A child with living allocations or with an evaluation that is not done.
static bool has_living_child(const struct job_cell *parent)
{
	const struct job_cell *child;

	cds_list_for_each_entry (child, &parent->children, sibling) {
		if (child->live_count > 0 || child->evaluations_live > 0)
			return true;
	}
	return false;
}

// The child that was dispatched with the same token, or NULL.
static const struct job_cell *child_of_token(const struct job_cell *parent, struct text token)
{
	const struct job_cell *child;

	if (token.size == 0)
		return NULL;
	cds_list_for_each_entry (child, &parent->children, sibling) {
		const struct job *job = child->working->versions[0];
		if (text_equal(text_of(job->dispatch_idempotency_token), token))
			return child;
	}
	return NULL;
}

static enum command_outcome answer_known(struct command_job_child *c, const struct job_cell *child)
{
	const struct job_keep *keep = job_cell_keep(child);

	snprintf(c->child_id, sizeof c->child_id, "%s", child->id);
	c->child_index = keep->record.create_index;
	return OUTCOME_DONE;
}

static enum command_outcome has_room(const struct decider *d)
{
	const struct state *state = d->state;

	if (d->store_is_full)
		return OUTCOME_STORE_FULL;
	return evaluations_have_room(state, 1) &&
			       state->tables[STATE_JOBS].order.count < state->limits.jobs
		       ? OUTCOME_DONE
		       : OUTCOME_TABLE_FULL;
}

static enum command_outcome store_child(
	struct decider *d, struct command_job_child *c, const struct job *parent)
{
	struct job *child = build_child(parent, c);
	enum command_outcome outcome = decider_store_job(d, NULL, &child);

	job_free(child);
	if (outcome != OUTCOME_DONE)
		return outcome;
	c->child_index = d->state->index;
	const struct job *stored = job_version_find(d->state, c->child_index);
	outcome = decider_evaluate_job(
		d, stored, c->dispatch ? TRIGGER_JOB_REGISTER : TRIGGER_PERIODIC_JOB, 0, &c->made);
	CHECK(outcome == OUTCOME_DONE);
	return outcome;
}

// A launch that was asked for again finds its child.
static enum command_outcome child_launch(
	struct decider *d, struct command_job_child *c, const struct job_cell *cell)
{
	const struct job *parent = job_cell_keep(cell)->versions[0];

	if (c->unless_one_is_alive && has_living_child(cell)) {
		decider_note_launch(d, cell, c->launch_ns);
		return OUTCOME_NOT_NOW;
	}
	enum command_outcome outcome = store_child(d, c, parent);
	if (outcome == OUTCOME_DONE)
		decider_note_launch(d, cell, c->launch_ns);
	return outcome;
}

static enum command_outcome may_have_child(struct command_job_child *c, const struct job *parent)
{
	if (job_is_direct(parent)) // no scheduler would look at it
		return child_refuse(
			c, "jobs of type \"%s\" have no children", job_type_names[parent->type]);
	return c->dispatch ? may_dispatch(c, parent) : may_launch(c, parent);
}

static enum command_outcome make(
	struct decider *d, struct command_job_child *c, const struct job_cell *parent)
{
	const struct job *job = job_cell_keep(parent)->versions[0];
	enum command_outcome outcome = may_have_child(c, job);

	if (outcome != OUTCOME_DONE)
		return outcome;
	const struct job_cell *known = child_of_token(parent, c->idempotency_token);
	if (known)
		return answer_known(c, known);
	if (!name_child(d, c, job))
		return child_refuse(c, "the ID of the job is too long for one of its children");
	known = job_cell_find(d->state, text_of(job->namespace_name), text_of(c->child_id));
	if (known && job_cell_keep(known))
		return answer_known(c, known);
	outcome = has_room(d);
	if (outcome != OUTCOME_DONE)
		return outcome;
	return c->dispatch ? store_child(d, c, job) : child_launch(d, c, parent);
}

enum command_outcome decide_job_child(struct decider *d, struct command *command)
{
	struct command_job_child *c = command->job_child;
	const struct job_cell *parent = decider_find_job(d, c->namespace_name, c->parent);

	c->made = (struct eval_made){0};
	c->message[0] = 0;
	c->child_id[0] = 0;
	if (parent)
		return make(d, c, parent);
	(void)child_refuse(c, "%s job not found", c->dispatch ? "parameterized" : "periodic");
	return OUTCOME_UNKNOWN_JOB;
}
