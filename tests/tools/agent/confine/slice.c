#include "tests/tools/agent/confine/slice.h"
#include <stdio.h>
#include <unistd.h>

const char *slice_name(void)
{
	static char name[48];

	snprintf(name, sizeof name, "berth-test-%d.slice", (int)getpid());
	return name;
}

int slice_remove(const struct groups *g)
{
	static const char *const groups[] = {"/share", "/reserve", ""};
	int result = 0;

	for (uint32_t i = 0; i < sizeof groups / sizeof groups[0] && g->is_usable; i++) {
		char path[500];
		snprintf(path, sizeof path, "%s%s", g->parent, groups[i]);
		result += rmdir(path) < 0;
	}
	return result;
}
