#include "tools/api/openapi/operations.h"
#include <string.h>

static const struct operation_table *const tables[] = {&nomad_operations, &nomad_job_operations,
	&nomad_acl_operations, &absent_operations, &client_operations, &orchard_operations,
	&berth_operations};

const struct operation *operation_of(const struct route *route)
{
	for (size_t t = 0; t < sizeof tables / sizeof tables[0]; t++)
		for (uint32_t i = 0; i < tables[t]->count; i++) {
			const struct operation *row = &tables[t]->rows[i];
			if (strcmp(row->method, route->method) == 0 &&
				strcmp(row->pattern, route->pattern) == 0)
				return row;
		}
	return NULL;
}
