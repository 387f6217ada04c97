#include "tools/berth/cli/progress.h"
#include "tools/berth/cli/terminal.h"
#include <stdbool.h>
#include <stdio.h>

#define LINES_ELSEWHERE 10u

void progress_clear(struct progress *p)
{
	if (p->shown)
		fprintf(stderr, "\r%*s\r", (int)p->shown, "");
	p->shown = 0;
}

void progress_show(struct progress *p, uint32_t count, uint32_t failed)
{
	char line[160], failures[40] = "";
	uint32_t tenths = p->total ? (uint32_t)((uint64_t)count * LINES_ELSEWHERE / p->total) : 0;
	if (failed)
		snprintf(failures, sizeof failures, ", %u failed", failed);
	int size = snprintf(
		line, sizeof line, "%u of %u %s %s%s", count, p->total, p->noun, p->done, failures);
	bool stands_there = p->shown && p->count == count && p->failed == failed;
	p->count = count;
	p->failed = failed;
	if (stands_there)
		return;
	if (terminal_is_error()) {
		progress_clear(p);
		fputs(line, stderr);
		fflush(stderr);
		p->shown = (uint32_t)size;
	} else if (p->total >= LINES_ELSEWHERE && tenths > p->tenths_told) {
		p->tenths_told = tenths;
		fprintf(stderr, "%s\n", line);
	}
}
