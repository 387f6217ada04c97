// GET /v1/event/stream: sends changes of the state as lines of JSON when they happen.
#pragma once
#include <stdint.h>

struct event_stream_counts {
	uint32_t open;
	uint64_t lost; // streams ended because their clients read too slowly
};
void event_stream_count(struct event_stream_counts *); // counts of the process
