#include "tools/forms/alloc_spec.h"
#include "state/records/alloc_details.h"
#include "state/records/job.h"
#include "tools/json/json_record.h"
#include "tools/keyring/task_token.h"
#include <jansson.h>
#include <stdio.h>

static bool has_name(const struct array *map, const char *name)
{
	return map_get(map, name) != NULL;
}

// What a dispatch may leave out is there for the task, and empty.
static void put_unset_meta(
	struct json_writer *w, const struct job *job, const struct array *const maps[3])
{
	const struct array *names = job->parameterized ? &job->parameterized->meta_optional : NULL;
	for (uint32_t i = 0; names && i < names->count; i++) {
		const char *name = *ARRAY_AT(names, char *, i);
		if (!has_name(maps[0], name) && !has_name(maps[1], name) &&
			!has_name(maps[2], name))
			json_put_string(w, name, "");
	}
}

// Merges the metadata of job, group and task; the innermost value wins.
static void put_meta(struct json_writer *w, const struct job *job, const struct task_group *group,
	const struct task *task)
{
	const struct array *const maps[] = {&task->meta, &group->meta, &job->meta};

	json_open_object(w, "Meta");
	for (uint32_t m = 0; m < 3; m++) {
		for (uint32_t i = 0; i < maps[m]->count; i++) {
			const struct string_pair *pair = ARRAY_AT(maps[m], struct string_pair, i);
			bool said = false;
			for (uint32_t inner = 0; inner < m; inner++)
				said |= has_name(maps[inner], pair->name);
			if (!said)
				json_put_string(w, pair->name, pair->value);
		}
	}
	put_unset_meta(w, job, maps);
	json_end_object(w);
}

static void put_port(
	struct json_writer *w, const char *label, int64_t value, int64_t to, const char *address)
{
	json_begin_object(w);
	json_put_string(w, "Label", label);
	json_put_i64(w, "Value", value);
	json_put_i64(w, "To", to);
	json_put_string(w, "HostIP", address);
	json_end_object(w);
}

static void put_network_ports(struct json_writer *w, const struct array *networks)
{
	for (uint32_t i = 0; i < networks->count; i++) {
		const struct allocated_network *network =
			ARRAY_AT(networks, struct allocated_network, i);
		const struct array *const lists[] = {
			&network->reserved_ports, &network->dynamic_ports};
		for (uint32_t l = 0; l < 2; l++)
			for (uint32_t p = 0; p < lists[l]->count; p++) {
				const struct port *port = ARRAY_AT(lists[l], struct port, p);
				put_port(w, port->label, port->value, port->to, network->ip);
			}
	}
}

static void put_group_ports(struct json_writer *w, const struct alloc_details *details)
{
	json_open_array(w, "Ports");
	for (uint32_t i = 0; details && i < details->ports.count; i++) {
		const struct allocated_port *port =
			ARRAY_AT(&details->ports, struct allocated_port, i);
		put_port(w, port->label, port->value, port->to, port->host_ip);
	}
	if (details && details->ports.count == 0)
		put_network_ports(w, &details->networks);
	json_end_array(w);
}

static const struct allocated_task *allocated(const struct allocation *a, const char *task)
{
	uint32_t at;

	if (!a->details || !map_find(&a->details->tasks, sizeof(struct allocated_task), task, &at))
		return NULL;
	return ARRAY_AT(&a->details->tasks, struct allocated_task, at);
}

// What the task may take of its node: what was granted to it, where that is more than it asked for.
static void put_resources(
	struct json_writer *w, const struct task *task, const struct allocated_task *own)
{
	bool has_cores = own && own->cpu_shares > 0;

	json_put_i64(w, "CPU", has_cores ? own->cpu_shares : task->resources.cpu);
	json_put_i64(w, "MemoryMB", task->resources.memory_mb);
	json_put_i64(w, "MemoryMaxMB", own ? own->memory_max_mb : 0);
}

