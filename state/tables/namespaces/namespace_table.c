#include "state/tables/namespaces/namespace_table.h"
#include "state/base/check.h"
#include "state/base/limits.h"
#include "state/records/namespaces/job_namespace.h"
#include "state/tables/state.h"
#include "state/tables/table.h"

static bool is_namespace_sound(const void *record)
{
	const struct job_namespace *n = record;

	CHECK(record);
	return text_is_name(n->name) && text_of(n->description).size <= NAMESPACE_DESCRIPTION_MAX &&
	       text_of(n->quota).size <= NAMESPACE_NAME_MAX && namespace_meta_is_fit(n) &&
	       namespace_drivers_are_fit(n) && record_is_sound(&job_namespace_description, record);
}

const struct kind namespace_kind = {
	.name = "namespace",
	.key = KEY_NAME,
	.key_offset = offsetof(struct job_namespace, name),
	.cell_bytes = sizeof(struct cell),
	.fields = &job_namespace_description,
	.limit_offset = offsetof(struct state_limits, namespaces),
	.limit_max = NAMESPACES_MAX,
	.is_sound = is_namespace_sound,
};

const struct job_namespace *state_namespace(const struct state *state, struct text name)
{
	CHECK(state);
	return table_published(state, STATE_NAMESPACES, &name);
}

bool state_has_namespace(const struct state *state, struct text name)
{
	return namespace_is_built_in(name) || state_namespace(state, name);
}

const struct job_namespace *namespace_working(const struct state *state, struct text name)
{
	const struct cell *cell = table_find(state, STATE_NAMESPACES, &name);
	return cell_is_there(cell) ? cell->working : NULL;
}

bool namespace_is_there(const struct state *state, struct text name)
{
	return namespace_is_built_in(name) || namespace_working(state, name);
}

static struct job_namespace *namespace_of(const struct job *job)
{
	struct job_namespace *n = record_create(&job_namespace_description);

	CHECK(!n->name);
	n->name = text_copy(text_of(job->namespace_name));
	return n;
}

void namespace_make_for(struct state *state, const struct job *job)
{
	if (!namespace_is_there(state, text_of(job->namespace_name)))
		table_put(state, STATE_NAMESPACES, namespace_of(job));
	CHECK(namespace_is_there(state, text_of(job->namespace_name)));
}

void namespace_load_for(struct state *state, const struct job *job, uint64_t index)
{
	if (namespace_is_there(state, text_of(job->namespace_name)))
		return;
	struct job_namespace *n = namespace_of(job);
	n->record.create_index = n->record.modify_index = index;
	table_load(state, STATE_NAMESPACES, n, index);
	CHECK(namespace_is_there(state, text_of(job->namespace_name)));
}
