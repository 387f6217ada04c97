#include "state/tables/namespaces/quota_table.h"
#include "state/base/check.h"
#include "state/base/limits.h"
#include "state/records/namespaces/job_namespace.h"
#include "state/tables/state.h"
#include "state/tables/table.h"

static bool is_quota_sound(const void *record)
{
	CHECK(record);
	return quota_is_fit(record) && record_is_sound(&quota_description, record);
}

static void quota_made(struct cell *made)
{
	CHECK(pthread_mutex_init(&((struct quota_cell *)made)->lock, NULL) == 0);
}

static bool is_quota_idle(const struct cell *cell)
{
	return ((const struct quota_cell *)cell)->namespaces == 0;
}

static void quota_released(struct state *state, struct cell *released)
{
	struct quota_cell *cell = (struct quota_cell *)released;

	CHECK(pthread_mutex_destroy(&cell->lock) == 0);
	quota_amount_free(&cell->used);
}

const struct kind quota_kind = {
	.name = "quota",
	.key = KEY_NAME,
	.key_offset = offsetof(struct quota, name),
	.cell_bytes = sizeof(struct quota_cell),
	.fields = &quota_description,
	.limit_offset = offsetof(struct state_limits, quotas),
	.limit_max = QUOTAS_MAX,
	.is_sound = is_quota_sound,
	.made = quota_made,
	.is_idle = is_quota_idle,
	.released = quota_released,
};

struct quota_cell *quota_cell_find(const struct state *state, struct text name)
{
	struct cell *cell = name.size ? table_find(state, STATE_QUOTAS, &name) : NULL;
	return cell_is_there(cell) ? (struct quota_cell *)cell : NULL;
}

void quota_use(struct quota_cell *cell, const struct quota_amount *amount, int64_t by)
{
	pthread_mutex_lock(&cell->lock);
	quota_amount_merge(&cell->used, amount, by);
	CHECK(cell->used.instances >= 0);
	pthread_mutex_unlock(&cell->lock);
}

void quota_use_one(struct quota_cell *cell, struct resources resources, const struct group_ask *ask,
	int64_t by)
{
	pthread_mutex_lock(&cell->lock);
	quota_amount_add(&cell->used, resources, ask, by);
	CHECK(cell->used.instances >= 0);
	pthread_mutex_unlock(&cell->lock);
}

const struct quota *state_quota(const struct state *state, struct text name)
{
	CHECK(state);
	return table_published(state, STATE_QUOTAS, &name);
}

void state_quota_used(const struct state *state, struct text name, struct quota_amount *used)
{
	struct quota_cell *cell = (struct quota_cell *)table_find(state, STATE_QUOTAS, &name);

	*used = (struct quota_amount){0};
	if (!cell)
		return;
	pthread_mutex_lock(&cell->lock);
	quota_amount_merge(used, &cell->used, 1);
	pthread_mutex_unlock(&cell->lock);
}

static bool lacks_now(struct quota_cell *cell, const struct quota *quota,
	const struct quota_amount *change, struct array *texts)
{
	pthread_mutex_lock(&cell->lock);
	bool lacks = quota_lacks(quota, &cell->used, change, texts);
	pthread_mutex_unlock(&cell->lock);
	return lacks;
}

const char *state_quota_lacks(const struct state *state, struct text namespace_name,
	const struct quota_amount *change, struct array *texts)
{
	const struct job_namespace *n = state_namespace(state, namespace_name);
	struct text name = n ? text_of(n->quota) : (struct text){0};
	struct quota_cell *cell =
		name.size ? (struct quota_cell *)table_find(state, STATE_QUOTAS, &name) : NULL;
	const struct quota *quota = cell_published((const struct cell *)cell);

	if (!quota || (change && !lacks_now(cell, quota, change, texts)))
		return NULL;
	return quota->name;
}
