#include "placement/direct/placement.h"
#include <math.h>

static double free_fraction(uint32_t capacity, uint32_t used)
{
	return capacity == 0 ? 0.0 : 1.0 - (double)used / (double)capacity;
}

double placement_score(
	enum placement_algorithm algorithm, struct resources capacity, struct resources used)
{
	double total = pow(10.0, free_fraction(capacity.cpu_mhz, used.cpu_mhz)) +
		       pow(10.0, free_fraction(capacity.memory_mb, used.memory_mb));
	double score = algorithm == PLACEMENT_BINPACK ? 20.0 - total : total - 2.0;
	return (score < 0.0 ? 0.0 : score > 18.0 ? 18.0 : score) / 18.0;
}
