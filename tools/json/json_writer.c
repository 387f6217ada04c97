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
	begin_value(w);
	put_bytes(w, data, size);
	w->separated = true;
}

static void begin_nesting(struct json_writer *w, char bracket)
{
	begin_value(w);
	put_char(w, bracket);
	w->depth++;
	w->separated = false;
}

static void end_nesting(struct json_writer *w, char bracket)
{
	CHECK(w->depth > 0);
	w->depth--;
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
	*w = (struct json_writer){.data = w->data, .capacity = w->capacity, .pretty = w->pretty};
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
	if (!isfinite(value)) {
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

static void put_quoted(struct json_writer *w, struct text t)
{
	put_char(w, '"');
	while (t.size) {
		uint32_t run = 0;
		while (run < t.size && is_plain((unsigned char)t.data[run]))
			run++;
		put_bytes(w, t.data, run);
		t.data += run;
		t.size -= run;
		if (!t.size)
			break;
		uint32_t bytes = 1;
		if ((unsigned char)t.data[0] < 0x80) {
			put_escape(w, (unsigned char)t.data[0]);
		} else {
			bytes = text_utf8_bytes(t);
			put_bytes(w, bytes ? t.data : "\xef\xbf\xbd", bytes ? bytes : 3);
			bytes = bytes ? bytes : 1;
		}
		t.data += bytes;
		t.size -= bytes;
	}
	put_char(w, '"');
}

void json_write_key(struct json_writer *w, const char *name)
{
	begin_value(w);
	put_quoted(w, text_of(name));
	put_bytes(w, ": ", w->pretty ? 2 : 1);
	w->after_key = true;
	w->separated = true;
}

void json_write_text(struct json_writer *w, struct text t)
{
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
	char text[UUID_TEXT_BYTES] = "";
	if (!uuid_is_zero(id))
		uuid_format(id, text);
	json_write_string(w, text);
}

void json_write_time(struct json_writer *w, int64_t unix_ns)
{
	int64_t seconds = unix_ns / NS_PER_S, ns = unix_ns % NS_PER_S;
	if (ns < 0) {
		ns += NS_PER_S;
		seconds--;
	}
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
