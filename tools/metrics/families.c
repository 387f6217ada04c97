#include "tools/metrics/families.h"

const struct metric_description metric_descriptions[METRIC_FAMILIES_COUNT] = {
#define F(family, type, name, unit, help) {name, unit, help, METRIC_TYPE_##type},
	METRIC_FAMILIES(F)
#undef F
};
