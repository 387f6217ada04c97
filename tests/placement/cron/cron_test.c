// Cron expressions by example, by refusals, and against a model that checks every minute of a clock.
#include "placement/cron/cron.h"
#include "state/base/memory.h"
#include "state/base/prng.h"
#include "state/records/job.h"
#include <glib.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void parse(struct cron *cron, const char *spec)
{
	char mistake[160];
	if (!cron_parse(cron, text_of(spec), mistake, sizeof mistake))
		fail_msg("%s: %s", spec, mistake);
}

// "2019-11-03T01:30:00-07:00" to unix seconds.
static int64_t at(const char *iso)
{
	GDateTime *time = g_date_time_new_from_iso8601(iso, NULL);
	if (!time)
		fail_msg("%s is no time", iso);
	int64_t unix_s = g_date_time_to_unix(time);
	g_date_time_unref(time);
	return unix_s;
}

// Consecutive times of a spec.
struct row {
	const char *spec, *zone, *from;
	const char *next[4];
};

static void assert_row(const struct row *row)
{
	struct cron_zone *zone = cron_zone_open(row->zone);
	struct cron cron;

	assert_non_null(zone);
	parse(&cron, row->spec);
	int64_t now = at(row->from);
	for (uint32_t i = 0; i < COUNT(row->next) && row->next[i]; i++) {
		int64_t expected = row->next[i][0] ? at(row->next[i]) : CRON_NEVER;
		int64_t next = cron_next(&cron, zone, now);
		if (next != expected)
			fail_msg("\"%s\" after %s, time %u: %ld, not %s", row->spec, row->from, i,
				(long)next, row->next[i]);
		now = next;
	}
	cron_zone_close(zone);
}

