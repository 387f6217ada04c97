// How far the clocks of a place are from UTC, and when that changes.
#pragma once
#include "placement/cron/cron.h"

// Seconds east of UTC at a time (unix seconds).
int64_t cron_zone_offset(const struct cron_zone *, int64_t at_s);
// The first second after `from_s`, up to `to_s`, from which on it is another; to_s + 1 when there is none.
int64_t cron_zone_change(const struct cron_zone *, int64_t from_s, int64_t to_s);
