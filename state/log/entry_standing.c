#include "state/log/entry_standing.h"
#include "state/base/limits.h"
#include <stdlib.h>

#define ITEM_BYTES 27u

enum { OFFLINED = 1, FORGOTTEN = 2, UNREADY = 4, FLAGS = 8 };

void standing_code(struct coder *c, void *value)
{
	struct standing *l = value;
	uint8_t flags = (uint8_t)((l->offlined ? OFFLINED : 0) | (l->forgotten ? FORGOTTEN : 0) |
				  (l->unready ? UNREADY : 0));

	code_i64(c, &l->lost_ns);
	code_i64(c, &l->flaky_ns);
	code_u8(c, &l->readiness);
	code_u8(c, &flags);
	if (c->writer)
		return;
	l->offlined = flags & OFFLINED;
	l->forgotten = flags & FORGOTTEN;
	l->unready = flags & UNREADY;
	coder_require(c, flags < FLAGS && standing_is_sound(l));
}

void entry_node_standing_code(struct coder *c, void *body)
{
	struct entry_node_standing *e = body;

	code_items(c, (void **)&e->items, &e->count, sizeof e->items[0], ITEM_BYTES);
	coder_require(c, e->count > 0 && e->count <= NODE_SWEEP_MAX);
	for (uint32_t i = 0; i < e->count; i++) {
		struct standing_change *item = &e->items[i];
		code_u32(c, &item->slot);
		code_u32(c, &item->generation);
		code_u8(c, &item->cause);
		coder_require(c, item->cause < STANDING_CAUSES);
		standing_code(c, &item->standing);
	}
}

void entry_node_standing_release(void *body)
{
	struct entry_node_standing *e = body;

	free(e->items);
	*e = (struct entry_node_standing){0};
}
