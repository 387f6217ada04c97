// Flags of the form --name NAME=VALUE, as often as they are given.
#pragma once
#include "tools/berth/cli/session.h"

// Returns an object of texts, which the caller frees; NULL after a complaint.
json_t *flags_pairs(const struct flags *, enum flag);
json_t *flags_meta(const struct flags *); // those of --meta
