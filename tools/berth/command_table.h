// The table of subcommands: help, dispatch and completion come from it.
#pragma once
#include "tools/berth/cli/command.h"

extern const struct command_table command_table;
