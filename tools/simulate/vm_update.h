// A virtual machine of a scenario, as given and as a health pass left it.
#pragma once
#include "state/records/nodes/vm.h"
#include <jansson.h>

// Brings the object into the one form that is read: renames members of older versions, and turns a condition's true or
// false into text.
void vm_given_normalise(json_t *object);
// Returns a copy of the given object with the changes: it keeps unknown members, and times in their given form, or as
// text without one. Caller releases.
json_t *vm_given_update(const json_t *given, const struct vm *before, const struct vm *after);
