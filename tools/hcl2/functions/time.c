// Functions of times, which are RFC 3339 texts.
#include "tools/hcl2/functions/functions.h"
#include "tools/json/duration.h"
#include <glib.h>
#include <stdio.h>
#include <stdlib.h>

struct moment {
	GDateTime *time;
	int offset_s; // east of Greenwich
};

// Digits where the pattern has a zero, else the character itself.
static bool matches(const char *text, const char *pattern)
{
	for (; *pattern; pattern++, text++)
		if (*pattern == '0' ? !g_ascii_isdigit(*text) : *text != *pattern)
			return false;
	return true;
}

static int two_digits(const char *text)
{
	return (text[0] - '0') * 10 + text[1] - '0';
}

static bool read_offset(const char *text, int *offset_s)
{
	*offset_s = 0;
	if (strcmp(text, "Z") == 0)
		return true;
	if (!matches(text, "+00:00") && !matches(text, "-00:00"))
		return false;
	int hours = two_digits(text + 1), minutes = two_digits(text + 4);
	*offset_s = (hours * 3600 + minutes * 60) * (*text == '-' ? -1 : 1);
	return !text[6] && hours < 24 && minutes < 60;
}

// Caller frees the time. False when the text is none.
static bool read_moment(struct call *call, uint32_t argument, struct moment *moment)
{
	const char *text = hcl2_copy(call->run, call_text(call, argument)).data, *rest;
	char *end;
	double seconds = 0;
	if (matches(text, "0000-00-00T00:00:00")) {
		seconds = g_ascii_strtod(text + 17, &end);
		rest = text[19] == '.' && g_ascii_isdigit(text[20]) ? end : text + 19;
		GTimeZone *zone = g_time_zone_new_utc();
		moment->time =
			read_offset(rest, &moment->offset_s)
				? g_date_time_new(zone,
					  two_digits(text) * 100 + two_digits(text + 2),
					  two_digits(text + 5), two_digits(text + 8),
					  two_digits(text + 11), two_digits(text + 14), seconds)
				: NULL;
		g_time_zone_unref(zone);
		if (moment->time)
			return true;
	}
	call_wrong(call, (int)argument, "%.40s is no time as in 2024-01-31T12:00:00Z", text);
	return false;
}

static const struct hcl2_value *fn_timeadd(struct call *call)
{
	struct moment moment;
	int64_t ns;
	char offset[24] = "Z";
	if (!duration_parse(hcl2_copy(call->run, call_text(call, 1)).data, &ns))
		return call_failed(call, "the second argument is no duration");
	if (!read_moment(call, 0, &moment)) {
		call->wrong = -1;
		return NULL;
	}
	GDateTime *later = g_date_time_add(moment.time, ns / 1000);
	g_date_time_unref(moment.time);
	if (!later)
		return call_failed(call, "the time is too far away");
	int minutes = abs(moment.offset_s) / 60;
	if (minutes)
		snprintf(offset, sizeof offset, "%c%02d:%02d", moment.offset_s < 0 ? '-' : '+',
			minutes / 60, minutes % 60);
	char *text = hcl2_print(call->run, "%04d-%02d-%02dT%02d:%02d:%02d%s",
		g_date_time_get_year(later), g_date_time_get_month(later),
		g_date_time_get_day_of_month(later), g_date_time_get_hour(later),
		g_date_time_get_minute(later), g_date_time_get_second(later), offset);
	g_date_time_unref(later);
	return value_of_string(call->run, text);
}

static const char *const months[] = {"January", "February", "March", "April", "May", "June", "July",
	"August", "September", "October", "November", "December"};
static const char *const days[] = {
	"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"};

static bool write_digits(struct writer *w, int number, uint32_t size)
{
	write_string(w, hcl2_print(w->run, size == 2 ? "%02d" : "%d", number));
	return size <= 2;
}

// The first three letters of a name, or all.
static bool write_name(struct writer *w, const char *name, uint32_t size)
{
	write_text(w, (struct text){name, size == 3 ? 3 : (uint32_t)strlen(name)});
	return size == 3 || size == 4;
}

