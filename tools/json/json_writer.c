#include "tools/json/json_writer.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include "state/base/time_units.h"
#include "tools/json/timestamp.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define JSON_FIRST_BYTES 512u
#define JSON_INDENT_BLANKS 4u

static char *room(struct json_writer *w, size_t bytes)
{
	if (w->size + bytes + 1 > w->capacity) {
		size_t capacity = w->capacity ? w->capacity * 2 : JSON_FIRST_BYTES;
		while (capacity < w->size + bytes + 1)
			capacity *= 2;
		w->data = memory_resize(w->data, capacity);
		w->capacity = capacity;
	}
	return w->data + w->size;
}

static void put_bytes(struct json_writer *w, const char *data, size_t size)
{
	memcpy(room(w, size), data, size);
	w->size += size;
}

static void put_char(struct json_writer *w, char c)
{
	*room(w, 1) = c;
	w->size++;
}

static void break_line(struct json_writer *w)
{
	if (!w->pretty)
		return;
	size_t blanks = (size_t)w->depth * JSON_INDENT_BLANKS;
	char *at = room(w, blanks + 1);
	*at = '\n';
	memset(at + 1, ' ', blanks);
	w->size += blanks + 1;
}

static void begin_value(struct json_writer *w)
{
	if (w->after_key) {
		w->after_key = false;
		return;
	}
	if (w->separated)
		put_char(w, ',');
	if (w->depth)
		break_line(w);
}

static void scalar(struct json_writer *w, const char *data, size_t size)
{
	if (w->is_mute)
		return;
	begin_value(w);
	put_bytes(w, data, size);
	w->separated = true;
}

static void begin_nesting(struct json_writer *w, char bracket)
{
	if (!w->is_mute) {
		begin_value(w);
		put_char(w, bracket);
		w->separated = false;
	}
	w->depth++;
}

static void end_nesting(struct json_writer *w, char bracket)
{
	CHECK(w->depth > 0);
	w->depth--;
	w->is_mute &= w->depth > 0;
	if (w->is_mute)
		return;
	if (w->separated)
		break_line(w);
	put_char(w, bracket);
	w->separated = true;
}

void json_writer_free(struct json_writer *w)
{
	free(w->data);
	*w = (struct json_writer){0};
}

void json_writer_clear(struct json_writer *w)
{
	w->size = 0;
}

void json_writer_restart(struct json_writer *w)
{
	*w = (struct json_writer){.data = w->data,
		.capacity = w->capacity,
		.pretty = w->pretty,
		.wants = w->wants,
		.wants_context = w->wants_context};
}

char *json_writer_take(struct json_writer *w)
{
	*room(w, 0) = '\0';
	char *data = w->data;
	*w = (struct json_writer){.pretty = w->pretty};
	return data;
}

void json_begin_object(struct json_writer *w)
{
	begin_nesting(w, '{');
}

void json_end_object(struct json_writer *w)
{
	end_nesting(w, '}');
}

void json_begin_array(struct json_writer *w)
{
	begin_nesting(w, '[');
}

void json_end_array(struct json_writer *w)
{
	end_nesting(w, ']');
}

void json_write_null(struct json_writer *w)
{
	scalar(w, "null", 4);
}

void json_write_bool(struct json_writer *w, bool value)
{
	scalar(w, value ? "true" : "false", value ? 4 : 5);
}

