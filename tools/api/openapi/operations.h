// What each route takes and answers, in the notation of schema.h.
#pragma once
#include "tools/api/server/route.h"

struct operation {
	const char *method, *pattern; // of the route
	const char *summary;
	const char *
		query; // "name:type name:type": parameters that the route's kind does not have anyway
	const char *body; // NULL: none that is read
	const char *
		answer; // of 200. NULL: the route refuses everything; "": an empty body; OPERATION_…
};
// Answers that are no JSON.
#define OPERATION_TEXT "text/plain"
#define OPERATION_PAGE "text/html"
#define OPERATION_ARCHIVE "application/octet-stream"
#define OPERATION_STREAM "application/x-ndjson"

struct operation_table {
	const struct operation *rows;
	uint32_t count;
};
extern const struct operation_table nomad_operations, nomad_job_operations, nomad_acl_operations,
	absent_operations, client_operations, orchard_operations, berth_operations;

// NULL: there is no row for the route.
const struct operation *operation_of(const struct route *);
