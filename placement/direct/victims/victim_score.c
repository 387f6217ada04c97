#include "placement/direct/victims/victim_score.h"
#include "state/base/check.h"
#include <math.h>

double victim_score_of_net(double net)
{
	return 1.0 / (1.0 + exp(0.0048 * (net - 2048.0)));
}

// Victims whose greatest priority is M have a net priority of at least M + 1 + (count - 1) * least / M. That is least
// where M is the root of (count - 1) * least, or where M is the least priority if the root is below that.
double victim_score_most(int64_t least, int64_t count)
{
	CHECK(count > 0);
	double others = (double)(count - 1);
	if (least <= 0)
		return victim_score_of_net(0);
	if (others <= (double)least)
		return victim_score_of_net((double)least + (double)count);
	return victim_score_of_net(2 * sqrt(others * (double)least));
}
