// Units of time, so that no number with nine zeros stands in the code.
#pragma once
#include <stdint.h>

#define US_PER_S INT64_C(1000000)
#define NS_PER_US INT64_C(1000)
#define NS_PER_MS INT64_C(1000000)
#define NS_PER_S INT64_C(1000000000)
#define NS_PER_MIN (60 * NS_PER_S)
#define NS_PER_HOUR (60 * NS_PER_MIN)
