// A job and its allocations over time: a naive model of what the applier does with the reconciler's result, and of what
// clients and watchers do meanwhile.
#pragma once
#include "placement/scheduler/reconcile/reconcile.h"
#include "tests/placement/scheduler/world.h"

#define LIFE_NODES 8u
#define LIFE_ALLOCATIONS_MAX 1024u
#define LIFE_FOLLOW_UPS_MAX 256u

struct life {
	struct world *world;
	struct scheduler_view view;
	struct prng prng;
	struct job *job; // the newest version
	bool batch, in_place;
	struct deployment *deployment; // the latest; or NULL
	struct allocation *allocations[LIFE_ALLOCATIONS_MAX];
	uint32_t count;
	struct {
		struct uuid id;
		int64_t due_ns;
	} follow_ups[LIFE_FOLLOW_UPS_MAX];
	uint32_t follow_up_count;
	struct evaluation *eval;
	int64_t now_ns;
	uint32_t versions; // registered since the beginning
};

static inline uint32_t life_below(struct life *l, uint64_t n)
{
	return (uint32_t)prng_below(&l->prng, n);
}
static inline bool life_one_in(struct life *l, uint64_t n)
{
	return prng_below(&l->prng, n) == 0;
}

void life_begin(struct life *, uint64_t seed);
void life_end(struct life *);

void life_reconcile(struct life *, struct reconciliation *);
bool life_changes(const struct reconciliation *);
void life_apply(struct life *, struct reconciliation *);

// Lets things outside of the scheduler happen until the next pass. Returns whether anything did.
bool life_go_on(struct life *, uint32_t passes);
// Waits for the next follow-up, or lets somebody step in. False when nothing is left to happen.
bool life_wait(struct life *);

uint32_t life_wanted(const struct life *);  // desired to run
uint32_t life_unknown(const struct life *); // of the wanted: not heard of
uint32_t life_living(const struct life *);  // that have not ended
uint32_t life_over(const struct life *);    // that failed for good, or completed a batch job's work
