// What a library makes and copies. It has no other reason to make nothing than that memory is short, which is the end
// of the process as everywhere (state/base/memory.h).
#pragma once
#include "state/base/memory.h"

// Never NULL. The caller's to free, as the library says.
static inline void *memory_or_end(void *made)
{
	if (!made)
		memory_is_short(0);
	return made;
}
