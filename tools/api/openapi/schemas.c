// The named schemas: of records by their descriptions, of what is put together by hand by a text.
#include "state/records/acl_policy.h"
#include "state/records/acl_role.h"
#include "state/records/alloc_details.h"
#include "state/records/deployment.h"
#include "state/records/evaluation.h"
#include "state/records/job.h"
#include "state/records/metrics.h"
#include "state/records/namespaces/quota.h"
#include "state/records/nodes/admit_rule.h"
#include "state/records/nodes/sender.h"
#include "state/records/nodes/vm.h"
#include "state/records/scheduler_config.h"
#include "tools/api/openapi/schema.h"

#define META "Index: integer, LastContact: integer, KnownLeader: boolean, NextToken: string"
#define INDEXES "CreateIndex: integer, ModifyIndex: integer"
#define DRIVERS                                                                \
	"{*: {Attributes: {*: string}?, Detected: boolean, Healthy: boolean, " \
	"HealthDescription: string, UpdateTime: time}}"
#define NODE_STUB                                                                           \
	"ID: uuid, Datacenter: string, Name: string, NodeClass: string, NodePool: string, " \
	"Drain: boolean, SchedulingEligibility: string, Status: string, "                   \
	"StatusDescription: string, Drivers: " DRIVERS                                      \
	", HostVolumes: {*: {Name: string, Path: string, ReadOnly: boolean}}?, "            \
	"LastDrain: NodeLastDrain?, " INDEXES
#define ALLOCATION_STUB                                                                       \
	"ID: uuid, EvalID: uuid, Name: string, Namespace: string, NodeID: uuid, NodeName: "   \
	"string, JobID: string, TaskGroup: string, AllocatedResources: AllocatedResources?, " \
	"DesiredStatus: string, DesiredDescription: string, ClientStatus: string, "           \
	"ClientDescription: string, DesiredTransition: DesiredTransition, "                   \
	"TaskStates: {*: TaskState}?, DeploymentStatus: AllocationHealth?, "                  \
	"FollowupEvalID: uuid, NextAllocation: uuid, "                                        \
	"RescheduleTracker: {Events: [RescheduleEvent]}?, PreemptedAllocations: [uuid]?, "    \
	"PreemptedByAllocation: uuid, CreateTime: integer, ModifyTime: integer, " INDEXES

