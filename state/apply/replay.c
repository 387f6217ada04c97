#include "state/apply/replay.h"
#include "state/apply/apply.h"
#include "state/base/check.h"
#include "state/base/error.h"
#include "state/base/memory.h"
#include "state/log/batch.h"
#include "state/tables/nodes/node_cell.h"
#include "state/tables/publish.h"
#include "state/tables/tables.h"
#include <stdlib.h>
#include <string.h>

#define ENTRIES_BYTES_FIRST 4096u

// An entry on its way: decoded, with no more bytes than its kind takes, or a node's registration, which is decoded in
// its turn.
struct waiting {
	uint32_t registration_at; // where its bytes begin; 0: the entry is decoded
	struct entry entry;
};

struct replay_batch {
	struct batch_header header;
	int header_error;
	struct bytes_reader rest; // of the bytes
	bool is_decoded;
	int error;          // behind the entries that are decoded
	uint8_t *entries;   // a struct waiting each, one behind the other
	size_t end, room;   // of entries, in bytes
	size_t applied_end; // of those that were applied: they own nothing any more
	uint32_t size;
	uint8_t bytes[]; // which texts of entries point into
};

static struct waiting *waiting_at(const struct replay_batch *b, size_t at)
{
	CHECK(at < b->end);
	return (struct waiting *)(void *)(b->entries + at);
}

static size_t waiting_bytes(const struct waiting *w)
{
	size_t bytes =
		offsetof(struct waiting, entry) + (w->registration_at ? 0 : entry_bytes(&w->entry));
	return (bytes + _Alignof(struct waiting) - 1) / _Alignof(struct waiting) *
	       _Alignof(struct waiting);
}

static struct waiting *waiting_next(struct replay_batch *b)
{
	if (b->room - b->end < sizeof(struct waiting)) {
		b->room = b->room ? b->room * 2 : ENTRIES_BYTES_FIRST;
		b->entries = memory_resize(b->entries, b->room);
	}
	return (struct waiting *)(void *)(b->entries + b->end);
}

static int decode_next(struct replay_batch *b, struct bytes_reader *r)
{
	struct waiting *w = waiting_next(b);
	uint32_t at = (uint32_t)r->at;

	CHECK(at >= BATCH_HEADER_BYTES);
	struct bytes_reader body;
	w->registration_at = entry_skip_registration(r, &body) ? at : 0;
	int error = w->registration_at ? 0 : entry_decode(&w->entry, NULL, r);
	if (!error)
		b->end += waiting_bytes(w);
	return error;
}

struct replay_batch *replay_batch_open(const void *batch, uint32_t size)
{
	struct replay_batch *b = memory_resize(NULL, sizeof *b + size);

	*b = (struct replay_batch){.size = size};
	memcpy(b->bytes, batch, size);
	b->rest = bytes_reader_over(b->bytes, size);
	b->header_error = batch_open(&b->rest, &b->header);
	return b;
}

void replay_batch_decode(struct replay_batch *b)
{
	CHECK(!b->is_decoded);
	b->is_decoded = true;
	if (b->header_error)
		return;
	for (uint32_t i = 0; i < b->header.entries && !b->error; i++)
		b->error = decode_next(b, &b->rest);
	if (!b->error && bytes_left(&b->rest) > 0)
		b->error = -ERROR_CORRUPT;
}

static void approach_registration(
	const struct state *state, uint32_t *backed, struct bytes_reader r)
{
	struct bytes_reader body;
	struct uuid node;
	uint32_t slot;

	CHECK(entry_skip_registration(&r, &body));
	entry_node_register_peek(body, &slot, &node);
	node_cells_back(state, backed, slot);
	state_node_prefetch_id(state, &node);
}

void replay_batch_approach(
	const struct replay_batch *b, const struct state *state, uint32_t *slots_backed)
{
	CHECK(b->applied_end == 0);
	for (size_t at = 0; at < b->end;) {
		struct waiting *w = waiting_at(b, at);
		struct bytes_reader r = bytes_reader_over(b->bytes, b->size);
		r.at = w->registration_at;
		if (r.at > 0)
			approach_registration(state, slots_backed, r);
		at += waiting_bytes(w);
	}
}

void replay_batch_free(struct replay_batch *b)
{
	for (size_t at = b->applied_end; at < b->end;) {
		struct waiting *w = waiting_at(b, at);
		at += waiting_bytes(w);
		if (!w->registration_at)
			entry_release(&w->entry);
	}
	free(b->entries);
	free(b);
}

size_t replay_batch_bytes(const struct replay_batch *b)
{
	return sizeof *b + b->size + b->room;
}

static int check_and_apply(struct state *state, struct entry *e)
{
	int error = entry_check(state, e);
	if (!error)
		entry_apply(state, e);
	return error;
}

static int apply_registration(struct state *state, const struct replay_batch *b, uint32_t at)
{
	struct bytes_reader r = bytes_reader_over(b->bytes, b->size);
	struct node_registration description;
	struct entry entry;

	r.at = at;
	int error = entry_decode(&entry, &description, &r);
	return error ? error : check_and_apply(state, &entry);
}

static int apply_waiting(struct replay_batch *b, struct state *state)
{
	while (b->applied_end < b->end) {
		struct waiting *w = waiting_at(b, b->applied_end);
		size_t bytes = waiting_bytes(w);
		int error = w->registration_at ? apply_registration(state, b, w->registration_at)
					       : check_and_apply(state, &w->entry);
		if (error)
			return error;
		b->applied_end += bytes;
	}
	return b->error;
}

int replay_batch_apply(struct replay_batch *b, struct state *state, uint64_t first_index)
{
	const struct batch_header *header = &b->header;

	CHECK(b->applied_end == 0);
	if (b->header_error)
		return b->header_error;
	if (header->first_index != first_index || header->indexes == 0)
		return -ERROR_CORRUPT;
	uint64_t last = first_index + header->indexes - 1;
	if (last <= state->index)
		return 0;
	if (first_index != state->index + 1)
		return -ERROR_CORRUPT;
	if (!b->is_decoded)
		replay_batch_decode(b);
	int error = apply_waiting(b, state);
	if (error)
		return error;
	if (state->index != last)
		return -ERROR_CORRUPT;
	struct summary summary = state_summary_now(state);
	state_publish(state, state->changes, last, &summary);
	state->unpublished_from = last + 1;
	return 0;
}
