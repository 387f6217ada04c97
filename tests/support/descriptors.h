// For tests that look for descriptors that were lost.
#pragma once
#include "state/base/check.h"
#include <dirent.h>
#include <stdint.h>

// How many the process has open, and one or two more: the difference between two calls is what matters.
static inline uint32_t descriptors_open(void)
{
	uint32_t count = 0;
	DIR *listing = opendir("/proc/self/fd");

	CHECK(listing);
	while (readdir(listing))
		count++;
	CHECK(closedir(listing) == 0);
	return count;
}