const struct named_schema named_schemas[] = {
	{"Job", &job_type_description},
	{"TaskGroup", &task_group_description},
	{"Task", &task_description},
	{"Evaluation", &evaluation_description, "{RelatedEvals?: [any]}"},
	{"Deployment", &deployment_description},
	{"PlacementMetrics", &metrics_description},
	{"DesiredTransition", &desired_transition_description},
	{"AllocationHealth", &alloc_deployment_status_description},
	{"RescheduleEvent", &reschedule_event_description},
	{"SchedulerConfiguration", &scheduler_config_description},
	{"Sender", &sender_description},
	{"AdmitRule", &admit_rule_description},
	{"RefusedNode", &refused_node_description},
	{"VirtualMachine", &vm_description,
		"{tartName?: string, net-softnet?: boolean, warnings?: [string]}"},
	{"ClusterSettings", &cluster_settings_description},
	{"Resources",
		.text = "{CPU: integer, Cores: integer, MemoryMB: integer, MemoryMaxMB: integer, "
			"DiskMB: integer, IOPS: integer, Networks: any, Devices: any}"},
	{"TaskState",
		.text = "{State: string, Failed: boolean, Restarts: integer, LastRestart: time?, "
			"StartedAt: time?, FinishedAt: time?, Events: [TaskEvent]?, TaskHandle: "
			"any}"},
	{"TaskEvent",
		.text = "{Type: string, Time: integer, DisplayMessage: string, Details: {*: "
			"string}?, "
			"FailsTask: boolean, ExitCode: integer, Message: string, RestartReason: "
			"string, SetupError: string, DriverError: string, KillError: string, "
			"KillReason: string, DownloadError: string, ValidationError: string, "
			"FailedSibling: string, VaultError: string, TaskSignalReason: string, "
			"TaskSignal: string, DriverMessage: string, GenericSource: string, Signal: "
			"integer, KillTimeout: integer, StartDelay: integer, DiskLimit: integer}"},
	{"QueryMeta", .text = "{" META "}"},
	{"JobChange", .text = "{EvalID: uuid, EvalCreateIndex: integer, JobModifyIndex: integer, "
			      "Warnings: string, " META "}"},
	{"JobSummary",
		.text = "{JobID: string, Namespace: string, Summary: {*: {Queued: integer, "
			"Complete: "
			"integer, Failed: integer, Running: integer, Starting: integer, Lost: "
			"integer, "
			"Unknown: integer}}, Children: {Pending: integer, Running: integer, Dead: "
			"integer}, " INDEXES "}"},
	{"JobStub",
		.text = "{Stop: boolean, Namespace: string, ID: string, ParentID: string, Name: "
			"string, "
			"Type: string, Priority: integer, Datacenters: [string], NodePool: string, "
			"Multiregion: any, Status: string, StatusDescription: string, SubmitTime: "
			"integer, JobModifyIndex: integer, Periodic: boolean, ParameterizedJob: "
			"boolean, "
			"JobSummary: JobSummary, Meta?: {*: string}?, " INDEXES "}"},
	{"JobScale", .text = "{JobID: string, Namespace: string, JobCreateIndex: integer, "
			     "JobModifyIndex: "
			     "integer, JobStopped: boolean, TaskGroups: {*: {Desired: integer, "
			     "Placed: integer, "
			     "Running: integer, Healthy: integer, Unhealthy: integer, Events: "
			     "[ScalingEvent]?}}}"},
	{"ScalingEvent", .text = "{Time: integer, Count: integer?, PreviousCount: integer, "
				 "Message: string, Error: "
				 "boolean, Meta: any, EvalID: uuid?, CreateIndex: integer}"},
	{"ScalingPolicy",
		.text = "{ID: uuid, Enabled: boolean, Type: string, Target: {Namespace: string, "
			"Job: "
			"string, Group: string}, Namespace?: string, Min?: integer, Max?: integer, "
			"Policy?: any, " INDEXES "}"},
	{"JobPlan", .text = "{Annotations: {DesiredTGUpdates: {*: {Group: string, Ignore: integer, "
			    "Place: "
			    "integer, Migrate: integer, Stop: integer, InPlaceUpdate: integer, "
			    "DestructiveUpdate: integer, Canary: integer, Preemptions: integer}}, "
			    "PreemptedAllocs: [AllocationStub]?}?, FailedTGAllocs: {*: "
			    "PlacementMetrics}?, "
			    "JobModifyIndex: integer, CreatedEvals: [Evaluation]?, Diff: any, "
			    "NextPeriodicLaunch: time?, Warnings: string, Index: integer}"},
	{"NodeLastDrain", .text = "{StartedAt: time, UpdatedAt: time, Status: string, AccessorID: "
				  "string, Meta: {*: string}?}"},
	{"NodeStub", .text = "{" NODE_STUB ", Address: string, Version: string, NodeResources: "
			     "NodeResources?, ReservedResources: NodeReserved?, Attributes?: {*: "
			     "string}}"},
	{"NodeResources",
		.text = "{Cpu: {CpuShares: integer, TotalCpuCores: integer, ReservableCpuCores: "
			"[integer]?}, Memory: {MemoryMB: integer}, Disk: {DiskMB: integer}, "
			"Networks: "
			"[any]?, NodeNetworks: [any]?, MinDynamicPort: integer, MaxDynamicPort: "
			"integer, "
			"Devices: [any]?}"},
	{"NodeReserved", .text = "{Cpu: {CpuShares: integer, ReservedCpuCores: [integer]?}, "
				 "Memory: {MemoryMB: "
				 "integer}, Disk: {DiskMB: integer}, Networks: {ReservedHostPorts: "
				 "string}}"},
	{"NodeLifecycle",
		.text = "{Standing: string, Lost: boolean, Flaky: boolean, Ready: boolean, "
			"Since: time?, Snapshot: string, Busy: boolean}"},
	{"DrainStrategy",
		.text = "{Deadline: integer, IgnoreSystemJobs: boolean, ForceDeadline: time, "
			"StartedAt: time}"},
	{"Node", .text = "{" NODE_STUB
			 ", Attributes: {*: string}?, Meta: {*: string}?, ComputedClass: "
			 "string, HTTPAddr: string, TLSEnabled: boolean, SecretID: string, "
			 "StatusUpdatedAt: "
			 "integer, DrainStrategy: DrainStrategy?, Links: any, Events: [{Message: "
			 "string, "
			 "Subsystem: string, Details: {*: string}?, Timestamp: time, CreateIndex: "
			 "integer}], "
			 "CSIControllerPlugins: any, CSINodePlugins: any, HostNetworks: any, "
			 "CgroupParent: "
			 "string, NodeResources: NodeResources, ReservedResources: NodeReserved, "
			 "Resources: "
			 "Resources, Reserved: Resources, LastMissedHeartbeatIndex: integer, "
			 "LastAllocUpdateIndex: integer, Berth: {Slot: integer, Generation: "
			 "integer, "
			 "RegisteredAt: time, AgentVersion: string, Used: Resources, Allocations: "
			 "integer, "
			 "Lifecycle: NodeLifecycle}}"},
	{"NodeChange",
		.text = "{NodeModifyIndex: integer, EvalIDs: [uuid]?, EvalCreateIndex: integer, "
			"Index: integer}"},
	{"NodeEvaluation",
		.text = "{HeartbeatTTL: integer, EvalIDs: [uuid]?, EvalCreateIndex: integer, "
			"NodeModifyIndex: integer, Features: integer, LeaderRPCAddr: string, "
			"NumNodes: "
			"integer, SchedulingEligibility: string, Servers: any, " META "}"},
	{"NodePool", .text = "{Name: string, Description: string, Meta: {*: string}?, "
			     "SchedulerConfiguration: {SchedulerAlgorithm?: string, "
			     "MemoryOversubscriptionEnabled?: boolean?}?, Hash: string?, " INDEXES
			     "}"},
	{"NodeMetadata",
		.text = "{Meta: {*: string}?, Dynamic: {*: string?}?, Static: {*: string}?}"},
	{"AllocatedResources", .text = "{Tasks: {*: {Cpu: {CpuShares: integer, ReservedCores: "
				       "[integer]?}, Memory: "
				       "{MemoryMB: integer, MemoryMaxMB: integer}, Networks: "
				       "[any]?, Devices: [any]?}}, "
				       "TaskLifecycles: {*: {Hook: string, Sidecar: boolean}?}, "
				       "Shared: {Networks: [any]?, "
				       "DiskMB: integer, Ports: [{Label: string, Value: integer, "
				       "To: integer, HostIP: "
				       "string}]?}}"},
	{"AllocationStub", .text = "{" ALLOCATION_STUB ", JobType: string, JobVersion: integer}"},
	{"Allocation", .text = "{" ALLOCATION_STUB
			       ", Job: Job?, Resources: Resources?, SharedResources: "
			       "Resources?, TaskResources: {*: Resources}?, Metrics: any, "
			       "AllocStates: any, "
			       "NetworkStatus: any, DeploymentID: uuid, PreviousAllocation: uuid, "
			       "SigningKeyID: "
			       "string, AllocModifyIndex: integer, SignedIdentities?: any, "
			       "Services?: any, Berth?: "
			       "{Client?: string, NodeSlot?: integer, Score?: number}}"},
	{"DeploymentChange",
		.text = "{EvalID: uuid, EvalCreateIndex: integer, DeploymentModifyIndex: "
			"integer, RevertedJobVersion: integer?, Index: integer}"},
	{"FuzzyMatches", .text = "[{ID: string, Scope?: [string]}]?"},
	{"Namespace",
		.text = "{Name: string, Description: string, Meta: {*: string}?, Capabilities: "
			"{EnabledTaskDrivers: [string]?, DisabledTaskDrivers: [string]?}?, Quota: "
			"string, "
			"Hash: string, NodePoolConfiguration: any, " INDEXES "}"},
	{"QuotaLimit",
		.text = "{Region: string, RegionLimit: {CPU: integer, MemoryMB: integer, "
			"Instances: integer, Devices: [{Name: string, Count: integer}]?}, Hash: "
			"string}"},
	{"Quota", .text = "{Name: string, Description: string, Limits: [QuotaLimit], Hash: "
			  "string, " INDEXES "}"},
	{"QuotaUsage", .text = "{Name: string, Used: {*: QuotaLimit}, " INDEXES "}"},
	{"TokenStub",
		.text = "{AccessorID: uuid, Name: string, Type: string, Policies: [string]?, "
			"Roles: [{ID: "
			"uuid, Name: string}]?, Global: boolean, Hash: string, CreateTime: time, "
			"ExpirationTime: time?, " INDEXES "}"},
	{"Token",
		.text = "{AccessorID: uuid, SecretID: uuid, Name: string, Type: string, Policies: "
			"[string]?, Roles: [{ID: uuid, Name: string}]?, Global: boolean, Hash: "
			"string, "
			"CreateTime: time, ExpirationTime: time?, ExpirationTTL: string, " INDEXES
			"}"},
	{"PolicyStub", .text = "{Name: string, Description: string, Hash: string, " INDEXES "}"},
	{"Policy", .text = "{Name: string, Description: string, Rules: string, RulesJSON: any, "
			   "JobACL: "
			   "{Namespace: string, JobID: string, Group: string, Task: string}?, "
			   "Hash: string, " INDEXES "}"},
	{"Role", .text = "{ID: uuid, Name: string, Description: string, Policies: [{Name: "
			 "string}], Hash: "
			 "string, " INDEXES "}"},
	{"VariableStub",
		.text = "{Namespace: string, Path: string, CreateTime: integer, ModifyTime: "
			"integer, " INDEXES "}"},
	{"Variable", .text = "{Namespace: string, Path: string, CreateTime: integer, ModifyTime: "
			     "integer, "
			     "Items: {*: string}, " INDEXES "}"},
	{"Key", .text = "{Algorithm: string, CreateIndex: integer, CreateTime: integer, KeyID: "
			"uuid, "
			"ModifyIndex: integer, State: string}"},
	{"Member", .text = "{Name: string, Addr: string, Port: integer, Tags: {*: string}, Status: "
			   "string, "
			   "ProtocolMin: integer, ProtocolMax: integer, ProtocolCur: integer, "
			   "DelegateMin: "
			   "integer, DelegateMax: integer, DelegateCur: integer}"},
	{"ClusterMember",
		.text = "{ID: uuid, Name: string, HTTP: string, Wire: string, StoredIndex: "
			"integer, Alive: boolean, Leader: boolean, Self: boolean}"},
	{"Sample", .text = "{Name: string, Labels: {*: string}, Count: integer, Sum: number, Min: "
			   "number, "
			   "Max: number, Mean: number, Stddev: number, Rate: number}"},
	{"Worker", .text = "{name: string, machine_id: string, scheduling_paused: boolean, "
			   "resources: {*: "
			   "integer}, labels?: {*: string}, last_seen: time, createdAt: time, "
			   "status: string, "
			   "node: string, vms: integer, used: {*: integer}, defaultCPU?: integer, "
			   "defaultMemory?: integer, arch?: string, runtime?: string}"},
	{"ServiceAccount", .text = "{name: string, token?: string, roles: [string], createdAt: "
				   "time, version?: "
				   "integer}"},
	{"Ask", .text = "{CPU: integer, MemoryMB: integer, DiskMB: integer}"},
	{"Reason", .text = "{Kind: string, Reason: string, Nodes: integer, Nearest: {NodeID: uuid, "
			   "NodeName: string, Lack: integer, Unit: string}?}"},
	{"GroupExplained", .text = "{Group: string, Ask: Ask, Nodes: integer, NodesRunning: "
				   "integer, NodesFitting: "
				   "integer, Snapshot: {ID: string, NodesIdleWithIt: integer, "
				   "NodesIdleWithout: "
				   "integer, NodesIdleOther: integer, NodesBusy: integer}?, "
				   "Reasons: [Reason]}"},
	{"StandingChange",
		.text = "{NodeID: uuid, Changed: boolean, Lifecycle: NodeLifecycle, Index: "
			"integer}"},
	{"SenderChange",
		.text = "{Name: string, Revoked: boolean, KeyGeneration: integer, WentDown: "
			"boolean, Index: integer}"},
	{NULL},
};
