#include "state/cluster/assembly.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include <stdlib.h>
#include <string.h>

struct waiting_batch {
	struct log_piece piece; // as the newest piece says
	uint8_t *bytes;
	uint8_t *is_there; // by piece
	uint32_t there;
};

struct assembly {
	struct waiting_batch *batches; // few: as many as are on their way
	uint32_t count, capacity;
	size_t bytes;
	uint8_t *taken;
};

struct assembly *assembly_create(void)
{
	return memory_take(sizeof(struct assembly));
}

static void remove_batch(struct assembly *a, uint32_t i)
{
	CHECK(i < a->count);
	a->bytes -= a->batches[i].piece.kept_bytes;
	free(a->batches[i].bytes);
	free(a->batches[i].is_there);
	a->batches[i] = a->batches[--a->count];
}

void assembly_clear(struct assembly *a)
{
	while (a->count > 0)
		remove_batch(a, a->count - 1);
	CHECK(a->bytes == 0);
}

void assembly_destroy(struct assembly *a)
{
	if (!a)
		return;
	assembly_clear(a);
	free(a->batches);
	free(a->taken);
	free(a);
}

static struct waiting_batch *find_batch(struct assembly *a, uint64_t first_index)
{
	for (uint32_t i = 0; i < a->count; i++)
		if (a->batches[i].piece.first_index == first_index)
			return &a->batches[i];
	return NULL;
}

static struct waiting_batch *add_batch(struct assembly *a, const struct log_piece *p)
{
	a->batches = memory_one_more(a->batches, a->count, &a->capacity, sizeof a->batches[0]);
	struct waiting_batch *b = &a->batches[a->count++];
	*b = (struct waiting_batch){.piece = *p};
	b->bytes = memory_take(p->kept_bytes);
	b->is_there = memory_take(p->pieces);
	a->bytes += p->kept_bytes;
	return b;
}

static bool is_same_batch(const struct log_piece *a, const struct log_piece *b)
{
	return a->leadership == b->leadership && a->batch_bytes == b->batch_bytes &&
	       a->kept_bytes == b->kept_bytes && a->indexes == b->indexes;
}

void assembly_put(
	struct assembly *a, const struct log_piece *p, uint32_t piece, const uint8_t *bytes)
{
	struct waiting_batch *b = find_batch(a, p->first_index);

	CHECK(piece < p->pieces);
	if (b && !is_same_batch(&b->piece, p)) {
		remove_batch(a, (uint32_t)(b - a->batches));
		b = NULL;
	}
	if (!b)
		b = add_batch(a, p);
	memcpy(b->bytes + log_piece_at(piece), bytes, log_piece_size(p->kept_bytes, piece));
	b->there += !b->is_there[piece];
	b->is_there[piece] = 1;
}

void assembly_drop(struct assembly *a, uint64_t first_index, uint32_t piece)
{
	struct waiting_batch *b = find_batch(a, first_index);

	if (!b || piece >= b->piece.pieces || !b->is_there[piece])
		return;
	b->is_there[piece] = 0;
	if (--b->there == 0)
		remove_batch(a, (uint32_t)(b - a->batches));
}

size_t assembly_bytes(const struct assembly *a)
{
	return a->bytes;
}

const uint8_t *assembly_take(struct assembly *a, uint64_t first_index, struct log_piece *p)
{
	for (uint32_t i = a->count; i-- > 0;)
		if (a->batches[i].piece.first_index < first_index)
			remove_batch(a, i);
	struct waiting_batch *b = find_batch(a, first_index);
	if (!b || b->there != b->piece.pieces)
		return NULL;
	*p = b->piece;
	free(a->taken);
	a->taken = b->bytes;
	b->bytes = NULL;
	remove_batch(a, (uint32_t)(b - a->batches));
	return a->taken;
}
