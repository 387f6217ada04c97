#include "state/log/entry_standing.h"
#include "state/base/error.h"
#include "state/base/limits.h"
#include "state/base/memory.h"
#include <stdlib.h>

#define ITEM_BYTES 27u

enum { OFFLINED = 1, FORGOTTEN = 2, UNREADY = 4, FLAGS = 8 };

void node_standing_encode(const struct standing *l, struct bytes_writer *w)
{
	bytes_put_u64(w, (uint64_t)l->lost_ns);
	bytes_put_u64(w, (uint64_t)l->flaky_ns);
	bytes_put_u8(w, l->readiness);
	bytes_put_u8(w, (uint8_t)((l->offlined ? OFFLINED : 0) | (l->forgotten ? FORGOTTEN : 0) |
				  (l->unready ? UNREADY : 0)));
}

bool node_standing_decode(struct standing *l, struct bytes_reader *r)
{
	l->lost_ns = (int64_t)bytes_take_u64(r);
	l->flaky_ns = (int64_t)bytes_take_u64(r);
	l->readiness = bytes_take_u8(r);
	uint8_t flags = bytes_take_u8(r);
	l->offlined = flags & OFFLINED;
	l->forgotten = flags & FORGOTTEN;
	l->unready = flags & UNREADY;
	return !r->failed && flags < FLAGS && standing_is_sound(l);
}

void entry_node_standing_encode(const void *body, struct bytes_writer *w)
{
	const struct entry_node_standing *e = body;

	bytes_put_u32(w, e->count);
	for (uint32_t i = 0; i < e->count; i++) {
		bytes_put_u32(w, e->items[i].slot);
		bytes_put_u32(w, e->items[i].generation);
		bytes_put_u8(w, e->items[i].cause);
		node_standing_encode(&e->items[i].standing, w);
	}
}

int entry_node_standing_decode(void *body, struct bytes_reader *r)
{
	struct entry_node_standing *e = body;
	uint32_t count = bytes_take_u32(r);
	bool is_sound = true;

	*e = (struct entry_node_standing){0};
	if (r->failed || count == 0 || count > NODE_SWEEP_MAX ||
		bytes_left(r) != count * ITEM_BYTES)
		return -ERROR_CORRUPT;
	e->items = memory_take_array(count, sizeof e->items[0]);
	while (is_sound && e->count < count) {
		struct standing_change *item = &e->items[e->count++];
		item->slot = bytes_take_u32(r);
		item->generation = bytes_take_u32(r);
		item->cause = bytes_take_u8(r);
		is_sound =
			node_standing_decode(&item->standing, r) && item->cause < STANDING_CAUSES;
	}
	if (is_sound)
		return 0;
	entry_node_standing_release(e);
	return -ERROR_CORRUPT;
}

void entry_node_standing_release(void *body)
{
	struct entry_node_standing *e = body;

	free(e->items);
	*e = (struct entry_node_standing){0};
}
