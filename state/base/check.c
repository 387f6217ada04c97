#include "state/base/check.h"
#include "state/base/limits.h"
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static _Thread_local struct check_guard *held;
static _Atomic unsigned guarded_failures;

struct check_guard *check_guard_set(struct check_guard *guard)
{
	struct check_guard *before = held;
	held = guard;
	return before;
}

void check_failed(const char *file, int line, const char *condition)
{
	struct check_guard *guard = check_guard_set(NULL);
	while (strncmp(file, "../", 3) == 0) // as the compiler was called from the build directory
		file += 3;
	if (guard && atomic_fetch_add(&guarded_failures, 1) < GUARDED_FAILURES_MAX) {
		snprintf(guard->text, sizeof guard->text, "%s:%d: invariant broken: %s", file, line,
			condition);
		longjmp(guard->back, 1);
	}
	dprintf(STDERR_FILENO, "%s:%d: invariant broken: %s\n", file, line, condition);
	abort();
}
