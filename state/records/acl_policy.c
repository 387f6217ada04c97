// Names are Nomad's. Rows are only ever appended to a table: their order is the binary form (state/base/schema.h).
#include "state/records/acl_policy.h"
#include "state/base/limits.h"
#include "state/base/schema_table.h"

static const struct field acl_job_fields[] = {
	{"Namespace", FIELD_STRING, OF(acl_job, namespace_name)},
	{"JobID", FIELD_STRING, OF(acl_job, job)},
	{"Group", FIELD_STRING, OF(acl_job, group)},
	{"Task", FIELD_STRING, OF(acl_job, task)},
};
static DESCRIBE(job_description, acl_job);

static const struct field acl_policy_fields[] = {
	{"Name", FIELD_STRING, OF(acl_policy, name)},
	{"Description", FIELD_STRING, OF(acl_policy, description)},
	{"Rules", FIELD_STRING, OF(acl_policy, rules)},
	{"JobACL", FIELD_OPTIONAL, OF(acl_policy, job), &job_description},
	{"CreateIndex", FIELD_U64, OF(acl_policy, record.create_index), FLAGS(FIELD_DERIVED)},
	{"ModifyIndex", FIELD_U64, OF(acl_policy, record.modify_index), FLAGS(FIELD_DERIVED)},
};
DESCRIBE(acl_policy_description, acl_policy);

bool acl_name_is_fit(struct text name)
{
	return name.size > 0 && name.size <= ACL_NAME_MAX && text_is_word(name, "-");
}

bool acl_job_is_fit(const struct acl_job *of)
{
	if (!of)
		return true;
	struct text space = text_of(of->namespace_name), job = text_of(of->job),
		    group = text_of(of->group), task = text_of(of->task);
	return (space.size || !job.size) && (job.size || !group.size) &&
	       (group.size || !task.size) && space.size <= NAME_BYTES_MAX &&
	       job.size <= STORED_NAME_BYTES_MAX && group.size <= NAME_BYTES_MAX &&
	       task.size <= NAME_BYTES_MAX;
}
