#include "tools/berth/views/refusal_report.h"
#include "tools/berth/cli/field.h"
#include "tools/berth/cli/http.h"
#include <stdio.h>

static json_t *looked_up;

json_t *refusal_report_job(struct session *session, const char *id)
{
	char path[HTTP_PATH_BYTES], escaped[400], namespace_name[400];
	if (looked_up)
		return looked_up;
	snprintf(path, sizeof path, "/v1/job/%s?namespace=%s",
		http_escape(id, escaped, sizeof escaped),
		http_escape(session->flags.values[FLAG_NAMESPACE], namespace_name,
			sizeof namespace_name));
	http_quiet(session, true);
	if (http_get_json(session, path, &looked_up) != STATUS_OK)
		looked_up = NULL;
	http_quiet(session, false);
	return looked_up;
}

void refusal_report_forget(void)
{
	json_decref(looked_up);
	looked_up = NULL;
}

// Finds a constraint by its position: the job's come first, then the group's, then each task's.
static json_t *constraint_at(json_t *job, struct text group_name, size_t position)
{
	json_t *groups = json_object_get(job, "TaskGroups"), *group = NULL;
	for (size_t i = 0; i < json_array_size(groups); i++) {
		json_t *one = json_array_get(groups, i);
		if (text_equal(text_of(field_text(one, "Name")), group_name))
			group = one;
	}
	json_t *tasks = json_object_get(group, "Tasks");
	for (size_t level = 0; level < 2 + json_array_size(tasks); level++) {
		json_t *owner = level == 0   ? job
				: level == 1 ? group
					     : json_array_get(tasks, level - 2);
		json_t *list = json_object_get(owner, "Constraints");
		if (position < json_array_size(list))
			return json_array_get(list, position);
		position -= json_array_size(list);
	}
	return NULL;
}

static void put_refusal(uint32_t nodes, const char *what)
{
	if (nodes)
		fprintf(stderr, "  %9u  %s\n", nodes, what);
}

static void put_constraints(
	struct session *session, const struct wire_place *ask, const struct wire_refused *r)
{
	json_t *job = refusal_report_job(session, ask->job.data);
	for (uint32_t i = 0; i < r->filter_count; i++) {
		char what[512];
		json_t *c = constraint_at(job, ask->group, i);
		if (c)
			snprintf(what, sizeof what, "do not fit the constraint %s %s %s",
				field_text(c, "LTarget"), field_text(c, "Operand"),
				field_text(c, "RTarget"));
		else
			snprintf(what, sizeof what, "do not fit the job's constraint number %u",
				i + 1);
		put_refusal(r->filters[i], what);
	}
}

enum exit_status refusal_report(
	struct session *session, const struct wire_place *ask, const struct wire_refused *r)
{
	complain(STATUS_REFUSED, "no node can take one more instance of %.*s.%.*s",
		(int)ask->job.size, ask->job.data, (int)ask->group.size, ask->group.data);
	fprintf(stderr, "Of %u nodes seen:\n", r->nodes_seen);
	put_refusal(r->nodes_not_ready, "are not ready or not eligible");
	put_refusal(r->filtered_datacenter, "are in other datacenters");
	put_refusal(r->filtered_class, "are of another node class or pool");
	put_refusal(r->filtered_device, "do not have the device");
	put_constraints(session, ask, r);
	put_refusal(r->exhausted_cpu, "lack cpu");
	put_refusal(r->exhausted_memory, "lack memory");
	put_refusal(r->exhausted_disk, "lack disk");
	put_refusal(r->exhausted_device, "have the device, but none free");
	if (r->nodes_seen == 0)
		fprintf(stderr, "No node has registered yet; see berth node list.\n");
	return STATUS_REFUSED;
}

enum exit_status refusal_report_json(const struct wire_refused *r)
{
	json_t *filters = json_array();
	for (uint32_t i = 0; i < r->filter_count; i++)
		json_array_append_new(filters, json_integer(r->filters[i]));
	json_t *root = json_pack("{s:s,s:i,s:i,s:i,s:i,s:i,s:i,s:i,s:i,s:i,s:o}", "Refused",
		wire_refusal_name(r->reason), "NodesSeen", (int)r->nodes_seen, "NodesNotReady",
		(int)r->nodes_not_ready, "FilteredDatacenter", (int)r->filtered_datacenter,
		"FilteredClass", (int)r->filtered_class, "FilteredDevice", (int)r->filtered_device,
		"ExhaustedCPU", (int)r->exhausted_cpu, "ExhaustedMemory", (int)r->exhausted_memory,
		"ExhaustedDisk", (int)r->exhausted_disk, "ExhaustedDevice",
		(int)r->exhausted_device, "FilteredConstraint", filters);
	field_print(root);
	json_decref(root);
	return STATUS_REFUSED;
}
