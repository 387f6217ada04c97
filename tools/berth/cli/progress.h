// How far long work is: on a terminal one line on standard error that is written over, elsewhere a line now and then.
#pragma once
#include <stdint.h>

struct progress {
	const char *done; // "drained": 3 of 10 nodes drained
	const char *noun; // "nodes"
	uint32_t total, tenths_told;
	uint32_t shown;         // the characters of the line that stands there
	uint32_t count, failed; // what it says
};

void progress_show(struct progress *, uint32_t count, uint32_t failed);
// Takes the line away, so that other lines may come.
void progress_clear(struct progress *);
