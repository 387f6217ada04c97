// Errors travel as negative numbers: -errno, or one of these. Zero or more is success.
#pragma once

enum berth_error {
	ERROR_CORRUPT = 4096, // stored bytes that no version of ours wrote
	ERROR_VERSION,        // a format version that is newer than this program
	ERROR_STORE_FULL,     // disk or store map full; nothing was changed
	ERROR_TABLE_FULL,     // a limit of state/base/limits.h or of the configuration
	ERROR_QUEUE_FULL,     // a bounded queue; try again
	ERROR_NOT_FOUND,
	ERROR_CONFLICT,     // the caller's view is out of date
	ERROR_STOPPING,     // shutting down
	ERROR_SYNC_TIMEOUT, // the state did not reach an index in time
	ERROR_TOKEN,        // somebody else holds the delivery by now
	ERROR_LATE,         // the delivery's time is over
	ERROR_UNSUPPORTED,
	ERROR_YIELDED, // another evaluation goes first; what was done so far stays
	// Of a scheduler, with the texts of rows B11, B15, B40 and C44.
	ERROR_SYNC_STOPPING,
	ERROR_PLANNING_STOPPING,
	ERROR_PLANS_OFF,
	ERROR_PLANS_FLUSHED,
	ERROR_NO_REFRESH,
};

// The text of a negative error ("No space left on device", "stored data is corrupt", …). Never NULL; static.
const char *error_text(int error);
