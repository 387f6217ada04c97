// How the layer above says what a node is to run.
#pragma once
#include "state/base/bytes.h"

struct allocation;
struct vm;

// Appends the JSON that describes what an allocation is to run (docs/wire.md). Called on a packet worker's thread,
// which reads the state meanwhile; must not block.
typedef void alloc_spec_render(void *context, const struct allocation *, struct bytes_writer *);
// Does the same for a virtual machine.
typedef void vm_spec_render(void *context, const struct vm *, struct bytes_writer *);
