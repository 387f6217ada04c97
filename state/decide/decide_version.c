// Versions of jobs: reverting to one, marking one stable, changing a group's count (rows B60, B61).
#include "state/base/check.h"
#include "state/base/memory.h"
#include "state/decide/command_kinds.h"
#include "state/decide/decide.h"
#include "state/records/job_notes.h"
#include "state/records/job_traits.h"
#include "state/tables/jobs/evaluation_table.h"
#include "state/tables/jobs/job_cell.h"
#include "state/tables/jobs/job_keep.h"
#include "state/tables/settings.h"
#include <stdarg.h>
#include <stdio.h>

struct job_cell *decider_find_job(
	const struct decider *d, struct text namespace_name, struct text id)
{
	struct job_cell *cell =
		job_cell_find(d->state, namespace_name.size ? namespace_name : TEXT("default"), id);
	return cell && job_cell_keep(cell) ? cell : NULL;
}

enum command_outcome decider_store_version(
	struct decider *d, struct job_cell *cell, uint64_t version)
{
	const struct job_keep *keep = job_cell_keep(cell);
	const struct job *known = job_keep_version(keep, version);

	if (!known)
		return OUTCOME_UNKNOWN_VERSION;
	struct job *job = job_copy(known);
	// The new version is as stable as the one that it repeats.
	enum command_outcome outcome = decider_store_job(d, keep, &job);
	job_free(job);
	return outcome;
}

static enum command_outcome may_revert(
	const struct decider *d, struct command_job_revert *c, const struct job_keep *keep)
{
	c->current_version = keep->versions[0]->version;
	if (c->enforce_prior.set && (uint64_t)c->enforce_prior.value != c->current_version)
		return OUTCOME_CONFLICT;
	if (c->version == c->current_version)
		return OUTCOME_NOT_NOW;
	if (!job_keep_version(keep, c->version))
		return OUTCOME_UNKNOWN_VERSION;
	if (scheduler_config_working(d->state)->reject_job_registration)
		return OUTCOME_REJECTED;
	if (d->store_is_full)
		return OUTCOME_STORE_FULL;
	return evaluations_have_room(d->state, 1) ? OUTCOME_DONE : OUTCOME_TABLE_FULL;
}

static enum command_outcome version_evaluate(struct decider *d, const struct job_cell *cell,
	enum eval_trigger trigger, struct eval_made *made)
{
	const struct job *job = job_cell_keep(cell)->versions[0];

	return job_has_scheduler(job) ? decider_evaluate_job(d, job, trigger, 0, made)
				      : OUTCOME_DONE;
}

enum command_outcome decide_job_revert(struct decider *d, struct command *command)
{
	struct command_job_revert *c = &command->job_revert;
	struct job_cell *cell = decider_find_job(d, c->namespace_name, c->id);

	c->made = (struct eval_made){0};
	if (!cell)
		return OUTCOME_UNKNOWN_JOB;
	enum command_outcome outcome = may_revert(d, c, job_cell_keep(cell));
	if (outcome == OUTCOME_DONE)
		outcome = decider_store_version(d, cell, c->version);
	if (outcome != OUTCOME_DONE)
		return outcome;
	c->job_modify_index = d->state->index;
	return version_evaluate(d, cell, TRIGGER_JOB_REGISTER, &c->made);
}

enum command_outcome decide_job_stable(struct decider *d, struct command *command)
{
	struct command_job_stable *c = &command->job_stable;
	const struct job_cell *cell = decider_find_job(d, c->namespace_name, c->id);

	if (!cell)
		return OUTCOME_UNKNOWN_JOB;
	const struct job_keep *keep = job_cell_keep(cell);
	if (!job_keep_version(keep, c->version))
		return OUTCOME_UNKNOWN_VERSION;
	if (d->store_is_full)
		return OUTCOME_STORE_FULL;
	struct entry e = {.kind = ENTRY_JOB_STABLE,
		.job_stable = {
			text_of(cell->namespace_name), text_of(cell->id), c->version, c->stable}};
	CHECK(decider_commit(d, &e) == 0);
	c->job_modify_index = d->state->index;
	return OUTCOME_DONE;
}

