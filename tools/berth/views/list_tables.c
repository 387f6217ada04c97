#include "tools/berth/views/list_tables.h"
#include "state/base/time_units.h"
#include "tools/berth/cli/field.h"
#include <stdio.h>
#include <string.h>

static const struct list_column node_columns[] = {
	{"ID", "ID", LIST_ID},
	{"DC", "Datacenter"},
	{"Name", "Name"},
	{"Class", "NodeClass"},
	{"Pool", "NodePool"},
	{"Eligibility", "SchedulingEligibility", LIST_STATUS},
	{"Status", "Status", LIST_STATUS},
	{"Drain", "Drain", LIST_SWITCH, .is_wide = true},
	{"Address", "Address", .is_wide = true},
	{"CPU", "NodeResources.Cpu.CpuShares", LIST_NUMBER, .is_wide = true},
	{"Memory", "NodeResources.Memory.MemoryMB", LIST_NUMBER, .is_wide = true},
	{"Disk", "NodeResources.Disk.DiskMB", LIST_NUMBER, .is_wide = true},
	{"Version", "Version", .is_wide = true},
	{"Modify Index", "ModifyIndex", LIST_NUMBER, .is_wide = true},
	{"Description", "StatusDescription", .is_wide = true},
};
static const char *const node_statuses[] = {"initializing", "ready", "down", "disconnected", NULL};
const struct list list_nodes = {"nodes", LIST_COLUMNS(node_columns), "ID", "Status",
	.whole_query = "resources=true", .status = "Status", .statuses = node_statuses};

static int64_t sum_groups(json_t *job, const char *a, const char *b)
{
	json_t *groups = json_object_get(json_object_get(job, "JobSummary"), "Summary"), *group;
	const char *name;
	int64_t sum = 0;
	json_object_foreach(groups, name, group) sum +=
		field_number(group, a) + (b ? field_number(group, b) : 0);
	return sum;
}

static void put_sum(struct list_value *value, int64_t sum)
{
	value->number = (double)sum;
	snprintf(value->room, sizeof value->room, "%lld", (long long)sum);
}

static void put_live(json_t *job, struct list_value *value)
{
	put_sum(value, sum_groups(job, "Starting", "Running"));
}

static void put_queued(json_t *job, struct list_value *value)
{
	put_sum(value, sum_groups(job, "Queued", NULL));
}

static void put_failed(json_t *job, struct list_value *value)
{
	put_sum(value, sum_groups(job, "Failed", NULL));
}

static void put_lost(json_t *job, struct list_value *value)
{
	put_sum(value, sum_groups(job, "Lost", NULL));
}

static void put_job_status(json_t *job, struct list_value *value)
{
	bool stopped = json_is_true(json_object_get(job, "Stop"));
	value->text = field_text(job, "Status");
	if (!stopped)
		return;
	snprintf(value->room, sizeof value->room, "%s (stopped)", value->text);
	value->text = value->room;
}

static const struct list_column job_columns[] = {
	{"ID", "ID"},
	{"Namespace", "Namespace"},
	{"Type", "Type"},
	{"Priority", "Priority", LIST_NUMBER},
	{"Status", NULL, LIST_STATUS, .put = put_job_status},
	{"Live", NULL, LIST_NUMBER, .put = put_live},
	{"Lost", NULL, LIST_NUMBER, .put = put_lost},
	{"Submitted", "SubmitTime", LIST_AGE},
	{"Name", "Name", .is_wide = true},
	{"Pool", "NodePool", .is_wide = true},
	{"Queued", NULL, LIST_NUMBER, .is_wide = true, .put = put_queued},
	{"Failed", NULL, LIST_NUMBER, .is_wide = true, .put = put_failed},
	{"Parent", "ParentID", .is_wide = true},
	{"Modify Index", "JobModifyIndex", LIST_NUMBER, .is_wide = true},
};
static const char *const job_statuses[] = {"pending", "running", "dead", NULL};
const struct list list_jobs = {"jobs", LIST_COLUMNS(job_columns), "ID", "Status",
	.status = "Status", .statuses = job_statuses};

static const struct list_column allocation_columns[] = {
	{"ID", "ID", LIST_ID},
	{"Name", "Name"},
	{"Node ID", "NodeID", LIST_ID},
	{"Node", "NodeName"},
	{"Desired", "DesiredStatus"},
	{"Status", "ClientStatus", LIST_STATUS},
	{"Created", "CreateTime", LIST_AGE},
	{"Namespace", "Namespace", .is_wide = true},
	{"Job", "JobID", .is_wide = true},
	{"Group", "TaskGroup", .is_wide = true},
	{"Version", "JobVersion", LIST_NUMBER, .is_wide = true},
	{"Modified", "ModifyTime", LIST_AGE, .is_wide = true},
	{"Evaluation", "EvalID", LIST_ID, .is_wide = true},
	{"Description", "ClientDescription", .is_wide = true},
};
static const char *const allocation_statuses[] = {
	"pending", "running", "complete", "failed", "lost", "unknown", NULL};
const struct list list_allocations = {"allocations", LIST_COLUMNS(allocation_columns), "ID",
	"Status", .status = "ClientStatus", .statuses = allocation_statuses};

static void put_has_failures(json_t *evaluation, struct list_value *value)
{
	json_t *failed = json_object_get(evaluation, "FailedTGAllocs");
	value->text = json_object_size(failed) ? "true" : "false";
}

