// The newest lines of the audit log in memory: the source of the event stream's topic Audit. Old lines give way to new
// ones; a reader that is too slow sees that it missed some.
#pragma once
#include "tools/api/audit/audit_log.h"

#define AUDIT_RING_LINES 4096u
// Longer texts are cut.
#define AUDIT_NAME_BYTES 128u
#define AUDIT_ASKED_BYTES 512u

struct audit_note {
	uint64_t
		index; // of the state, when the line was written; no less than that of the line before
	int64_t time_ns;
	const char *route;
	unsigned status;
	char who[AUDIT_NAME_BYTES], from[AUDIT_NAME_BYTES], asked[AUDIT_ASKED_BYTES];
};

struct audit_ring;

struct audit_ring *audit_ring_create(void);   // NULL when memory is short
void audit_ring_destroy(struct audit_ring *); // NULL is fine

// Any thread. The route's text must outlive the ring. True: somebody listens and is to be woken.
bool audit_ring_add(struct audit_ring *, const struct audit_line *, uint64_t index);
// Lines are numbered from 0; the ring holds the newest AUDIT_RING_LINES before the head.
uint64_t audit_ring_head(const struct audit_ring *);
// False when the ring does not hold the line (any more).
bool audit_ring_read(struct audit_ring *, uint64_t number, struct audit_note *);
// Number of the first line that the ring holds with at least this index.
uint64_t audit_ring_find(struct audit_ring *, uint64_t index);
void audit_ring_listen(struct audit_ring *, bool on);
