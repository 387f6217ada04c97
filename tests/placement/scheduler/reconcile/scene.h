// Makes one group of a job, its allocations and its deployment from a few words, and turns the reconciler's result into
// text: rows of tables in tests.
#pragma once
#include "placement/scheduler/reconcile/reconcile.h"
#include "tests/placement/scheduler/world.h"

#define SCENE_NOW 1000000000000ll // ns
#define SCENE_ALLOCATIONS_MAX 32u

struct scene_row {
	const char *what;
	// count=3 update=<max_parallel> canary=1 auto-promote version=1 (of the newest; the one before
	// it is 0) in-place (what another version means; else destructive) batch stopped purged
	// multiregion stop-after=<s> disconnect=<s> kill=<s> reschedule=<delay s>
	// limited=<attempts>/<interval s> never
	const char *job;
	// NULL: none. A status, then: version=1 group (it has a part in it) total=3 healthy=2
	// canaries=1 (desired) promoted
	const char *deployment;
	// Divided by ';'. The number in the name, then: down gone drain away (disconnected) v0 pending
	// complete failed lost unknown stop evict done (all tasks ended well) migrate reschedule force
	// next=<position> own (its follow-up is the evaluation) other (another one) placed=<s ago>
	// ended=<s ago> unknown-for=<s> lost-for=<s> back (noted as running) deployed canary healthy
	// unhealthy score=<percent> attempts=<n>@<s ago> removed (a group that the job lost)
	const char *allocations;
	const char *eval; // NULL, "delayed" or "old-servers"
	// What comes out, divided by "; ": allocations by their position, placements as [number].
	const char *expected;
};

struct scene {
	struct world *world;
	struct scheduler_view view;
	struct job *job, *before; // the newest version, and the one before
	struct deployment *deployment;
	struct evaluation *eval;
	struct allocation *allocations[SCENE_ALLOCATIONS_MAX];
	uint32_t count;
	bool batch, purged, in_place;
	struct prng prng;
	struct reconciliation result;
	char text[4096];
};

void scene_open(struct scene *, const struct scene_row *);
void scene_close(struct scene *);
const char *scene_reconcile(struct scene *);
// Opens, reconciles, and compares with `expected`.
void scene_check(const struct scene_row *, size_t count);
