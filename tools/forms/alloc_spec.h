// What an allocation runs, as JSON for its node's agent (docs/wire.md, ALLOC_SPEC). Not part of the HTTP API.
#pragma once
#include "state/base/bytes.h"
#include "state/records/allocation.h"

// Appends to a growing writer. Under read lock. The context is the struct keyring that makes the tokens of tasks; NULL:
// they get none.
void alloc_spec_json(void *context, const struct allocation *, struct bytes_writer *);
