// What a judge of logs found: complaints as checker.py makes them, and what each log holds, as JSON.
#pragma once
#include <jansson.h>

struct verdict {
	json_t *complaints; // of texts
	json_t *logs;       // by name
};

void verdict_begin(struct verdict *);
void verdict_end(struct verdict *);
// "KIND: NAME: …"
__attribute__((format(printf, 4, 5))) void verdict_complain(
	struct verdict *, const char *kind, const char *name, const char *format, ...);
