// Virtual machines, their workers, the settings of their placement (rows D1 to D29).
#include "state/decide.h"

enum command_outcome decide_vm_create(struct decider *d, struct command_vm_create *c)
{
	(void)d;
	(void)c;
	return OUTCOME_REJECTED;
}

enum command_outcome decide_vm_power(struct decider *d, struct command_vm_power *c)
{
	(void)d;
	(void)c;
	return OUTCOME_REJECTED;
}

enum command_outcome decide_vm_delete(struct decider *d, const struct command_vm_named *c)
{
	(void)d;
	(void)c;
	return OUTCOME_REJECTED;
}

enum command_outcome decide_vm_report(struct decider *d, struct command_vm_report *c)
{
	(void)d;
	(void)c;
	return OUTCOME_REJECTED;
}

enum command_outcome decide_vm_health(struct decider *d, struct command_vm_health *c)
{
	(void)d;
	(void)c;
	return OUTCOME_REJECTED;
}

enum command_outcome decide_vm_assign(struct decider *d, struct command_vm_assign *c)
{
	(void)d;
	(void)c;
	return OUTCOME_REJECTED;
}

enum command_outcome decide_vm_worker(struct decider *d, struct command_vm_worker *c)
{
	(void)d;
	(void)c;
	return OUTCOME_REJECTED;
}

enum command_outcome decide_vm_worker_pause(struct decider *d, const struct command_vm_named *c)
{
	(void)d;
	(void)c;
	return OUTCOME_REJECTED;
}

enum command_outcome decide_vm_worker_delete(struct decider *d, const struct command_vm_named *c)
{
	(void)d;
	(void)c;
	return OUTCOME_REJECTED;
}

enum command_outcome decide_cluster_settings(struct decider *d, struct command_cluster_settings *c)
{
	(void)d;
	(void)c;
	return OUTCOME_REJECTED;
}
