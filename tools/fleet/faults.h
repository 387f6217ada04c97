// What goes wrong, and when: so many nodes fall silent, crash, leave or return at a time after the start.
#pragma once
#include "tools/fleet/fleet.h"

enum fault_kind { FAULT_SILENCE, FAULT_CRASH, FAULT_LEAVE, FAULT_RETURN };

struct fault {
	enum fault_kind kind;
	uint32_t count;
	uint32_t at_ms;
	uint32_t for_ms; // silence and crash: how long; UINT32_MAX: for good
	uint32_t done;   // nodes it has struck
	bool struck;
};

// "COUNT@SECONDS" or "COUNT@SECONDS+SECONDS" (how long). False when it is not, or the kind knows no length.
bool fault_parse(enum fault_kind, const char *text, struct fault *);
// Strikes what is due. Returns true when all have struck.
bool faults_strike(struct fault *, uint32_t count, struct fleet *);
