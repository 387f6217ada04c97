// For works of walks that leave none open, whatever failed.
#pragma once
#include <stdint.h>

uint32_t walk_descriptors(void); // how many this process has open
