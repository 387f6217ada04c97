// Every maximum of the system, with its reason. Full means refused, counted and visible.
#pragma once

// Slots of the node table. 10 M nodes is the design point; one line of 64 bytes each.
#define NODES_MAX (16u * 1024 * 1024)
// Slots are handed out to workers in blocks, so that a node's line belongs to one core.
#define NODE_BLOCK_SLOTS 4096u

// Allocations, jobs and remembered placement requests: bounds of memory; the configuration may lower them.
#define ALLOCATIONS_MAX (16u * 1024 * 1024)
#define JOBS_MAX (256u * 1024)
#define PLACE_REQUESTS_MAX (16u * 1024 * 1024)
#define CLIENTS_MAX (64u * 1024)
// Each of JOBS_MAX jobs may have a few evaluations, open or kept for queries; most are of system jobs, one per node
// that waits for room. About 1 KiB each.
#define EVALUATIONS_MAX (4u * 1024 * 1024)
// Evaluations that one request deletes by their ids; as many as Nomad takes.
#define EVALUATION_IDS_MAX 7281u

// About one for each version of a service job that is kept.
#define DEPLOYMENTS_MAX (1024u * 1024)

// Nodes of one lifecycle sweep, machines of one health pass or assignment: bounds how long one command delays the
// others.
#define NODE_SWEEP_MAX 1024u
#define VM_ASSIGN_MAX 1024u
// Virtual machines and their workers; a machine takes about 1 KiB.
#define VMS_MAX (1024u * 1024)
#define VM_WORKERS_MAX (256u * 1024)
// Named resources and labels of a machine or a worker.
#define VM_RESOURCES_MAX 32u
#define VM_LABELS_MAX 64u
// Bytes of a machine's startup script or list of folders: both stay in memory with it.
#define HOST_DIR_POLICIES_MAX 256u
#define VM_JSON_BYTES_MAX (64u * 1024)
// Groups of nodes by the snapshot that they ran last: beyond so many empty ones are dropped. With nodes in them there
// may be as many as nodes.
#define NODE_GROUPS_MAX (64u * 1024)

// Node pools that operators describe, and what one may hold. A pool takes a few KiB at most.
#define NODE_POOLS_MAX (16u * 1024)
#define NODE_POOL_NAME_MAX 128u
#define NODE_POOL_DESCRIPTION_MAX 256u
#define NODE_POOL_META_MAX 64u

// Namespaces, and what one may hold, as pools.
#define NAMESPACES_MAX (16u * 1024)
#define NAMESPACE_NAME_MAX 128u
#define NAMESPACE_DESCRIPTION_MAX 256u
#define NAMESPACE_META_MAX 64u
#define NAMESPACE_DRIVERS_MAX 64u
// Quotas, and what one may limit. Amounts of all allocations together are far from the end of their type.
#define QUOTAS_MAX (16u * 1024)
#define QUOTA_DEVICES_MAX 32u
#define QUOTA_AMOUNT_MAX (1ll << 53)

// Access control. A role or a token that names more than a screen of policies is a mistake; rules of 64 KiB are a
// thousand namespaces. Each command about a role looks at all roles.
#define ACL_POLICIES_MAX (16u * 1024)
#define ACL_ROLES_MAX (4u * 1024)
#define ACL_TOKENS_MAX (1024u * 1024)
#define ACL_NAME_MAX 128u
#define ACL_TOKEN_NAME_MAX 256u
#define ACL_DESCRIPTION_MAX 256u
#define ACL_RULES_BYTES_MAX (64u * 1024)
#define ACL_LINKS_MAX 256u

// The wire: senders that operators said something of, and rules of admission, both for each node of a fleet if need be.
// Each rule with a '*' is compared with each node that registers. The newest refused nodes are there for people.
#define SENDERS_MAX (4u * 1024 * 1024)
#define ADMIT_RULES_MAX (4u * 1024 * 1024)
#define ADMIT_RULE_GLOBS_MAX 1024u
#define ADMIT_GLOBS_MAX 64u
#define REFUSED_NODES_MAX 256u

// Variables: secrets of a few lines each. What they hold is limited as Nomad limits it; encrypted and as text it takes
// a third more, and in the worst case, thousands of items without values, five times as much.
#define VARIABLES_MAX (64u * 1024)
#define VARIABLE_PATH_MAX 128u
#define VARIABLE_ITEMS_BYTES_MAX (64u * 1024)
#define VARIABLE_SEALED_MAX (384u * 1024)

// Versions of a job that are kept (row B60).
#define JOB_VERSIONS_MAX 6

