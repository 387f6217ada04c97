// Records that are kept for long and never change, in one piece of memory instead of many small ones.
#pragma once
#include "state/base/schema.h"

// Returns an equal record of one block, which free() ends: record_release() is not for it, nor may it be changed. known
// (may be NULL) returns a text that lives for ever and equals the given one, or NULL; such texts take no room.
typedef const char *text_known(const char *);
void *record_pack(const struct record_type *, const void *record, text_known *);
