// One task of a group, and metadata.
#pragma once
#include "placement/job_check/checker.h"

void check_task(struct checker *);
void check_meta(struct checker *, const char *what, const struct array *);
