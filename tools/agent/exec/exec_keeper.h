// The keeper of a command (exec_command.h), after the fork: it takes no memory and no lock.
#pragma once
#include "tools/agent/exec/exec_place.h"

enum keeper_stage {
	KEEPER_FORK,
	KEEPER_PLACE,
	KEEPER_TERMINAL,
	KEEPER_USER,
	KEEPER_EXEC,
	KEEPER_STAGES
};
extern const char *const keeper_stage_texts[KEEPER_STAGES];

struct keeper_failure {
	enum keeper_stage stage;
	int error; // errno
};

// What it says over the channel.
struct exec_command_end {
	int exit_code;    // 128 more than the signal that killed it
	bool is_known;    // false: nobody could tell
	char reason[120]; // why; "": that is unknown, too
};

struct keeper {
	char *const *arguments, *const *environment;
	const char *folder;
	const struct exec_place *place;
	bool has_terminal;
	int standard[3]; // what the command gets
	int channel;     // to the agent: says how the command ended; closed by the agent: end it
	int failure;     // says why the program does not run, and is closed when it does
};

_Noreturn void keeper_run(struct keeper *);
