// Entries that may not follow the state as it is.
#pragma once
#include "state/apply/apply.h"
#include "state/base/error.h"
#include "tests/support/controller.h"
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static inline int checked(const struct controller *c, const struct entry *e)
{
	state_read_begin();
	int error = entry_check(c->state, e);
	state_read_end();
	return error;
}

// The entry passes; with one thing changed it does not.
#define REFUSED(c, e, what, value)                                       \
	do {                                                             \
		__typeof__(what) was = (what);                           \
		assert_int_equal(checked((c), &(e)), 0);                 \
		(what) = (value);                                        \
		if (checked((c), &(e)) != -ERROR_CORRUPT)                \
			fail_msg("not refused: %s = %s", #what, #value); \
		(what) = was;                                            \
	} while (0)