static const struct row rows[] = {
	{"* * * * * * *", "", "2012-12-31T23:59:59Z", {"2013-01-01T00:00:00Z"}},
	{"*/5 * * * * * *", "UTC", "2016-02-28T23:59:59Z", {"2016-02-29T00:00:00Z"}},
	{"* * * * *", "", "2013-02-28T23:59:59Z", {"2013-03-01T00:00:00Z", "2013-03-01T00:01:00Z"}},
	{"17-43/5 * * * *", "", "2013-01-01T00:30:00Z",
		{"2013-01-01T00:32:00Z", "2013-01-01T00:37:00Z", "2013-01-01T00:42:00Z",
			"2013-01-01T01:17:00Z"}},
	{"15-30/4,55 * * * *", "", "2012-12-31T23:27:00Z",
		{"2012-12-31T23:55:00Z", "2013-01-01T00:15:00Z"}},
	{"50/4 22 * * *", "", "2013-01-01T22:51:00Z",
		{"2013-01-01T22:54:00Z", "2013-01-01T22:58:00Z", "2013-01-02T22:50:00Z"}},
	{"0 0 * * MON", "", "2013-12-30T00:30:00Z", {"2014-01-06T00:00:00Z"}},
	{"0 0 * * friday", "", "2013-01-28T00:00:00Z", {"2013-02-01T00:00:00Z"}},
	{"0 0 * * 6,7", "", "2014-01-04T00:00:00Z", {"2014-01-05T00:00:00Z"}},
	{"0 0 * * 5-7", "", "2013-01-05T12:00:00Z",
		{"2013-01-06T00:00:00Z", "2013-01-11T00:00:00Z"}},
	{"0 0 * * fri-sun", "", "2013-01-05T12:00:00Z", {"2013-01-06T00:00:00Z"}},
	{"0 0 * * 7-1", "", "2013-01-08T12:00:00Z",
		{"2013-01-13T00:00:00Z", "2013-01-14T00:00:00Z"}},
	{"0 0 * * 7-7", "", "2013-01-08T12:00:00Z",
		{"2013-01-13T00:00:00Z", "2013-01-20T00:00:00Z"}},
	// Either the day or the day of the week, when both are restricted.
	{"0 0 13 * fri", "", "2013-09-01T00:00:00Z",
		{"2013-09-06T00:00:00Z", "2013-09-13T00:00:00Z", "2013-09-20T00:00:00Z"}},
	{"0 0 13 * ?", "", "2013-09-01T00:00:00Z",
		{"2013-09-13T00:00:00Z", "2013-10-13T00:00:00Z"}},
	{"0 0 31 * *", "", "2014-01-31T00:00:00Z",
		{"2014-03-31T00:00:00Z", "2014-05-31T00:00:00Z"}},
	{"0 0 29 2 *", "", "2013-08-29T09:28:00Z",
		{"2016-02-29T00:00:00Z", "2020-02-29T00:00:00Z"}},
	{"0 0 29 feb *", "", "2097-01-01T00:00:00Z", {""}}, // 2100 is no leap year
	{"0 0 * * 6#5", "", "2013-09-02T08:44:30Z",
		{"2013-11-30T00:00:00Z", "2014-03-29T00:00:00Z", "2014-05-31T00:00:00Z",
			"2014-08-30T00:00:00Z"}},
	{"0 0 * * thu#1", "", "2013-09-06T00:00:00Z", {"2013-10-03T00:00:00Z"}},
	{"0 0 * * 5L", "", "2013-09-02T00:00:00Z",
		{"2013-09-27T00:00:00Z", "2013-10-25T00:00:00Z"}},
	{"0 0 14W * *", "", "2013-03-31T00:00:00Z", {"2013-04-15T00:00:00Z"}},
	{"0 0 14W * *", "", "2013-08-31T00:00:00Z", {"2013-09-13T00:00:00Z"}},
	{"0 0 1w * *", "", "2013-05-31T00:00:00Z", {"2013-06-03T00:00:00Z"}},  // a Saturday
	{"0 0 30W * *", "", "2013-06-02T00:00:00Z", {"2013-06-28T00:00:00Z"}}, // a Sunday, the last
	{"0 0 L * *", "", "2016-02-15T00:00:00Z", {"2016-02-29T00:00:00Z", "2016-03-31T00:00:00Z"}},
	{"0 0 LW * *", "", "2013-11-02T00:00:00Z", {"2013-11-29T00:00:00Z"}},
	{"0 0 L-3 * *", "", "2015-02-01T00:00:00Z",
		{"2015-02-25T00:00:00Z", "2015-03-28T00:00:00Z"}},
	{"0 0 * 04 *", "", "2014-08-15T00:00:00Z", {"2015-04-01T00:00:00Z"}},
	{"0 0 1 Jan-mar/2 *", "", "2014-01-15T00:00:00Z",
		{"2014-03-01T00:00:00Z", "2015-01-01T00:00:00Z"}},
	{"@yearly", "", "2013-06-01T00:00:00Z", {"2014-01-01T00:00:00Z"}},
	{"@monthly", "", "2013-06-01T00:00:00Z", {"2013-07-01T00:00:00Z"}},
	{"@weekly", "", "2013-06-03T00:00:00Z", {"2013-06-09T00:00:00Z"}},
	{"@daily", "", "2013-06-03T00:00:00Z", {"2013-06-04T00:00:00Z"}},
	{"@hourly", "", "2013-06-03T00:00:01Z", {"2013-06-03T01:00:00Z"}},
	{"* * * * * 1980", "", "2013-06-03T00:00:01Z", {""}},
	{"30 4 * * * 2050", "", "2013-06-03T00:00:01Z", {"2050-01-01T04:30:00Z"}},
	{"0 0 1 1 * 2019,2021-2023/2", "", "2018-06-03T00:00:01Z",
		{"2019-01-01T00:00:00Z", "2021-01-01T00:00:00Z", "2023-01-01T00:00:00Z", ""}},
	{"0 0 30 2 *", "", "2013-06-03T00:00:01Z", {""}},
	{"0 0 1 1 *", "", "1931-06-03T00:00:01Z", {"1970-01-01T00:00:00Z"}},
	{"  0\t0 1 1 *  ", "", "2013-06-03T00:00:01Z", {"2014-01-01T00:00:00Z"}},
};

