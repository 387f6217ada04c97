#include "tools/forms/node_json.h"
#include "state/base/nomad_version.h"
#include "state/base/time_units.h"
#include "state/records/nodes/admit_rule.h"
#include "tools/forms/node_resources_json.h"
#include "tools/json/timestamp.h"
#include <stdio.h>

// The host of an address; the address is host:port for people, but some fields want only the host.
static struct text host_of(const char *address)
{
	struct text host = text_of(address);
	const char *colon = address ? strrchr(address, ':') : NULL;
	if (colon)
		host.size = (uint32_t)(colon - address);
	if (host.size >= 2 && host.data[0] == '[' && host.data[host.size - 1] == ']')
		host = (struct text){host.data + 1, host.size - 2};
	return host;
}

// The first of the class's attributes, which are sorted, whose name is not before this.
static uint32_t first_attribute(const struct node_class *class, const char *name)
{
	uint32_t low = 0, high = class->attribute_count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (strcmp(class->attributes[middle].name, name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void put_driver_attributes(
	struct json_writer *w, const struct node_class *class, const char *driver)
{
	char prefix[ATTRIBUTE_NAME_BYTES_MAX + 16];
	int size = snprintf(prefix, sizeof prefix, "driver.%s", driver);
	json_open_object(w, "Attributes");
	for (uint32_t i = first_attribute(class, prefix); i < class->attribute_count; i++) {
		const struct attribute *a = &class->attributes[i];
		if (strncmp(a->name, prefix, (size_t)size) != 0)
			break;
		if (a->name[size] == '.' || a->name[size] == '\0')
			json_put_string(w, a->name, a->value);
	}
	json_end_object(w);
}

static void put_time(struct json_writer *w, const char *key, int64_t unix_ns)
{
	json_write_key(w, key);
	if (unix_ns)
		json_write_time(w, unix_ns);
	else
		json_write_string(w, TIMESTAMP_NEVER);
}

// What a node says of its drivers, it says when it registers.
static void put_drivers(struct json_writer *w, const struct node *node)
{
	const struct node_class *class = node->node_class;
	json_open_object(w, "Drivers");
	for (uint32_t i = 0; i < class->driver_count; i++) {
		const struct attribute *driver = &class->drivers[i];
		bool healthy = strcmp(driver->value, "1") == 0;
		json_open_object(w, driver->name);
		put_driver_attributes(w, class, driver->name);
		json_put_bool(w, "Detected", true);
		json_put_bool(w, "Healthy", healthy);
		json_put_string(w, "HealthDescription", healthy ? "Healthy" : "Unhealthy");
		put_time(w, "UpdateTime", (int64_t)node->register_sequence * NS_PER_MS);
		json_end_object(w);
	}
	json_end_object(w);
}

void node_json_pairs(struct json_writer *w, const struct attribute *pairs, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		json_put_string(w, pairs[i].name, pairs[i].value);
}

void node_json_own(struct json_writer *w, struct own_walk walk)
{
	struct attribute pair;
	while (own_walk_next(&walk, &pair))
		json_put_string(w, pair.name, pair.value);
}

static void put_volumes(struct json_writer *w, const struct node *node)
{
	if (!json_open_object_if(w, "HostVolumes", node_fittings(node)->volume_count > 0))
		return;
	for (uint32_t i = 0; i < node_fittings(node)->volume_count; i++) {
		const struct host_volume *volume = &node_fittings(node)->volumes[i];
		json_open_object(w, volume->name);
		json_put_string(w, "Name", volume->name);
		json_put_string(w, "Path", volume->path);
		json_put_bool(w, "ReadOnly", volume->read_only);
		json_end_object(w);
	}
	json_end_object(w);
}

static void put_drain(struct json_writer *w, const struct drain_strategy *drain)
{
	if (!json_open_object_if(w, "DrainStrategy", drain != NULL))
		return;
	json_put_i64(w, "Deadline", drain->deadline_ns);
	json_put_bool(w, "IgnoreSystemJobs", drain->ignore_system_jobs);
	put_time(w, "ForceDeadline", drain->force_deadline_ns);
	put_time(w, "StartedAt", drain->started_at_ns);
	json_end_object(w);
}

static void put_last_drain(struct json_writer *w, const struct last_drain *last)
{
	if (!json_open_object_if(w, "LastDrain", last != NULL))
		return;
	put_time(w, "StartedAt", last->started_at_ns);
	put_time(w, "UpdatedAt", last->updated_at_ns);
	json_put_string(w, "Status", last_drain_status_names[last->status]);
	json_put_string(w, "AccessorID", "");
	json_write_key(w, "Meta");
	if (last->meta_count) {
		json_begin_object(w);
		node_json_pairs(w, last->meta, last->meta_count);
		json_end_object(w);
	} else {
		json_write_null(w);
	}
	json_end_object(w);
}

void node_json_drain(struct json_writer *w, const struct node *node)
{
	put_drain(w, node->drain);
	put_last_drain(w, node_last_drain(node));
}

static void put_details(struct json_writer *w, const struct node_message_text *text)
{
	if (!json_open_object_if(w, "Details", text->detail != NULL))
		return;
	json_put_string(w, text->detail, text->value);
	json_end_object(w);
}

static void put_events(struct json_writer *w, const struct node *node)
{
	json_open_array(w, "Events");
	for (uint32_t i = 0; i < node->event_count; i++) {
		const struct node_event *event = &node_events(node)[i];
		const struct node_message_text *text = &node_messages[event->message];
		json_begin_object(w);
		json_put_string(w, "Message", text->message);
		json_put_string(w, "Subsystem", text->subsystem);
		put_details(w, text);
		put_time(w, "Timestamp", (int64_t)event->timestamp_s * NS_PER_S);
		json_put_u64(w, "CreateIndex", event->create_index);
		json_end_object(w);
	}
	json_end_array(w);
}

static void put_identity(struct json_writer *w, const struct node *node)
{
	json_put_uuid(w, "ID", &node->id);
	json_put_string(w, "Datacenter", node->node_class->datacenter);
	json_put_string(w, "Name", node->name);
	json_put_string(w, "NodeClass", node->node_class->class_name);
	json_put_string(w, "NodePool", node->node_class->pool);
	json_put_bool(w, "Drain", node->drain != NULL);
	json_put_string(w, "SchedulingEligibility", node_eligibility_names[node->eligibility]);
	json_put_string(w, "Status", node_status_names[node->status]);
	json_put_string(w, "StatusDescription", node_status_description(node));
	put_drivers(w, node);
	put_volumes(w, node);
	put_last_drain(w, node_last_drain(node));
	json_put_u64(w, "CreateIndex", node->record.create_index);
	json_put_u64(w, "ModifyIndex", node->record.modify_index);
}

static void put_os(struct json_writer *w, const struct node_class *class)
{
	json_open_object(w, "Attributes");
	for (uint32_t i = 0; i < class->attribute_count; i++)
		if (strcmp(class->attributes[i].name, "os.name") == 0)
			node_json_pairs(w, &class->attributes[i], 1);
	json_end_object(w);
}

// Of the Nomad that an agent stands for; its own follows behind the "+".
static void put_version(struct json_writer *w, const struct node *node)
{
	static const char before[] = NOMAD_VERSION "+berth.";
	char version[128];
	size_t size = strnlen(node_version(node), sizeof version - sizeof before);
	memcpy(version, before, sizeof before - 1);
	memcpy(version + sizeof before - 1, node_version(node), size);
	json_write_key(w, "Version");
	json_write_text(w, (struct text){version, (uint32_t)(sizeof before - 1 + size)});
}

void node_json_stub(struct json_writer *w, const struct node *node, bool resources, bool os)
{
	json_begin_object(w);
	json_write_key(w, "Address");
	json_write_text(w, host_of(node_address(node)));
	put_identity(w, node);
	put_version(w, node);
	if (resources) {
		node_resources_json(w, node);
	} else {
		json_put_null(w, "NodeResources");
		json_put_null(w, "ReservedResources");
	}
	if (os)
		put_os(w, node->node_class);
	json_end_object(w);
}

void node_json_standing(struct json_writer *w, const struct state *state, const struct node *node)
{
	const struct standing *l = &node->standing;
	json_open_object(w, "Lifecycle");
	json_put_string(w, "Standing", node_standing_names[standing_of(l)]);
	json_put_bool(w, "Lost", l->lost_ns != 0);
	json_put_bool(w, "Flaky", l->flaky_ns != 0);
	json_put_bool(w, "Ready", standing_is_ready(l));
	json_put_time(w, "Since", l->lost_ns ? l->lost_ns : l->flaky_ns);
	json_put_string(w, "Snapshot", node->snapshot);
	json_put_bool(w, "Busy", state_node_use(state, node->slot).living > 0);
	json_end_object(w);
}

void node_json_clone(struct json_writer *w, const struct state *state, const struct node *node)
{
	const struct refused_node *refused = state_record(state, STATE_REFUSED_NODES, &node->id);
	if (!refused || refused->claim != ADMIT_CLONE)
		return;
	json_open_object(w, "Clone");
	json_put_string(w, "Address", refused->address);
	json_put_string(w, "Beside", refused->beside);
	json_put_time(w, "Since", refused->first_ns);
	json_end_object(w);
}

// Properties of a node that only Berth has.
static void put_berth(struct json_writer *w, struct state *state, const struct node *node)
{
	json_open_object(w, "Berth");
	json_put_u64(w, "Slot", node->slot);
	json_put_u64(w, "Generation", node->generation);
	json_write_key(w, "RegisteredAt");
	json_write_time(w, (int64_t)node->register_sequence * NS_PER_MS);
	json_put_string(w, "AgentVersion", node_version(node));
	node_resources_json_legacy(w, "Used", state_node_use(state, node->slot).used);
	json_put_u64(w, "Allocations", state_node_allocation_count(state, node->slot));
	node_json_standing(w, state, node);
	node_json_clone(w, state, node);
	json_end_object(w);
}

static void put_attributes(struct json_writer *w, const struct node *node)
{
	json_open_object(w, "Attributes");
	node_json_pairs(w, node->node_class->attributes, node->node_class->attribute_count);
	node_json_own(w, node_own_attributes(node));
	json_end_object(w);
	json_open_object(w, "Meta");
	node_json_pairs(w, node->node_class->meta, node->node_class->meta_count);
	node_json_own(w, node_own_meta(node));
	json_end_object(w);
}

// Of these a node has none, ever.
static void put_nothing(struct json_writer *w, const char *key)
{
	json_open_object(w, key);
	json_end_object(w);
}

void node_json(struct json_writer *w, struct state *state, const struct node *node)
{
	char class_hash[32];
	snprintf(class_hash, sizeof class_hash, "v1:%llu",
		(unsigned long long)node->node_class->hash);
	json_begin_object(w);
	put_identity(w, node);
	put_attributes(w, node);
	json_put_string(w, "ComputedClass", class_hash);
	// Nodes answer no HTTP: a client that was told an address would ask whoever answers there.
	json_put_string(w, "HTTPAddr", "");
	json_put_bool(w, "TLSEnabled", false);
	json_put_string(w, "SecretID", "");
	json_put_u64(w, "StatusUpdatedAt", node->status_updated_at_s);
	put_drain(w, node->drain);
	put_nothing(w, "Links");
	put_events(w, node);
	put_nothing(w, "CSIControllerPlugins");
	put_nothing(w, "CSINodePlugins");
	json_put_null(w, "HostNetworks");
	json_put_string(w, "CgroupParent", "");
	node_resources_json(w, node);
	node_resources_json_legacy(w, "Resources", node->total);
	node_resources_json_legacy(w, "Reserved", node->reserved);
	json_put_u64(w, "LastMissedHeartbeatIndex", node->missed_heartbeat_index);
	json_put_u64(w, "LastAllocUpdateIndex", state_node_report_index(state, node));
	put_berth(w, state, node);
	json_end_object(w);
}
