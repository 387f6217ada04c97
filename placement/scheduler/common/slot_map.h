// A number for some of the slots of a fleet. To begin costs next to nothing, however large the fleet is: pages of slots
// are made as they are needed. Inline, because system jobs ask for every node.
#pragma once
#include "state/base/check.h"
#include "state/base/memory.h"
#include <stdint.h>
#include <stdlib.h>

#define SLOT_MAP_PAGE 512u

struct slot_map {
	uint32_t **pages;
	uint32_t slots;
};

static inline void slot_map_begin(struct slot_map *m, uint32_t slots)
{
	m->slots = slots;
	m->pages = memory_take_array(slots / SLOT_MAP_PAGE + 1, sizeof m->pages[0]);
}

static inline void slot_map_release(struct slot_map *m)
{
	for (uint32_t i = 0; m->pages && i <= m->slots / SLOT_MAP_PAGE; i++)
		free(m->pages[i]);
	free(m->pages);
	*m = (struct slot_map){0};
}

// 0: the slot has no number, or is beyond the map.
static inline uint32_t slot_map_get(const struct slot_map *m, uint32_t slot)
{
	if (slot >= m->slots)
		return 0;
	const uint32_t *page = m->pages[slot / SLOT_MAP_PAGE];
	return page ? page[slot % SLOT_MAP_PAGE] : 0;
}

static inline void slot_map_put(struct slot_map *m, uint32_t slot, uint32_t number)
{
	CHECK(slot < m->slots);
	uint32_t **page = &m->pages[slot / SLOT_MAP_PAGE];
	if (!*page)
		*page = memory_take_array(SLOT_MAP_PAGE, sizeof **page);
	(*page)[slot % SLOT_MAP_PAGE] = number;
}
