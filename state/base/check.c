#include "state/base/check.h"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void check_failed(const char *file, int line, const char *condition)
{
	dprintf(STDERR_FILENO, "%s:%d: invariant broken: %s\n", file, line, condition);
	abort();
}
