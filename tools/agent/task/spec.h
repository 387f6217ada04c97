// What one allocation runs, read from the controller's JSON (docs/wire.md, ALLOC_SPEC). Texts are views into the JSON.
#pragma once
#include "state/base/uuid.h"
#include "tools/agent/task/output.h"
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#define SPEC_TASKS_MAX 256u

enum task_hook { HOOK_MAIN, HOOK_PRESTART, HOOK_POSTSTART, HOOK_POSTSTOP };

struct restart_rule {
	int64_t attempts, interval_ns, delay_ns;
	bool waits;      // mode "delay": after the attempts, go on in the next interval
	bool on_success; // restarts a task that succeeded, too
};

struct task_spec {
	const char *name, *driver, *user, *kill_signal;
	const char *payload_file; // under local: holds the dispatched payload; "": none
	const char *token;        // what it shows the controller; "": it has none
	bool token_in_environment, token_in_file; // NOMAD_TOKEN; nomad_token under secrets
	enum task_hook hook;
	bool sidecar, leader;
	int64_t kill_timeout_ns;
	struct restart_rule restart;
	struct output_rule output_rule; // LogConfig
	bool has_handle;                // it may already run away from its node
	int64_t handle_version;
	const char *handle;          // the driver's handle of that run, in base64
	const json_t *json, *config; // config may be NULL
};

// When a node calls an allocation healthy.
struct health_rule {
	int64_t min_healthy_time_ns, healthy_deadline_ns;
	bool by_hand;   // an operator decides
	bool by_checks; // checks of services have to pass
};

struct alloc_spec {
	json_t *root;
	struct uuid id;
	const char *name, *namespace_name, *job_id, *job_name, *job_parent_id, *job_type, *region,
		*group;
	const char *deployment_id; // "": none
	const char *payload;       // base64
	struct health_rule update, migrate;
	int64_t stop_after_disconnect_ns; // 0: tasks go on without the controller
	int64_t index;
	bool is_machine; // a virtual machine, as in machine.h
	uint32_t task_count;
	struct task_spec tasks[];
};

// NULL, and a sentence, when the JSON is malformed or not of that allocation; id may be NULL: of any. Caller frees.
struct alloc_spec *alloc_spec_read(
	const char *json, size_t size, const struct uuid *id, char *message, uint32_t message_size);
void alloc_spec_free(struct alloc_spec *); // NULL is allowed

// The task of that name; NULL: none.
const struct task_spec *alloc_spec_task(const struct alloc_spec *, const char *name);

// The port with this label: of the task, else of its group; task NULL: of the group. NULL: there is none.
const json_t *alloc_spec_port(
	const struct alloc_spec *, const struct task_spec *task, const char *label);

// "1m30s", or a number of nanoseconds; false when it is neither.
bool spec_duration(const json_t *, int64_t *ns);
const char *spec_text(const json_t *object, const char *key); // "" when absent
// What was read as JSON, as text without blanks; without memory the process ends. The caller frees.
char *spec_dump(const json_t *);
// The first: the text may name a folder. The second: it is a path that stays below its folder.
bool spec_is_safe_name(const char *);
bool spec_is_inner_path(const char *);
