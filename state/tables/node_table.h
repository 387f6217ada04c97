// The node table as the packet path sees it: dense arrays by slot. A heartbeat touches one line and
// one word of the last-heard column, nothing else. Header-only reads; state/tables/node_table.c allocates.
#pragma once
#include "state/base/limits.h"
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

// One cache line per node. Fields are plain for their one writer; others read them relaxed.
struct node_line {
	// Written by the owning worker only (before workers run: by recovery).
	uint64_t key[2];             // valid when key_id != 0
	uint64_t sequence;           // highest accepted in this term and generation
	uint64_t window;             // replay_accept() of dataplane/wire/auth.h
	_Atomic uint32_t generation; // 0: no node here. Also read by others
	uint8_t key_id;              // 0: derive from the master key at the next frame
	uint8_t flags;               // enum node_line_flag
	uint16_t source; // mark of where its newest heartbeat came from; 0: none was heard yet
	// Written by the applier only, relaxed; whoever calls the node sets and clears NODE_DIRECTIVE_CALL, too.
	_Atomic uint64_t alloc_index; // newest allocation index that concerns the node
	_Atomic uint32_t directives;  // enum wire_directive, 16 bits
	// On a worker's liveness clock: since when nothing but registrations was heard of the node; 0: a heartbeat was.
	uint32_t registers_ms;
	// Of its frames other than heartbeats in time (dataplane/hot/bucket.h). Any worker, by compare-and-swap.
	uint64_t bucket;
} __attribute__((aligned(64)));

enum node_line_flag {
	// The worker reported the node silent, or the node said goodbye: a heartbeat is news.
	NODE_LINE_DOWN = 1,
	// No heartbeat came since the node registered: a heartbeat is news, and so is its silence.
	NODE_LINE_NEW = 2,
	NODE_LINE_NEWS = NODE_LINE_DOWN | NODE_LINE_NEW,
};

_Static_assert(sizeof(struct node_line) == 64, "a node is one cache line on the hot path");

// Of enum wire_directive.
#define NODE_DIRECTIVE_REGISTER 2u // register again
#define NODE_DIRECTIVE_DRAIN 4u    // it is being emptied
#define NODE_DIRECTIVE_PROBE 8u    // say whether it is ready
#define NODE_DIRECTIVE_CALL 16u    // dial line_port
#define NODE_NOT_ARMED 0u          // last_heard value of a slot that cannot expire
#define NODE_BLOCK_UNOWNED 0xffffu

struct node_table {
	uint32_t slots_max;
	_Atomic uint32_t slots_used; // slots below this may be in use; grows by the applier only
	struct node_line *lines;
	// When each node was last heard, in milliseconds of its worker's liveness clock (never 0
	// when armed). Written by the owning worker only, relaxed.
	_Atomic uint32_t *last_heard_ms;
	// Which worker owns each block of NODE_BLOCK_SLOTS slots; written by the applier, relaxed.
	_Atomic uint16_t *block_owner;
	// Nodes that are to be told that their alloc_index grew, or that they are called: a bit for each slot, and a
	// mark for each block that may have one. The applier and who calls set them, the owning worker takes them.
	_Atomic uint64_t *news;
	_Atomic uint8_t *block_news;
	// Nodes whose key in the line counts no more: a bit for each slot, and how often one was set. As above.
	_Atomic uint64_t *stale_keys;
	_Atomic uint32_t stale_keys_set;
	// The controller's term, and the state's index when it began: constant while the process runs.
	uint64_t term, term_index;
	// Where the controller takes the connections that nodes dial, which they are told; 0: nowhere. As constant.
	uint16_t line_port;
};

// Takes address space for slots_max lines, which memory backs as they are touched. NULL when memory is short. Caller
// destroys.
struct node_table *node_table_create(uint32_t slots_max);
void node_table_destroy(struct node_table *);

// NULL when slot is out of range or has never been used.
static inline struct node_line *node_table_line(const struct node_table *t, uint32_t slot)
{
	if (slot >= atomic_load_explicit(&t->slots_used, memory_order_relaxed))
		return (struct node_line *)0;
	return &t->lines[slot];
}

static inline void node_table_tell(struct node_table *t, uint32_t slot)
{
	atomic_fetch_or_explicit(&t->news[slot / 64], 1ull << slot % 64, memory_order_release);
	atomic_store_explicit(&t->block_news[slot / NODE_BLOCK_SLOTS], 1, memory_order_release);
}

// Sets the directives of a node but for the call. Applier only.
static inline void node_table_direct(struct node_table *t, uint32_t slot, uint32_t directives)
{
	_Atomic uint32_t *at = &t->lines[slot].directives;
	uint32_t before = atomic_load_explicit(at, memory_order_relaxed), after;
	do {
		after = (before & NODE_DIRECTIVE_CALL) | directives;
	} while (after != before && !atomic_compare_exchange_weak_explicit(at, &before, after,
					    memory_order_relaxed, memory_order_relaxed));
}

// Calls a node: it is to dial, as a notice says once and the answers to its heartbeats say until it is called no more.
// Any thread.
static inline void node_table_call(struct node_table *t, uint32_t slot)
{
	atomic_fetch_or_explicit(
		&t->lines[slot].directives, NODE_DIRECTIVE_CALL, memory_order_relaxed);
	node_table_tell(t, slot);
}

static inline void node_table_call_no_more(struct node_table *t, uint32_t slot)
{
	atomic_fetch_and_explicit(
		&t->lines[slot].directives, ~NODE_DIRECTIVE_CALL, memory_order_relaxed);
}

// Notes the newest index of a node's allocations, for its heartbeats and for the worker that owns the slot. Applier
// only.
static inline void node_table_announce(struct node_table *t, uint32_t slot, uint64_t index)
{
	struct node_line *line = &t->lines[slot];
	if (index <= atomic_load_explicit(&line->alloc_index, memory_order_relaxed))
		return;
	atomic_store_explicit(&line->alloc_index, index, memory_order_relaxed);
	node_table_tell(t, slot);
}

// Has the owning worker forget the key of a node. After that was published for which the key is stale.
static inline void node_table_forget_key(struct node_table *t, uint32_t slot)
{
	atomic_fetch_or_explicit(
		&t->stale_keys[slot / 64], 1ull << slot % 64, memory_order_relaxed);
	atomic_fetch_add_explicit(&t->stale_keys_set, 1, memory_order_release);
}

static inline uint16_t node_table_owner(const struct node_table *t, uint32_t slot)
{
	return atomic_load_explicit(&t->block_owner[slot / NODE_BLOCK_SLOTS], memory_order_relaxed);
}
