#include "tools/simulate/scenario_quota.h"
#include "state/base/check.h"
#include <stdlib.h>
#include <string.h>

static struct scenario_quota *find_quota(const struct scenario_quotas *all, const char *name)
{
	for (uint32_t i = 0; i < all->quotas.count; i++) {
		struct scenario_quota *q = ARRAY_AT(&all->quotas, struct scenario_quota, i);
		if (strcmp(q->quota.name, name) == 0)
			return q;
	}
	return NULL;
}

static const struct job_namespace *find_namespace(
	const struct scenario_quotas *all, const char *name)
{
	for (uint32_t i = 0; i < all->namespaces.count; i++) {
		const struct job_namespace *n = ARRAY_AT(&all->namespaces, struct job_namespace, i);
		if (strcmp(n->name, name) == 0)
			return n;
	}
	return NULL;
}

// The quota that limits a namespace; NULL: none does.
static struct scenario_quota *quota_of(const struct scenario_quotas *all, const char *name)
{
	const struct job_namespace *n = find_namespace(all, name);
	return n && text_of(n->quota).size ? find_quota(all, n->quota) : NULL;
}

// The API shows hashes, which say nothing here.
static void drop_hashes(json_t *value)
{
	size_t i;
	json_t *limit;
	json_object_del(value, "Hash");
	json_array_foreach(json_object_get(value, "Limits"), i, limit)
	{
		json_object_del(limit, "Hash");
	}
}

void scenario_quota_read(
	struct scenario_quotas *all, json_t *value, const char *path, struct json_report *report)
{
	struct scenario_quota made = {0};
	drop_hashes(value);
	json_read_exact(&quota_description, &made.quota, value, path, report);
	if (!quota_is_fit(&made.quota))
		json_sentence(&report->errors,
			"%s: needs a Name of letters, digits and '-', and may have one limit of "
			"amounts "
			"up to %lld",
			path, (long long)QUOTA_AMOUNT_MAX);
	else if (find_quota(all, made.quota.name))
		json_sentence(&report->errors, "%s.Name: \"%.128s\" is given twice", path,
			made.quota.name);
	else {
		*(struct scenario_quota *)array_append(&all->quotas, sizeof made) = made;
		return;
	}
	record_release(&quota_description, &made.quota);
}

void scenario_namespace_read(
	struct scenario_quotas *all, json_t *value, const char *path, struct json_report *report)
{
	struct job_namespace made = {0};
	drop_hashes(value);
	json_read_exact(&job_namespace_description, &made, value, path, report);
	struct text quota = text_of(made.quota);
	if (!text_of(made.name).size)
		json_sentence(&report->errors, "%s.Name: is missing", path);
	else if (find_namespace(all, made.name))
		json_sentence(
			&report->errors, "%s.Name: \"%.128s\" is given twice", path, made.name);
	else if (quota.size && !find_quota(all, made.quota))
		json_sentence(&report->errors,
			"%s.Quota: \"%.128s\" is no quota of the scenario; add it to Quotas", path,
			made.quota);
	else {
		*(struct job_namespace *)array_append(&all->namespaces, sizeof made) = made;
		return;
	}
	record_release(&job_namespace_description, &made);
}

void scenario_quota_use(struct scenario_quotas *all, const struct allocation *a)
{
	CHECK(a->job && a->group < a->job->asks.count);
	struct scenario_quota *q = quota_of(all, a->job->namespace_name);
	if (q && !allocation_is_terminal(a))
		quota_amount_add(&q->used, a->resources,
			ARRAY_AT(&a->job->asks, struct group_ask, a->group), 1);
}

const char *scenario_quota_lacks(const struct scenario_quotas *all, const char *namespace_name,
	const struct quota_amount *change, struct array *texts)
{
	const struct scenario_quota *q = quota_of(all, namespace_name);
	if (!q || (change && !quota_lacks(&q->quota, &q->used, change, texts)))
		return NULL;
	return q->quota.name;
}

void scenario_quotas_release(struct scenario_quotas *all)
{
	for (uint32_t i = 0; i < all->quotas.count; i++) {
		struct scenario_quota *q = ARRAY_AT(&all->quotas, struct scenario_quota, i);
		quota_amount_free(&q->used);
		record_release(&quota_description, &q->quota);
	}
	for (uint32_t i = 0; i < all->namespaces.count; i++)
		record_release(&job_namespace_description,
			ARRAY_AT(&all->namespaces, struct job_namespace, i));
	free(all->quotas.items);
	free(all->namespaces.items);
	*all = (struct scenario_quotas){0};
}
