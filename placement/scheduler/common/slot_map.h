// A number for some of the slots of a fleet. To begin costs nothing and to fill as little as is put in, however large
// the fleet is: pages of slots are made as they are needed and found by hashing. Neighbours share a page, because
// system jobs put a number for every node; reading is inline, because they ask for every node, too.
#pragma once
#include "state/base/arena/arena.h"

#define SLOT_MAP_PAGE 64u

struct slot_map_entry {
	uint32_t *numbers; // of the slots from page * SLOT_MAP_PAGE on; NULL: the entry is free
	uint32_t page;
};

struct slot_map {
	struct arena *arena; // of entries and pages, which end with it
	uint32_t slots, page_count;
	uint32_t mask;
	struct slot_map_entry *entries; // by hash; NULL: no slot has a number
};

void slot_map_begin(struct slot_map *, uint32_t slots, struct arena *);
void slot_map_put(struct slot_map *, uint32_t slot, uint32_t number);

static inline uint32_t slot_map_hash(uint32_t page)
{
	uint32_t mixed = page * 0x9e3779b1u;
	return mixed ^ mixed >> 15;
}

// The entry of the page, or the free one where it belongs.
static inline struct slot_map_entry *slot_map_entry_of(const struct slot_map *m, uint32_t page)
{
	uint32_t i = slot_map_hash(page) & m->mask;
	while (m->entries[i].numbers && m->entries[i].page != page)
		i = (i + 1) & m->mask;
	return &m->entries[i];
}

// 0: the slot has no number, or is beyond the map.
static inline uint32_t slot_map_get(const struct slot_map *m, uint32_t slot)
{
	if (slot >= m->slots || !m->entries)
		return 0;
	const uint32_t *numbers = slot_map_entry_of(m, slot / SLOT_MAP_PAGE)->numbers;
	return numbers ? numbers[slot % SLOT_MAP_PAGE] : 0;
}
