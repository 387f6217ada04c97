// Lists of allocations.
#pragma once
#include "tools/berth/cli/session.h"

// Prints the list at path, after title if it is not NULL. status NULL: all.
enum exit_status allocation_table(
	struct session *, const char *path, const char *title, const char *status, uint32_t indent);
