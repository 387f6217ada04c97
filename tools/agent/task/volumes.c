#include "tools/agent/task/volumes.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct volume_reading {
	struct task_volumes *volumes;
	const struct alloc_spec *alloc;
	const struct environment *environment;
	const struct node_facts *node;
	char *message;
	uint32_t message_size;
};

__attribute__((format(printf, 2, 3))) static bool refuse_volume(
	const struct volume_reading *r, const char *format, ...)
{
	va_list values;
	va_start(values, format);
	vsnprintf(r->message, r->message_size, format, values);
	va_end(values);
	return false;
}

// "rw PATH" or "ro PATH", as the node describes it; an empty text: it offers no such volume.
static struct text offer_of(const struct node_facts *node, const char *name)
{
	for (uint32_t i = 0; i < node->pair_count; i++)
		if (node->pairs[i].kind == WIRE_PAIR_VOLUME &&
			text_equal(node->pairs[i].name, text_of(name)) &&
			node->pairs[i].value.size > 3)
			return node->pairs[i].value;
	return TEXT("");
}

static bool read_source(const struct volume_reading *r, const char *name,
	struct mount_volume *mount, struct task_volume *texts)
{
	const json_t *ask = json_object_get(json_object_get(r->alloc->root, "Volumes"), name);
	const char *source = spec_text(ask, "Source");
	if (!ask)
		return refuse_volume(r, "the group has no volume \"%.64s\" to mount", name);
	struct text offer = offer_of(r->node, source);
	if (offer.size == 0 || offer.size > ATTRIBUTE_VALUE_BYTES_MAX)
		return refuse_volume(r,
			"this node offers no host volume \"%.64s\": its agent has no --host-volume "
			"of that name",
			source);
	mount->is_read_only |=
		offer.data[1] == 'o' || json_is_true(json_object_get(ask, "ReadOnly"));
	snprintf(
		texts->source, sizeof texts->source, "%.*s", (int)(offer.size - 3), offer.data + 3);
	mount->source = texts->source;
	return true;
}

static bool read_target(const struct volume_reading *r, const json_t *json,
	struct mount_volume *mount, struct task_volume *texts)
{
	char *path = environment_expand(r->environment, r->node, spec_text(json, "Destination"));
	const char *inner = path ? path + strspn(path, "/") : "";
	bool is_good = *inner && spec_is_inner_path(inner) && !strchr(inner, ':');
	snprintf(texts->target, sizeof texts->target, "%s", is_good ? inner : "");
	free(path);
	for (size_t size = strlen(texts->target); size > 0 && texts->target[size - 1] == '/';)
		texts->target[--size] = '\0';
	mount->target = texts->target;
	return is_good || refuse_volume(r,
				  "a volume's destination is a path within the task, without "
				  "\"..\" and \":\", "
				  "not \"%.100s\"",
				  spec_text(json, "Destination"));
}

static bool read_mount(const struct volume_reading *r, const json_t *json)
{
	struct task_volumes *v = r->volumes;
	if (v->count == MOUNT_VOLUMES_MOST)
		return refuse_volume(r, "a task mounts at most %u volumes", MOUNT_VOLUMES_MOST);
	struct mount_volume *mount = &v->mounts[v->count];
	struct task_volume *texts = &v->texts[v->count++];
	const char *mode = spec_text(json, "PropagationMode");
	mount->is_read_only = json_is_true(json_object_get(json, "ReadOnly"));
	mount->follows_node = strcmp(mode, "host-to-task") == 0;
	if (*mode && !mount->follows_node && strcmp(mode, "private") != 0)
		return refuse_volume(r,
			"propagation_mode is \"private\" or \"host-to-task\" here, not \"%.40s\": "
			"no "
			"task mounts on its node",
			mode);
	return read_source(r, spec_text(json, "Volume"), mount, texts) &&
	       read_target(r, json, mount, texts);
}

bool task_volumes_read(struct task_volumes *volumes, const struct alloc_spec *alloc,
	const struct task_spec *task, const struct environment *environment,
	const struct node_facts *node, char *message, uint32_t message_size)
{
	const struct volume_reading r = {volumes, alloc, environment, node, message, message_size};
	const json_t *list = json_object_get(task->json, "VolumeMounts");
	*volumes = (struct task_volumes){0};
	for (size_t i = 0; i < json_array_size(list); i++)
		if (!read_mount(&r, json_array_get(list, i)))
			return false;
	return true;
}