// Los Angeles: 2:00 to 3:00 is skipped on 10 March 2019, 1:00 to 2:00 repeated on 3 November. Lord Howe moves by
// half an hour, Sao Paulo moved at midnight, Kathmandu is 5:45 ahead.
static const struct row zone_rows[] = {
	{"0 2 * * * 2019", "America/Los_Angeles", "2019-02-07T01:00:00-08:00",
		{"2019-02-07T02:00:00-08:00", "2019-02-08T02:00:00-08:00"}},
	{"0 4 * * * 2019", "America/Los_Angeles", "2019-03-09T05:00:00-08:00",
		{"2019-03-10T04:00:00-07:00", "2019-03-11T04:00:00-07:00"}},
	{"2 2 * * * 2019", "America/Los_Angeles", "2019-03-09T01:00:00-08:00",
		{"2019-03-09T02:02:00-08:00", "2019-03-11T02:02:00-07:00"}},
	{"0 1 * * * 2019", "America/Los_Angeles", "2019-03-10T00:00:00-08:00",
		{"2019-03-10T01:00:00-08:00", "2019-03-11T01:00:00-07:00"}},
	{"30 1 * * * 2019", "America/Los_Angeles", "2019-11-03T00:00:00-07:00",
		{"2019-11-03T01:30:00-07:00", "2019-11-03T01:30:00-08:00",
			"2019-11-04T01:30:00-08:00"}},
	{"30 1 * * * 2019", "America/Los_Angeles", "2019-11-03T01:40:00-08:00",
		{"2019-11-04T01:30:00-08:00"}},
	{"0 2 * * * 2019", "America/Los_Angeles", "2019-11-03T00:00:00-07:00",
		{"2019-11-03T02:00:00-08:00", "2019-11-04T02:00:00-08:00"}},
	{"30 * * * * 2019", "America/Los_Angeles", "2019-11-03T00:00:00-07:00",
		{"2019-11-03T00:30:00-07:00", "2019-11-03T01:30:00-07:00",
			"2019-11-03T01:30:00-08:00", "2019-11-03T02:30:00-08:00"}},
	// The clock has no further time but the repeated hour.
	{"30 1 3 11 * 2019", "America/Los_Angeles", "2019-11-03T01:30:00-07:00",
		{"2019-11-03T01:30:00-08:00", ""}},
	{"31 1 * * * 2019", "Australia/Lord_Howe", "2019-04-06T12:00:00+11:00",
		{"2019-04-07T01:31:00+11:00", "2019-04-07T01:31:00+10:30",
			"2019-04-08T01:31:00+10:30"}},
	{"3 2 * * * 2019", "Australia/Lord_Howe", "2019-10-05T00:00:00+10:30",
		{"2019-10-05T02:03:00+10:30", "2019-10-07T02:03:00+11:00"}},
	{"0 0 * * * 2018", "America/Sao_Paulo", "2018-11-03T01:00:00-03:00",
		{"2018-11-05T00:00:00-02:00"}},
	{"0 12 * * *", "Asia/Kathmandu", "2020-05-05T12:00:00Z", {"2020-05-06T06:15:00Z"}},
	// The zone's rule goes on for decades.
	{"0 12 1 * * 2060", "Europe/Berlin", "2060-06-15T00:00:00Z",
		{"2060-07-01T12:00:00+02:00", "2060-08-01T12:00:00+02:00"}},
	{"0 12 1 1 * 2061", "Europe/Berlin", "2060-06-15T00:00:00Z", {"2061-01-01T12:00:00+01:00"}},
	{"30 2 * * * 2099", "Europe/Berlin", "2019-10-27T00:29:59Z", {"2099-01-01T02:30:00+01:00"}},
	{"30 2 27,28 10 * 2019,2069", "Europe/Berlin", "2019-10-27T02:29:00+02:00",
		{"2019-10-27T02:30:00+02:00", "2019-10-27T02:30:00+01:00",
			"2019-10-28T02:30:00+01:00", "2069-10-27T02:30:00+02:00"}},
};

