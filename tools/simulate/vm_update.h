// A virtual machine of a scenario, as it was given and as a health pass left it.
#pragma once
#include "state/records/nodes/vm.h"
#include <jansson.h>

// The object as it is to be read: names of older versions and conditions as true or false in the one form there is.
void vm_given_normalise(json_t *object);
// The given object with what changed replaced: what is not known is kept, times are in the form that they came in, text
// where none came. Caller releases.
json_t *vm_given_update(const json_t *given, const struct vm *before, const struct vm *after);
