#include "state/base/memory.h"
#include "state/base/check.h"
#include "state/base/failpoint/failpoint.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define HUGE_PAGE_BYTES ((size_t)2 * 1024 * 1024)

void memory_is_short(size_t bytes)
{
	char refused[64] = "";
	if (bytes > 0)
		snprintf(refused, sizeof refused, ": %zu bytes were refused", bytes);
	dprintf(STDERR_FILENO,
		"berth: out of memory%s. Give the process more memory or lower the configured "
		"limits.\n",
		refused);
	abort();
}

// calloc() of glibc does not look at what is at hand.
static void *take_cleared(size_t bytes)
{
	void *memory = bytes > MEMORY_AT_HAND_BYTES ? calloc(1, bytes) : malloc(bytes);
	if (FAILPOINT(MEMORY_TAKE) || !memory)
		memory_is_short(bytes);
	if (bytes > MEMORY_AT_HAND_BYTES)
		return memory;
	// gcc would make a calloc() of it, or clear so few bytes by an instruction that is slow to begin.
	__asm__("" : "+r"(memory), "+r"(bytes));
	return memset(memory, 0, bytes);
}

void *memory_take(size_t bytes)
{
	// Zero bytes may be answered with NULL; callers are promised memory.
	return take_cleared(bytes ? bytes : 1);
}

void *memory_take_array(size_t count, size_t bytes_each)
{
	size_t bytes;
	if (__builtin_mul_overflow(count, bytes_each, &bytes))
		memory_is_short(SIZE_MAX);
	return memory_take(bytes);
}

void *memory_take_aligned(size_t alignment, size_t bytes)
{
	size_t least = bytes ? bytes : alignment;
	void *memory = aligned_alloc(alignment, least);
	if (FAILPOINT(MEMORY_TAKE) || !memory)
		memory_is_short(bytes);
	return memset(memory, 0, least);
}

void *memory_resize(void *memory, size_t bytes)
{
	size_t least = bytes ? bytes : 1;
	// realloc() of glibc takes a way round for what is new.
	void *resized = memory ? realloc(memory, least) : malloc(least);
	if (FAILPOINT(MEMORY_RESIZE) || !resized)
		memory_is_short(bytes);
	return resized;
}

void *memory_one_more(void *items, uint32_t count, uint32_t *capacity, size_t bytes_each)
{
	if (count < *capacity)
		return items;
	*capacity = *capacity ? *capacity * 2 : 64;
	return memory_resize(items, *capacity * bytes_each);
}

static size_t whole_pages(size_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	return (bytes + page - 1) / page * page;
}

static void *map_anonymous(size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return memory == MAP_FAILED ? NULL : memory;
}

static void unmap(uint8_t *from, const uint8_t *to)
{
	if (from != to)
		CHECK(munmap(from, (size_t)(to - from)) == 0);
}

// Maps as much more as the alignment and unmaps both ends.
static void *map_aligned(size_t bytes, size_t alignment)
{
	uint8_t *whole = map_anonymous(bytes + alignment);
	if (!whole)
		return NULL;
	size_t past = (uintptr_t)whole % alignment;
	uint8_t *aligned = past ? whole + (alignment - past) : whole;
	unmap(whole, aligned);
	unmap(aligned + bytes, whole + bytes + alignment);
	return aligned;
}

static void *map_huge(size_t bytes)
{
	void *aligned = map_aligned(bytes, HUGE_PAGE_BYTES);
	// Only a hint: a kernel without transparent huge pages refuses it, which costs only speed.
	if (aligned)
		(void)madvise(aligned, bytes, MADV_HUGEPAGE);
	return aligned;
}

void *memory_map_aligned(size_t bytes, size_t alignment)
{
	void *memory = map_aligned(whole_pages(bytes), alignment);
	if (!memory)
		memory_is_short(bytes);
	return memory;
}

void *memory_map(size_t bytes)
{
	if (!bytes || bytes > SIZE_MAX / 2 || FAILPOINT(MEMORY_MAP))
		return NULL;
	bytes = whole_pages(bytes);
	return bytes < HUGE_PAGE_BYTES ? map_anonymous(bytes) : map_huge(bytes);
}

void *memory_map_or_end(size_t bytes)
{
	void *memory = memory_map(bytes);
	if (!memory)
		memory_is_short(bytes);
	return memory;
}

void memory_back(void *from, size_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t past = (uintptr_t)from % page;

	// Only a hint, as for huge pages.
	(void)madvise((uint8_t *)from - past, bytes + past, MADV_POPULATE_WRITE);
}

void memory_unmap(void *memory, size_t bytes)
{
	if (memory)
		CHECK(munmap(memory, whole_pages(bytes)) == 0);
}
