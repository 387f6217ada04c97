// Times of a cron expression: five to seven fields ("[second] minute hour day month weekday [year]"; six: with the
// year) or "@hourly" and its kin, as Nomad reads them. Values are numbers or names ("mon", "january"), lists, ranges
// and steps ("1-20/5", "3/10", "*/15"); "?" is "*". Days may be "L" (the last of the month), "L-3" (three days before
// it), "LW" (its last working day) and "15W" (the working day nearest to the 15th); weekdays "5L" (the last Friday of
// the month) and "5#2" (the second). When day and weekday are both restricted, either matches.
#pragma once
#include "state/base/text.h"
#include <stddef.h>

#define CRON_YEAR_LEAST 1970
#define CRON_YEAR_MOST 2099
#define CRON_NEVER INT64_MAX

struct cron { // bit n of a set: n is meant
	uint64_t seconds, minutes;
	uint32_t hours, months;
	uint32_t days, workdays, days_from_last; // days_from_last: bit 0 is the last of the month
	bool last_workday, any_day, any_week_day;
	uint8_t week_days, last_week_days, nth_week_days[5]; // 0 is Sunday
	uint64_t years[3];                                   // bit 0 is CRON_YEAR_LEAST
};

// Returns false and says in `mistake` what is wrong and where.
bool cron_parse(struct cron *, struct text, char *mistake, size_t mistake_bytes);

// The clock of a place. Local times that it skips never come, those that it repeats come twice.
struct cron_zone;
// "Europe/Berlin"; "" is "UTC", "Local" the controller's own. NULL: not known here. Caller closes.
struct cron_zone *cron_zone_open(const char *name);
void cron_zone_close(struct cron_zone *); // NULL is allowed

// The first time after `after_s` (unix seconds), or CRON_NEVER.
int64_t cron_next(const struct cron *, const struct cron_zone *, int64_t after_s);

// The launch times of a periodic job, in nanoseconds: the first of any of its expressions.
struct periodic_config;
struct launch_times;
struct launch_times *launch_times_create(const struct periodic_config *); // NULL: it is invalid
void launch_times_free(struct launch_times *);                            // NULL is allowed
int64_t launch_times_next(const struct launch_times *, int64_t after_ns);
