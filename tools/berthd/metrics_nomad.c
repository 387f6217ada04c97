// Metrics that dashboards for Nomad need and that no other part counts.
#include "tools/berthd/metrics_nomad.h"
#include "state/records/job.h"

void berthd_metrics_nomad(const struct metric_sink *m, const struct berthd *b)
{
	struct state_counts counts;
	state_counts(b->state, &counts);
	metric_put(m, METRIC_HEARTBEAT_ACTIVE,
		(double)counts.nodes[NODE_READY] + (double)counts.nodes[NODE_INITIALIZING]);
	for (uint32_t status = 0; status <= JOB_DEAD; status++) {
		metric_put(m, METRIC_JOB_STATUS_PENDING + status,
			(double)counts.jobs_by_status[status]);
	}
}
