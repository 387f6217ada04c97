// Where a job may run: constraints, affinities, spreads, networks, volumes.
#pragma once
#include "placement/job_check/checker.h"

void check_constraints(struct checker *, const struct array *, bool of_device);
void check_affinities(struct checker *, const struct array *, bool of_device);
void check_spreads(struct checker *, const struct array *);
void check_networks(struct checker *, const struct array *);
void check_volumes(struct checker *, const struct array *);
