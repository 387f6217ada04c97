// Jobs, as Nomad's clients ask for them.
#include "tools/api/openapi/operations.h"

#define META "Index: integer, LastContact: integer, KnownLeader: boolean, NextToken: string"
#define REGISTRATION                                                                         \
	"{Job: Job, EnforceIndex: boolean, JobModifyIndex: integer, EvalPriority: integer, " \
	"PreserveCounts: boolean, PolicyOverride: boolean}"

static const struct operation rows[] = {
	{"GET", "/v1/node/pool/:id/jobs", "Jobs of a pool.", "namespace:string", NULL, "[JobStub]"},
	{"GET", "/v1/jobs", "Jobs in order of creation.", "namespace:string meta:boolean", NULL,
		"[JobStub]"},
	{"PUT", "/v1/jobs", "Registers a job.", "namespace:string", REGISTRATION, "JobChange"},
	{"PUT", "/v1/jobs/parse", "A job file as JSON.", "namespace:string",
		"{JobHCL: string, HCLv1: boolean, Variables: string, Canonicalize: boolean}",
		"{*: any}"}, // a job, with null for what is not written
	{"GET", "/v1/job/:id", "One job.", "namespace:string", NULL, "Job"},
	{"PUT", "/v1/job/:id", "Registers a job.", "namespace:string", REGISTRATION, "JobChange"},
	{"DELETE", "/v1/job/:id", "Stops a job.",
		"namespace:string purge:boolean global:boolean eval_priority:integer "
		"before:integer "
		"no_shutdown_delay:boolean",
		NULL,
		"{EvalID: uuid, EvalCreateIndex: integer, JobModifyIndex: integer, VolumeEvalID: "
		"uuid, "
		"VolumeEvalIndex: integer, " META "}"},
	{"GET", "/v1/job/:id/summary", "How many instances of a job are in which state.",
		"namespace:string", NULL, "JobSummary"},
	{"GET", "/v1/job/:id/versions", "Versions of a job.", "namespace:string diffs:boolean",
		NULL, "{Versions: [Job], Diffs: [any]?, " META "}"},
	{"GET", "/v1/job/:id/scale", "Instances that are wanted and there, by group.",
		"namespace:string", NULL, "JobScale"},
	{"PUT", "/v1/job/:id/scale", "Scales a group.", "namespace:string",
		"{Count: integer?, Target: {*: string}, Message: string, Error: boolean, Meta: "
		"any, "
		"PolicyOverride: boolean}",
		"JobChange"},
	{"PUT", "/v1/job/:id/dispatch", "Runs a parameterized job.",
		"namespace:string idempotency_token:string",
		"{JobID: string, Payload: string?, Meta: {*: string}?, IdPrefixTemplate: string}",
		"{DispatchedJobID: string, EvalID?: uuid, EvalCreateIndex?: integer, "
		"JobCreateIndex: "
		"integer, Index: integer}"},
	{"PUT", "/v1/job/:id/periodic/force", "Runs a periodic job now.", "namespace:string", NULL,
		"{EvalID: uuid, EvalCreateIndex: integer, Index: integer}"},
	{"PUT", "/v1/job/:id/revert", "Makes an older version of a job the newest.",
		"namespace:string",
		"{JobID: string, JobVersion: integer, EnforcePriorVersion: integer?, ConsulToken: "
		"string, VaultToken: string}",
		"JobChange"},
	{"PUT", "/v1/job/:id/stable", "Says whether a version of a job is stable.",
		"namespace:string", "{JobID: string, JobVersion: integer, Stable: boolean}",
		"{JobModifyIndex: integer, Index: integer}"},
	{"PUT", "/v1/job/:id/evaluate", "Has a job looked at.", "namespace:string",
		"{JobID: string, EvalOptions: {ForceReschedule: boolean}}", "JobChange"},
	{"PUT", "/v1/job/:id/plan", "What a registration would do.", "namespace:string",
		"{Job: Job, Diff: boolean, PolicyOverride: boolean}", "JobPlan"},
	{"PUT", "/v1/validate/job", "Whether a job is valid.", "namespace:string", "{Job: Job}",
		"{DriverConfigValidated: boolean, ValidationErrors: [string]?, Error: string, "
		"Warnings: "
		"string}"},
	{"GET", "/v1/scaling/policies", "Policies of scaling.",
		"namespace:string job:string type:string", NULL, "[ScalingPolicy]"},
	{"GET", "/v1/scaling/policy/:id", "One policy of scaling.", NULL, NULL, "ScalingPolicy"},
	{"GET", "/v1/berth/rollout/:id", "How far a deployment of several regions is, in a word.",
		"namespace:string rollout:string", NULL, OPERATION_TEXT},
};
const struct operation_table nomad_job_operations = {rows, sizeof rows / sizeof rows[0]};
