// Virtual machines, one a line.
#pragma once
#include "tools/berth/cli/session.h"

enum exit_status machine_table(struct session *, const char *path, uint32_t indent);
