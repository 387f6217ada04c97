// Control-path memory: exhaustion ends the process with a message, so callers do not test.
#pragma once
#include <stddef.h>
#include <stdint.h>

// malloc() has pieces up to this size at hand that were given back last; a larger one takes five times as long.
#define MEMORY_AT_HAND_BYTES 1032u

// Ends the process with the sentence. bytes: of what was refused, 0 where nobody knows.
_Noreturn void memory_is_short(size_t bytes);
void *memory_take(size_t bytes);                          // zeroed
void *memory_take_array(size_t count, size_t bytes_each); // zeroed, overflow checked
void *memory_take_aligned(
	size_t alignment, size_t bytes); // zeroed; bytes: a multiple of the alignment
void *memory_resize(void *, size_t bytes);
// The items with room for one more: moved, and the capacity doubled, when they have none.
void *memory_one_more(void *items, uint32_t count, uint32_t *capacity, size_t bytes_each);

// Anonymous, zeroed, page-aligned, lazily backed; asks for huge pages where they pay. Returns NULL when the address
// space or the configured limit is short.
void *memory_map(size_t bytes);
void *memory_map_or_end(size_t bytes); // never NULL: the process ends
// Such memory at a multiple of `alignment` (a power of two, at least a page), for good, without huge pages; never NULL.
void *memory_map_aligned(size_t bytes, size_t alignment);
// Backs a part of such memory at once, where the system can: another thread then spares its owner the page faults.
void memory_back(void *from, size_t bytes);
void memory_unmap(void *, size_t bytes);
