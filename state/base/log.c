#include "state/base/log.h"
#include "state/base/check.h"
#include "state/base/text.h"
#include "state/base/time_source.h"
#include "state/base/time_units.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

// Lines per call site and second.
#define SITE_LINES_MAX 5u

static int least_level = LOG_INFO;
static int least_followed = LOG_ERROR + 1;
static void (*follower)(const struct log_note *);
static bool write_json, to_journal;

static const char *const level_names[] = {"debug", "info", "warn", "error"};

void log_configure(enum log_level least, bool json)
{
	__atomic_store_n(&least_level, (int)least, __ATOMIC_RELAXED);
	__atomic_store_n(&write_json, json, __ATOMIC_RELAXED);
}

void log_detect_journal(void)
{
	// Device and inode of the stream that systemd connected to the journal.
	const char *stream = getenv("JOURNAL_STREAM");
	char own[64];
	struct stat st;
	bool is_it = stream && fstat(STDERR_FILENO, &st) == 0 &&
		     snprintf(own, sizeof own, "%lu:%lu", (unsigned long)st.st_dev,
			     (unsigned long)st.st_ino) > 0 &&
		     strcmp(own, stream) == 0;
	__atomic_store_n(&to_journal, is_it, __ATOMIC_RELAXED);
}

void log_follow(enum log_level least, void (*take)(const struct log_note *))
{
	__atomic_store_n(&follower, take, __ATOMIC_RELAXED);
	__atomic_store_n(&least_followed, (int)least, __ATOMIC_RELEASE);
}

enum log_level log_level_now(void)
{
	int written = __atomic_load_n(&least_level, __ATOMIC_RELAXED);
	int followed = __atomic_load_n(&least_followed, __ATOMIC_RELAXED);
	return (enum log_level)(written < followed ? written : followed);
}

// Two threads may open a new window at once; the worst is a line or two more than the limit.
static bool site_admits(struct log_site *site, uint64_t now_s, uint32_t *suppressed)
{
	if (__atomic_exchange_n(&site->window_s, now_s, __ATOMIC_RELAXED) != now_s)
		__atomic_store_n(&site->count, 0, __ATOMIC_RELAXED);
	if (__atomic_fetch_add(&site->count, 1, __ATOMIC_RELAXED) >= SITE_LINES_MAX) {
		__atomic_fetch_add(&site->suppressed, 1, __ATOMIC_RELAXED);
		return false;
	}
	*suppressed = __atomic_exchange_n(&site->suppressed, 0, __ATOMIC_RELAXED);
	return true;
}

struct line {
	char *data; // of LOG_LINE_BYTES
	uint32_t size;
};

__attribute__((format(printf, 2, 3))) static void line_add(
	struct line *line, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	size_t room = LOG_LINE_BYTES - line->size;
	int wanted = vsnprintf(line->data + line->size, room, format, arguments);
	va_end(arguments);
	if (wanted > 0)
		line->size += (size_t)wanted < room ? (uint32_t)wanted : (uint32_t)room - 1;
}

static void line_add_time(struct line *line, uint64_t wall_ns)
{
	time_t seconds = (time_t)(wall_ns / NS_PER_S);
	struct tm utc;
	gmtime_r(&seconds, &utc);
	line_add(line, "%04d-%02d-%02dT%02d:%02d:%02d.%03uZ", utc.tm_year + 1900, utc.tm_mon + 1,
		utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec,
		(unsigned)(wall_ns / NS_PER_MS % 1000u));
}

// Whether JSON readers take the value as a number and keep it: 7, -3, 0.250, but not 007 and 0.1.0.
static bool is_json_number(const char *value, uint32_t size)
{
	static const char digits[] = "0123456789";
	uint32_t rest = size && value[0] == '-' ? size - 1 : size;
	const char *first = value + (size - rest);
	uint32_t whole = (uint32_t)strspn(first, digits);
	if (rest == 0 || rest > 15 || whole == 0 || (whole > 1 && first[0] == '0'))
		return false;
	if (whole >= rest)
		return true;
	return first[whole] == '.' && whole + 1 < rest &&
	       whole + 1 + strspn(first + whole + 1, digits) >= rest;
}

static bool is_json_word(const char *value, uint32_t size)
{
	return (size == 4 && strncmp(value, "true", 4) == 0) ||
	       (size == 5 && strncmp(value, "false", 5) == 0);
}

// Bytes of the value that begins here: up to the closing quote, or up to the next blank.
static uint32_t value_bytes(const char *at)
{
	if (at[0] != '"')
		return (uint32_t)strcspn(at, " ");
	uint32_t i = 1;
	while (at[i] && at[i] != '"')
		i += at[i] == '\\' && at[i + 1] ? 2 : 1;
	return at[i] ? i + 1 : i;
}

static bool is_quoted(const char *value, uint32_t size)
{
	return size >= 2 && value[0] == '"' && value[size - 1] == '"';
}

static void line_add_json_value(struct line *line, const char *value, uint32_t size)
{
	// The escapes of log_quote are JSON's own.
	if (is_quoted(value, size) || is_json_number(value, size) || is_json_word(value, size)) {
		line_add(line, "%.*s", (int)size, value);
		return;
	}
	char plain[LOG_FIELDS_BYTES], quoted[2 * LOG_FIELDS_BYTES];
	snprintf(plain, sizeof plain, "%.*s", (int)size, value);
	line_add(line, "%s", log_quote(plain, quoted, sizeof quoted));
}

static void line_add_json_fields(struct line *line, const char *at)
{
	while (*(at += strspn(at, " "))) {
		uint32_t name = (uint32_t)strcspn(at, "= ");
		line_add(line, ",\"%.*s\":", (int)name, at);
		at += name;
		if (*at != '=') {
			line_add(line, "true");
			continue;
		}
		uint32_t size = value_bytes(++at);
		line_add_json_value(line, at, size);
		at += size;
	}
}

