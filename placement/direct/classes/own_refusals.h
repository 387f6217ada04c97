// Which nodes a group refuses for what is their own, whatever their classes are: volumes, constraints on what is unique
// to a node. A node is judged once, and again when it is described anew.
#pragma once
#include <stdbool.h>
#include <stdint.h>

// Why a node is refused for what is its own, valid until the judge is called again; NULL: it is not, or it is gone.
// comes_first: before what its class says; else only nodes whose classes are taken are refused for it.
typedef const char *node_judge(void *context, uint32_t slot, bool *comes_first);

struct own_reason {
	char *text;
	bool comes_first;
};

// With more reasons than numbers nothing holds.
#define OWN_REASONS_MAX 255u
// So few nodes are looked at one by one, as those of a small fleet.
#define OWN_NODES_FEW 2048u

struct own_refusals {
	struct own_reason *reasons;
	uint32_t reason_count, reason_room;
	bool has_too_many_reasons;
	uint8_t *of; // by slot: the number of the reason, counted from 1; 0: none
	uint32_t slots;
	uint32_t passing; // ready nodes that are not refused
	uint32_t *few;    // their slots, in no order; NULL: they are not few
	bool is_lost;     // they may have become few
};

void own_refusals_release(struct own_refusals *);
// Room for slots 0 … slots-1; new ones are not refused.
void own_refusals_make_room(struct own_refusals *, uint32_t slots);
void own_refusals_judge(struct own_refusals *, uint32_t slot, node_judge *, void *context);

// No node passes, from which on they are put in and taken out.
void own_refusals_begin_passing(struct own_refusals *);
void own_refusals_put(struct own_refusals *, uint32_t slot);
void own_refusals_take_out(struct own_refusals *, uint32_t slot);
