// Namespaces and quotas of a scenario, of which only what limits placements matters (row B45).
#pragma once
#include "state/records/allocation.h"
#include "state/records/namespaces/job_namespace.h"
#include "state/records/namespaces/quota.h"
#include "tools/json/json_reader.h"

struct scenario_quotas {
	struct array namespaces; // struct job_namespace
	struct array quotas;     // struct scenario_quota
};
struct scenario_quota {
	struct quota quota; // first
	struct quota_amount used;
};

void scenario_quota_read(
	struct scenario_quotas *, json_t *value, const char *path, struct json_report *report);
// Quotas must be read before.
void scenario_namespace_read(
	struct scenario_quotas *, json_t *value, const char *path, struct json_report *report);
// An allocation of the scenario, which counts if it lives.
void scenario_quota_use(struct scenario_quotas *, const struct allocation *);
// As state_quota_lacks().
const char *scenario_quota_lacks(const struct scenario_quotas *, const char *namespace_name,
	const struct quota_amount *change, struct array *texts);
void scenario_quotas_release(struct scenario_quotas *);
