#include "tools/fleet/trace.h"
#include "state/base/error.h"
#include "state/base/memory.h"
#include "tools/fleet/csv.h"
#include <errno.h>
#include <stdlib.h>

#define ROWS_FIRST 1024u

static int complain_row(struct csv *csv, const char *what)
{
	snprintf(csv->message, csv->message_size, "%s:%u: %s", csv->path, csv->line, what);
	return -ERROR_CORRUPT;
}

static bool copy_text(struct text from, char *to, uint32_t size)
{
	if (from.size >= size)
		return false;
	memcpy(to, from.data, from.size);
	to[from.size] = '\0';
	return true;
}

// Finds a machine's shape, or adds it.
static int find_shape(struct trace *t, const struct shape *shape)
{
	for (uint32_t i = 0; i < t->shapes.count; i++)
		if (memcmp(&t->shapes.list[i], shape, sizeof *shape) == 0)
			return (int)i;
	if (t->shapes.count == SHAPES_MAX)
		return -1;
	t->shapes.list[t->shapes.count] = *shape;
	return (int)t->shapes.count++;
}

static int take_machine(struct trace *t, struct csv *csv)
{
	struct shape shape = {.weight = 1, .disk_mb = TRACE_DISK_MB};
	int rc = csv_number(csv, 1, &shape.cpu_mhz);
	if (rc == 0)
		rc = csv_number(csv, 2, &shape.memory_mb);
	if (rc == 0)
		rc = csv_number(csv, 3, &shape.gpus);
	if (rc < 0)
		return rc;
	if (!copy_text(csv_text(csv, 4), shape.gpu_model, sizeof shape.gpu_model))
		return complain_row(csv, "model longer than 63 bytes");
	if (shape.gpus > NODE_DEVICES_MAX)
		return complain_row(csv, "more than 64 GPUs");
	snprintf(shape.class_name, sizeof shape.class_name, "%.63s",
		shape.gpus ? shape.gpu_model : "cpu");
	int at = find_shape(t, &shape);
	if (at < 0)
		return complain_row(csv, "more than 64 kinds of machine");
	if (t->nodes >= ROWS_FIRST && (t->nodes & (t->nodes - 1)) == 0)
		t->node_shapes = memory_resize(
			t->node_shapes, 2 * (size_t)t->nodes * sizeof *t->node_shapes);
	t->node_shapes[t->nodes++] = (uint16_t)at;
	return 0;
}

static int load_machines(struct trace *t, const char *folder, char *message, uint32_t size)
{
	static const char *const columns[] = {"sn", "cpu_milli", "memory_mib", "gpu", "model"};
	char path[512];
	struct csv csv;
	snprintf(path, sizeof path, "%s/openb_node_list_all_node.csv", folder);
	int rc = csv_open(&csv, path, columns, 5, message, size);
	if (rc < 0)
		return rc;
	t->node_shapes = memory_take_array(ROWS_FIRST, sizeof *t->node_shapes);
	while ((rc = csv_next(&csv)) > 0 && (rc = take_machine(t, &csv)) == 0)
		;
	csv_close(&csv);
	if (rc == 0 && t->nodes == 0) {
		snprintf(message, size, "%s: holds no machine", path);
		rc = -ERROR_CORRUPT;
	}
	return rc;
}

static uint32_t find_pod_shape(struct trace *t, const struct trace_shape *shape)
{
	for (uint32_t i = 0; i < t->pod_shape_count; i++) {
		const struct trace_shape *s = &t->pod_shapes[i];
		if (s->cpu_mhz == shape->cpu_mhz && s->memory_mb == shape->memory_mb &&
			s->gpus == shape->gpus && strcmp(s->gpu_spec, shape->gpu_spec) == 0)
			return i;
	}
	t->pod_shapes =
		memory_resize(t->pod_shapes, (t->pod_shape_count + 1) * sizeof *t->pod_shapes);
	t->pod_shapes[t->pod_shape_count] = *shape;
	snprintf(t->pod_shapes[t->pod_shape_count].job, sizeof shape->job, "openb-%u",
		t->pod_shape_count);
	return t->pod_shape_count++;
}

