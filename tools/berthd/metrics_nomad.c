// Metrics that dashboards for Nomad need and that no other part counts.
#include "tools/berthd/metrics_nomad.h"
#include "state/records/job.h"
#include <stdio.h>

// Jobs that one read section visits.
#define JOBS_PER_SECTION 4096u
#define JOB_STATUSES (JOB_DEAD + 1)

static void count_jobs(const struct state *state, uint64_t counts[static JOB_STATUSES])
{
	const struct job *job;
	uint64_t cursor = 0;
	do {
		state_read_begin();
		for (uint32_t i = 0; i < JOBS_PER_SECTION; i++) {
			job = state_next_job(state, &cursor);
			if (!job)
				break;
			// A published job's status changes in place.
			counts[__atomic_load_n(&job->status, __ATOMIC_RELAXED)]++;
		}
		state_read_end();
	} while (job);
}

void berthd_metrics_nomad(const struct metric_sink *m, const struct berthd *b)
{
	uint64_t jobs[JOB_STATUSES] = {0};
	struct state_counts counts;
	char name[64];
	state_counts(b->state, &counts);
	m->value(m->sink, 'g', "nomad.nomad.heartbeat.active", "",
		(double)counts.nodes[NODE_READY] + (double)counts.nodes[NODE_INITIALIZING]);
	count_jobs(b->state, jobs);
	for (uint32_t status = 0; status < JOB_STATUSES; status++) {
		snprintf(name, sizeof name, "nomad.nomad.job_status.%s", job_status_names[status]);
		m->value(m->sink, 'g', name, "", (double)jobs[status]);
	}
}
