#include "placement/direct/claims.h"
#include "state/base/check.h"
#include "state/base/limits.h"
#include "state/base/memory.h"
#include "state/records/alloc_details.h"
#include "state/tables/nodes/node_feed.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

// Nodes share locks: two threads seldom ask for the same one at the same moment.
#define STRIPES 4096u
// Claims that are given back in one read section.
#define RELEASED_AT_ONCE 1024u

struct claim {
	struct claim *next_of_node, *next_of_claimant;
	const struct claimant *of;
	uint32_t slot;
	struct uuid allocation; // zero: not planned yet
	struct resources resources;
	struct device_set devices;
	struct alloc_details *details; // NULL: none that holds something of the node
};

struct stripe {
	pthread_mutex_t lock;   // of the claims of its nodes
	_Atomic uint32_t taken; // claims so far
};

struct claims {
	const struct state *state;
	_Atomic(struct claim *) *of_node; // by slot; memory backs what was touched
	struct stripe stripes[STRIPES];
	_Atomic uint64_t taken, dropped;
	struct node_feed feed; // written under its lock
	pthread_mutex_t feed_lock;
};

struct claimant {
	struct claims *claims;
	struct claim *newest;
	uint64_t taken; // by it so far
};

static size_t heads_bytes(void)
{
	return (size_t)NODES_MAX * sizeof(struct claim *);
}

struct claims *claims_create(const struct state *state)
{
	struct claims *c = memory_take(sizeof *c);

	c->state = state;
	c->of_node = memory_map(heads_bytes());
	CHECK(c->of_node && node_feed_create(&c->feed, NODES_MAX));
	pthread_mutex_init(&c->feed_lock, NULL);
	for (uint32_t i = 0; i < STRIPES; i++)
		pthread_mutex_init(&c->stripes[i].lock, NULL);
	return c;
}

void claims_destroy(struct claims *c)
{
	if (!c)
		return;
	for (uint32_t i = 0; i < STRIPES; i++)
		pthread_mutex_destroy(&c->stripes[i].lock);
	pthread_mutex_destroy(&c->feed_lock);
	node_feed_destroy(&c->feed);
	memory_unmap((void *)c->of_node, heads_bytes());
	free(c);
}

static struct stripe *stripe_lock(struct claims *c, uint32_t slot)
{
	struct stripe *stripe = &c->stripes[slot % STRIPES];
	pthread_mutex_lock(&stripe->lock);
	return stripe;
}

static void feed_note(struct claims *c, uint32_t slot)
{
	pthread_mutex_lock(&c->feed_lock);
	node_feed_note(&c->feed, slot);
	pthread_mutex_unlock(&c->feed_lock);
}

uint64_t claims_feed_head(const struct claims *c)
{
	return node_feed_head(&c->feed);
}

uint32_t claims_feed_read(const struct claims *c, uint64_t *seen, uint32_t *slots, uint32_t wanted)
{
	return node_feed_read(&c->feed, seen, slots, wanted);
}

uint64_t claims_dropped(const struct claims *c)
{
	return atomic_load(&c->dropped);
}

static bool is_published(const struct claims *c, const struct claim *claim)
{
	return !uuid_is_zero(&claim->allocation) &&
	       state_allocation(c->state, &claim->allocation) != NULL;
}

static void add_claim(struct node_use *use, const struct claim *claim)
{
	use->used = resources_plus(use->used, claim->resources);
	use->machines = resources_plus(use->machines, claim->resources);
	for (uint32_t i = 0; i < NODE_DEVICE_GROUPS_MAX; i++)
		use->devices.groups[i] |= claim->devices.groups[i];
	use->with_details += claim->details != NULL;
	use->living++;
}

static struct claim *first_claim(const struct claims *c, uint32_t slot)
{
	CHECK(slot < NODES_MAX);
	return atomic_load_explicit(&c->of_node[slot], memory_order_relaxed);
}

void claims_add(
	struct claims *c, const struct claimant *without, uint32_t slot, struct node_use *use)
{
	// The use was read before: what it holds is published now.
	atomic_thread_fence(memory_order_acquire);
	if (!first_claim(c, slot))
		return;
	struct stripe *stripe = stripe_lock(c, slot);
	for (const struct claim *i = first_claim(c, slot); i; i = i->next_of_node)
		if (i->of != without && !is_published(c, i))
			add_claim(use, i);
	pthread_mutex_unlock(&stripe->lock);
}

struct claimant *claimant_create(struct claims *c)
{
	struct claimant *claimant = memory_take(sizeof *claimant);
	claimant->claims = c;
	return claimant;
}

static void ignore_dropped(void *context, uint32_t slot)
{
}

void claimant_destroy(struct claimant *claimant)
{
	if (!claimant)
		return;
	(void)claimant_release(claimant, ignore_dropped, NULL);
	free(claimant);
}

uint64_t claimant_others_taken(const struct claimant *claimant)
{
	return atomic_load(&claimant->claims->taken) - claimant->taken;
}

uint32_t claimant_look(const struct claimant *claimant, uint32_t slot)
{
	return atomic_load_explicit(
		&claimant->claims->stripes[slot % STRIPES].taken, memory_order_acquire);
}

