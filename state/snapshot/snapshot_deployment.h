// What snapshots hold of deployments.
#pragma once
#include "state/base/bytes.h"
#include "state/tables/tables.h"

// The version that was newest at index, or NULL; see state_version_at().
const struct deployment *deployment_at(const struct deployment_cell *, uint64_t index);
bool job_has_deployments_at(const struct job_cell *, uint64_t index);
// Returns 0, -ERROR_CORRUPT, -ERROR_VERSION or -ERROR_TABLE_FULL.
int deployment_item_load(struct state *, struct bytes_reader *);
