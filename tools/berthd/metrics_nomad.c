// Metrics that dashboards for Nomad need and that no other part counts.
#include "tools/berthd/metrics_nomad.h"
#include "state/records/job.h"
#include <stdio.h>

void berthd_metrics_nomad(const struct metric_sink *m, const struct berthd *b)
{
	struct state_counts counts;
	char name[64];
	state_counts(b->state, &counts);
	m->value(m->sink, 'g', "nomad.nomad.heartbeat.active", "",
		(double)counts.nodes[NODE_READY] + (double)counts.nodes[NODE_INITIALIZING]);
	for (uint32_t status = 0; status <= JOB_DEAD; status++) {
		snprintf(name, sizeof name, "nomad.nomad.job_status.%s", job_status_names[status]);
		m->value(m->sink, 'g', name, "", (double)counts.jobs_by_status[status]);
	}
}
