// Who asked what of the API, whence, and how it ended: one line for each request, at the end of a file. Each line is
//   time=… who="…" from=… asked="METHOD /path" route=… status=…
// The query is left out, because clients put secrets there.
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct audit_log;

struct audit_line {
	int64_t time_ns;   // Unix
	const char *who;   // a token's accessor, a certificate's name, or "anonymous"
	const char *from;  // address and port, or "unix:" and the user's number
	const char *asked; // method and path, as they were sent
	const char *route; // pattern of the route; "-": the path leads nowhere
	unsigned status;   // 0: the client left before the answer
};

// Appends to the file, which only its owner may read when it is new. NULL, and a sentence.
struct audit_log *audit_log_open(const char *path, char *message, uint32_t message_size);
void audit_log_close(struct audit_log *); // NULL is fine
// Opens the file anew, for it was moved away. False, and a sentence: the one before is written on.
bool audit_log_reopen(struct audit_log *, char *message, uint32_t message_size);
// Any thread. A line that cannot be written is counted and told in the log, and the request goes on.
void audit_log_write(struct audit_log *, const struct audit_line *);

struct audit_counts {
	uint64_t written, failed;
};
struct audit_counts audit_log_count(struct audit_log *);
