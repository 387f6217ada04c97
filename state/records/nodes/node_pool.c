// Names are Nomad's. Rows are only ever appended to a table: their order is the binary form (state/base/schema.h).
#include "state/records/nodes/node_pool.h"
#include "state/base/limits.h"
#include "state/base/memory.h"
#include "state/base/schema_table.h"

static const char *const algorithms[] = {"", "binpack", "spread", NULL};

static const struct field node_pool_scheduler_fields[] = {
	{"SchedulerAlgorithm", FIELD_ENUM, OF(node_pool_scheduler, algorithm), NULL, algorithms},
	{"MemoryOversubscriptionEnabled", FIELD_OPTIONAL_BOOL,
		OF(node_pool_scheduler, memory_oversubscription)},
};
static DESCRIBE(scheduler_description, node_pool_scheduler);

static const struct field node_pool_fields[] = {
	{"Name", FIELD_STRING, OF(node_pool, name)},
	{"Description", FIELD_STRING, OF(node_pool, description)},
	{"Meta", FIELD_MAP, OF(node_pool, meta), FLAGS(FIELD_NULL_EMPTY)},
	{"SchedulerConfiguration", FIELD_OPTIONAL, OF(node_pool, scheduler),
		&scheduler_description},
	{"CreateIndex", FIELD_U64, OF(node_pool, record.create_index), FLAGS(FIELD_DERIVED)},
	{"ModifyIndex", FIELD_U64, OF(node_pool, record.modify_index), FLAGS(FIELD_DERIVED)},
};
DESCRIBE(node_pool_description, node_pool);

bool node_pool_name_is_fit(struct text name)
{
	return name.size > 0 && name.size <= NODE_POOL_NAME_MAX && text_is_word(name, "-_");
}

bool node_pool_is_built_in(struct text name)
{
	return text_equal(name, TEXT(NODE_POOL_ALL)) || text_equal(name, TEXT(NODE_POOL_DEFAULT));
}

bool node_pool_meta_is_fit(const struct array *meta)
{
	for (uint32_t i = 0; i < meta->count; i++) {
		const struct string_pair *pair = ARRAY_AT(meta, struct string_pair, i);
		if (text_of(pair->name).size > ATTRIBUTE_NAME_BYTES_MAX ||
			text_of(pair->value).size > ATTRIBUTE_VALUE_BYTES_MAX)
			return false;
	}
	return meta->count <= NODE_POOL_META_MAX;
}

enum scheduler_algorithm node_pool_algorithm(
	const struct node_pool *pool, const struct scheduler_config *config)
{
	int own = pool && pool->scheduler ? pool->scheduler->algorithm : 0;
	return (enum scheduler_algorithm)(own ? own - 1 : config->algorithm);
}

bool node_pool_oversubscribes(const struct node_pool *pool, const struct scheduler_config *config)
{
	bool has_own = pool && pool->scheduler && pool->scheduler->memory_oversubscription.set;
	return has_own ? pool->scheduler->memory_oversubscription.value
		       : config->memory_oversubscription;
}