static void next_times(void **state)
{
	for (uint32_t i = 0; i < COUNT(rows); i++)
		assert_row(&rows[i]);
}

static void next_times_in_zones(void **state)
{
	for (uint32_t i = 0; i < COUNT(zone_rows); i++)
		assert_row(&zone_rows[i]);
}

static void refusals(void **state)
{
	static const struct {
		const char *spec, *why;
	} bad[] = {
		{"", "it has 0 fields"},
		{"* * * *", "it has 4 fields"},
		{"* * * * * * * *", "it has 8 fields"},
		{"@reboot", "it has 1 fields"},
		{"@hourly *", "it has 2 fields"},
		{"60 * * * *", "\"60\" in the field for the minute is no value"},
		{"-1 * * * *", "field for the minute is no range"},
		{"* 24 * * *", "\"24\" in the field for the hour is no value"},
		{"* * 0 * *", "field for the day of the month is no value"},
		{"* * 32 * *", "field for the day of the month is no value"},
		{"* * * 13 *", "field for the month is no value"},
		{"* * * janu *", "field for the month is no value"},
		{"* * * * 8", "field for the day of the week is no value"},
		{"* * * * * 1969", "field for the year is no value"},
		{"* * * * * 2100", "field for the year is no value"},
		{"60 * * * * * *", "field for the second is no value"},
		{"60/5 * * * *", "\"60/5\" in the field for the minute is no value"},
		{"20-10 * * * *", "\"20-10\" in the field for the minute begins after its end"},
		{"* * * * sat-mon", "begins after its end"},
		{"*/0 * * * *", "has no step"},
		{"*/60 * * * *", "has no step"},
		{"2-20/61 * * * *", "has no step"},
		{"2/ * * * *", "has no step"},
		{"1,,2 * * * *", "\"\" in the field for the minute is empty"},
		{"1, * * * *", "is empty"},
		{"L * * * *", "is no value"},
		{"* * w * *", "is no value"},
		{"* * L-31 * *", "is no range"},
		{"* * * * 5#6", "is no value"},
		{"* * * * #1", "is no value"},
		{"* * * * 00001", "is no value"},
		{"99999999999 * * * *", "is no value"},
	};
	struct cron cron;
	char mistake[160];

	for (uint32_t i = 0; i < COUNT(bad); i++) {
		if (cron_parse(&cron, text_of(bad[i].spec), mistake, sizeof mistake))
			fail_msg("\"%s\" was taken", bad[i].spec);
		if (!strstr(mistake, bad[i].why))
			fail_msg("\"%s\": %s", bad[i].spec, mistake);
	}
}

static void zones(void **state)
{
	static const char *const known[] = {"", "UTC", "Local", "Europe/Berlin", "Etc/GMT+5"};
	static const char *const unknown[] = {"Europe/Atlantis", "/etc/passwd", "../../etc/passwd",
		"Europe/../UTC", "europe berlin", ":UTC", "+02"};

	for (uint32_t i = 0; i < COUNT(known); i++) {
		struct cron_zone *zone = cron_zone_open(known[i]);
		if (!zone)
			fail_msg("\"%s\" is unknown", known[i]);
		cron_zone_close(zone);
	}
	for (uint32_t i = 0; i < COUNT(unknown); i++)
		if (cron_zone_open(unknown[i]))
			fail_msg("\"%s\" is known", unknown[i]);
}

