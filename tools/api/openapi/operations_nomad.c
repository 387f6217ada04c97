// Nodes, placements and the controller itself, as Nomad's clients ask for them.
#include "tools/api/openapi/operations.h"

#define SEARCH_BODY "{Prefix: string, Context: string, Namespace: string}"
#define PARTS(X)                                                                           \
	"{jobs?: " X ", nodes?: " X ", allocs?: " X ", evals?: " X ", deployment?: " X     \
	", volumes?: " X ", plugins?: " X ", scaling_policy?: " X ", namespaces?: " X      \
	", node_pools?: " X ", vars?: " X ", groups?: " X ", tasks?: " X ", services?: " X \
	", commands?: " X ", images?: " X ", quotas?: " X "}"
#define META "Index: integer, LastContact: integer, KnownLeader: boolean, NextToken: string"
#define AUTOPILOT                                                                                 \
	"{CleanupDeadServers: boolean, LastContactThreshold: string, MaxTrailingLogs: integer, "  \
	"MinQuorum: integer, ServerStabilizationTime: string, EnableRedundancyZones: boolean, "   \
	"DisableUpgradeMigration: boolean, EnableCustomUpgrades: boolean, CreateIndex: integer, " \
	"ModifyIndex: integer}"
#define SCHEDULERS "{server_id: string, num_schedulers: integer, enabled_schedulers: [string]}"

