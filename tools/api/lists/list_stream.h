// Writes a JSON array while it is sent: memory holds about a chunk of it, and each chunk has its own read section.
#pragma once
#include "tools/api/server/request.h"

// Writes the next items until the writer holds bytes_wanted; false when none are left. Takes the read lock itself when
// it needs it.
typedef bool list_produce(void *context, struct json_writer *, size_t bytes_wanted);

// Makes the reply such an array. begun: the beginning of its text, which is taken over; NULL or empty: there is none.
// The text may begin with an object, whose last member the array is.
// free_context frees context.
void reply_stream(struct request *, struct reply *, void *context, struct json_writer *begun,
	list_produce *, void (*free_context)(void *));

// Largest buffer of any stream so far, in bytes.
uint64_t list_stream_buffer_most(void);
