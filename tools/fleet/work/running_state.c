#include "tools/fleet/work/running_state.h"
#include "dataplane/wire/seal.h"
#include "tools/fleet/nodes/fleet.h"

void running_enqueue(struct running *r, uint32_t node)
{
	if (r->nodes[node].flags & RUNNING_QUEUED)
		return;
	r->nodes[node].flags |= RUNNING_QUEUED;
	r->queue[r->queue_tail++ & r->queue_mask] = node;
}

struct wire_header running_header(const struct running *r, uint32_t node)
{
	const struct node_session *s = &r->fleet->nodes[node].session;
	return (struct wire_header){.key_id = s->key_id,
		.slot = s->slot,
		.generation = s->generation,
		.sequence = r->nodes[node].sequence};
}

struct wire_header running_question_header(const struct running *r, uint32_t node)
{
	struct wire_header h = running_header(r, node);
	h.flags = WIRE_FLAG_TERM;
	return h;
}

const struct behaviour *running_behaviour(const struct running *r, const struct running_alloc *a)
{
	return r->behaviours.items[a->behaviour];
}

uint32_t running_find(const struct running *r, uint32_t node, const struct uuid *id)
{
	uint32_t at = r->nodes[node].first;
	while (at != RUNNING_NONE && !uuid_equal(&r->allocs[at].id, id))
		at = r->allocs[at].next;
	return at;
}

// The allocation stays in the wheel until its time comes; only then may its record be used again.
void running_let_go(struct running *r, uint32_t *link)
{
	struct running_alloc *a = &r->allocs[*link];
	*link = a->next;
	r->up -= a->phase == RUNNING_UP;
	a->phase = RUNNING_ENDED;
	a->node = RUNNING_NONE;
}

uint32_t running_drawn_ms(struct running *r, double most_s)
{
	return (uint32_t)(prng_unit(&r->fleet->prng) * most_s * 1000);
}

uint32_t running_encode_spec(const struct running *r, uint32_t node, const struct uuid *id,
	const struct bytes_writer *so_far, uint8_t *frame)
{
	struct wire_alloc_spec spec = {*id, (uint32_t)so_far->size, WIRE_SPEC_BYTES_SEALED};
	struct wire_header h = running_question_header(r, node);
	h.flags |= WIRE_FLAG_SEALED;
	return wire_alloc_spec_encode(frame, FRAME_BYTES_MAX, h, &spec);
}

bool running_open_piece(const struct running *r, uint32_t node, const struct uuid *id,
	const uint8_t *data, struct wire_alloc_spec_reply *piece,
	uint8_t plain[static WIRE_SPEC_BYTES_MAX])
{
	if (!piece->is_sealed)
		return true;
	if (!wire_alloc_spec_open(data, &r->fleet->nodes[node].session.key, id, piece, plain))
		return false;
	piece->data = plain;
	return true;
}