static const struct list_column evaluation_columns[] = {
	{"ID", "ID", LIST_ID},
	{"Priority", "Priority", LIST_NUMBER},
	{"Triggered By", "TriggeredBy"},
	{"Job ID", "JobID"},
	{"Status", "Status", LIST_STATUS},
	{"Placement Failures", NULL, LIST_SWITCH, .put = put_has_failures},
	{"Namespace", "Namespace", .is_wide = true},
	{"Type", "Type", .is_wide = true},
	{"Node ID", "NodeID", LIST_ID, .is_wide = true},
	{"Deployment", "DeploymentID", LIST_ID, .is_wide = true},
	{"Created", "CreateTime", LIST_AGE, .is_wide = true},
	{"Create Index", "CreateIndex", LIST_NUMBER, .is_wide = true},
	{"Description", "StatusDescription", .is_wide = true},
};
static const char *const evaluation_statuses[] = {
	"pending", "blocked", "complete", "failed", "canceled", NULL};
const struct list list_evaluations = {"evaluations", LIST_COLUMNS(evaluation_columns), "ID",
	"Status", .sort = "-create-index", .status = "Status", .statuses = evaluation_statuses};

static void put_progress(json_t *deployment, struct list_value *value)
{
	json_t *groups = json_object_get(deployment, "TaskGroups"), *group;
	long long healthy = 0, desired = 0;
	const char *name;
	json_object_foreach(groups, name, group)
	{
		healthy += field_number(group, "HealthyAllocs");
		desired += field_number(group, "DesiredTotal");
	}
	snprintf(value->room, sizeof value->room, "%lld/%lld", healthy, desired);
}

static const struct list_column deployment_columns[] = {
	{"ID", "ID", LIST_ID},
	{"Job ID", "JobID"},
	{"Job Version", "JobVersion", LIST_NUMBER},
	{"Status", "Status", LIST_STATUS},
	{"Description", "StatusDescription"},
	{"Namespace", "Namespace", .is_wide = true},
	{"Healthy", NULL, .is_wide = true, .put = put_progress},
	{"Created", "CreateTime", LIST_AGE, .is_wide = true},
	{"Create Index", "CreateIndex", LIST_NUMBER, .is_wide = true},
};
static const char *const deployment_statuses[] = {"running", "paused", "failed", "successful",
	"cancelled", "initializing", "pending", "blocked", "unblocking", NULL};
const struct list list_deployments = {"deployments", LIST_COLUMNS(deployment_columns), "ID",
	"Status", .sort = "-create-index", .status = "Status", .statuses = deployment_statuses};

static void put_worker_name(json_t *vm, struct list_value *value)
{
	value->text = field_or_dash(vm, "worker");
}

static const struct list_column machine_columns[] = {
	{"Name", "name"},
	{"Status", "status", LIST_STATUS},
	{"Power", "powerState"},
	{"Worker", NULL, .put = put_worker_name},
	{"Restarts", "restart_count", LIST_NUMBER},
	{"Image", "image"},
	{"Created", "createdAt"},
	{"UID", "uid", LIST_ID, .is_wide = true},
	{"CPU", "assignedCPU", LIST_NUMBER, .is_wide = true},
	{"Memory", "assignedMemory", LIST_NUMBER, .is_wide = true},
	{"Message", "status_message", .is_wide = true},
};
static const char *const machine_statuses[] = {"pending", "running", "failed", NULL};
const struct list list_machines = {"virtual machines", LIST_COLUMNS(machine_columns), "Name",
	"Status", .status = "status", .statuses = machine_statuses};

static void put_paused(json_t *worker, struct list_value *value)
{
	value->text =
		json_is_true(json_object_get(worker, "scheduling_paused")) ? "paused" : "open";
}

static const struct list_column worker_columns[] = {
	{"Name", "name"},
	{"Status", "status", LIST_STATUS},
	{"Scheduling", NULL, LIST_STATUS, .put = put_paused},
	{"VMs", "vms", LIST_NUMBER},
	{"Last Seen", "last_seen"},
	{"Machine ID", "machine_id"},
};
const struct list list_workers = {"workers", LIST_COLUMNS(worker_columns), "Name", "Status"};

static void put_moment(json_t *event, struct list_value *value)
{
	int64_t unix_ns = field_number(event, "timestamp") * NS_PER_S;
	value->number = (double)unix_ns;
	value->text = field_time(unix_ns, value->room);
}

static const struct list_column machine_event_columns[] = {
	{"Time", NULL, .put = put_moment},
	{"Event", "payload"},
};
const struct list list_machine_events = {"events", LIST_COLUMNS(machine_event_columns), "Event"};

static void put_date(json_t *event, struct list_value *value)
{
	value->number = (double)field_number(event, "Time");
	value->text = field_time(field_number(event, "Time"), value->room);
}

static const struct list_column scaling_columns[] = {
	{"Task Group", "Group"},
	{"Count", "Count", LIST_NUMBER, .absent = "<none>"},
	{"PrevCount", "PreviousCount", LIST_NUMBER},
	{"Error", "Error", LIST_SWITCH, .is_wide = true},
	{"Message", "Message", .is_wide = true},
	{"Eval ID", "EvalID", LIST_ID, .is_wide = true},
	{"Date", NULL, .put = put_date},
};
const struct list list_scaling_events = {"events", LIST_COLUMNS(scaling_columns), "Task Group"};
