// What a scraper takes, by its header Accept.
#pragma once
#include <stdbool.h>

// Whether OpenMetrics is what it likes best of the forms that there are. NULL: it says nothing.
bool openmetrics_is_preferred(const char *accept);