static bool write_year(struct writer *w, int year, uint32_t size)
{
	write_string(w, size == 2 ? hcl2_print(w->run, "%02d", year % 100)
				  : hcl2_print(w->run, "%04d", year));
	return size == 2 || size == 4;
}

static bool write_half(struct writer *w, int hour, bool large, uint32_t size)
{
	write_string(w, hour < 12 ? large ? "AM" : "am" : large ? "PM" : "pm");
	return size == 2;
}

static bool write_zone(struct writer *w, int offset_s, uint32_t size)
{
	int minutes = abs(offset_s) / 60;
	char sign = offset_s < 0 ? '-' : '+';
	bool colon = size == 1 || size == 5;
	if (size == 2 || size > 5)
		return false;
	if (offset_s == 0 && size < 4)
		write_string(w, size == 1 ? "Z" : "UTC");
	else
		write_string(w, hcl2_print(w->run, "%c%02d%s%02d", sign, minutes / 60,
					colon ? ":" : "", minutes % 60));
	return true;
}

// A letter, written so many times. False when there is no such form.
static bool write_form(struct writer *w, const struct moment *m, char letter, uint32_t size)
{
	int hour = g_date_time_get_hour(m->time);
	int month = g_date_time_get_month(m->time);
	switch (letter) {
	case 'Y': return write_year(w, g_date_time_get_year(m->time), size);
	case 'M':
		return size > 2 ? write_name(w, months[month - 1], size)
				: write_digits(w, month, size);
	case 'D': return write_digits(w, g_date_time_get_day_of_month(m->time), size);
	case 'E': return write_name(w, days[g_date_time_get_day_of_week(m->time) - 1], size);
	case 'h': return write_digits(w, hour, size);
	case 'H': return write_digits(w, hour % 12 ? hour % 12 : 12, size);
	case 'A':
	case 'a': return write_half(w, hour, letter == 'A', size);
	case 'm': return write_digits(w, g_date_time_get_minute(m->time), size);
	case 's': return write_digits(w, g_date_time_get_second(m->time), size);
	case 'Z': return write_zone(w, m->offset_s, size);
	default: return false;
	}
}

// What stands in single quotes, from the first one on. Its bytes; 0: there is no end.
static uint32_t write_literal(struct writer *w, struct text rest)
{
	if (rest.size > 1 && rest.data[1] == '\'') {
		write_char(w, '\'');
		return 2;
	}
	for (uint32_t i = 1; i < rest.size; i++) {
		if (rest.data[i] != '\'') {
			write_char(w, rest.data[i]);
		} else if (i + 1 < rest.size && rest.data[i + 1] == '\'') {
			write_char(w, '\'');
			i++;
		} else {
			return i + 1;
		}
	}
	return 0;
}

static bool write_date(struct call *call, struct writer *w, const struct moment *moment)
{
	struct text rest = call_text(call, 0);
	for (uint32_t size; rest.size; rest.data += size, rest.size -= size) {
		size = 1;
		if (*rest.data == '\'') {
			size = write_literal(w, rest);
			if (!size) {
				call_wrong(call, 0, "a single quote has no end");
				return false;
			}
		} else if (!g_ascii_isalpha(*rest.data)) {
			write_char(w, *rest.data);
		} else {
			while (size < rest.size && rest.data[size] == *rest.data)
				size++;
			if (!write_form(w, moment, *rest.data, size)) {
				call_wrong(call, 0, "%.*s is no form of a date",
					(int)(size < 40 ? size : 40), rest.data);
				return false;
			}
		}
	}
	return true;
}

static const struct hcl2_value *fn_formatdate(struct call *call)
{
	struct writer w = {.run = call->run};
	struct moment moment;
	if (!read_moment(call, 1, &moment))
		return NULL;
	bool fine = write_date(call, &w, &moment);
	g_date_time_unref(moment.time);
	return fine ? call_written(call, &w) : NULL;
}

const struct function time_functions[] = {
	{"formatdate", "ss", fn_formatdate},
	{"timeadd", "ss", fn_timeadd},
	{0},
};
