// How a job is run: updates, migrations, restarts, reschedules, when it is launched.
#pragma once
#include "placement/job_check/checker.h"

void check_update(struct checker *, const struct update_strategy *);
void check_migrate(struct checker *, const struct migrate_strategy *);
void check_restart(struct checker *, const struct restart_policy *);
void check_reschedule(struct checker *, const struct reschedule_policy *);
void check_disconnect(struct checker *);
void check_periodic(struct checker *, const struct periodic_config *);
void check_parameterized(struct checker *, const struct parameterized_config *);
