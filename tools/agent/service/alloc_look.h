// What an answer has to know of an allocation, copied from the runner.
#pragma once
#include "state/base/uuid.h"
#include "tools/agent/service/service_request.h"
#include <sys/types.h>

#define TASK_LOOK_NAME_BYTES 132u

struct task_look {
	char name[TASK_LOOK_NAME_BYTES];
	bool has_started;         // at some time
	bool is_up;               // its process runs, or is told to end
	pid_t process;            // leads the session; 0: none
	uint64_t process_started; // clock ticks since boot
};

struct alloc_look {
	struct uuid id;
	uint32_t task_count;
	struct task_look tasks[];
};

// The allocation of the request's :id; the caller frees. NULL: there is none here, or the agent has no time; then
// *refusal says so.
struct alloc_look *alloc_look(
	struct service_request *, unsigned *status, struct MHD_Response **refusal);
// The task of that name; NULL: none.
const struct task_look *alloc_look_task(const struct alloc_look *, const char *name);

// What says why ask_runner() failed.
struct MHD_Response *alloc_look_busy(int error, unsigned *status);
// False when the request's :id names no allocation; then *refusal says so.
bool alloc_look_id(const struct service_request *, struct uuid *, unsigned *status,
	struct MHD_Response **refusal);
struct MHD_Response *alloc_look_unknown(const struct service_request *, unsigned *status);
