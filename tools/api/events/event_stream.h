// GET /v1/event/stream: changes of the state as lines of JSON, as they come.
#pragma once
#include <stdint.h>

struct event_stream_counts {
	uint32_t open;
	uint64_t lost; // ended because they were read too slowly
};
void event_stream_count(struct event_stream_counts *); // of the process
