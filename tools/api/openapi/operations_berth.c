// What only Berth has.
#include "tools/api/openapi/operations.h"

#define REVOCATION "{Reason: string}"

static const struct operation rows[] = {
	{"GET", "/v1/event/stream", "Changes of the state as they happen: an object a line.",
		"topic:string index:integer namespace:string", NULL, OPERATION_STREAM},
	{"GET", "/v1/agent/monitor", "The log of a server, while it is written.",
		"log_level:string log_json:boolean plain:boolean server_id:string node_id:string",
		NULL, OPERATION_STREAM},
	{"GET", "/v1/metrics", "Metrics.", "format:string", NULL,
		"{Timestamp: string, Gauges: [{Name: string, Labels: {*: string}, Value: number}], "
		"Points: [any], Counters: [Sample], Samples: [Sample]}"},
	{"GET", "/metrics", "Metrics for Prometheus.", NULL, NULL, OPERATION_TEXT},
	{"GET", "/healthz", "Whether the server is healthy.", NULL, NULL, OPERATION_TEXT},
	{"GET", "/livez", "Whether the server should go on.", "verbose:boolean", NULL,
		OPERATION_TEXT},
	{"GET", "/readyz", "Whether the server should get work.", "verbose:boolean", NULL,
		OPERATION_TEXT},
	{"GET", "/", "Leads to the web page.", NULL, NULL, NULL},
	{"GET", "/ui", "Leads to the web page.", NULL, NULL, NULL},
	{"GET", "/ui/", "The web page.", NULL, NULL, OPERATION_PAGE},
	{"GET", "/ui/:id", "A file of the web page.", NULL, NULL, OPERATION_PAGE},
	{"GET", "/ui/jobs/:path", "Leads to the page of a job.", NULL, NULL, NULL},
	{"GET", "/ui/allocations/:path", "Leads to the page of an allocation.", NULL, NULL, NULL},
	{"GET", "/ui/clients/:path", "Leads to the page of a node.", NULL, NULL, NULL},
	{"GET", "/ui/settings/:path", "Leads to where a token is shown.", NULL, NULL, NULL},
	{"GET", "/v1/openapi.json", "This document.", NULL, NULL, "any"},
	{"GET", "/v1/berth/cluster", "The cluster as this member sees it.", NULL, NULL,
		"{Name: string, Role: string, KnownLeader: boolean, Leader?: ClusterMember?, Term: "
		"integer, Index: integer, LeaderIndex: integer, Lag: integer, LastContactMs: "
		"integer, "
		"Takeovers: integer, BatchesUnderWay: integer, EtcdAway: boolean, Trouble: string, "
		"Members: [ClusterMember]}"},
	{"PUT", "/v1/berth/release", "Ends allocations of direct jobs.", NULL, "{IDs: [string]}",
		"{Index: integer, Results: [{ID: string, Result: string}]}"},
	{"GET", "/v1/berth/explain/job/:id", "Why a job's instances are not placed.",
		"namespace:string group:string", NULL,
		"{JobID: string, Namespace: string, Type: string, JobVersion: integer, Status: "
		"string, "
		"Sentences: [string], Groups: [GroupExplained]}"},
	{"GET", "/v1/berth/explain/allocation/:id", "Why an allocation is where it is.", NULL, NULL,
		"{ID: uuid, Name: string, JobID: string, Namespace: string, JobVersion: integer, "
		"NodeID: uuid, Sentences: [string], Group?: GroupExplained?}"},
	{"GET", "/v1/berth/explain/node/:id", "What fits on a node, and why not.", NULL, NULL,
		"{NodeID: uuid, NodeName: string, Status: string, Sentences: [string], Free: Ask, "
		"Jobs: "
		"[{JobID: string, Namespace: string, Type: string, Group: string, Running: "
		"boolean, "
		"Fits: boolean, Reasons: [Reason]}], Truncated: boolean}"},
	{"GET", "/v1/berth/liveness", "Whether the expiry of nodes is held.", NULL, NULL,
		"{Expiry: string, Reason?: string, Nodes: integer, Silent?: integer, Holds?: "
		"integer, "
		"HeldFor?: integer}"},
	{"PUT", "/v1/berth/liveness/release", "Lets silent nodes expire.", NULL, NULL,
		"{Released: boolean}"},
	{"GET", "/v1/berth/senders", "Who was refused most often for asking too much.", NULL, NULL,
		"[{Kind: string, Name: string, Refused: integer, Ago: integer}]"},
	{"GET", "/v1/berth/fleet", "Every node in a few bytes, or those that changed since.",
		"since:string", NULL,
		"{Since: string, Whole: boolean, Columns: [string], Nodes: [any]}"},
	{"GET", "/v1/berth/groups", "Nodes by the snapshot that they have.", NULL, NULL,
		"{*: {Idle: [string], Busy: [string]}}"},
	{"GET", "/v1/berth/node/:id", "Where a node stands beside its status.", NULL, NULL,
		"{ID: uuid, Name: string, Status: string, Lifecycle: NodeLifecycle, Clone?: "
		"{Address: "
		"string, Beside: string, Since: time}}"},
	{"PUT", "/v1/berth/node/:id/offline", "Takes a node out.", NULL, NULL, "StandingChange"},
	{"PUT", "/v1/berth/node/:id/online", "Takes a node back.", NULL, NULL, "StandingChange"},
	{"GET", "/v1/berth/node/:id/drain", "What is left of a drain.", NULL, NULL,
		"{NodeID: uuid, NodeName: string, Phase: string, DrainStrategy: DrainStrategy?, "
		"LastDrain: NodeLastDrain?, Remaining: [{ID: uuid, Name: string, JobID: string, "
		"Namespace: string, JobType: string, ClientStatus: string, Leaving: boolean}], "
		"Waiting: "
		"[{JobID: string, Namespace: string, Group: string, Remaining: integer, Leaving: "
		"integer, Reason: string}]}"},
	{"GET", "/v1/berth/node/:id/what-if", "What would happen without a node.", "kind:string",
		NULL,
		"{NodeID: uuid, NodeName: string, Kind: string, Outcomes: {*: integer}, "
		"Allocations: "
		"[{ID: uuid, Name: string, Namespace: string, JobID: string, JobType: string, "
		"JobPriority: integer, TaskGroup: string, Outcome: string, LeftToFinish: boolean, "
		"ToNodeID: uuid, ToNodeName: string, Score: number?, Preempts: integer}], "
		"Failures: "
		"[{Namespace: string, JobID: string, TaskGroup: string, Metrics: "
		"PlacementMetrics}], "
		"Preempted: [any]}"},
	{"GET", "/v1/berth/revoked", "Who is revoked or has a new key.", NULL, NULL, "[Sender]"},
	{"PUT", "/v1/berth/node/:id/revoke", "Revokes a node.", NULL, REVOCATION, "SenderChange"},
	{"PUT", "/v1/berth/node/:id/restore", "Takes a node back.", NULL, REVOCATION,
		"SenderChange"},
	{"PUT", "/v1/berth/node/:id/rekey", "Gives a node a new key.", NULL, REVOCATION,
		"SenderChange"},
	{"PUT", "/v1/berth/client/:id/revoke", "Revokes a client.", NULL, REVOCATION,
		"SenderChange"},
	{"PUT", "/v1/berth/client/:id/restore", "Takes a client back.", NULL, REVOCATION,
		"SenderChange"},
	{"PUT", "/v1/berth/client/:id/rekey", "Gives a client a new key.", NULL, REVOCATION,
		"SenderChange"},
	{"DELETE", "/v1/berth/node/:id/quarantine", "Believes a node again that had a clone.", NULL,
		NULL, ""},
	{"GET", "/v1/berth/admit/refused", "Nodes that no rule admits.", NULL, NULL,
		"[RefusedNode]"},
	{"GET", "/v1/berth/admit", "Rules of which nodes may join.", NULL, NULL, "[AdmitRule]"},
	{"PUT", "/v1/berth/admit", "Makes or changes a rule.", NULL, "AdmitRule", ""},
	{"DELETE", "/v1/berth/admit/:id", "Takes a rule away.", NULL, NULL, ""},
};
const struct operation_table berth_operations = {rows, sizeof rows / sizeof rows[0]};
