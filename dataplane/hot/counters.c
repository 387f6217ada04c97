#include "dataplane/hot/counters.h"

const char *const hot_refusal_labels[HOT_REFUSED_KINDS] = {
#define X(name, label) [HOT_REFUSED_##name] = label,
	HOT_REFUSALS(X)
#undef X
};
