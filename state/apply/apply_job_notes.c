// What is said of a job's versions, and what is remembered of the job beside them.
#include "state/apply/apply.h"
#include "state/base/check.h"
#include "state/base/error.h"
#include "state/base/memory.h"
#include "state/records/job_notes.h"
#include "state/tables/jobs/job_cell.h"
#include "state/tables/jobs/job_keep.h"
#include "state/tables/tables.h"
#include <stdlib.h>

int job_stable_check(const struct state *state, const void *body)
{
	const struct entry_job_stable *e = body;
	const struct job_keep *keep = job_cell_keep(job_cell_find(state, e->namespace_name, e->id));
	return keep && job_keep_version(keep, e->version) ? 0 : -ERROR_CORRUPT;
}

void job_stable_apply(struct state *state, void *body, int64_t time_ns)
{
	const struct entry_job_stable *e = body;

	struct job_cell *cell = job_cell_find(state, e->namespace_name, e->id);

	CHECK(cell && job_cell_keep(cell));
	job_keep_set_stable(state, cell, e->version, e->stable);
}

int job_note_check(const struct state *state, const void *body)
{
	const struct entry_job_note *e = body;
	const struct job_keep *keep = job_cell_keep(job_cell_find(state, e->namespace_name, e->id));

	if (!keep)
		return -ERROR_CORRUPT;
	return e->launched_ns > 0 || (job_group_index(keep->versions[0], e->group) >= 0 &&
					     record_is_sound(&scaling_event_description, e->event))
		       ? 0
		       : -ERROR_CORRUPT;
}

static void drop_group(struct array *scaled, uint32_t at)
{
	struct scaled_group *groups = scaled->items;

	CHECK(at < scaled->count);
	free(groups[at].group);
	for (uint32_t i = 0; i < groups[at].events.count; i++)
		record_release(&scaling_event_description,
			ARRAY_AT(&groups[at].events, struct scaling_event, i));
	free(groups[at].events.items);
	memmove(groups + at, groups + at + 1, (--scaled->count - at) * sizeof *groups);
}

// Groups that no kept version has are forgotten, so that the list stays bounded.
static void drop_unknown(struct array *scaled, struct job_keep *keep)
{
	for (uint32_t i = scaled->count; i-- > 0;)
		if (!job_keep_counter(
			    keep, text_of(ARRAY_AT(scaled, struct scaled_group, i)->group)))
			drop_group(scaled, i);
}

// Newest first; the oldest makes room.
static void add_event(struct scaled_group *group, const struct scaling_event *event)
{
	struct scaling_event *events;

	if (group->events.count == SCALING_EVENTS_MAX)
		record_release(&scaling_event_description,
			ARRAY_AT(&group->events, struct scaling_event, SCALING_EVENTS_MAX - 1));
	else
		array_append(&group->events, sizeof *event);
	CHECK(group->events.count > 0 && group->events.count <= SCALING_EVENTS_MAX);
	events = group->events.items;
	memmove(events + 1, events, (group->events.count - 1) * sizeof *events);
	events[0] = *event;
}

void job_note_apply(struct state *state, void *body, int64_t time_ns)
{
	struct entry_job_note *e = body;
	struct job_cell *cell = job_cell_find(state, e->namespace_name, e->id);
	CHECK(cell && job_cell_keep(cell));
	struct job_keep *keep = job_keep_revise(state, cell, state->index);
	struct job_notes *notes = job_notes_copy(keep->notes);

	if (e->launched_ns) {
		notes->launched_ns = e->launched_ns;
	} else {
		char *name = text_copy(e->group);
		drop_unknown(&notes->scaled, keep);
		CHECK(e->event);
		e->event->create_index = state->index;
		add_event(map_item(&notes->scaled, sizeof(struct scaled_group), name), e->event);
		free(e->event);
		e->event = NULL;
		free(name);
	}
	job_notes_release(keep->notes);
	keep->notes = notes;
}
