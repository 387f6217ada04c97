#include "tools/simulate/scenario_pool.h"
#include "state/records/scheduler_config.h"
#include <stdlib.h>
#include <string.h>

#define OF(type, member) offsetof(struct type, member)
#define NOT_KEPT(name)                              \
	{                                           \
		name, FIELD_FIXED, 0, NULL, NULL, 0 \
	}

static const char *const algorithms[] = {"", "binpack", "spread", NULL};

static const struct field pool_config_fields[] = {
	{"SchedulerAlgorithm", FIELD_ENUM, OF(scenario_pool_config, algorithm), NULL, algorithms},
	NOT_KEPT("MemoryOversubscriptionEnabled"),
};
static const struct record_type pool_config_description = {"scenario_pool_config",
	sizeof(struct scenario_pool_config), pool_config_fields,
	sizeof pool_config_fields / sizeof pool_config_fields[0], NULL};

static const struct field pool_fields[] = {
	{"Name", FIELD_STRING, OF(scenario_pool, name)},
	{"SchedulerConfiguration", FIELD_STRUCT, OF(scenario_pool, config),
		&pool_config_description},
	NOT_KEPT("Description"),
	NOT_KEPT("Meta"),
	NOT_KEPT("CreateIndex"),
	NOT_KEPT("ModifyIndex"),
};
static const struct record_type pool_description = {"scenario_pool", sizeof(struct scenario_pool),
	pool_fields, sizeof pool_fields / sizeof pool_fields[0], NULL};

void scenario_pool_read(
	struct scenario_pool *pool, json_t *value, const char *path, struct json_report *report)
{
	json_read_exact(&pool_description, pool, value, path, report);
	if (!pool->name || !*pool->name)
		json_sentence(&report->errors, "%s.Name: is missing", path);
}

void scenario_pools_release(struct array *pools)
{
	for (uint32_t i = 0; i < pools->count; i++)
		record_release(&pool_description, ARRAY_AT(pools, struct scenario_pool, i));
	free(pools->items);
	*pools = (struct array){0};
}

int scenario_pool_algorithm(const struct array *pools, const char *name)
{
	for (uint32_t i = 0; i < pools->count; i++) {
		const struct scenario_pool *pool = ARRAY_AT(pools, struct scenario_pool, i);
		if (strcmp(pool->name, name) == 0)
			return pool->config.algorithm - 1;
	}
	return -1;
}
