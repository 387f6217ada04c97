// Blocks whose members are not simply what is written: constraints, ports, what goes from one block to others.
#pragma once
#include "tools/jobfile/decode.h"

json_t *read_constraint(struct decoder *, const struct job_body *);
json_t *read_affinity(struct decoder *, const struct job_body *);
json_t *read_task_scaling(struct decoder *, const struct job_body *);
void name_task_scaling(
	struct decoder *, const struct job_block *, json_t *policy, const json_t *others);
void finish_periodic(struct decoder *, const struct job_body *, json_t *);
void finish_network(struct decoder *, const struct job_body *, json_t *);
void finish_template(struct decoder *, const struct job_body *, json_t *);
void finish_change_script(struct decoder *, const struct job_body *, json_t *);
void finish_vault(struct decoder *, const struct job_body *, json_t *);
void finish_group(struct decoder *, const struct job_body *, json_t *);
void finish_job(struct decoder *, const struct job_body *, json_t *);
