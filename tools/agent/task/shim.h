// The fork of the agent that stands between it and a task's process (process.h), and what both do before the task runs
// its program: nothing here takes memory or a lock.
#pragma once
#include "tools/agent/base/user.h"
#include "tools/agent/confine/sandbox.h"
#include "tools/agent/task/output.h"
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct process_start {
	char *const *arguments; // for execve; [0] is searched in the environment's PATH
	char *const *environment;
	const char *folder;                   // working folder
	const char *output_path, *error_path; // of the files of its outputs, without their numbers
	struct output_rule output_rule;       // of both
	const char *exit_path;                // the shim writes the exit status here
	const char *user;                     // "": the agent's
	int kept_fd;                          // descriptor that the program keeps; 0: none
	const struct sandbox *sandbox;        // NULL: it is not confined
	// Called when the process exists, before it runs the program: what the agent stores here is enough to find the
	// process again. If it cannot be stored (-errno), or the agent dies before, the program never runs.
	int (*started)(void *context);
	void *context;
};

// What the shim sends the agent through a pipe before it goes on alone.
struct news {
	int32_t stage; // enum stage
	int32_t value; // pid, or errno
	int32_t row;   // of the sandbox's mounts; -1: none
};
enum stage {
	STAGE_STARTED,
	STAGE_FORK,
	STAGE_FOLDER,
	STAGE_OUTPUT,
	STAGE_USER,
	STAGE_EXEC,
	STAGE_EXIT_FILE,
	STAGE_GROUP,
	STAGE_ROOT,
	STAGE_RIGHTS,
};

struct child {
	const struct process_start *start;
	char **candidates; // paths of the program, NULL-ended
	char temporary[600];
	struct user user;
	bool changes_user; // false: it is the agent's
	int news_fd;
	struct output outputs[2]; // standard output and error
	int pipes[2][2];          // from the task to the shim, unless outputs are disabled
	int go[2];                // the agent sends a byte once it has stored what was started
	int exit_fd;              // the file for the exit status, under its temporary name
	int ends_fd;              // the shim's, readable when a child has ended
};

// The process that it is called in becomes the shim.
_Noreturn void shim_run(struct child *);
