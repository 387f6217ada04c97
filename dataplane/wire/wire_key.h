// The key of one node or client.
#pragma once
#include <stdint.h>

struct wire_key {
	uint64_t k[2];
};