// A node's description. 256 attributes is five times what a real agent reports.
#define NODE_ATTRIBUTES_MAX 256u
// What an operator may set of a node's metadata, and what a node has of pairs with it.
#define NODE_METADATA_MAX 64u
#define NODE_PAIRS_MAX (NODE_ATTRIBUTES_MAX + NODE_METADATA_MAX)
#define NODE_DEVICE_GROUPS_MAX 4u
// A one-word bit map holds the instances of one device group.
#define NODE_DEVICES_MAX 64u
// Cores of a node that tasks may have to themselves; the largest machines have as many.
#define CORES_MAX 1024u
// An operator's metadata of a drain: a few lines.
#define NODE_DRAIN_META_MAX 32u
#define NAME_BYTES_MAX 255u
// A child job's name is its parent's name and a number or a time.
#define STORED_NAME_BYTES_MAX (NAME_BYTES_MAX + 64)
#define ATTRIBUTE_NAME_BYTES_MAX 128u
#define ATTRIBUTE_VALUE_BYTES_MAX 1024u
#define CLIENT_NAME_BYTES_MAX 64u

// A job body over HTTP; larger ones are refused before they are parsed.
#define JOB_JSON_BYTES_MAX (1024u * 1024)
#define JSON_DEPTH_MAX 64u
#define JOB_GROUPS_MAX 256u
#define JOB_TASKS_MAX 256u
#define JOB_CONSTRAINTS_MAX 64u
// Affinities and spreads of a group, with its job's and its tasks': each scores every node that is looked at.
#define JOB_RANKINGS_MAX 64u
// Items of every other list of a job that is searched for equals: ports of a network, volumes, datacenters, targets of
// a spread, names of parameters. What a body of a megabyte could list takes minutes to compare.
#define JOB_LIST_MAX 256u
// Every launch computes the next time of each.
#define PERIODIC_SPECS_MAX 64u
// Regions of one job: each region asks all the others.
#define REGIONS_MAX 64u

// Instances of one PLACE: its answer must fit one frame.
#define PLACE_COUNT_MAX 32u
// How long a placement request is remembered, and how old a request may be when it arrives.
#define PLACE_REMEMBER_MS (60ll * 60 * 1000)
#define PLACE_CLOCK_AHEAD_MS (5ll * 60 * 1000)

// How far the time of a registration may be ahead of the controller's clock. Clocks of nodes may be wrong by years; a
// time near the largest number would be the node's last.
#define REGISTER_AHEAD_MS (10ull * 365 * 24 * 60 * 60 * 1000)

// Allocations in one report of a node, and in one answer to it: each fits one frame.
#define ALLOC_UPDATES_MAX 16u
#define ALLOC_ITEMS_MAX 32u
// Virtual machines in one answer to a worker, and on one worker, which asks for all of them in pages.
#define VM_ITEMS_MAX 32u
#define WORKER_VMS_MAX 65535u
// Bytes of a driver's handle to find a task again on another node: two of them fit a report.
#define TASK_HANDLE_BYTES_MAX 512u

// UDP payload that fits an Ethernet frame of 1500 bytes with IPv6 (1500 - 40 - 8).
#define FRAME_BYTES_MAX 1452u
// Packets taken from a queue at once: enough to hide a cache miss, few enough to stay in L1.
#define BURST_MAX 64u

// Connections that nodes dial, of all nodes and of one; those whose handshake is under way, of which a newer one pushes
// the oldest out; and requests that wait for a node or for its answer.
#define LINE_CONNECTIONS_MAX 4096u
#define LINE_NODE_CONNECTIONS_MAX 128u
#define LINE_HANDSHAKES_MAX 256u
#define LINE_REQUESTS_MAX 2048u

#define WORKERS_MAX 64u
#define PORTS_MAX 16u
// Requests of one worker that wait for the applier; one more is refused and counted.
#define WORKER_REQUESTS_MAX 4096u
// Nodes that register for the first time leave the rest to those that are known, and to clients.
#define WORKER_NEWCOMERS_MAX (WORKER_REQUESTS_MAX / 4 * 3)
#define COMMAND_RING_SLOTS 4096u
// Commands and bytes of one group commit.
#define BATCH_COMMANDS_MAX 4096u
#define BATCH_BYTES_MAX (4u * 1024 * 1024)
// Parts of one registration, and registrations that wait for their missing parts.
#define REGISTER_PARTS_MAX 8u
#define REGISTER_PENDING_MAX 4096u

// Disk space kept free for changes that must not be refused (node down, release).
#define STORE_RESERVE_BYTES (64ll * 1024 * 1024)

// Broken invariants that each fail one piece of work (check.h). The work's memory is freed except for arrays of the
// function that failed, at most some bytes per allocation of a job: after this many the process ends.
#define GUARDED_FAILURES_MAX 1000u