static void first_of_several(void **state)
{
	struct periodic_config config = {.enabled = true, .time_zone = (char[]){"Europe/Berlin"}};
	char *specs[] = {(char[]){"0 4 * * *"}, (char[]){"30 2 * * *"}};
	config.specs = (struct array){specs, 2};
	struct launch_times *times = launch_times_create(&config);

	int64_t now_ns = at("2023-06-01T00:00:00Z") * 1000000000 + 5;
	now_ns = launch_times_next(times, now_ns);
	assert_int_equal(now_ns, at("2023-06-01T00:30:00Z") * 1000000000);
	now_ns = launch_times_next(times, now_ns);
	assert_int_equal(now_ns, at("2023-06-01T02:00:00Z") * 1000000000);
	launch_times_free(times);

	specs[1] = (char[]){"30 2 * *"};
	assert_null(launch_times_create(&config));
	config =
		(struct periodic_config){.spec = (char[]){"@yearly"}, .time_zone = (char[]){"X/Y"}};
	assert_null(launch_times_create(&config));
}

static int month_length(int year, int month)
{
	return g_date_get_days_in_month((GDateMonth)month, (GDateYear)year);
}

static int week_day(int year, int month, int day) // 0 is Sunday
{
	GDate date;
	g_date_clear(&date, 1);
	g_date_set_dmy(&date, (GDateDay)day, (GDateMonth)month, (GDateYear)year);
	return g_date_get_weekday(&date) % 7;
}

static int model_workday(int year, int month, int day)
{
	for (int away = 0;; away++) {
		for (int sign = -1; sign <= 1; sign += 2) {
			int at_day = day + sign * away;
			if (at_day < 1 || at_day > month_length(year, month))
				continue;
			int w = week_day(year, month, at_day);
			if (w != 0 && w != 6)
				return at_day;
		}
	}
}

static bool model_day(const struct cron *c, int year, int month, int day)
{
	int w = week_day(year, month, day), length = month_length(year, month);
	bool by_day = c->days >> day & 1, by_week_day = c->week_days >> w & 1;

	for (int other = 1; other <= length; other++)
		if (c->workdays >> other & 1 && model_workday(year, month, other) == day)
			by_day = true;
	by_day |= c->days_from_last >> (length - day) & 1;
	by_day |= c->last_workday && model_workday(year, month, length) == day;
	by_week_day |= c->nth_week_days[(day - 1) / 7] >> w & 1;
	by_week_day |= day > length - 7 && c->last_week_days >> w & 1;
	if (c->any_day && c->any_week_day)
		return true;
	return (!c->any_day && by_day) || (!c->any_week_day && by_week_day);
}

static bool model_matches(const struct cron *c, GTimeZone *zone, int64_t unix_s)
{
	GDateTime *utc = g_date_time_new_from_unix_utc(unix_s);
	GDateTime *local = g_date_time_to_timezone(utc, zone);
	int year, month, day;

	g_date_time_get_ymd(local, &year, &month, &day);
	bool is_match = c->minutes >> g_date_time_get_minute(local) & 1 &&
			c->hours >> g_date_time_get_hour(local) & 1 && c->months >> month & 1 &&
			model_day(c, year, month, day);
	g_date_time_unref(local);
	g_date_time_unref(utc);
	return is_match;
}

#define MODEL_STEPS 700 // the model looks this many steps ahead

static void write_set(struct prng *prng, char *out, size_t bytes, int least, int most)
{
	int a = least + (int)prng_below(prng, (uint64_t)(most - least + 1));
	int b = a + (int)prng_below(prng, (uint64_t)(most - a + 1));
	int step = 1 + (int)prng_below(prng, (uint64_t)most);

	switch (prng_below(prng, 5)) {
	case 0: snprintf(out, bytes, "%d", a); break;
	case 1: snprintf(out, bytes, "%d-%d", a, b); break;
	case 2: snprintf(out, bytes, "%d,%d", b, a); break;
	case 3: snprintf(out, bytes, "%d/%d", a, step); break;
	default: snprintf(out, bytes, "*"); break;
	}
}