static void put_allocated(struct json_writer *w, const struct allocated_task *own)
{
	json_open_array(w, "Ports");
	if (own)
		put_network_ports(w, &own->networks);
	json_end_array(w);
	json_open_array(w, "Cores");
	for (uint32_t i = 0; own && i < own->reserved_cores.count; i++)
		json_write_i64(w, *ARRAY_AT(&own->reserved_cores, int64_t, i));
	json_end_array(w);
}

static void put_restart(struct json_writer *w, const struct restart_policy *restart)
{
	if (!json_open_object_if(w, "RestartPolicy", restart != NULL))
		return;
	json_put_i64(w, "Attempts", restart->attempts);
	json_put_i64(w, "Interval", restart->interval_ns);
	json_put_i64(w, "Delay", restart->delay_ns);
	json_put_string(w, "Mode", restart->mode);
	json_end_object(w);
}

// The task's handle on another node, or on this node before its agent forgot it.
static void put_handle(struct json_writer *w, const struct allocation *a, const struct task *task)
{
	struct alloc_report_room room;
	const struct alloc_report *report = alloc_report_open(a->report, &room);
	const struct task_handle *handle = NULL;
	uint32_t at;

	if (report && map_find(&report->task_states, sizeof(struct task_state), task->name, &at))
		handle = ARRAY_AT(&report->task_states, struct task_state, at)->handle;
	json_put_record(w, "TaskHandle", &task_handle_description, handle);
	alloc_report_close(&room);
}

// What the task shows the controller to read variables: of those that ask for it, alone.
static void put_identity(struct json_writer *w, struct keyring *keyring, const struct allocation *a,
	const struct task *task)
{
	char token[TASK_TOKEN_TEXT_BYTES];
	json_t *asked = task->identity ? json_loads(task->identity, JSON_DECODE_ANY, NULL) : NULL;
	bool in_env = json_is_true(json_object_get(asked, "Env"));
	bool in_file = json_is_true(json_object_get(asked, "File"));
	json_decref(asked);
	if (!json_open_object_if(w, "Identity",
		    (in_env || in_file) && keyring &&
			    task_token_make(keyring, &a->id, task->name, token)))
		return;
	json_put_string(w, "Token", token);
	json_put_bool(w, "Env", in_env);
	json_put_bool(w, "File", in_file);
	json_end_object(w);
}

// What the node makes before the task starts.
static void put_needs(struct json_writer *w, const struct task *task)
{
	if (task->templates)
		json_put_raw(w, "Templates", task->templates);
	if (task->artifacts)
		json_put_raw(w, "Artifacts", task->artifacts);
	if (task->volume_mounts)
		json_put_raw(w, "VolumeMounts", task->volume_mounts);
}

// By the names that tasks mount them by, with those of the node.
static void put_volumes(
	struct json_writer *w, const struct task_group *group, const struct allocation *a)
{
	char source[NAME_BYTES_MAX + 16];
	if (!json_open_object_if(w, "Volumes", group->volumes.count > 0))
		return;
	for (uint32_t i = 0; i < group->volumes.count; i++) {
		const struct volume_ask *ask = ARRAY_AT(&group->volumes, struct volume_ask, i);
		const char *name = ask->source ? ask->source : "";
		if (ask->per_alloc)
			snprintf(source, sizeof source, "%s[%u]", name, a->index);
		else
			snprintf(source, sizeof source, "%s", name);
		json_open_object(w, ask->name);
		json_put_string(w, "Source", source);
		json_put_bool(w, "ReadOnly", ask->read_only);
		json_end_object(w);
	}
	json_end_object(w);
}

