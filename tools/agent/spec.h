// What is to run of one allocation, read from the JSON that the controller gives (docs/wire.md, ALLOC_SPEC).
// Texts are views into the JSON.
#pragma once
#include "state/base/uuid.h"
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#define SPEC_TASKS_MAX 256u

enum task_hook { HOOK_MAIN, HOOK_PRESTART, HOOK_POSTSTART, HOOK_POSTSTOP };

struct restart_rule {
	int64_t attempts, interval_ns, delay_ns;
	bool waits;      // mode "delay": after the attempts, go on in the next interval
	bool on_success; // a task that ended well is started again, too
};

struct task_spec {
	const char *name, *driver, *user, *kill_signal;
	enum task_hook hook;
	bool sidecar, leader;
	int64_t kill_timeout_ns;
	struct restart_rule restart;
	const json_t *json, *config; // config may be NULL
};

struct alloc_spec {
	json_t *root;
	struct uuid id;
	const char *name, *namespace_name, *job_id, *job_name, *job_parent_id, *job_type, *region,
		*group;
	int64_t index;
	uint32_t task_count;
	struct task_spec tasks[];
};

// NULL, and a sentence, when it is not what was expected. Caller frees.
struct alloc_spec *alloc_spec_read(
	const char *json, size_t size, const struct uuid *, char *message, uint32_t message_size);
void alloc_spec_free(struct alloc_spec *); // NULL is allowed

// "1m30s", or a number of nanoseconds; false when it is neither.
bool spec_duration(const json_t *, int64_t *ns);
const char *spec_text(const json_t *object, const char *key); // "" when absent