// Writes the digits of value backwards from the end of a buffer; returns the first.
static char *digits_before(char *end, uint64_t value)
{
	do {
		*--end = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	return end;
}

void json_write_i64(struct json_writer *w, int64_t value)
{
	char text[24], *end = text + sizeof text;
	char *first = digits_before(end, value < 0 ? -(uint64_t)value : (uint64_t)value);
	if (value < 0)
		*--first = '-';
	scalar(w, first, (size_t)(end - first));
}

void json_write_u64(struct json_writer *w, uint64_t value)
{
	char text[24], *end = text + sizeof text;
	char *first = digits_before(end, value);
	scalar(w, first, (size_t)(end - first));
}

void json_write_f64(struct json_writer *w, double value)
{
	if (!isfinite(value) || w->is_mute) {
		json_write_null(w);
		return;
	}
	// The shorter of the two forms that reads back as the same number.
	char text[40];
	int size = snprintf(text, sizeof text, "%.15g", value);
	if (strtod(text, NULL) != value)
		size = snprintf(text, sizeof text, "%.17g", value);
	scalar(w, text, (size_t)size);
}

// Bytes that a JSON string need not escape.
static bool is_plain(unsigned char c)
{
	return c >= 0x20 && c < 0x80 && c != '"' && c != '\\';
}

static void put_escape(struct json_writer *w, unsigned char c)
{
	static const char shorts[] = "b\bf\fn\nr\rt\t\"\"\\\\";
	for (const char *s = shorts; *s; s += 2)
		if ((unsigned char)s[1] == c) {
			char pair[2] = {'\\', s[0]};
			put_bytes(w, pair, 2);
			return;
		}
	char text[8];
	put_bytes(w, text, (size_t)snprintf(text, sizeof text, "\\u%04x", c));
}

// Whether none of the eight bytes has to be escaped, or needs a closer look.
static bool are_plain(uint64_t bytes)
{
	const uint64_t ones = 0x0101010101010101u, tops = ones << 7;
	uint64_t quotes = bytes ^ (ones * '"'), backslashes = bytes ^ (ones * '\\');
	uint64_t odd = bytes | ((bytes - ones * 0x20) & ~bytes) | ((quotes - ones) & ~quotes) |
		       ((backslashes - ones) & ~backslashes);
	return (odd & tops) == 0;
}

// Copies bytes up to the first one that is not plain. Returns how many.
static uint32_t copy_plain(char *to, const char *from, uint32_t size)
{
	uint32_t i = 0;
	for (uint64_t bytes; i + 8 <= size; i += 8) {
		memcpy(&bytes, from + i, 8);
		if (!are_plain(bytes))
			break;
		memcpy(to + i, &bytes, 8);
	}
	for (; i < size && is_plain((unsigned char)from[i]); i++)
		to[i] = from[i];
	return i;
}

// Writes the first character, which is not plain. Returns its bytes.
static uint32_t put_odd(struct json_writer *w, struct text t)
{
	if ((unsigned char)t.data[0] < 0x80) {
		put_escape(w, (unsigned char)t.data[0]);
		return 1;
	}
	uint32_t bytes = text_utf8_bytes(t);
	put_bytes(w, bytes ? t.data : "\xef\xbf\xbd", bytes ? bytes : 3);
	return bytes ? bytes : 1;
}

static void put_quoted(struct json_writer *w, struct text t)
{
	char *at = room(w, (size_t)t.size + 2);
	*at = '"';
	uint32_t run = copy_plain(at + 1, t.data, t.size);
	w->size += 1 + run;
	while (run < t.size) {
		t = (struct text){t.data + run, t.size - run};
		uint32_t odd = put_odd(w, t);
		t = (struct text){t.data + odd, t.size - odd};
		run = copy_plain(room(w, t.size), t.data, t.size);
		w->size += run;
	}
	put_char(w, '"');
}

// False: the key and its value are left out.
static bool wants_key(struct json_writer *w, const char *name, size_t size)
{
	if (w->wants && w->depth == 1)
		w->is_mute = !w->wants(w->wants_context, name, size);
	return !w->is_mute;
}

void json_write_any_key(struct json_writer *w, const char *name)
{
	struct text text = text_of(name);
	if (!wants_key(w, text.data, text.size))
		return;
	begin_value(w);
	put_quoted(w, text);
	put_bytes(w, ": ", w->pretty ? 2 : 1);
	w->after_key = true;
	w->separated = true;
}

void json_write_plain_key(struct json_writer *w, const char *name, size_t size)
{
	if (w->pretty) {
		json_write_any_key(w, name);
		return;
	}
	if (!wants_key(w, name, size))
		return;
	char *begin = room(w, size + 4), *at = begin;
	if (w->separated)
		*at++ = ',';
	*at++ = '"';
	memcpy(at, name, size);
	at += size;
	*at++ = '"';
	*at++ = ':';
	w->size += (size_t)(at - begin);
	w->after_key = true;
	w->separated = true;
}

void json_write_text(struct json_writer *w, struct text t)
{
	if (w->is_mute)
		return;
	begin_value(w);
	put_quoted(w, t);
	w->separated = true;
}

void json_write_string(struct json_writer *w, const char *value)
{
	json_write_text(w, text_of(value));
}

void json_write_uuid(struct json_writer *w, const struct uuid *id)
{
	char text[UUID_TEXT_BYTES + 2] = "\"\"";
	bool is_zero = uuid_is_zero(id);
	if (!is_zero)
		uuid_format(id, text + 1);
	text[UUID_TEXT_BYTES] = '"';
	scalar(w, text, is_zero ? 2 : UUID_TEXT_BYTES + 1);
}

static void write_distant_time(struct json_writer *w, int64_t seconds, int64_t ns)
{
	time_t when = (time_t)seconds;
	struct tm utc;
	if (!gmtime_r(&when, &utc)) {
		json_write_string(w, TIMESTAMP_NEVER);
		return;
	}
	char text[64];
	size_t size = strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &utc);
	if (ns)
		size += (size_t)snprintf(text + size, sizeof text - size, ".%09d", (int)ns);
	snprintf(text + size, sizeof text - size, "Z");
	json_write_string(w, text);
}

