// Pieces of a file on their way from a thread that reads them to the thread that uses them, in order. What lies between
// the two is bounded.
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct read_ahead;

// Begins a thread that calls run, which passes pieces on. Returns 0 or -errno.
int read_ahead_begin(
	struct read_ahead **, void run(struct read_ahead *, void *context), void *context);
// The thread: passes a piece of so many bytes on; waits while too much lies there. False: nothing more is wanted, and
// the piece is still the caller's.
bool read_ahead_put(struct read_ahead *, void *piece, size_t bytes);
// The thread: whether the user has several pieces left to do, or large ones. Then its time is the dearer one.
bool read_ahead_is_far(struct read_ahead *);
// The user: the next piece, which is the caller's then; waits for it. NULL: run has returned, and this was all.
void *read_ahead_take(struct read_ahead *);
// The user: returns when the thread has ended, and has dropped what was not taken. What run wrote is the caller's then.
void read_ahead_end(struct read_ahead *, void drop(void *piece));
