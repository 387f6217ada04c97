// A walk over the calls of the system that a piece of work makes: each of them fails once, wherever it stands in the
// source, and so do all that come from the same place. Nobody dies or hangs of it, what is refused is said, and a look
// at what it left finds nothing wrong. For tests that are linked with failing_calls.
#pragma once
#include "tests/failpoints/walk.h"

// Each is a part of places as failing_calls.h has them; NULL ends a list; all may be NULL.
struct call_walk_excuses {
	const char *const *only;        // of which these fail, and no others; NULL: all may
	const char *const *cannot_fail; // and are not made to
	const char *const *only_once;   // what is tried again until it does not fail
	bool only_always;               // nothing in the work is tried a second time
	const char *const *unsaid; // whoever asked sees from what he then has that it was not done
};

// The rows of the walk are not looked at. Goes on after what is wrong, and says all of it at the end.
void walk_calls(const struct walk *, const struct call_walk_excuses *);
