// A slab is an aligned run of pages with pieces of one size. Its head knows which pieces are free: those behind `fresh`
// were never taken, the others are in a list. Slabs with free pieces are in a list of their size; one whose pieces are
// all free may become a slab of another size, unless it is the last of its size that has room. The system gets the
// memory of those that nobody needed for a while, but for the page with the head. Pieces that are brief have slabs of
// their own, since one piece that stays keeps a whole slab.
#include "state/records/slab.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/queue.h>
#include <unistd.h>

#define STEP_BYTES 8u
#define PIECE_BYTES_MAX 1024u
#define SLAB_BYTES ((size_t)64 * 1024)
// Address space is taken for so many slabs at once; memory backs what is touched.
#define REGION_SLABS 16u
#define SIZES (PIECE_BYTES_MAX / STEP_BYTES)

struct piece {
	struct piece *next;
};

struct slab {
	LIST_ENTRY(slab) of_size; // while it has free pieces, or is free as a whole
	struct piece *given_back;
	uint32_t fresh; // bytes from the slab's begin
	uint32_t used;  // pieces
	uint16_t size;  // of its pieces, in steps beyond the first
	bool is_brief;
} __attribute__((aligned(STEP_BYTES)));
LIST_HEAD(slab_list, slab);

struct slab_size {
	pthread_mutex_t lock;
	struct slab_list with_room;
	size_t taken; // pieces
};

static struct slab_size slab_sizes[2][SIZES] = { // by is_brief
	[0 ... 1] = {[0 ... SIZES - 1] = {.lock = PTHREAD_MUTEX_INITIALIZER}}};
// Slabs that are free as a whole; below the locks of sizes.
static pthread_mutex_t free_lock = PTHREAD_MUTEX_INITIALIZER;
static struct slab_list free_slabs, returned_slabs; // with their memory, and without
static uint32_t free_count, free_least; // of free_slabs: now, and since the last slab_trim()
// Address space for slabs that never were.
static char *region;
static uint32_t region_left;

static uint32_t size_of_piece(size_t bytes)
{
	return bytes ? (uint32_t)((bytes - 1) / STEP_BYTES) : 0;
}

static uint32_t piece_bytes(uint32_t size)
{
	return (size + 1) * STEP_BYTES;
}

size_t slab_bytes(size_t bytes)
{
	return bytes > PIECE_BYTES_MAX ? bytes : piece_bytes(size_of_piece(bytes));
}

// Sanitizers watch every piece of the heap, but not what is inside of a slab.
static bool is_of_heap(size_t bytes)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	return true;
#else
	return bytes > PIECE_BYTES_MAX;
#endif
}

// Takes a slab that nobody has.
static struct slab *take_free_slab(void)
{
	pthread_mutex_lock(&free_lock);
	struct slab *slab = free_count > 0 ? LIST_FIRST(&free_slabs) : LIST_FIRST(&returned_slabs);
	if (free_count > 0 && --free_count < free_least)
		free_least = free_count;
	if (slab) {
		LIST_REMOVE(slab, of_size);
	} else {
		if (region_left == 0) {
			region = memory_map_aligned(SLAB_BYTES * REGION_SLABS, SLAB_BYTES);
			region_left = REGION_SLABS;
		}
		slab = (struct slab *)(region + SLAB_BYTES * (REGION_SLABS - region_left--));
	}
	pthread_mutex_unlock(&free_lock);
	return slab;
}

static void give_free_slab(struct slab *slab)
{
	pthread_mutex_lock(&free_lock);
	LIST_INSERT_HEAD(&free_slabs, slab, of_size);
	free_count++;
	pthread_mutex_unlock(&free_lock);
}

// Takes one that nobody needed lately; NULL: there is none.
static struct slab *take_idle_slab(void)
{
	struct slab *slab = NULL;

	pthread_mutex_lock(&free_lock);
	if (free_least > 0) {
		slab = LIST_FIRST(&free_slabs);
		LIST_REMOVE(slab, of_size);
		free_least--;
		free_count--;
	}
	pthread_mutex_unlock(&free_lock);
	return slab;
}

