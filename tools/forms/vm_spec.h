// What a worker runs as a virtual machine, as JSON for its node's agent (docs/wire.md, ALLOC_SPEC). Not part of the
// HTTP API. It only holds what changes with the machine's generation, so that pieces of one version always make a
// whole.
#pragma once
#include "state/base/bytes.h"
#include "state/records/nodes/vm.h"

// Appends to a growing writer. Under read lock. The context is not used.
void vm_spec_json(void *context, const struct vm *, struct bytes_writer *);
