// How long marks of jobs (job_reevaluations.h) wait for more of their kind.
#pragma once
#include <stdint.h>

struct mark_patience {
	int64_t quiet_ns, oldest_ns;
};
