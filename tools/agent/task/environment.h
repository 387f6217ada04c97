// The environment of a task, and the values of ${…} in its configuration.
#pragma once
#include "dataplane/wire/wire.h"
#include "tools/agent/task/spec.h"

// What a task may see of its node; views.
struct node_facts {
	struct uuid id;
	const char *name, *datacenter, *class_name, *pool;
	const struct wire_pair *pairs; // attributes and metadata
	uint32_t pair_count;
};

struct task_folders {
	char alloc[512], local[512],
		secrets[512]; // NOMAD_ALLOC_DIR, NOMAD_TASK_DIR, NOMAD_SECRETS_DIR
};

struct environment {
	char **entries; // "NAME=value" in any order; NULL-ended
	uint32_t count, capacity;
};

// Adds the agent's own variables without its secrets, then Nomad's, then the task's own, expanded.
void environment_build(struct environment *, const struct node_facts *, const struct alloc_spec *,
	const struct task_spec *, const struct task_folders *);
void environment_free(struct environment *);
const char *environment_get(const struct environment *, const char *name); // NULL: not set
// Replaces ${NAME}, ${env.NAME}, ${env["NAME"]}, ${node.…}, ${attr.…} and ${meta.…}. Unknown names stay as they are.
// Caller frees.
char *environment_expand(const struct environment *, const struct node_facts *, const char *text);
