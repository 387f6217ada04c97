// ?filter= of machines in the form of Orchard's clients.
#pragma once
#include "tools/api/server/request.h"

// Turns Orchard's "worker=name,…" into an expression of Berth's filters; leaves an expression as it is.
void vm_filter_translate(struct request *);
// The worker whose machines alone the request asks for, by ?worker= or by ?filter= in one of the two forms; NULL: it
// asks for others, too. Written to name.
const char *vm_filter_worker(const struct request *, char name[NAME_BYTES_MAX + 1]);
