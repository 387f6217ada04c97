#include "placement/pipeline/core.h"
#include "state/base/error.h"
#include "state/base/log.h"
#include <string.h>

enum { EVAL_GC, JOB_GC, DEPLOYMENT_GC, NODE_GC, ACL_TOKEN_GC };
const char *const core_jobs[] = {
	"eval-gc", "job-gc", "deployment-gc", "node-gc", "acl-token-gc", NULL};

struct evaluation *core_evaluation(const char *job, struct prng *prng)
{
	struct evaluation *e = evaluation_create();

	e->id = prng_uuid(prng);
	e->namespace_name = text_copy(TEXT("-"));
	e->job_id = text_copy(text_of(job));
	e->type = EVAL_CORE;
	e->triggered_by = TRIGGER_SCHEDULED;
	e->priority = CORE_PRIORITY;
	e->status = EVAL_PENDING;
	return e;
}

static int collect_garbage(struct pipeline *p, const struct command_gc *ask)
{
	struct command command = {.type = COMMAND_GC, .gc = *ask};
	int error = submitter_run(p->submitter, &command);

	if (error == 0 && command.gc.collected > 0)
		log_info("collected", "records=%u", command.gc.collected);
	return error;
}

int core_process(struct pipeline *p, const struct evaluation *eval)
{
	const struct pipeline_settings *s = &p->settings;
	int64_t now_ns = (int64_t)time_wall_ns(s->time);
	struct command_gc ask = {0};
	const char *job = eval->job_id ? eval->job_id : "";

	if (strcmp(job, core_jobs[EVAL_GC]) == 0) {
		ask.evals_before_ns = now_ns - s->eval_gc_ns;
		ask.batch_evals_before_ns = now_ns - s->batch_eval_gc_ns;
	} else if (strcmp(job, core_jobs[JOB_GC]) == 0) {
		ask.jobs_before_ns = now_ns - s->job_gc_ns;
	} else if (strcmp(job, core_jobs[DEPLOYMENT_GC]) == 0) {
		ask.deployments_before_ns = now_ns - s->deployment_gc_ns;
	} else if (strcmp(job, core_jobs[NODE_GC]) == 0) {
		ask.nodes_before_ns = now_ns - s->node_gc_ns;
	} else if (strcmp(job, core_jobs[ACL_TOKEN_GC]) == 0) {
		ask.acl_tokens_before_ns = now_ns - s->acl_token_gc_ns;
	} else {
		return -ERROR_UNSUPPORTED;
	}
	return collect_garbage(p, &ask);
}
