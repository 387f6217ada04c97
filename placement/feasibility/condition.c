#include "placement/feasibility/condition.h"
#include "state/base/log.h"
#include "state/records/job_traits.h"

struct compiled_constraint *condition_compile(
	const struct job *job, const char *left, const char *operand, const char *right)
{
	struct constraint_error error;
	char reason[CONSTRAINT_ERROR_BYTES];
	struct compiled_constraint *c = constraint_compile(left, right, operand, &error);
	if (c && job_is_direct(job) && constraint_searches(c)) {
		constraint_free(c);
		c = constraint_refuse(&error, "direct jobs may not search by a pattern");
	}
	if (!c)
		log_warn("constraint-unusable", "job=%s error=%s", job->id,
			log_quote(error.text, reason, sizeof reason));
	return c;
}
