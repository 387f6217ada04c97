// A JSON array that is written while it is sent: never more than about a chunk of it is in memory,
// and each chunk is produced in a read section of its own.
#pragma once
#include "tools/api/server/request.h"

// Writes the next items until the writer holds bytes_wanted or there are none left (then false).
// Not under read lock: takes it as it needs.
typedef bool list_produce(void *context, struct json_writer *, size_t bytes_wanted);

// Makes the reply such an array. context is freed with free_context.
void reply_stream(struct request *, struct reply *, void *context, list_produce *,
	void (*free_context)(void *));

// Largest buffer that any stream has held so far, in bytes.
uint64_t list_stream_buffer_most(void);