// The first second of the year 10000: times from 1970 on and before it have four digits of a year.
#define FOUR_DIGITS_S 253402300800

static char *put_digits(char *at, uint32_t value, uint32_t digits, char after)
{
	for (uint32_t i = digits; i-- > 0; value /= 10)
		at[i] = (char)('0' + value % 10);
	at[digits] = after;
	return at + digits + 1;
}

// Writes the date of a day since 1970. A year begins with March here, so that the odd day comes last.
static char *put_date(char *at, uint32_t day)
{
	day += 719468; // since the year 0
	uint32_t era = day / 146097, of_era = day % 146097;
	uint32_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
	uint32_t of_year = of_era - (365 * year + year / 4 - year / 100);
	uint32_t month = (5 * of_year + 2) / 153;
	at = put_digits(at, era * 400 + year + (month >= 10), 4, '-');
	at = put_digits(at, month < 10 ? month + 3 : month - 9, 2, '-');
	return put_digits(at, of_year - (153 * month + 2) / 5 + 1, 2, 'T');
}

static char *put_time_of_day(char *at, uint32_t second)
{
	at = put_digits(at, second / 3600, 2, ':');
	at = put_digits(at, second / 60 % 60, 2, ':');
	return put_digits(at, second % 60, 2, 'Z');
}

void json_write_time(struct json_writer *w, int64_t unix_ns)
{
	int64_t seconds = unix_ns / NS_PER_S, ns = unix_ns % NS_PER_S;
	if (ns < 0) {
		ns += NS_PER_S;
		seconds--;
	}
	if (seconds < 0 || seconds >= FOUR_DIGITS_S) {
		write_distant_time(w, seconds, ns);
		return;
	}
	char text[48] = "\"", *at = put_date(text + 1, (uint32_t)(seconds / 86400));
	at = put_time_of_day(at, (uint32_t)(seconds % 86400));
	if (ns) {
		at[-1] = '.';
		at = put_digits(at, (uint32_t)ns, 9, 'Z');
	}
	*at++ = '"';
	scalar(w, text, (size_t)(at - text));
}

void json_write_raw(struct json_writer *w, struct text t)
{
	scalar(w, t.data, t.size);
}

void json_write_plain(struct json_writer *w, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	int size = vsnprintf(NULL, 0, format, arguments);
	va_end(arguments);
	CHECK(size >= 0);
	char *at = room(w, (size_t)size);
	va_start(arguments, format);
	vsnprintf(at, (size_t)size + 1, format, arguments);
	va_end(arguments);
	w->size += (size_t)size;
}
