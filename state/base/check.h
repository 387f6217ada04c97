// Invariants. Never for input: bad input gets a counter or an error, not an abort.
#pragma once

// Prints file, line and the condition on standard error, then aborts. Always compiled in.
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
