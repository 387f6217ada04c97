// Faults and when they strike: at a time after the start a number of nodes fall silent, crash, leave, return, flap, are
// not ready or break.
#pragma once
#include "tools/fleet/nodes/fleet.h"

enum fault_kind {
	FAULT_SILENCE,
	FAULT_CRASH,
	FAULT_LEAVE,
	FAULT_RETURN,
	// These last; a node has one of them at a time.
	FAULT_FLAP,    // falls silent and comes back, again and again
	FAULT_UNREADY, // its probe says no
	FAULT_BREAK,   // its allocations fail by the node's fault
};

#define FAULT_AT_SIGNAL UINT32_MAX

struct fault {
	enum fault_kind kind;
	uint32_t count;
	uint32_t at_ms;  // FAULT_AT_SIGNAL: until faults_signal
	uint32_t for_ms; // how long it lasts, or each silence when flapping; UINT32_MAX: for good
	uint32_t rounds; // of flapping
	uint32_t done;   // nodes that the fault has struck
	uint32_t round;  // rounds that have begun
	bool struck, is_over;
};

// Parses "COUNT@SECONDS" or "COUNT@SECONDS+SECONDS" (how long), and for flapping "COUNT@SECONDS+SECONDS" or
// "COUNT@SECONDS+SECONDSxTIMES". The word "signal" in place of the first SECONDS leaves the time open. False for other
// text, or when the kind has no length.
bool fault_parse(enum fault_kind, const char *text, struct fault *);
// Strikes the faults that are due, and ends those that are over. Returns true when all have struck.
bool faults_strike(struct fault *, uint32_t count, struct fleet *);
// Faults whose time was open strike with the next faults_strike.
void faults_signal(struct fault *, uint32_t count, const struct fleet *);
// When the fault is over (since the start); a fault that lasts for good: when it strikes.
double fault_end_ms(const struct fault *);
