// A place's offset from UTC, and when it changes.
#pragma once
#include "placement/cron/cron.h"

// Seconds east of UTC at a time (unix seconds).
int64_t cron_zone_offset(const struct cron_zone *, int64_t at_s);
// The first second after `from_s`, up to `to_s`, with another offset; to_s + 1 when there is none.
int64_t cron_zone_change(const struct cron_zone *, int64_t from_s, int64_t to_s);