void decider_note_launch(struct decider *d, const struct job_cell *cell, int64_t launched_ns)
{
	struct entry e = {.kind = ENTRY_JOB_NOTE,
		.job_note = {.namespace_name = text_of(cell->namespace_name),
			.id = text_of(cell->id),
			.launched_ns = launched_ns}};

	CHECK(decider_commit(d, &e) == 0);
}

void decider_note_scaling(struct decider *d, const struct job_cell *cell, struct text group,
	struct scaling_event *event)
{
	struct entry e = {.kind = ENTRY_JOB_NOTE,
		.job_note = {.namespace_name = text_of(cell->namespace_name),
			.id = text_of(cell->id),
			.group = group,
			.event = event}};

	event->time_ns = d->now_ns;
	CHECK(decider_commit(d, &e) == 0);
}

// Bounds what a caller may store with a job.
#define SCALING_TEXT_BYTES_MAX 4096u

__attribute__((format(printf, 3, 4))) static enum command_outcome scale_refuse(
	struct command_job_scale *c, enum command_outcome outcome, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(c->message_out, sizeof c->message_out, format, arguments);
	va_end(arguments);
	return outcome;
}

static struct task_group *group_of(const struct job *job, struct text name)
{
	return ARRAY_AT(&job->task_groups, struct task_group, job_group_index(job, name));
}

// The job as it will be is checked as if it were registered.
static enum command_outcome check_count(
	const struct decider *d, struct command_job_scale *c, const struct job *job)
{
	if (!c->count.set || c->count.value <= group_of(job, c->group)->count)
		return OUTCOME_DONE;
	struct job *scaled = job_copy(job);
	group_of(scaled, c->group)->count = c->count.value;
	bool fits = state_can_hold(d->state, scaled, c->message_out, sizeof c->message_out);
	job_free(scaled);
	return fits ? OUTCOME_DONE : OUTCOME_BAD_DESCRIPTION;
}

static enum command_outcome may_scale(
	const struct decider *d, struct command_job_scale *c, const struct job *job)
{
	if (c->group.size == 0)
		return scale_refuse(
			c, OUTCOME_BAD_DESCRIPTION, "missing task group name for scaling");
	if (c->error && c->count.set)
		return scale_refuse(c, OUTCOME_BAD_DESCRIPTION,
			"scaling action should not contain count if error is true");
	if (c->count.set && c->count.value < 0)
		return scale_refuse(
			c, OUTCOME_BAD_DESCRIPTION, "scaling action count can't be negative");
	if (c->message.size > SCALING_TEXT_BYTES_MAX || c->meta.size > SCALING_TEXT_BYTES_MAX)
		return scale_refuse(c, OUTCOME_BAD_DESCRIPTION,
			"scaling message and meta must be at most %u bytes each",
			SCALING_TEXT_BYTES_MAX);
	if (!job_traits_of(job)->is_scalable)
		return scale_refuse(c, OUTCOME_BAD_DESCRIPTION, "cannot scale jobs of type \"%s\"",
			job_type_names[job->type]);
	if (job_group_index(job, c->group) < 0)
		return scale_refuse(c, OUTCOME_BAD_DESCRIPTION,
			"task group \"%.*s\" specified for scaling does not exist in job",
			(int)c->group.size, c->group.data);
	if (c->enforce_index && c->job_modify_index != job->job_modify_index)
		return scale_refuse(c, OUTCOME_CONFLICT, "job modify index is %lu, not %lu",
			job->job_modify_index, c->job_modify_index);
	return check_count(d, c, job);
}

static struct scaling_event *event_of(const struct command_job_scale *c, int64_t previous_count)
{
	struct scaling_event *event = memory_take(sizeof *event);

	event->count = c->count;
	event->previous_count = previous_count;
	event->message = text_copy(c->message);
	event->error = c->error;
	event->meta = c->meta.size ? text_copy(c->meta) : NULL;
	return event;
}

