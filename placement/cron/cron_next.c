// The next time of a cron expression. Works in local time, month by month with the expression's bits; changes of the
// zone cut time into pieces with a constant offset, and the search restarts in each.
#include "placement/cron/cron.h"
#include "placement/cron/cron_zone.h"

#define DAY_SECONDS 86400ll

struct date {
	int32_t year, month, day; // month and day from 1
};

static int64_t floor_divide(int64_t a, int64_t b)
{
	return a / b - (a % b < 0);
}

static int64_t days_of(struct date d)
{
	// Years begin in March, so that the leap day is the last of one.
	int64_t year = d.month > 2 ? d.year : d.year - 1;
	int64_t era = floor_divide(year, 400), year_of_era = year - era * 400;
	int64_t day_of_year = (153 * (d.month + (d.month > 2 ? -3 : 9)) + 2) / 5 + d.day - 1;
	return era * 146097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 +
	       day_of_year - 719468;
}

static struct date date_of(int64_t days)
{
	int64_t shifted = days + 719468, era = floor_divide(shifted, 146097);
	int64_t day = shifted - era * 146097;
	int64_t year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
	int64_t day_of_year = day - (365 * year + year / 4 - year / 100);
	int64_t month = (5 * day_of_year + 2) / 153;
	struct date d = {
		.month = (int32_t)(month < 10 ? month + 3 : month - 9),
		.day = (int32_t)(day_of_year - (153 * month + 2) / 5 + 1),
	};
	d.year = (int32_t)(year + era * 400 + (d.month <= 2));
	return d;
}

static struct date next_month(struct date d)
{
	return d.month == 12 ? (struct date){d.year + 1, 1, 1}
			     : (struct date){d.year, d.month + 1, 1};
}

struct month {
	int32_t length;
	int32_t first_week_day; // of its first day; 0 is Sunday
};

static struct month month_of(struct date d)
{
	struct date first = {d.year, d.month, 1};
	int64_t days = days_of(first);

	return (struct month){
		.length = (int32_t)(days_of(next_month(first)) - days),
		.first_week_day = (int32_t)((days + 4) - 7 * floor_divide(days + 4, 7)),
	};
}

static int32_t week_day_of(struct month m, int32_t day)
{
	return (m.first_week_day + day - 1) % 7;
}

// The working day nearest to a day, in the same month.
static int32_t workday_near(struct month m, int32_t day)
{
	switch (week_day_of(m, day)) {
	case 6: return day > 1 ? day - 1 : day + 2;
	case 0: return day < m.length ? day + 1 : day - 2;
	default: return day;
	}
}

static uint32_t days_by_date(const struct cron *c, struct month m)
{
	uint32_t days = c->days;

	for (int32_t day = 1; day <= m.length; day++) {
		if (c->workdays >> day & 1)
			days |= 1u << workday_near(m, day);
		if (c->days_from_last >> (m.length - day) & 1)
			days |= 1u << day;
	}
	if (c->last_workday)
		days |= 1u << workday_near(m, m.length);
	return days;
}

static uint32_t days_by_week_day(const struct cron *c, struct month m)
{
	uint32_t days = 0;

	for (int32_t day = 1; day <= m.length; day++) {
		uint32_t wanted = c->week_days | c->nth_week_days[(day - 1) / 7];
		if (day + 7 > m.length)
			wanted |= c->last_week_days;
		if (wanted >> week_day_of(m, day) & 1)
			days |= 1u << day;
	}
	return days;
}

// As in crontab: a restricted day and a restricted weekday add up.
static uint32_t days_of_month(const struct cron *c, struct month m)
{
	uint32_t days = 0;

	if (!c->any_day)
		days |= days_by_date(c, m);
	if (!c->any_week_day)
		days |= days_by_week_day(c, m);
	if (c->any_day && c->any_week_day)
		days = ~0u;
	return days & (uint32_t)((1ull << (m.length + 1)) - 2);
}

#define NO_BIT 64

static int32_t bit_from(uint64_t set, int32_t least)
{
	uint64_t rest = least < 64 ? set >> least << least : 0;
	return rest ? __builtin_ctzll(rest) : NO_BIT;
}

// The first matching second of a day, from `from` on; negative: none is left. When a greater unit advances, the
// smaller ones restart.
static int32_t time_from(const struct cron *c, int32_t from)
{
	int32_t hour = from / 3600, minute = from / 60 % 60;
	int32_t first_second = bit_from(c->seconds, 0), first_minute = bit_from(c->minutes, 0);
	int32_t s = bit_from(c->seconds, from % 60);

	int32_t m = bit_from(c->minutes, minute + (s == NO_BIT));
	if (m != minute)
		s = first_second;
	int32_t h = bit_from(c->hours, hour + (m == NO_BIT));
	if (h == NO_BIT)
		return -1;
	if (h != hour) {
		m = first_minute;
		s = first_second;
	}
	return h * 3600 + m * 60 + s;
}

static bool is_year_meant(const struct cron *c, int32_t year)
{
	uint32_t bit = (uint32_t)(year - CRON_YEAR_LEAST);
	return c->years[bit / 64] >> bit % 64 & 1;
}

// The first matching local time, `from` included. False: none.
static bool local_from(const struct cron *c, int64_t from, int64_t *found)
{
	int64_t days = floor_divide(from, DAY_SECONDS);
	int32_t second = (int32_t)(from - days * DAY_SECONDS);
	struct date d = date_of(days);

	if (d.year < CRON_YEAR_LEAST) {
		d = (struct date){CRON_YEAR_LEAST, 1, 1};
		second = 0;
	}
	for (; d.year <= CRON_YEAR_MOST; d = next_month(d), second = 0) {
		if (!is_year_meant(c, d.year) || !(c->months >> d.month & 1))
			continue;
		uint32_t meant = days_of_month(c, month_of(d));
		int32_t time = meant >> d.day & 1 ? time_from(c, second) : -1;
		if (time < 0) {
			d.day = bit_from(meant, d.day + 1);
			time = time_from(c, 0);
		}
		if (d.day == NO_BIT)
			continue;
		*found = days_of(d) * DAY_SECONDS + time;
		return true;
	}
	return false;
}

// No clock goes back, or differs from UTC, by more than this.
#define CLOCK_RANGE_S (2 * DAY_SECONDS)

int64_t cron_next(const struct cron *c, const struct cron_zone *zone, int64_t after_s)
{
	for (int64_t at = after_s + 1;;) {
		int64_t local, offset = cron_zone_offset(zone, at);
		bool is_there = local_from(c, at + offset, &local);
		// Where there is none left, the clock may still go back to one.
		if (!is_there && !local_from(c, at + offset - DAY_SECONDS, &local))
			return CRON_NEVER;
		int64_t until = is_there ? local - offset : at + DAY_SECONDS;
		bool is_far = until - at > 2 * CLOCK_RANGE_S;
		int64_t change = cron_zone_change(zone, at, is_far ? at + CLOCK_RANGE_S : until);
		if (is_far && change > at + CLOCK_RANGE_S)
			at = until - CLOCK_RANGE_S; // nothing comes before it
		else if (change > until)
			return is_there ? until : CRON_NEVER;
		else
			at = change;
	}
}
