#include "state/apply/replay.h"
#include "state/apply/apply.h"
#include "state/base/check.h"
#include "state/base/error.h"
#include "state/base/memory.h"
#include "state/log/batch.h"
#include "state/tables/client.h"
#include "state/tables/jobs/alloc_table.h"
#include "state/tables/nodes/node_cell.h"
#include "state/tables/nodes/node_class.h"
#include "state/tables/publish.h"
#include "state/tables/table.h"
#include "state/tables/tables.h"
#include <stdlib.h>
#include <string.h>

#define ENTRIES_BYTES_FIRST 4096u

struct replay_batch {
	struct batch_header header;
	int header_error;
	struct bytes_reader rest; // of the bytes
	bool is_decoded;
	int error;        // behind the entries that are decoded
	uint8_t *entries; // decoded, with no more bytes than their kinds take, one behind the other
	size_t end, room; // of entries, in bytes
	size_t applied_end; // of those that were applied: they own nothing any more
	uint32_t size;
	uint8_t bytes[]; // which texts of entries point into
};

static struct entry *entry_at(const struct replay_batch *b, size_t at)
{
	CHECK(at < b->end);
	return (struct entry *)(void *)(b->entries + at);
}

static size_t entry_room(const struct entry *e)
{
	return (entry_bytes(e) + _Alignof(struct entry) - 1) / _Alignof(struct entry) *
	       _Alignof(struct entry);
}

static struct entry *next_entry(struct replay_batch *b)
{
	if (b->room - b->end < sizeof(struct entry)) {
		b->room = b->room ? b->room * 2 : ENTRIES_BYTES_FIRST;
		b->entries = memory_resize(b->entries, b->room);
	}
	return (struct entry *)(void *)(b->entries + b->end);
}

// A description of a node takes more room than its bytes. So what is kept of it is that it is sound, and its class.
static int decode_next(struct replay_batch *b, struct node_registration *description)
{
	struct entry *e = next_entry(b);
	int error = entry_decode(e, description, &b->rest);

	if (error)
		return error;
	if (entry_is_registration(e)) {
		e->node_register.description = NULL;
		e->node_register.class_hash = class_hash(description);
	}
	b->end += entry_room(e);
	return 0;
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
	struct node_registration description;

	CHECK(!b->is_decoded);
	b->is_decoded = true;
	if (b->header_error)
		return;
	for (uint32_t i = 0; i < b->header.entries && !b->error; i++)
		b->error = decode_next(b, &description);
	if (!b->error && bytes_left(&b->rest) > 0)
		b->error = -ERROR_CORRUPT;
}

void replay_batch_back(
	const struct replay_batch *b, const struct state *state, uint32_t *slots_backed)
{
	CHECK(b->applied_end == 0);
	for (size_t at = 0; at < b->end; at += entry_room(entry_at(b, at))) {
		const struct entry *e = entry_at(b, at);
		if (entry_is_registration(e))
			node_cells_back(state, slots_backed, e->node_register.slot);
	}
}

void replay_batch_free(struct replay_batch *b)
{
	for (size_t at = b->applied_end; at < b->end;) {
		struct entry *e = entry_at(b, at);
		at += entry_room(e);
		entry_release(e);
	}
	free(b->entries);
	free(b);
}

size_t replay_batch_bytes(const struct replay_batch *b)
{
	return sizeof *b + b->size + b->room;
}

static void approach_registration(const struct state *state, const struct entry_node_register *e)
{
	struct bytes_reader description = e->stored;
	struct uuid node = bytes_take_uuid(&description); // stands first

	CHECK(!description.failed);
	table_hash_approach(state, STATE_NODES, uuid_hash(&node));
	node_cell_prefetch(state, e->slot);
}

static void approach(const struct state *state, const struct entry *e)
{
	const struct entry_place_request *request = &e->place_request;

	if (entry_is_registration(e))
		approach_registration(state, &e->node_register);
	else if (e->kind == ENTRY_ALLOC_PLACE)
		alloc_cell_approach(state, &e->alloc_place.id, e->alloc_place.slot);
	else if (e->kind == ENTRY_PLACE_REQUEST || e->kind == ENTRY_PLACE_IN_PART)
		place_request_approach(
			state, request->client, request->issued_ms, request->request);
}

// What the next entries will touch lies anywhere in memory, so it is fetched ahead.
static void approach_ahead(const struct replay_batch *b, const struct state *state, size_t *ahead)
{
	enum { AHEAD_BYTES = 4096 };

	while (*ahead < b->end && *ahead < b->applied_end + AHEAD_BYTES) {
		const struct entry *e = entry_at(b, *ahead);
		approach(state, e);
		*ahead += entry_room(e);
	}
}

static int check_and_apply(struct state *state, struct entry *e)
{
	int error = entry_check(state, e);
	if (!error)
		entry_apply(state, e);
	return error;
}

// What is decoded again was found to be sound.
static int apply_waiting(
	struct state *state, struct entry *e, struct node_registration *description)
{
	if (entry_is_registration(e)) {
		struct bytes_reader stored = e->node_register.stored;
		CHECK(coder_read(node_description_code, description, &stored) == 0);
		e->node_register.description = description;
	}
	return check_and_apply(state, e);
}

static int apply_decoded(struct replay_batch *b, struct state *state)
{
	struct node_registration description;
	size_t ahead = 0;

	while (b->applied_end < b->end) {
		approach_ahead(b, state, &ahead);
		struct entry *e = entry_at(b, b->applied_end);
		size_t bytes = entry_room(e);
		int error = apply_waiting(state, e, &description);
		if (error)
			return error;
		b->applied_end += bytes;
	}
	return b->error;
}

// Nobody was ahead: each is applied as it is decoded.
static int apply_rest(struct replay_batch *b, struct state *state)
{
	struct node_registration description;
	struct entry e;
	int error = 0;

	for (uint32_t i = 0; i < b->header.entries && !error; i++) {
		error = entry_decode(&e, &description, &b->rest);
		if (error)
			return error;
		error = check_and_apply(state, &e);
		if (error)
			entry_release(&e);
	}
	return error || bytes_left(&b->rest) == 0 ? error : -ERROR_CORRUPT;
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
	int error = b->is_decoded ? apply_decoded(b, state) : apply_rest(b, state);
	if (error)
		return error;
	if (state->index != last)
		return -ERROR_CORRUPT;
	struct summary summary = state_summary_now(state);
	state_publish(state, state->changes, last, &summary);
	state->unpublished_from = last + 1;
	return 0;
}
