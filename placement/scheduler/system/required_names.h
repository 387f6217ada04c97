// The names that a job requires on each of its nodes (row A19), numbered in the order of their text.
#pragma once
#include "state/records/allocation.h"
#include "state/records/job.h"

struct required_name {
	uint32_t group, index;
};
struct name_map; // maps groups of another job version to groups of the job

struct required_names {
	const struct job *job;
	struct required_name *items; // by text
	uint32_t count;
	uint32_t *positions; // by group and index: place in items
	uint32_t *first;     // by group: its first position; one more at the end
	struct name_map *maps;
	uint32_t map_count;
};

#define NAME_NOT_REQUIRED 0xffffffffu

// job NULL: no names.
void required_names_init(struct required_names *, const struct job *);
void required_names_release(struct required_names *);
// The position of an allocation's name, or NAME_NOT_REQUIRED.
uint32_t required_names_find(struct required_names *, const struct allocation *);
