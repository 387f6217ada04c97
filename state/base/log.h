// Levelled structured lines on standard error: logfmt, or JSON when configured. Each call site is limited to a few
// lines a second; its next line tells how many it dropped (suppressed=n). Any thread but a hot loop.
#pragma once
#include <stdbool.h>
#include <stdint.h>

enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR };

struct log_site {
	uint64_t window_s;
	uint32_t count;
	uint32_t suppressed;
};

void log_configure(enum log_level least, bool json);
// From now on each line begins with its level as systemd's journal reads it, if standard error is the journal.
void log_detect_journal(void);
enum log_level log_level_now(void); // the least that is written or followed

// A line before it is formatted: what followers of the log get.
#define LOG_FIELDS_BYTES 1024u
#define LOG_EVENT_BYTES 48u
#define LOG_LINE_BYTES 4096u
struct log_note {
	uint64_t wall_ns;
	enum log_level level;
	uint32_t suppressed; // lines of the same place, before this one
	char event[LOG_EVENT_BYTES], fields[LOG_FIELDS_BYTES];
};
// The line, with its end; returns its bytes.
uint32_t log_format(const struct log_note *, bool json, char text[static LOG_LINE_BYTES]);
// Who gets every line from a level on, whatever is written; LOG_ERROR + 1: none. Called on any thread, also one that
// holds locks: take must not log.
void log_follow(enum log_level least, void (*take)(const struct log_note *));

// fields is a printf format of logfmt pairs: "node=%s index=%lu". Values with blanks, quotes or
// control characters must be passed through LOG_QUOTED ("%s" of log_quote()).
void log_write(struct log_site *, enum log_level, const char *event, const char *fields, ...)
	__attribute__((format(printf, 4, 5)));
// Escapes and quotes into a buffer; returns buffer. Cut off with "…" when it does not fit.
char *log_quote(const char *value, char *buffer, uint32_t size);

#define LOG_AT(level, event, ...)                                         \
	do {                                                              \
		static struct log_site site_;                             \
		if ((level) >= log_level_now())                           \
			log_write(&site_, (level), (event), __VA_ARGS__); \
	} while (0)
#define log_debug(event, ...) LOG_AT(LOG_DEBUG, event, __VA_ARGS__)
#define log_info(event, ...) LOG_AT(LOG_INFO, event, __VA_ARGS__)
#define log_warn(event, ...) LOG_AT(LOG_WARN, event, __VA_ARGS__)
#define log_error(event, ...) LOG_AT(LOG_ERROR, event, __VA_ARGS__)
