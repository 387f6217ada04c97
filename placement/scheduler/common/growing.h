// Room for one more in an array that grows by half as much again.
#pragma once
#include "state/base/memory.h"

#define GROW(items, count, room)                                                    \
	do {                                                                        \
		if ((count) == (room)) {                                            \
			(room) = (room) + (room) / 2 + 8;                           \
			(items) = memory_resize((items), (room) * sizeof *(items)); \
		}                                                                   \
	} while (0)
