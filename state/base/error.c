#include "state/base/error.h"
#include <limits.h>
#include <stddef.h>
#include <string.h>

static const struct {
	enum berth_error error;
	const char *text;
} own_errors[] = {
	{ERROR_CORRUPT, "stored data is corrupt"},
	{ERROR_VERSION, "stored data has a format version newer than this program"},
	{ERROR_STORE_FULL, "the store is full; nothing was changed"},
	{ERROR_TABLE_FULL, "a configured limit is reached"},
	{ERROR_QUEUE_FULL, "a queue is full; try again"},
	{ERROR_NOT_FOUND, "not found"},
	{ERROR_CONFLICT, "the change was made against an outdated view"},
	{ERROR_STOPPING, "shutting down"},
	{ERROR_SYNC_TIMEOUT, "sync wait timeout reached"},
	{ERROR_TOKEN, "the token does not match"},
	{ERROR_LATE, "the delivery timed out"},
	{ERROR_UNSUPPORTED, "not supported"},
	{ERROR_YIELDED, "another evaluation goes first"},
	{ERROR_SYNC_STOPPING, "shutdown while waiting for state sync"},
	{ERROR_PLANNING_STOPPING, "shutdown while planning"},
	{ERROR_PLANS_OFF, "plan queue is disabled"},
	{ERROR_PLANS_FLUSHED, "plan queue flushed"},
	{ERROR_NO_REFRESH, "missing state refresh after partial commit"},
};

const char *error_text(int error)
{
	if (error < 0 && error > INT_MIN)
		error = -error;
	for (size_t i = 0; i < sizeof own_errors / sizeof own_errors[0]; i++)
		if ((int)own_errors[i].error == error)
			return own_errors[i].text;
	const char *text = strerrordesc_np(error);
	return text ? text : "unknown error";
}
