// A broker's settings and counts.
#pragma once
#include "state/base/time_source.h"
#include "state/records/evaluation.h"

struct broker_settings {
	const struct time_source *time;
	uint64_t seed;                              // ties and follow-up delays
	int64_t nack_timeout_ns;                    // 60 s
	uint32_t delivery_limit;                    // 3
	int64_t first_nack_delay_ns, nack_delay_ns; // 1 s, 20 s
	uint32_t deciding_max; // deliveries until broker_decided(); 0: any number
};

struct broker_stats {
	uint32_t ready; // includes the failed ones
	uint32_t unacked, pending, waiting, cancelable, failed;
	uint32_t ready_by_type[EVAL_TYPES], unacked_by_type[EVAL_TYPES];
};
