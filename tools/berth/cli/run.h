// Runs a command once its flags are read: completes the ids, and with --watch runs it again and again.
#pragma once
#include "tools/berth/cli/command.h"

enum exit_status run_with(
	struct session *, const struct command *, const char **arguments, int count);
