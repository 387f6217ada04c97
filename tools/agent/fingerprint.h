// Describes this machine under the attribute names that job constraints use. It reports only what it could read.
#pragma once
#include "dataplane/wire/wire.h"
#include <hwloc.h>

struct fingerprint_source {
	hwloc_topology_t topology; // loaded
	const char *root;          // "" or, in a test, a folder that holds proc/, etc/ and sys/
	const char *volume;        // the file system whose free space the node offers as disk
	const char *address;       // the local address that the controller sees
	uint32_t cpu_mhz;          // total compute given by the operator; 0: cores × clock rate
};

struct fingerprint {
	struct wire_register description; // views into text and into the caller's settings
	uint32_t text_used;
	char text[24 * 1024];
	char failure[200]; // why fingerprint_take returned false
};

// Fills capacity, name, version and attributes; the caller adds datacenter, class, pool, metadata and
// reservations. False when the machine cannot be described.
bool fingerprint_take(struct fingerprint *, const struct fingerprint_source *);
// Appends a pair; false when it does not fit.
bool fingerprint_pair(
	struct fingerprint *, enum wire_pair_kind, const char *name, struct text value);