static void return_memory(struct slab *slab)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	if (page < SLAB_BYTES)
		CHECK(madvise((char *)slab + page, SLAB_BYTES - page, MADV_DONTNEED) == 0);
	pthread_mutex_lock(&free_lock);
	LIST_INSERT_HEAD(&returned_slabs, slab, of_size);
	pthread_mutex_unlock(&free_lock);
}

void slab_trim(void)
{
	struct slab *slab;

	while ((slab = take_idle_slab()))
		return_memory(slab);
	pthread_mutex_lock(&free_lock);
	free_least = free_count;
	pthread_mutex_unlock(&free_lock);
}

static struct slab *slab_open(struct slab_size *s, uint32_t size, bool is_brief)
{
	struct slab *slab = take_free_slab();

	*slab = (struct slab){.fresh = sizeof *slab, .size = (uint16_t)size, .is_brief = is_brief};
	LIST_INSERT_HEAD(&s->with_room, slab, of_size);
	return slab;
}

static bool slab_is_full(const struct slab *slab)
{
	return !slab->given_back && slab->fresh + piece_bytes(slab->size) > SLAB_BYTES;
}

static void *slab_take_piece(struct slab *slab)
{
	struct piece *piece = slab->given_back;

	if (piece) {
		slab->given_back = piece->next;
	} else {
		piece = (struct piece *)((char *)slab + slab->fresh);
		slab->fresh += piece_bytes(slab->size);
	}
	slab->used++;
	if (slab_is_full(slab))
		LIST_REMOVE(slab, of_size);
	return piece;
}

static inline void *slab_take_for(size_t bytes, bool is_brief)
{
	if (is_of_heap(bytes))
		return memory_take(bytes);
	uint32_t size = size_of_piece(bytes);
	struct slab_size *s = &slab_sizes[is_brief][size];

	pthread_mutex_lock(&s->lock);
	struct slab *slab = LIST_FIRST(&s->with_room);
	void *piece = slab_take_piece(slab ? slab : slab_open(s, size, is_brief));
	s->taken++;
	pthread_mutex_unlock(&s->lock);
	return memset(piece, 0, bytes);
}

void *slab_take(size_t bytes)
{
	return slab_take_for(bytes, false);
}

void *slab_take_brief(size_t bytes)
{
	return slab_take_for(bytes, true);
}

static bool is_alone_with_room(const struct slab_size *s, const struct slab *slab)
{
	return LIST_FIRST(&s->with_room) == slab && !LIST_NEXT(slab, of_size);
}

void slab_give(void *given, size_t bytes)
{
	if (!given || is_of_heap(bytes)) {
		free(given);
		return;
	}
	struct slab *slab = (struct slab *)((uintptr_t)given & ~(uintptr_t)(SLAB_BYTES - 1));
	struct slab_size *s = &slab_sizes[slab->is_brief][size_of_piece(bytes)];
	struct piece *piece = given;

	pthread_mutex_lock(&s->lock);
	CHECK(slab->used > 0 && slab->size == size_of_piece(bytes));
	if (slab_is_full(slab))
		LIST_INSERT_HEAD(&s->with_room, slab, of_size);
	piece->next = slab->given_back;
	slab->given_back = piece;
	slab->used--;
	s->taken--;
	bool is_free = slab->used == 0 && !is_alone_with_room(s, slab);
	if (is_free)
		LIST_REMOVE(slab, of_size);
	pthread_mutex_unlock(&s->lock);
	if (is_free)
		give_free_slab(slab);
}

size_t slab_bytes_taken(void)
{
	size_t bytes = 0;

	for (uint32_t i = 0; i < 2 * SIZES; i++) {
		struct slab_size *s = &slab_sizes[i / SIZES][i % SIZES];
		pthread_mutex_lock(&s->lock);
		bytes += s->taken * piece_bytes(i % SIZES);
		pthread_mutex_unlock(&s->lock);
	}
	return bytes;
}