static int take_pod(struct trace *t, struct csv *csv)
{
	struct trace_shape shape = {0};
	int rc = csv_number(csv, 1, &shape.cpu_mhz);
	if (rc == 0)
		rc = csv_number(csv, 2, &shape.memory_mb);
	if (rc == 0)
		rc = csv_number(csv, 3, &shape.gpus);
	if (rc < 0)
		return rc;
	if (!copy_text(csv_text(csv, 4), shape.gpu_spec, sizeof shape.gpu_spec))
		return complain_row(csv, "gpu_spec longer than 63 bytes");
	if (t->pods >= ROWS_FIRST && (t->pods & (t->pods - 1)) == 0)
		t->pod_shape =
			memory_resize(t->pod_shape, 2 * (size_t)t->pods * sizeof *t->pod_shape);
	t->pod_shape[t->pods++] = find_pod_shape(t, &shape);
	return 0;
}

static int load_pods(struct trace *t, const char *folder, char *message, uint32_t size)
{
	static const char *const columns[] = {
		"name", "cpu_milli", "memory_mib", "num_gpu", "gpu_spec"};
	char path[512];
	struct csv csv;
	snprintf(path, sizeof path, "%s/openb_pod_list_default.csv", folder);
	int rc = csv_open(&csv, path, columns, 5, message, size);
	if (rc < 0)
		return rc;
	t->pod_shape = memory_take_array(ROWS_FIRST, sizeof *t->pod_shape);
	while ((rc = csv_next(&csv)) > 0 && (rc = take_pod(t, &csv)) == 0)
		;
	csv_close(&csv);
	return rc;
}

static void index_nodes(struct trace *t)
{
	t->node_mask = 1023;
	while (t->node_mask < 2 * t->nodes)
		t->node_mask = t->node_mask * 2 + 1;
	t->node_by_id = memory_take_array((size_t)t->node_mask + 1, sizeof *t->node_by_id);
	t->node_ids = memory_take_array(t->nodes, sizeof *t->node_ids);
	t->used = memory_take_array(t->nodes, sizeof *t->used);
	for (uint32_t i = 0; i < t->nodes; i++) {
		t->node_ids[i] = shape_node_id(t->shapes.seed, i);
		uint32_t at = (uint32_t)uuid_hash(&t->node_ids[i]) & t->node_mask;
		while (t->node_by_id[at])
			at = (at + 1) & t->node_mask;
		t->node_by_id[at] = i + 1;
	}
}

int trace_load(
	struct trace *t, const char *folder, uint64_t seed, char *message, uint32_t message_size)
{
	*t = (struct trace){0};
	t->shapes.seed = seed;
	t->shapes.name_prefix = "openb-node-";
	t->shapes.datacenter_count = 1;
	memcpy(t->shapes.datacenters[0], "dc1", sizeof "dc1");
	t->shapes.attributes = 12;
	int rc = load_machines(t, folder, message, message_size);
	if (rc == 0)
		rc = load_pods(t, folder, message, message_size);
	if (rc < 0) {
		trace_free(t);
		return rc;
	}
	t->shapes.of_node = t->node_shapes;
	index_nodes(t);
	return 0;
}

void trace_free(struct trace *t)
{
	free(t->node_shapes);
	free(t->node_ids);
	free(t->node_by_id);
	free(t->used);
	free(t->pod_shapes);
	free(t->pod_shape);
	*t = (struct trace){0};
}

// {"LTarget": "${attr.gpu.model}", …}: one of the models that the trace divides by '|'.
static json_t *model_constraint(const char *spec)
{
	char models[72];
	snprintf(models, sizeof models, "%s", spec);
	for (char *at = models; (at = strchr(at, '|')); at++)
		*at = ',';
	return json_pack("[{s:s,s:s,s:s}]", "LTarget", "${attr.gpu.model}", "RTarget", models,
		"Operand", "set_contains_any");
}

