// A number for some of the slots of a fleet. To begin costs nothing and to end as little as was put in, however large
// the fleet is: pages of slots are made as they are needed and found by hashing. Neighbours share a page, because
// system jobs put a number for every node; reading is inline, because they ask for every node, too.
#pragma once
#include <stdint.h>

#define SLOT_MAP_PAGE 64u

struct slot_map_entry {
	uint32_t page; // slots from page * SLOT_MAP_PAGE on
	uint32_t at;   // place among the pages, counted from 1; 0: the entry is free
};

struct slot_map {
	uint32_t slots;
	uint32_t page_count, page_room;
	uint32_t (*pages)[SLOT_MAP_PAGE];
	uint32_t mask;
	struct slot_map_entry *entries; // by hash; NULL: no slot has a number
};

void slot_map_begin(struct slot_map *, uint32_t slots);
void slot_map_release(struct slot_map *);
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
	while (m->entries[i].at && m->entries[i].page != page)
		i = (i + 1) & m->mask;
	return &m->entries[i];
}

// 0: the slot has no number, or is beyond the map.
static inline uint32_t slot_map_get(const struct slot_map *m, uint32_t slot)
{
	if (slot >= m->slots || !m->entries)
		return 0;
	uint32_t at = slot_map_entry_of(m, slot / SLOT_MAP_PAGE)->at;
	return at ? m->pages[at - 1][slot % SLOT_MAP_PAGE] : 0;
}
