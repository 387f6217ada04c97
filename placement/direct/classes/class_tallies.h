// Numbers of ready nodes by what their classes said of a group, so that nobody has to go through all classes for them.
// Texts are copies and stay as long as the tallies.
#pragma once
#include "placement/direct/fit_node.h"
#include <stdbool.h>

// What a node has too little of: the first in this order.
enum fit_shortage { SHORT_OF_CPU, SHORT_OF_MEMORY, SHORT_OF_DISK, FIT_SHORTAGES };

struct available_tally { // of all classes that the job targets
	char *datacenter;
	uint32_t nodes;
};

enum refused_by {
	REFUSED_BY_GROUP,
	REFUSED_BY_JOB, // by what the whole job asks of classes
	REFUSED_ITSELF, // each node for what is its own; no class is counted
};

struct refused_tally {
	char *refusal, *class_name;
	enum refused_by by;
	uint32_t nodes, classes;
};

struct short_tally { // of classes that the group takes
	char *class_name;
	uint32_t nodes[FIT_SHORTAGES];
};

struct class_tallies {
	struct available_tally *available;
	struct refused_tally *refused;
	struct short_tally *shorts;
	uint32_t available_count, available_room, refused_count, refused_room, short_count,
		short_room;
	uint32_t candidates; // the sum of available
};

void class_tallies_release(struct class_tallies *);
// All numbers become 0.
void class_tallies_clear(struct class_tallies *);
// The places of tallies, which are made when they are not there.
uint32_t class_tallies_available(struct class_tallies *, const char *datacenter);
uint32_t class_tallies_refused(
	struct class_tallies *, const char *refusal, const char *class_name, enum refused_by);
uint32_t class_tallies_short(struct class_tallies *, const char *class_name);
