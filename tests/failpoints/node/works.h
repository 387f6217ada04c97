// Pieces of work of the agent's, for walks over the calls that they make of the system and over their failpoints. Each
// leaves no descriptor open, whatever fails; that is seen to by who runs it.
#pragma once
#include "state/base/uuid.h"
#include "tests/failpoints/call_walk.h"
#include "tools/agent/runner.h"
#include <sys/types.h>

// What the processes of a walk share.
struct work_place {
	char folder[64]; // of its own, empty but for what furnish() put there
	struct uuid node;
	pid_t task;
	uint64_t task_started;
	bool is_done; // what look() looks for is there
};

struct node_work {
	const char *name; // of the walk over its calls, and of its failpoints' area
	const struct walk_row *rows;
	uint32_t row_count;
	void (*furnish)(struct work_place *); // may be NULL, as the two below
	bool (*work)(struct work_place *);
	void (*look)(struct work_place *);
	void (*clear)(struct work_place *); // before its folder is removed
	struct call_walk_excuses excuses;
};

extern const struct node_work check_work, engine_work, exec_container_work, exec_work, line_work,
	node_agent_work, qmp_work, service_work;

extern const struct uuid work_id; // of the allocation that there is
// Makes the folders that lead to the file, too.
void work_write(const struct work_place *, const char *below, const char *text);
void work_path(const struct work_place *, const char *below, char path[static 200]);
// The runner of stage.h in the place, as an agent opens it. False: it was said why not. time NULL: that of stage.h,
// which stands still unless told.
bool work_open_runner(const struct work_place *, struct runner_settings);
