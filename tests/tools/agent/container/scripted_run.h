// The process of a container, as a program begins it, with an engine that answers from a script.
#pragma once
#include "tests/tools/agent/exec/scripted_engine.h"

// Runs "c" of the image "i" on the engine of this socket until it is over. Its output goes to the descriptor. Returns
// its exit code; -1: a signal ended the process. The engine gives these answers, and begins once the process does: a
// fork beside its thread may find locks held for ever. NULL: it is there.
int scripted_run(const char *socket_path, const char *exit_path, int output_fd,
	const struct engine_answer *answers);
