// What the applier needs around it, in memory: a log that survives the world it was written in, and
// a placer that takes the first node that fits.
#pragma once
#include "state/applier/applier.h"

struct batch {
	uint64_t first_index;
	void *data;
	uint32_t size;
};

struct history {
	struct batch *batches;
	uint32_t count;
	bool disk_full; // no room for what may be refused
	bool readiness; // probes count
};

void history_free(struct history *);
struct command_log history_log(struct history *);
void history_replay(const struct history *, struct applier *);
void history_failed(void *context, int error);

struct placer first_fit_placer(struct state *);
// A direct job of one group "g" whose instances take that much.
struct job *direct_job(const char *id, uint32_t cpu_mhz, uint32_t memory_mb);
