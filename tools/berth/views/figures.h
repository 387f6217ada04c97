// The controller's figures: what /v1/metrics counts, summed over labels.
#pragma once
#include "tools/berth/cli/session.h"
#include <stddef.h>

struct series {
	const char *name, *labels; // views into the text
	double value;
};
struct figures {
	char *text;
	struct series *items;
	size_t count, capacity;
};

// Caller frees with figures_free, also after a failure.
enum exit_status figures_get(struct session *, struct figures *);
void figures_free(struct figures *);
// Sum of all series of a name whose labels contain some text ("": all).
double figures_sum(const struct figures *, const char *name, const char *labels);
bool figures_has(const struct figures *, const char *name);
// The upper bound of the bucket that holds a quantile, in seconds.
double figures_quantile(const struct figures *, const char *name, double q);
