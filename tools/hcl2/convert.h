// From values of one type to values of another.
#pragma once
#include "tools/hcl2/values.h"

// Whether values of the one may become values of the other; whether one does is seen when it is converted.
bool type_can_convert(struct hcl2_run *, const struct hcl2_type *from, const struct hcl2_type *to);