static void write_spec(struct prng *prng, char *out, size_t bytes, const char *minutes)
{
	static const char *const days[] = {"L", "LW", "15W", "1W", "31W", "L-2", "*", "*"};
	static const char *const week_days[] = {"5L", "2#2", "6#5", "sun", "0L,3", "*", "*", "*"};
	char hours[32], day[32], month[32], week_day_set[32];

	write_set(prng, hours, sizeof hours, 0, 23);
	write_set(prng, day, sizeof day, 1, 31);
	write_set(prng, month, sizeof month, 1, 12);
	write_set(prng, week_day_set, sizeof week_day_set, 0, 6);
	snprintf(out, bytes, "%s %s %s %s %s", minutes, hours,
		prng_below(prng, 2) ? days[prng_below(prng, COUNT(days))] : day, month,
		prng_below(prng, 2) ? week_days[prng_below(prng, COUNT(week_days))] : week_day_set);
}

// Steps through time like the model, and asks for the next time at the beginning and after each match. Returns the
// number of matches.
static uint32_t assert_as_model(
	const char *spec, const char *zone_name, int64_t from, int64_t step_s)
{
	struct cron_zone *zone = cron_zone_open(zone_name);
	GTimeZone *model_zone = g_time_zone_new_identifier(zone_name);
	struct cron cron;
	uint32_t matches = 0;

	parse(&cron, spec);
	int64_t next = cron_next(&cron, zone, from);
	for (int64_t now = from + step_s; now <= from + MODEL_STEPS * step_s; now += step_s) {
		bool is_match = model_matches(&cron, model_zone, now);
		if (is_match != (next == now) || next < now)
			fail_msg("\"%s\" in %s: at %ld %s, next is %ld", spec, zone_name, (long)now,
				is_match ? "is meant" : "is not meant", (long)next);
		matches += is_match;
		if (is_match)
			next = cron_next(&cron, zone, now);
	}
	g_time_zone_unref(model_zone);
	cron_zone_close(zone);
	return matches;
}

static void as_a_clock_would(void **state)
{
	static const char *const zone_names[] = {"UTC", "America/Los_Angeles",
		"Australia/Lord_Howe", "America/Sao_Paulo", "Europe/Berlin", "Asia/Kathmandu"};
	static const char *const around[] = {"2019-03-09T20:00:00Z", "2019-11-02T20:00:00Z",
		"2018-11-03T12:00:00Z", "2019-04-06T08:00:00Z", "2019-10-05T08:00:00Z",
		"2023-02-26T00:00:00Z", "2024-02-26T00:00:00Z", "2024-12-30T00:00:00Z"};
	struct prng prng;
	uint32_t matches = 0;
	char spec[192], minutes[32];

	prng_seed(&prng, 7);
	for (uint32_t i = 0; i < 300; i++) {
		const char *zone = zone_names[prng_below(&prng, COUNT(zone_names))];
		int64_t from = at(around[prng_below(&prng, COUNT(around))]);
		// Every minute of half a day, and every half hour of two weeks.
		write_set(&prng, minutes, sizeof minutes, 0, 59);
		write_spec(&prng, spec, sizeof spec, minutes);
		matches += assert_as_model(spec, zone, from, 60);
		write_spec(&prng, spec, sizeof spec, "0,30");
		matches += assert_as_model(spec, "UTC", from, 1800);
		matches += assert_as_model(spec, "Europe/Berlin", from, 1800);
	}
	assert_true(matches > 10000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(next_times),
		cmocka_unit_test(next_times_in_zones),
		cmocka_unit_test(refusals),
		cmocka_unit_test(zones),
		cmocka_unit_test(first_of_several),
		cmocka_unit_test(as_a_clock_would),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
