// Compares what two logs have of the same indexes.
#pragma once
#include "tests/cluster/log_source.h"
#include "tests/cluster/verdict.h"

// Complains of the first batch that one of them lacks between its first and its last, or that is another one there.
// Only the first may have holes.
void logs_compare(struct verdict *, const struct log_source *one, const struct log_source *other);
