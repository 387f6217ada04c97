// What a worker is to run of a virtual machine, as JSON for the agent of its node (docs/wire.md, ALLOC_SPEC). Not part
// of the HTTP API: only what changes with its generation is in it, so that pieces of one version always make a whole.
#pragma once
#include "state/base/bytes.h"
#include "state/records/nodes/vm.h"

// Appends to a growing writer. Under read lock. The context is not used.
void vm_spec_json(void *context, const struct vm *, struct bytes_writer *);