void claimant_add_others(const struct claimant *claimant, uint32_t slot, struct node_use *use)
{
	claims_add(claimant->claims, claimant, slot, use);
}

struct claimed_details {
	struct device_set devices;
	struct alloc_details *details; // a reference
};

static uint32_t count_others(const struct claims *c, const struct claimant *claimant, uint32_t slot)
{
	uint32_t count = 0;

	for (const struct claim *i = first_claim(c, slot); i; i = i->next_of_node)
		count += i->of != claimant && !is_published(c, i);
	return count;
}

// The visitor may end an attempt of a scheduler (check.h), so it is called without the lock.
static struct claimed_details *details_of_others(
	struct claims *c, const struct claimant *claimant, uint32_t slot, uint32_t *count)
{
	struct stripe *stripe = stripe_lock(c, slot);
	uint32_t room = count_others(c, claimant, slot);
	struct claimed_details *found = memory_take_array(room + 1, sizeof *found);

	*count = 0;
	for (const struct claim *i = first_claim(c, slot); i && *count < room; i = i->next_of_node)
		if (i->of != claimant && !is_published(c, i))
			found[(*count)++] = (struct claimed_details){
				i->devices, alloc_details_share(i->details)};
	pthread_mutex_unlock(&stripe->lock);
	return found;
}

void claimant_walk_others(
	const struct claimant *claimant, uint32_t slot, claim_visit *visit, void *context)
{
	uint32_t count;

	if (!first_claim(claimant->claims, slot))
		return;
	struct claimed_details *found = details_of_others(claimant->claims, claimant, slot, &count);
	for (uint32_t i = 0; i < count; i++) {
		visit(&found[i].devices, found[i].details, context);
		alloc_details_release(found[i].details);
	}
	free(found);
}

static void claim_free(struct claim *claim)
{
	alloc_details_release(claim->details);
	free(claim);
}

// A copy of the details, because the claimant goes on to change its own.
static struct claim *claim_create(const struct claimant *claimant, const struct claim_ask *ask)
{
	struct claim *claim = memory_take(sizeof *claim);

	claim->of = claimant;
	claim->slot = ask->slot;
	claim->resources = ask->resources;
	claim->devices = *ask->devices;
	if (alloc_details_hold_node(ask->details))
		claim->details = alloc_details_copy(ask->details);
	return claim;
}

static bool put_claim(struct claims *c, struct claim *claim, uint32_t seen)
{
	struct stripe *stripe = stripe_lock(c, claim->slot);
	bool is_as_seen = stripe->taken == seen;

	if (is_as_seen) {
		claim->next_of_node = first_claim(c, claim->slot);
		atomic_store_explicit(&c->of_node[claim->slot], claim, memory_order_relaxed);
		atomic_store_explicit(&stripe->taken, seen + 1, memory_order_release);
		atomic_fetch_add(&c->taken, 1);
	}
	pthread_mutex_unlock(&stripe->lock);
	return is_as_seen;
}

bool claimant_take(struct claimant *claimant, const struct claim_ask *ask)
{
	struct claim *claim = claim_create(claimant, ask);

	if (!put_claim(claimant->claims, claim, ask->seen)) {
		claim_free(claim);
		return false;
	}
	claim->next_of_claimant = claimant->newest;
	claimant->newest = claim;
	claimant->taken++;
	feed_note(claimant->claims, ask->slot);
	return true;
}

void claimant_name(struct claimant *claimant, const struct uuid *allocation)
{
	struct claim *claim = claimant->newest;
	CHECK(claim && uuid_is_zero(&claim->allocation));
	struct stripe *stripe = stripe_lock(claimant->claims, claim->slot);
	claim->allocation = *allocation;
	pthread_mutex_unlock(&stripe->lock);
}

static void take_away(struct claims *c, struct claim *claim)
{
	struct stripe *stripe = stripe_lock(c, claim->slot);
	struct claim *before = first_claim(c, claim->slot);

	if (before == claim) {
		atomic_store_explicit(
			&c->of_node[claim->slot], claim->next_of_node, memory_order_relaxed);
	} else {
		while (before->next_of_node != claim)
			before = before->next_of_node;
		before->next_of_node = claim->next_of_node;
	}
	pthread_mutex_unlock(&stripe->lock);
}

// An allocation that was published is told of by the state's feed.
static bool release_newest(struct claimant *claimant)
{
	struct claims *c = claimant->claims;
	struct claim *claim = claimant->newest;
	bool is_dropped = !is_published(c, claim);

	claimant->newest = claim->next_of_claimant;
	take_away(c, claim);
	if (is_dropped) { // whoever sees the number sees an index without the claim
		feed_note(c, claim->slot);
		atomic_fetch_add(&c->dropped, 1);
	}
	claim_free(claim);
	return is_dropped;
}

uint32_t claimant_release(struct claimant *claimant, claim_dropped *tell, void *context)
{
	uint32_t dropped = 0;

	while (claimant->newest) {
		state_read_begin();
		for (uint32_t i = 0; i < RELEASED_AT_ONCE && claimant->newest; i++) {
			uint32_t slot = claimant->newest->slot;
			if (!release_newest(claimant))
				continue;
			dropped++;
			tell(context, slot);
		}
		state_read_end();
	}
	return dropped;
}
