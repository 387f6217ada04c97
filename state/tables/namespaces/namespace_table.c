#include "state/tables/namespaces/namespace_table.h"
#include "state/base/check.h"
#include "state/base/error.h"
#include "state/base/limits.h"
#include "state/records/allocation.h"
#include "state/tables/namespaces/quota_table.h"
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

// Quotas come before their namespaces.
static int check_loaded_namespace(const struct state *state, const void *record)
{
	struct text quota = text_of(((const struct job_namespace *)record)->quota);
	return !quota.size || quota_cell_find(state, quota) ? 0 : -ERROR_CORRUPT;
}

// What the namespace uses counts against the quota that it names.
static void follow_quota(struct state *state, struct cell *followed)
{
	struct namespace_cell *cell = (struct namespace_cell *)followed;
	struct quota_cell *before = cell->quota;
	struct text name =
		cell_is_there(followed) ? text_of(cell->working->quota) : (struct text){0};

	cell->quota = quota_cell_find(state, name);
	if (cell->quota == before)
		return;
	if (cell->quota) {
		cell->quota->namespaces++;
		quota_use(cell->quota, &cell->used, 1);
	}
	if (before) {
		CHECK(before->namespaces > 0);
		before->namespaces--;
		quota_use(before, &cell->used, -1);
		cell_bury_if_idle(state, &before->cell);
	}
}

static bool is_namespace_idle(const struct cell *cell)
{
	return ((const struct namespace_cell *)cell)->jobs == 0;
}

static void namespace_released(struct state *state, struct cell *cell)
{
	quota_amount_free(&((struct namespace_cell *)cell)->used);
}

const struct kind namespace_kind = {
	.name = "namespace",
	.key = KEY_NAME,
	.key_offset = offsetof(struct job_namespace, name),
	.cell_bytes = sizeof(struct namespace_cell),
	.fields = &job_namespace_description,
	.limit_offset = offsetof(struct state_limits, namespaces),
	.limit_max = NAMESPACES_MAX,
	.is_sound = is_namespace_sound,
	.check_loaded = check_loaded_namespace,
	.follow = follow_quota,
	.is_idle = is_namespace_idle,
	.released = namespace_released,
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

struct namespace_cell *namespace_join(struct state *state, struct text name)
{
	struct namespace_cell *cell =
		(struct namespace_cell *)table_find_or_add(state, STATE_NAMESPACES, &name);

	CHECK(cell->jobs < UINT32_MAX);
	cell->jobs++;
	return cell;
}

void namespace_leave(struct state *state, struct namespace_cell *cell)
{
	CHECK(cell->jobs > 0);
	cell->jobs--;
	cell_bury_if_idle(state, &cell->cell);
}

void namespace_use(struct namespace_cell *cell, const struct allocation *a, int64_t by)
{
	const struct group_ask *ask = ARRAY_AT(&a->job->asks, struct group_ask, a->group);

	quota_amount_add(&cell->used, a->resources, ask, by);
	CHECK(cell->used.instances >= 0);
	if (cell->quota)
		quota_use_one(cell->quota, a->resources, ask, by);
}

bool namespace_lacks(const struct namespace_cell *cell, const struct quota_amount *change)
{
	return cell->quota && quota_lacks(cell->quota->working, &cell->quota->used, change, NULL);
}