// A character of a JSON string.
static void put_escaped(struct bytes_writer *w, unsigned char character)
{
	char text[8];

	if (character >= 0x20 && character != '"' && character != '\\') {
		bytes_put_u8(w, character);
		return;
	}
	int size = snprintf(text, sizeof text, "\\u%04x", character);
	bytes_put(w, text, (size_t)size);
}

// The refused request as metadata of the scaling event.
static char *refused_meta(const struct command_job_scale *c)
{
	struct bytes_writer w = bytes_writer_growing(256);
	char count[64];

	bytes_put(&w, "{\"OriginalMessage\":\"", 20);
	for (uint32_t i = 0; i < c->message.size; i++)
		put_escaped(&w, (unsigned char)c->message.data[i]);
	int size = snprintf(
		count, sizeof count, "\",\"OriginalCount\":%ld,\"OriginalMeta\":", c->count.value);
	bytes_put(&w, count, (size_t)size);
	struct text meta = c->meta.size ? c->meta : TEXT("null");
	bytes_put(&w, meta.data, meta.size);
	bytes_put_u8(&w, '}');
	char *text = text_copy((struct text){(const char *)w.data, (uint32_t)w.size});
	bytes_writer_free(&w);
	return text;
}

// No count changes while a deployment rolls a version out.
static enum command_outcome refuse_for_deployment(
	struct decider *d, struct command_job_scale *c, const struct job_cell *cell, int64_t count)
{
	static const char text[] = "job scaling blocked due to active deployment";
	struct scaling_event *event = memory_take(sizeof *event);

	event->previous_count = count;
	event->message = text_copy(TEXT(text));
	event->error = true;
	event->meta = refused_meta(c);
	decider_note_scaling(d, cell, c->group, event);
	return scale_refuse(c, OUTCOME_NOT_NOW, "%s", text);
}

static enum command_outcome change_count(
	struct decider *d, struct command_job_scale *c, const struct job_cell *cell)
{
	const struct job_keep *keep = job_cell_keep(cell);

	if (group_of(keep->versions[0], c->group)->count == c->count.value)
		return OUTCOME_DONE;
	struct job *job = job_copy(keep->versions[0]);
	group_of(job, c->group)->count = c->count.value;
	enum command_outcome outcome = decider_store_job(d, keep, &job);
	job_free(job);
	return outcome;
}

static enum command_outcome scale(struct decider *d, struct command_job_scale *c,
	const struct job_cell *cell, struct scaling_event *event)
{
	if (!c->count.set)
		return OUTCOME_DONE;
	enum command_outcome outcome = change_count(d, c, cell);
	if (outcome == OUTCOME_DONE)
		outcome = version_evaluate(d, cell, TRIGGER_JOB_SCALING, &c->made);
	event->eval_id = c->made.id;
	return outcome;
}

enum command_outcome decide_job_scale(struct decider *d, struct command *command)
{
	struct command_job_scale *c = command->job_scale;
	struct job_cell *cell = decider_find_job(d, c->namespace_name, c->id);

	c->made = (struct eval_made){0};
	c->message_out[0] = 0;
	if (!cell)
		return OUTCOME_UNKNOWN_JOB;
	const struct job *job = job_cell_keep(cell)->versions[0];
	enum command_outcome outcome = may_scale(d, c, job);
	if (outcome != OUTCOME_DONE)
		return outcome;
	if (d->store_is_full)
		return OUTCOME_STORE_FULL;
	if (!evaluations_have_room(d->state, 1))
		return OUTCOME_TABLE_FULL;
	int64_t count = group_of(job, c->group)->count;
	if (c->count.set && cell->deployments_active > 0)
		return refuse_for_deployment(d, c, cell, count);
	struct scaling_event *event = event_of(c, count);
	outcome = scale(d, c, cell, event);
	CHECK(outcome == OUTCOME_DONE);
	c->job_modify_index = job_cell_keep(cell)->versions[0]->job_modify_index;
	decider_note_scaling(d, cell, c->group, event);
	return OUTCOME_DONE;
}
