#include "tools/acl/acl_words.h"
#include "state/base/check.h"
#include <string.h>

static const char *const namespace_words[] = {[ACL_DENY] = "deny",
	[ACL_LIST_JOBS] = "list-jobs",
	[ACL_PARSE_JOB] = "parse-job",
	[ACL_READ_JOB] = "read-job",
	[ACL_SUBMIT_JOB] = "submit-job",
	[ACL_DISPATCH_JOB] = "dispatch-job",
	[ACL_SCALE_JOB] = "scale-job",
	[ACL_READ_LOGS] = "read-logs",
	[ACL_READ_FS] = "read-fs",
	[ACL_ALLOC_EXEC] = "alloc-exec",
	[ACL_ALLOC_NODE_EXEC] = "alloc-node-exec",
	[ACL_ALLOC_LIFECYCLE] = "alloc-lifecycle",
	[ACL_SENTINEL_OVERRIDE] = "sentinel-override",
	[ACL_CSI_REGISTER_PLUGIN] = "csi-register-plugin",
	[ACL_CSI_WRITE_VOLUME] = "csi-write-volume",
	[ACL_CSI_READ_VOLUME] = "csi-read-volume",
	[ACL_CSI_LIST_VOLUME] = "csi-list-volume",
	[ACL_CSI_MOUNT_VOLUME] = "csi-mount-volume",
	[ACL_LIST_SCALING_POLICIES] = "list-scaling-policies",
	[ACL_READ_SCALING_POLICY] = "read-scaling-policy",
	[ACL_READ_JOB_SCALING] = "read-job-scaling",
	[ACL_SUBMIT_RECOMMENDATION] = "submit-recommendation",
	NULL};
static const char *const pool_words[] = {[ACL_DENY] = "deny",
	[ACL_POOL_DELETE] = "delete",
	[ACL_POOL_READ] = "read",
	[ACL_POOL_WRITE] = "write",
	NULL};
static const char *const volume_words[] = {[ACL_DENY] = "deny",
	[ACL_MOUNT_READONLY] = "mount-readonly",
	[ACL_MOUNT_READWRITE] = "mount-readwrite",
	NULL};
static const char *const variable_words[] = {[ACL_DENY] = "deny",
	[ACL_VARIABLE_READ] = "read",
	[ACL_VARIABLE_WRITE] = "write",
	[ACL_VARIABLE_LIST] = "list",
	[ACL_VARIABLE_DESTROY] = "destroy",
	NULL};

struct expansion {
	const char *word;
	const char *capabilities[19];
};

static const struct expansion namespace_expansions[] = {
	{"read", {"list-jobs", "parse-job", "read-job", "csi-list-volume", "csi-read-volume",
			 "read-job-scaling", "list-scaling-policies", "read-scaling-policy"}},
	{"write", {"list-jobs", "parse-job", "read-job", "csi-list-volume", "csi-read-volume",
			  "read-job-scaling", "list-scaling-policies", "read-scaling-policy",
			  "scale-job", "submit-job", "dispatch-job", "read-logs", "read-fs",
			  "alloc-exec", "alloc-lifecycle", "csi-mount-volume", "csi-write-volume",
			  "submit-recommendation"}},
	{"scale",
		{"list-scaling-policies", "read-scaling-policy", "read-job-scaling", "scale-job"}},
	{"deny", {"deny"}},
	{NULL},
};
static const struct expansion pool_expansions[] = {
	{"read", {"read"}},
	{"write", {"delete", "read", "write"}},
	{"deny", {"deny"}},
	{NULL},
};
static const struct expansion volume_expansions[] = {
	{"read", {"mount-readonly"}},
	{"write", {"mount-readonly", "mount-readwrite"}},
	{"deny", {"deny"}},
	{NULL},
};
static const struct expansion no_expansions[] = {{NULL}};

static const struct {
	const char *const *words;
	const struct expansion *expansions;
} subjects[ACL_SUBJECTS] = {
	[ACL_NAMESPACES] = {namespace_words, namespace_expansions},
	[ACL_NODE_POOLS] = {pool_words, pool_expansions},
	[ACL_HOST_VOLUMES] = {volume_words, volume_expansions},
	[ACL_VARIABLES] = {variable_words, no_expansions},
};

int acl_capability_of(enum acl_subject subject, const char *word)
{
	CHECK(subject < ACL_SUBJECTS);
	const char *const *words = subjects[subject].words;
	for (int i = 0; words[i]; i++)
		if (strcmp(words[i], word) == 0)
			return i;
	return -1;
}

const char *const *acl_expansion_of(enum acl_subject subject, const char *word)
{
	CHECK(subject < ACL_SUBJECTS);
	for (const struct expansion *e = subjects[subject].expansions; e->word; e++)
		if (strcmp(e->word, word) == 0)
			return e->capabilities;
	return NULL;
}

bool acl_level_of(enum acl_area area, const char *word, enum acl_level *level)
{
	static const char *const words[] = {[ACL_LEVEL_NONE] = "",
		[ACL_LEVEL_LIST] = "list",
		[ACL_LEVEL_READ] = "read",
		[ACL_LEVEL_WRITE] = "write",
		[ACL_LEVEL_DENY] = "deny"};
	enum acl_level other = area == ACL_PLUGIN ? ACL_LEVEL_WRITE : ACL_LEVEL_LIST;
	for (enum acl_level at = ACL_LEVEL_LIST; at <= ACL_LEVEL_DENY; at++) {
		if (at == other || strcmp(words[at], word) != 0)
			continue;
		*level = at;
		return true;
	}
	return false;
}

const char *acl_area_name(enum acl_area area)
{
	static const char *const names[ACL_AREAS] = {[ACL_AGENT] = "agent",
		[ACL_NODE] = "node",
		[ACL_OPERATOR] = "operator",
		[ACL_PLUGIN] = "plugin",
		[ACL_QUOTA] = "quota",
		[ACL_VM] = "vm",
		[ACL_VM_CONNECT] = "vm_connect",
		[ACL_VM_ADMIN] = "vm_admin"};
	CHECK(area < ACL_AREAS);
	return names[area];
}