static const struct operation rows[] = {
	{"GET", "/v1/nodes", "Nodes by id.", "resources:boolean os:boolean", NULL, "[NodeStub]"},
	{"GET", "/v1/node/pools", "Pools of nodes.", "prefix:string filter:string", NULL,
		"[NodePool]"},
	{"PUT", "/v1/node/pools", "Describes a pool.", NULL, "NodePool", ""},
	{"GET", "/v1/node/pool/:id", "One pool.", NULL, NULL, "NodePool"},
	{"PUT", "/v1/node/pool/:id", "Describes a pool.", NULL, "NodePool", ""},
	{"DELETE", "/v1/node/pool/:id", "Takes the description of a pool away.", NULL, NULL, ""},
	{"GET", "/v1/node/pool/:id/nodes", "Nodes of a pool.", "resources:boolean os:boolean", NULL,
		"[NodeStub]"},
	{"GET", "/v1/client/metadata", "Metadata of a node.", "node_id:string", NULL,
		"NodeMetadata"},
	{"POST", "/v1/client/metadata", "Sets metadata of a node.", NULL,
		"{NodeID: string, Meta: {*: string?}}", "NodeMetadata"},
	{"GET", "/v1/node/:id", "One node.", NULL, NULL, "Node"},
	{"PUT", "/v1/node/:id/eligibility", "Whether a node takes new work.", NULL,
		"{NodeID: string, Eligibility: string}", "NodeChange"},
	{"PUT", "/v1/node/:id/drain", "Begins, changes or ends a drain.", NULL,
		"{NodeID: string, DrainSpec: {Deadline: integer, IgnoreSystemJobs: boolean}?, "
		"MarkEligible: boolean, Meta: {*: string}?}",
		"NodeChange"},
	{"PUT", "/v1/node/:id/evaluate", "Has every job that a node concerns looked at.", NULL,
		NULL, "NodeEvaluation"},
	{"PUT", "/v1/node/:id/purge", "Forgets a node.", NULL, NULL, "NodeEvaluation"},
	{"GET", "/v1/node/:id/allocations", "Allocations of a node.", NULL, NULL, "[Allocation]"},
	{"GET", "/v1/job/:id/allocations", "Allocations of a job.", "all:boolean", NULL,
		"[AllocationStub]"},
	{"GET", "/v1/job/:id/evaluations", "Evaluations of a job.", NULL, NULL, "[Evaluation]"},
	{"GET", "/v1/job/:id/deployment", "The newest deployment of a job.", NULL, NULL,
		"Deployment?"},
	{"GET", "/v1/job/:id/deployments", "Deployments of a job.", "all:boolean", NULL,
		"[Deployment]"},
	{"GET", "/v1/evaluations", "Evaluations.", "namespace:string status:string job:string",
		NULL, "[Evaluation]"},
	{"DELETE", "/v1/evaluations", "Forgets evaluations.", "filter:string",
		"{EvalIDs: [string]}", "{Count: integer, Index: integer}"},
	{"GET", "/v1/evaluations/count", "How many evaluations there are.",
		"namespace:string filter:string", NULL, "{Count: integer, " META "}"},
	{"GET", "/v1/evaluation/:id", "One evaluation.", "related:boolean", NULL, "Evaluation"},
	{"GET", "/v1/evaluation/:id/allocations", "Allocations that an evaluation placed.", NULL,
		NULL, "[AllocationStub]"},
	{"GET", "/v1/allocations", "Allocations.", "namespace:string resources:boolean", NULL,
		"[AllocationStub]"},
	{"GET", "/v1/allocation/:id", "One allocation.", NULL, NULL, "Allocation"},
	{"PUT", "/v1/allocation/:id/stop", "Stops an allocation, which is placed anew.",
		"no_shutdown_delay:boolean", NULL, "{EvalID: uuid, Index: integer}"},
	{"GET", "/v1/deployments", "Deployments.", "namespace:string", NULL, "[Deployment]"},
	{"GET", "/v1/deployment/:id", "One deployment.", NULL, NULL, "Deployment"},
	{"GET", "/v1/deployment/allocations/:id", "Allocations of a deployment.", NULL, NULL,
		"[AllocationStub]"},
	{"PUT", "/v1/deployment/promote/:id", "Promotes canaries.", NULL,
		"{DeploymentID: string, All: boolean, Groups: [string]?}", "DeploymentChange"},
	{"PUT", "/v1/deployment/fail/:id", "Fails a deployment.", NULL, NULL, "DeploymentChange"},
	{"PUT", "/v1/deployment/pause/:id", "Pauses or resumes a deployment.", NULL,
		"{DeploymentID: string, Pause: boolean}", "DeploymentChange"},
	{"PUT", "/v1/deployment/unblock/:id", "Lets a deployment of several regions go on.", NULL,
		NULL, "DeploymentChange"},
	{"PUT", "/v1/deployment/allocation-health/:id", "Says which allocations are healthy.", NULL,
		"{DeploymentID: string, HealthyAllocationIDs: [string]?, UnhealthyAllocationIDs: "
		"[string]?}",
		"DeploymentChange"},
	{"PUT", "/v1/search", "Finds things by the beginning of their ids.", NULL, SEARCH_BODY,
		"{Matches: {*: [string]?}, Truncations: {*: boolean}, " META "}"},
	{"PUT", "/v1/search/fuzzy", "Finds things by a part of their names.", NULL,
		"{Text: string, Context: string, Namespace: string}",
		"{Matches: {*: FuzzyMatches}, Truncations: {*: boolean}, " META "}"},
	{"GET", "/v1/operator/scheduler/configuration", "How schedulers place.", NULL, NULL,
		"{SchedulerConfig: SchedulerConfiguration, " META "}"},
	{"PUT", "/v1/operator/scheduler/configuration", "Changes how schedulers place.",
		"cas:integer", "SchedulerConfiguration", "{Updated: boolean, Index: integer}"},
	{"GET", "/v1/operator/raft/configuration", "The servers that have the log.", NULL, NULL,
		"{Servers: [{ID: string, Node: string, Address: string, Leader: boolean, Voter: "
		"boolean, RaftProtocol: string}], Index: integer}"},
	{"GET", "/v1/operator/autopilot/configuration", "How servers are looked after.", NULL, NULL,
		AUTOPILOT},
	{"GET", "/v1/operator/autopilot/health", "How the servers are.", NULL, NULL,
		"{Healthy: boolean, FailureTolerance: integer, Servers: [{ID: string, Name: "
		"string, "
		"Address: string, SerfStatus: string, Version: string, Leader: boolean, "
		"LastContact: "
		"string, LastTerm: integer, LastIndex: integer, Healthy: boolean, Voter: boolean, "
		"StableSince?: time}]}"},
	{"GET", "/v1/operator/snapshot", "Saves all that is known.", NULL, NULL, OPERATION_ARCHIVE},
	{"PUT", "/v1/operator/snapshot", "Restores a snapshot.", NULL, OPERATION_ARCHIVE, ""},
	{"PUT", "/v1/system/gc", "Forgets what has ended.", NULL, NULL, ""},
	{"PUT", "/v1/system/reconcile/summaries", "Does nothing: summaries are never wrong.", NULL,
		NULL, ""},
	{"GET", "/v1/agent/self", "This server.", NULL, NULL,
		"{config: any, member: Member, stats: {*: {*: string}}}"},
	{"GET", "/v1/agent/health", "Whether this server is healthy.", NULL, NULL,
		"{server: {ok: boolean, message: string}}"},
	{"GET", "/v1/agent/members", "The servers.", NULL, NULL,
		"{ServerName: string, ServerRegion: string, ServerDC: string, Members: [Member]}"},
	{"GET", "/v1/agent/servers", "Addresses of the servers.", NULL, NULL, "[string]"},
	{"PUT", "/v1/agent/servers", "Changes nothing.", "address:string", NULL, ""},
	{"PUT", "/v1/agent/join", "Says why no server joins.", "address:string", NULL,
		"{num_joined: integer, error: string}"},
	{"PUT", "/v1/agent/force-leave", "Makes no server leave.", "node:string", NULL, ""},
	{"GET", "/v1/agent/schedulers", "The threads of schedulers.", NULL, NULL,
		"{server_id: string, schedulers: [{id: string, enabled_schedulers: [string], "
		"started: "
		"time, status: string, workload_status: string}]}"},
	{"GET", "/v1/agent/schedulers/config", "How many schedulers there are.", NULL, NULL,
		SCHEDULERS},
	{"PUT", "/v1/agent/schedulers/config", "Takes what is configured anyway.", NULL, SCHEDULERS,
		SCHEDULERS},
	{"GET", "/v1/status/leader", "Address of the leader.", NULL, NULL, "string"},
	{"GET", "/v1/status/peers", "Addresses of the servers.", NULL, NULL, "[string]"},
	{"GET", "/v1/regions", "The region of this server.", NULL, NULL, "[string]"},
};
const struct operation_table nomad_operations = {rows, sizeof rows / sizeof rows[0]};
