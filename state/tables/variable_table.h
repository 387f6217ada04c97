// Variables by name. For state/ only; readers use state_variable().
#pragma once
#include "state/tables/kind.h"

extern const struct kind variable_kind;