static void put_task(struct json_writer *w, struct keyring *keyring, const struct allocation *a,
	const struct task_group *group, const struct task *task)
{
	json_begin_object(w);
	json_put_string(w, "Name", task->name);
	json_put_string(w, "Driver", task->driver);
	json_put_string(w, "User", task->user);
	json_put_raw(w, "Config", task->config);
	json_put_raw(w, "DispatchPayload", task->dispatch_payload);
	if (task->services)
		json_put_raw(w, "Services", task->services);
	if (task->log_config)
		json_put_raw(w, "LogConfig", task->log_config);
	put_needs(w, task);
	json_put_map(w, "Env", FIELD_MAP, &task->env);
	put_meta(w, a->job, group, task);
	json_put_i64(w, "KillTimeout", task->kill_timeout_ns);
	json_put_string(w, "KillSignal", task->kill_signal);
	json_put_bool(w, "Leader", task->leader);
	json_put_record(w, "Lifecycle", &task_lifecycle_description, task->lifecycle);
	put_resources(w, task, allocated(a, task->name));
	put_restart(w, task->restart ? task->restart : group->restart);
	put_handle(w, a, task);
	put_identity(w, keyring, a, task);
	put_allocated(w, allocated(a, task->name));
	json_end_object(w);
}

// When the node calls the allocation healthy: the part that update and migrate strategies share.
static void put_health_rule(struct json_writer *w, const char *key, const char *check,
	int64_t min_healthy_time_ns, int64_t healthy_deadline_ns)
{
	json_open_object(w, key);
	json_put_string(w, "HealthCheck", check);
	json_put_i64(w, "MinHealthyTime", min_healthy_time_ns);
	json_put_i64(w, "HealthyDeadline", healthy_deadline_ns);
	json_end_object(w);
}

static void put_rules(
	struct json_writer *w, const struct alloc_details *details, const struct task_group *group)
{
	const struct update_strategy *update = group->update;
	const struct migrate_strategy *migrate = group->migrate;
	const struct optional_i64 *stop_after = &group->stop_after_client_disconnect_ns;

	if (details && !uuid_is_zero(&details->deployment_id))
		json_put_uuid(w, "DeploymentID", &details->deployment_id);
	else
		json_put_string(w, "DeploymentID", "");
	if (update)
		put_health_rule(w, "Update", update->health_check, update->min_healthy_time_ns,
			update->healthy_deadline_ns);
	if (migrate)
		put_health_rule(w, "Migrate", migrate->health_check, migrate->min_healthy_time_ns,
			migrate->healthy_deadline_ns);
	json_put_i64(w, "StopAfterClientDisconnect", stop_after->set ? stop_after->value : 0);
}

void alloc_spec_json(void *context, const struct allocation *a, struct bytes_writer *out)
{
	const struct task_group *group = allocation_group(a);
	struct json_writer w = {0};
	char name[1024];

	json_begin_object(&w);
	json_put_uuid(&w, "ID", &a->id);
	json_put_string(&w, "Name", allocation_name(a, name, sizeof name));
	json_put_string(&w, "Namespace", a->job->namespace_name);
	json_put_string(&w, "JobID", a->job->id);
	json_put_string(&w, "JobName", a->job->name);
	json_put_string(&w, "JobParentID", a->job->parent_id);
	json_put_string(&w, "JobType", job_type_names[a->job->type]);
	json_put_string(&w, "Region", a->job->region);
	json_put_string(&w, "TaskGroup", group->name);
	json_put_u64(&w, "Index", a->index);
	json_put_u64(&w, "JobVersion", a->job->version);
	json_put_string(&w, "Payload", a->job->payload);
	put_rules(&w, a->details, group);
	if (group->services)
		json_put_raw(&w, "Services", group->services);
	put_volumes(&w, group, a);
	put_group_ports(&w, a->details);
	json_open_array(&w, "Tasks");
	for (uint32_t i = 0; i < group->tasks.count; i++)
		put_task(&w, context, a, group, ARRAY_AT(&group->tasks, struct task, i));
	json_end_array(&w);
	json_end_object(&w);
	bytes_put(out, w.data, w.size);
	json_writer_free(&w);
}
