// What a group asks of node classes and of room, as bytes: groups that ask the same have the same key.
#pragma once
#include "placement/scheduler/rules/rules.h"

struct class_key {
	uint32_t size, room;
	char *many; // NULL: few will do
	char few[256];
};

static inline const char *class_key_bytes(const struct class_key *k)
{
	return k->many ? k->many : k->few;
}

// name_index: of the instance, which may have volumes of its own.
void class_key_make(struct class_key *, const struct group_rules *, const struct job_rules *,
	uint32_t name_index);
// For those up to a priority who may be evicted for the group: also which ports it asks for.
void class_key_add_victims(struct class_key *, const struct group_rules *, int64_t priority);
void class_key_release(struct class_key *);
