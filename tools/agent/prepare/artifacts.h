// A task's artifacts, as requests to fetch them.
#pragma once
#include "tools/agent/fetch/fetch.h"
#include "tools/agent/task/environment.h"

struct artifact_limits {
	uint64_t bytes_max;
	uint32_t files_max, timeout_s;
};

// A request with the texts that it points at.
struct artifact {
	struct fetch_request request;
	char *source; // expanded
	char *texts[4];
	json_t *headers;
	char destination[512];
};

uint32_t artifact_count(const struct task_spec *);
// The artifact of that number, with ${…} replaced. False and why it cannot be fetched. Free it in both cases.
bool artifact_read(struct artifact *, uint32_t number, const struct task_spec *,
	const struct environment *, const struct node_facts *, const struct task_folders *,
	const struct artifact_limits *, char *message, uint32_t message_size);
void artifact_free(struct artifact *);
