// Flags of the form --name NAME=VALUE, which may be given several times.
#pragma once
#include "tools/berth/cli/session.h"

// Returns an object of texts, which the caller frees; NULL after a complaint.
json_t *flags_pairs(const struct flags *, enum flag);
json_t *flags_meta(const struct flags *); // of --meta
