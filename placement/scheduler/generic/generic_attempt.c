#include "placement/scheduler/generic/generic_attempt.h"
#include "state/base/check.h"
#include <stdlib.h>

static void forget_classes(struct evaluation *eval)
{
	for (uint32_t i = 0; i < eval->class_eligibility.count; i++)
		free(ARRAY_AT(&eval->class_eligibility, struct named_count, i)->name);
	eval->class_eligibility.count = 0;
}

// Keeps what is known of classes when the stack turns to another version: instances of either version may wait for
// room.
void generic_keep_eligibility(struct generic_attempt *a)
{
	CHECK(a->stack);
	if (!a->eligibility)
		a->eligibility = evaluation_create();
	if (a->stack_job)
		stack_eligibility(a->stack, a->eligibility);
	if (a->eligibility->escaped_computed_class)
		forget_classes(a->eligibility);
	CHECK(!a->eligibility->escaped_computed_class ||
		a->eligibility->class_eligibility.count == 0);
}

void generic_use_version(struct generic_attempt *a, const struct job *job)
{
	CHECK(a->stack && job);
	if (a->stack_job == job)
		return;
	if (a->stack_job)
		generic_keep_eligibility(a);
	stack_set_job(a->stack, job);
	a->stack_job = job;
}