static json_t *job_of(const struct trace_shape *shape)
{
	json_t *resources = json_pack("{s:I,s:I}", "CPU", (json_int_t)shape->cpu_mhz, "MemoryMB",
		(json_int_t)shape->memory_mb);
	if (shape->gpus)
		json_object_set_new(resources, "Devices",
			json_pack("[{s:s,s:I}]", "Name", "gpu", "Count", (json_int_t)shape->gpus));
	json_t *task = json_pack(
		"{s:s,s:s,s:o}", "Name", "main", "Driver", "mock", "Resources", resources);
	json_t *group = json_pack("{s:s,s:i,s:{s:i},s:[o]}", "Name", "pod", "Count", 1,
		"EphemeralDisk", "SizeMB", 0, "Tasks", task);
	json_t *job = json_pack("{s:s,s:s,s:s,s:[s],s:[o]}", "ID", shape->job, "Name", shape->job,
		"Type", "direct", "Datacenters", "*", "TaskGroups", group);
	if (shape->gpu_spec[0])
		json_object_set_new(job, "Constraints", model_constraint(shape->gpu_spec));
	return job;
}

int trace_register_jobs(
	const struct trace *t, const struct api_access *api, char *message, uint32_t message_size)
{
	for (uint32_t i = 0; i < t->pod_shape_count; i++) {
		int rc = http_put_job(api, job_of(&t->pod_shapes[i]), message, message_size);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static bool next_pod(void *context, struct placing_ask *ask)
{
	struct trace *t = context;
	if (t->next_pod == t->pods)
		return false;
	const struct trace_shape *shape = &t->pod_shapes[t->pod_shape[t->next_pod]];
	*ask = (struct placing_ask){.job = text_of(shape->job),
		.group = TEXT("pod"),
		.count = 1,
		.number = t->next_pod++};
	return true;
}

static int64_t find_node(const struct trace *t, const struct uuid *id)
{
	uint32_t at = (uint32_t)uuid_hash(id) & t->node_mask;
	for (; t->node_by_id[at]; at = (at + 1) & t->node_mask)
		if (uuid_equal(&t->node_ids[t->node_by_id[at] - 1], id))
			return t->node_by_id[at] - 1;
	return -1;
}

// Whether spec, models joined by '|', names the model.
static bool names_model(const char *spec, const char *model)
{
	size_t size = strlen(model);
	for (const char *at = spec; *at;) {
		size_t one = strcspn(at, "|");
		if (one == size && memcmp(at, model, size) == 0)
			return true;
		at += one + (at[one] == '|');
	}
	return *spec == '\0';
}

static void book(struct trace *t, uint32_t node, const struct trace_shape *pod)
{
	const struct shape *machine = &t->shapes.list[t->node_shapes[node]];
	struct trace_use *use = &t->used[node];
	use->cpu_mhz += pod->cpu_mhz;
	use->memory_mb += pod->memory_mb;
	use->gpus += pod->gpus;
	t->overcommitted += use->cpu_mhz > machine->cpu_mhz ||
			    use->memory_mb > machine->memory_mb || use->gpus > machine->gpus;
	t->wrong_model += !names_model(pod->gpu_spec, machine->gpu_model);
}

static void pod_placed(void *context, uint32_t number, const struct wire_placed *placed)
{
	struct trace *t = context;
	t->placed++;
	for (uint32_t i = 0; i < placed->count; i++) {
		int64_t node = find_node(t, &placed->items[i].node);
		if (node < 0)
			t->unknown_nodes++;
		else
			book(t, (uint32_t)node, &t->pod_shapes[t->pod_shape[number]]);
	}
}

static void pod_refused(void *context, uint32_t number, const struct wire_refused *refused)
{
	struct trace *t = context;
	t->refused++;
	if (refused->reason < WIRE_REFUSED_REASONS)
		t->refused_by[refused->reason]++;
}

struct placing_source trace_source(struct trace *t)
{
	return (struct placing_source){
		.context = t, .next = next_pod, .placed = pod_placed, .refused = pod_refused};
}

void trace_totals(const struct trace *t, struct trace_totals *capacity, struct trace_totals *used)
{
	*capacity = *used = (struct trace_totals){0};
	for (uint32_t i = 0; i < t->nodes; i++) {
		const struct shape *machine = &t->shapes.list[t->node_shapes[i]];
		capacity->cpu_mhz += machine->cpu_mhz;
		capacity->memory_mb += machine->memory_mb;
		capacity->gpus += machine->gpus;
		used->cpu_mhz += t->used[i].cpu_mhz;
		used->memory_mb += t->used[i].memory_mb;
		used->gpus += t->used[i].gpus;
	}
}
