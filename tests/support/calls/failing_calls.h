// Calls of the system that fail, one place in the code after the other: for tests that are linked with failing_calls.
// What a piece of work calls is recorded in one run of it; in each run after it one of these places fails. Works in
// forked processes, too; not in programs that they execute.
#pragma once
#include <stdbool.h>
#include <stdint.h>

#define CALL_PLACE_BYTES 500u

// From here on places are recorded. Forgets those of before.
void calls_record(void);
// From here on calls from this place (below calls_places()) fail: all of them, or only the first.
void calls_fail(uint32_t place, bool only_once);
void calls_fail_also(uint32_t place); // beside it; before it is forked
// Nothing is recorded, and nothing fails, until told otherwise. In this process and all others that share its calls.
void calls_stop(void);
// How many places of the source, without those of tests, were recorded since; a place is a call and the two that led to
// it. Takes a while (addr2line).
uint32_t calls_places(void);
uint32_t calls_failures(void); // since calls_fail()
// Until it is over, nothing is recorded and nothing fails: for what is made ready.
void calls_pause(bool begins);
// "openat at tools/agent/base/folders.c:12 < 34 ..."; of what calls_places() counted.
const char *calls_place_text(uint32_t place, char text[CALL_PLACE_BYTES]);
