// --meta NAME=VALUE, as often as it is given.
#pragma once
#include "tools/berth/session.h"

// As an object, the caller's. NULL after a complaint.
json_t *flags_meta(const struct flags *);
