// ?watch=true of machines: instead of one answer a line of JSON for each change, {"type": "ADDED", "object": {…}}, also
// MODIFIED and DELETED, which names the machine alone. What is there already is told first. Several changes that come
// faster than a client reads are one line.
#pragma once
#include "tools/api/server/request.h"

// Whether the request asks for a stream.
bool vm_stream_is_wanted(const struct request *);
// Follows the machine of that name or, with is_worker, all machines of the worker of that name: what it has to run.
void vm_stream_answer(struct request *, struct reply *, const char *name, bool is_worker);
