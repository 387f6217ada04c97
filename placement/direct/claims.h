// What evaluations in work are about to take of nodes. A planned allocation holds nothing that others could see until
// its plan is published, so that two schedulers which look for the best node would meet on it. A claim shows it at
// once: whoever chooses a node counts the claims of all others like use.
//
// A claim stands for an allocation until that is published, from when on the node's use holds it: nobody sees both.
// It may be missed in the moment between; then the applier refuses the node, as it would have without claims.
#pragma once
#include "state/tables/state.h"

struct claims;   // of all; every function is for any thread
struct claimant; // one evaluation at a time; one thread

struct claims *claims_create(const struct state *);
void claims_destroy(struct claims *); // NULL is fine; nobody claims any more

// Adds what is claimed of a node to its use, which was read before; without the claims of one, NULL: all. What is
// claimed can no more be preempted than what machines hold, so it counts among those, too. Under read lock.
void claims_add(struct claims *, const struct claimant *without, uint32_t slot, struct node_use *);
// Nodes whose claims changed in a way that the state's own feed does not tell, as state_node_feed_read().
uint64_t claims_feed_head(const struct claims *);
uint32_t claims_feed_read(const struct claims *, uint64_t *seen, uint32_t *slots, uint32_t wanted);
// How many claims were given back that no allocation came of.
uint64_t claims_dropped(const struct claims *);

struct claimant *claimant_create(struct claims *);
void claimant_destroy(struct claimant *); // NULL is fine; releases its claims

// How many claims others took so far, of any node. Read it before use and indexes: while it stays as it was, they miss
// no claim.
uint64_t claimant_others_taken(const struct claimant *);
// Changes with every claim of a node; read it before the node's use.
uint32_t claimant_look(const struct claimant *, uint32_t slot);
// Adds what others claim of a node to its use, which was read before. Under read lock.
void claimant_add_others(const struct claimant *, uint32_t slot, struct node_use *);
// Visits what others claim of a node by details: devices, ports, cores. Under read lock.
typedef void claim_visit(const struct device_set *, const struct alloc_details *, void *context);
void claimant_walk_others(const struct claimant *, uint32_t slot, claim_visit *, void *context);

struct claim_ask {
	uint32_t slot;
	uint32_t seen; // by claimant_look() before the node was looked at
	struct resources resources;
	const struct device_set *devices;
	const struct alloc_details *details; // NULL: none
};
// False: somebody claimed something of the node since it was looked at.
bool claimant_take(struct claimant *, const struct claim_ask *);
// The newest claim is for this allocation.
void claimant_name(struct claimant *, const struct uuid *allocation);
// Gives all claims back. Tells of those that no published allocation came of, and returns their number. Not under read
// lock.
typedef void claim_dropped(void *context, uint32_t slot);
uint32_t claimant_release(struct claimant *, claim_dropped *, void *context);
