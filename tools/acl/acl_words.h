// The words that rules are written with, and what the coarse ones stand for.
#pragma once
#include <stdbool.h>
#include <stdint.h>

// What may be done in a namespace. ACL_DENY stands for the word deny, in the other sets too: it takes everything away.
#define ACL_DENY 0u
enum acl_capability {
	ACL_LIST_JOBS = 1,
	ACL_PARSE_JOB,
	ACL_READ_JOB,
	ACL_SUBMIT_JOB,
	ACL_DISPATCH_JOB,
	ACL_SCALE_JOB,
	ACL_READ_LOGS,
	ACL_READ_FS,
	ACL_ALLOC_EXEC,
	ACL_ALLOC_NODE_EXEC,
	ACL_ALLOC_LIFECYCLE,
	ACL_SENTINEL_OVERRIDE,
	ACL_CSI_REGISTER_PLUGIN,
	ACL_CSI_WRITE_VOLUME,
	ACL_CSI_READ_VOLUME,
	ACL_CSI_LIST_VOLUME,
	ACL_CSI_MOUNT_VOLUME,
	ACL_LIST_SCALING_POLICIES,
	ACL_READ_SCALING_POLICY,
	ACL_READ_JOB_SCALING,
	ACL_SUBMIT_RECOMMENDATION,
};
enum acl_pool_capability { ACL_POOL_DELETE = 1, ACL_POOL_READ, ACL_POOL_WRITE };
enum acl_volume_capability { ACL_MOUNT_READONLY = 1, ACL_MOUNT_READWRITE };
enum acl_variable_capability {
	ACL_VARIABLE_READ = 1,
	ACL_VARIABLE_WRITE,
	ACL_VARIABLE_LIST,
	ACL_VARIABLE_DESTROY,
};

// What rules name: each has capabilities of its own.
enum acl_subject {
	ACL_NAMESPACES,
	ACL_NODE_POOLS,
	ACL_HOST_VOLUMES,
	ACL_VARIABLES, // paths in a namespace
	ACL_SUBJECTS,
};

// What rules allow as a whole, up to a level.
enum acl_area {
	ACL_AGENT,
	ACL_NODE,
	ACL_OPERATOR,
	ACL_PLUGIN,
	ACL_QUOTA,
	ACL_VM,
	ACL_VM_CONNECT, // ports and addresses of machines; to write ACL_VM allows these as well
	ACL_VM_ADMIN,   // who may what with machines, and the settings of all of them
	ACL_AREAS
};
enum acl_level { ACL_LEVEL_NONE, ACL_LEVEL_LIST, ACL_LEVEL_READ, ACL_LEVEL_WRITE, ACL_LEVEL_DENY };

// The number of a capability; -1: the word is none.
int acl_capability_of(enum acl_subject, const char *word);
// The capabilities that the word of a policy stands for, up to NULL. NULL: it is no such word.
const char *const *acl_expansion_of(enum acl_subject, const char *word);
// False: the area has no such policy.
bool acl_level_of(enum acl_area, const char *word, enum acl_level *);
// "agent"
const char *acl_area_name(enum acl_area);