// Drops a pair that did not fit as a whole, so that no cut value is mistaken for another.
static void drop_last_pair(char *fields)
{
	char *at = fields, *pair = fields;
	while (*(at += strspn(at, " "))) {
		pair = at;
		at += strcspn(at, "= ");
		if (*at == '=')
			at += 1 + value_bytes(at + 1);
	}
	snprintf(pair, sizeof "cut=1", "cut=1");
}

// Formats the caller's pairs; a control character that was not quoted must not forge a second line.
__attribute__((format(printf, 2, 0))) static void format_fields(
	char fields[static LOG_FIELDS_BYTES], const char *format, va_list arguments)
{
	// Leaves room for the mark of drop_last_pair.
	size_t room = LOG_FIELDS_BYTES - sizeof "cut=1";
	int wanted = vsnprintf(fields, room, format, arguments);
	for (char *at = fields; *at; at++)
		if ((unsigned char)*at < 0x20 || *at == 0x7f)
			*at = ' ';
	if (wanted >= (int)room)
		drop_last_pair(fields);
}

uint32_t log_format(const struct log_note *note, bool json, char text[static LOG_LINE_BYTES])
{
	struct line line = {.data = text};
	const char *level = level_names[note->level];
	line_add(&line, json ? "{\"time\":\"" : "time=");
	line_add_time(&line, note->wall_ns);
	if (json) {
		line_add(&line, "\",\"level\":\"%s\",\"event\":\"%s\"", level, note->event);
		line_add_json_fields(&line, note->fields);
		if (note->suppressed)
			line_add(&line, ",\"suppressed\":%u", note->suppressed);
		line_add(&line, "}\n");
	} else {
		line_add(&line, " level=%s event=%s%s%s", level, note->event,
			note->fields[0] ? " " : "", note->fields);
		if (note->suppressed)
			line_add(&line, " suppressed=%u", note->suppressed);
		line_add(&line, "\n");
	}
	return line.size;
}

// With one system call, so that lines of several threads do not mix.
static void write_note(const struct log_note *note)
{
	// The journal's numbers of debug, info, warning and error; it takes them off the line.
	static const char numbers[] = {'7', '6', '4', '3'};
	char text[3 + LOG_LINE_BYTES] = {'<', numbers[note->level], '>'};
	uint32_t before = __atomic_load_n(&to_journal, __ATOMIC_RELAXED) ? 3 : 0;
	uint32_t size = log_format(note, __atomic_load_n(&write_json, __ATOMIC_RELAXED), text + 3);
	// Without standard error there is nowhere to report it.
	(void)!write(STDERR_FILENO, text + 3 - before, before + size);
}

void log_write(
	struct log_site *site, enum log_level level, const char *event, const char *format, ...)
{
	int saved_errno = errno;
	struct log_note note = {.level = level};
	uint64_t now_s = time_monotonic_ns(&time_source_real) / NS_PER_S;
	if (site_admits(site, now_s, &note.suppressed)) {
		va_list arguments;
		va_start(arguments, format);
		format_fields(note.fields, format, arguments);
		va_end(arguments);
		note.wall_ns = time_wall_ns(&time_source_real);
		snprintf(note.event, sizeof note.event, "%s", event);
		if ((int)level >= __atomic_load_n(&least_level, __ATOMIC_RELAXED))
			write_note(&note);
		if ((int)level >= __atomic_load_n(&least_followed, __ATOMIC_ACQUIRE))
			__atomic_load_n(&follower, __ATOMIC_RELAXED)(&note);
	}
	errno = saved_errno;
}

// Writes one character's escape or itself to out (at most 6 bytes); returns its length.
static uint32_t quote_one(struct text rest, char out[static 8], uint32_t *taken)
{
	static const char short_escapes[32] = {
		['\b'] = 'b', ['\f'] = 'f', ['\n'] = 'n', ['\r'] = 'r', ['\t'] = 't'};
	unsigned char first = (unsigned char)rest.data[0];
	*taken = 1;
	if (first == '"' || first == '\\')
		return (uint32_t)snprintf(out, 8, "\\%c", first);
	if (first < 0x20 && short_escapes[first])
		return (uint32_t)snprintf(out, 8, "\\%c", short_escapes[first]);
	if (first < 0x20 || first == 0x7f)
		return (uint32_t)snprintf(out, 8, "\\u%04x", first);
	uint32_t bytes = text_utf8_bytes(rest);
	if (!bytes)
		return (uint32_t)snprintf(out, 8, "\\ufffd");
	*taken = bytes;
	memcpy(out, rest.data, bytes);
	return bytes;
}

char *log_quote(const char *value, char *buffer, uint32_t size)
{
	static const char cut_end[] = "…\"";
	// Every byte becomes at least one: what lies beyond the buffer is cut off whatever it is, and not read.
	struct text rest = {value, value ? (uint32_t)strnlen(value, size) : 0};
	CHECK(size > sizeof cut_end);
	uint32_t at = 0;
	uint32_t last_cut = 1; // longest prefix that leaves room for the mark
	buffer[at++] = '"';
	while (rest.size) {
		char one[8];
		uint32_t taken, bytes = quote_one(rest, one, &taken);
		if (at + bytes + sizeof "\"" > size) {
			memcpy(buffer + last_cut, cut_end, sizeof cut_end);
			return buffer;
		}
		memcpy(buffer + at, one, bytes);
		at += bytes;
		if (at + sizeof cut_end <= size)
			last_cut = at;
		rest.data += taken;
		rest.size -= taken;
	}
	memcpy(buffer + at, "\"", sizeof "\"");
	return buffer;
}
