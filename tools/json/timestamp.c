#include "tools/json/timestamp.h"
#include "state/base/time_units.h"
#include <ctype.h>
#include <string.h>
#include <time.h>

// Takes exactly this many digits; their number must be within bounds.
static bool take_number(const char **at, int digits, int least, int most, int *number)
{
	*number = 0;
	for (int i = 0; i < digits; i++) {
		if (!isdigit((unsigned char)**at))
			return false;
		*number = *number * 10 + (*(*at)++ - '0');
	}
	return *number >= least && *number <= most;
}

static bool take_one(const char **at, char wanted)
{
	if (**at != wanted)
		return false;
	(*at)++;
	return true;
}

static bool take_date(const char **at, struct tm *utc)
{
	// Years whose nanoseconds fit 64 bits.
	return take_number(at, 4, 1678, 2261, &utc->tm_year) && take_one(at, '-') &&
	       take_number(at, 2, 1, 12, &utc->tm_mon) && take_one(at, '-') &&
	       take_number(at, 2, 1, 31, &utc->tm_mday);
}

static bool take_clock(const char **at, struct tm *utc)
{
	return take_number(at, 2, 0, 23, &utc->tm_hour) && take_one(at, ':') &&
	       take_number(at, 2, 0, 59, &utc->tm_min) && take_one(at, ':') &&
	       take_number(at, 2, 0, 59, &utc->tm_sec);
}

// Digits after the first nine are less than a nanosecond.
static bool take_fraction(const char **at, int64_t *ns)
{
	*ns = 0;
	if (!take_one(at, '.'))
		return true;
	if (!isdigit((unsigned char)**at))
		return false;
	for (int64_t unit = NS_PER_S / 10; isdigit((unsigned char)**at); unit /= 10)
		*ns += unit * (*(*at)++ - '0');
	return true;
}

static bool take_zone(const char **at, int *seconds)
{
	int sign = **at == '-' ? -1 : 1, hours, minutes;

	*seconds = 0;
	if (take_one(at, 'Z'))
		return true;
	if (!take_one(at, '+') && !take_one(at, '-'))
		return false;
	if (!take_number(at, 2, 0, 23, &hours) || !take_one(at, ':') ||
		!take_number(at, 2, 0, 59, &minutes))
		return false;
	*seconds = sign * (hours * 3600 + minutes * 60);
	return true;
}

bool timestamp_parse(const char *text, int64_t *unix_ns)
{
	struct tm utc = {0};
	int64_t ns;
	int offset_s;

	if (strcmp(text, TIMESTAMP_NEVER) == 0) {
		*unix_ns = 0;
		return true;
	}
	if (!take_date(&text, &utc) || !take_one(&text, 'T') || !take_clock(&text, &utc) ||
		!take_fraction(&text, &ns) || !take_zone(&text, &offset_s) || *text)
		return false;
	utc.tm_year -= 1900;
	utc.tm_mon -= 1;
	int day = utc.tm_mday;
	int64_t seconds = timegm(&utc);
	if (utc.tm_mday != day) // the month has no such day
		return false;
	*unix_ns = (seconds - offset_s) * NS_PER_S + ns;
	return true;
}
