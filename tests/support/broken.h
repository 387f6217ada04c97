// For tests of state_verify(): changes one thing of a controller's state, verifies, and puts it back.
#pragma once
#include "tests/support/controller.h"

#define BREAKS_STATE(controller, what, value)                                       \
	do {                                                                        \
		__typeof__(what) was = (what);                                      \
		(what) = (value);                                                   \
		if (state_verify((controller)->state, NULL, NULL) == 0)             \
			fail_msg("not found: %s", #what);                           \
		(what) = was;                                                       \
		assert_int_equal(state_verify((controller)->state, NULL, NULL), 0); \
	} while (0)
