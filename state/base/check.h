// Invariants. Never for input: bad input gets a counter or an error, not an abort.
#pragma once
#include <setjmp.h>

// Prints file, line and the condition on standard error, then aborts, unless a guard holds the thread. Always compiled
// in.
__attribute__((noreturn, cold)) void check_failed(
	const char *file, int line, const char *condition);

#define CHECK(condition)                                              \
	do {                                                          \
		if (__builtin_expect(!(condition), 0))                \
			check_failed(__FILE__, __LINE__, #condition); \
	} while (0)

// Per-packet invariants: on in every build but plain release (NDEBUG).
#ifdef NDEBUG
#define HOT_CHECK(condition)             \
	do {                             \
		(void)sizeof(condition); \
	} while (0)
#else
#define HOT_CHECK(condition) CHECK(condition)
#endif

// For work that only reads shared data and whose failure must not end the process. When a check fails on a thread
// with a guard, it jumps to the guard's setjmp with the text of the check and takes the guard off the thread. Whoever
// sets a guard frees what the work took. The work may hold no lock; calls that take locks set the guard aside
// meanwhile.
//
//	if (setjmp(guard.back))
//		… guard.text says what broke …
//	check_guard_set(&guard);
//	… the work …
//	check_guard_set(NULL);
#define CHECK_TEXT_BYTES 256
struct check_guard {
	jmp_buf back;
	char text[CHECK_TEXT_BYTES]; // "file:line: invariant broken: condition"
};

// NULL: no guard. Returns the thread's guard before.
struct check_guard *check_guard_set(struct check_guard *);
