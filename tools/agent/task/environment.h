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
	char task[512];       // where the task works: it holds local and secrets
	char *const *
		variables; // that the task's templates made, "NAME=value" and NULL-ended; NULL: none
};

struct environment {
	char **entries; // "NAME=value" in any order; NULL-ended
	uint32_t count, capacity;
	size_t bytes; // of all entries
};

// Longest expanded text, and longest environment with its names. The kernel takes 128 KiB a text and, with the usual
// limit of the stack, 2 MiB for the environment and the arguments. Each variable may repeat those before it, so that a
// few bytes of a job could ask for any amount of memory.
#define EXPANDED_BYTES_MAX (64u * 1024)
#define ENVIRONMENT_BYTES_MAX (1024u * 1024)

// Adds the agent's own variables without its secrets, then Nomad's, then the task's own, expanded. Returns false and a
// sentence when they come out too large. Free the environment in both cases.
bool environment_build(struct environment *, const struct node_facts *, const struct alloc_spec *,
	const struct task_spec *, const struct task_folders *, char *message,
	uint32_t message_size);
void environment_free(struct environment *);
const char *environment_get(const struct environment *, const char *name); // NULL: not set
// The value of what stands between the braces of ${…}; NULL: unknown. Good until the next call.
const char *environment_look_up(
	const struct environment *, const struct node_facts *, const char *name);
// Replaces ${NAME}, ${env.NAME}, ${env["NAME"]}, ${node.…}, ${attr.…} and ${meta.…}. Unknown names stay as they are.
// NULL: the result would be longer than EXPANDED_BYTES_MAX. Caller frees.
char *environment_expand(const struct environment *, const struct node_facts *, const char *text);
