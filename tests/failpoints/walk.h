// A walk over the failpoints of some areas. The work that reaches a point runs in a process of its own, with the point
// failing at the first hit, at later ones, and at all; so does the look at what it left, with nothing armed.
#pragma once
#include "state/base/failpoint/failpoint.h"
#include <stdbool.h>
#include <stdint.h>

struct walk_row {
	enum failpoint point;
	const char *error; // as BERTH_FAILPOINTS has it
	const char *also;  // armed beside it, so that the point is reached; or NULL
	// Whoever asked is served all the same: there is another way, or it is tried again.
	bool is_absorbed;
	bool is_deadly;   // the process ends by itself, with a sentence
	const char *says; // what is said where it failed; NULL: whatever
};

struct walk {
	const struct walk_row *rows;
	uint32_t row_count;
	void *(*prepare)(const struct walk_row *); // from walk_shared(): both processes have it
	// Whether all of the work was done. What was not is said: to who asked (walk_said), or in the log.
	bool (*work)(void *shared);
	void (*look)(void *shared); // ends by a CHECK that does not hold
	void (*clear)(void *shared);
};

void *walk_shared(uint32_t bytes); // zeroed
void walk_said(const char *sentence);
uint32_t walk_descriptors(void); // that the process has open
// Walks all points whose names begin with the area and a dot. A point that has no row, or that its work does not reach,
// fails the test.
void walk_area(const struct walk *, const char *area);

// What a walk is made of, for walks over other things than failpoints.
enum { WALK_DONE, WALK_REFUSED = 3 };
// The work, or the look, in a process of its own. Returns how it ended, as wait() has it: with WALK_DONE or
// WALK_REFUSED.
int walk_run(const struct walk *, void *shared, bool does_work);
const char *walk_output(void); // of the last, on its standard error
bool walk_was_said(void);      // in it
