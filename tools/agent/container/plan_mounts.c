#include "state/base/text.h"
#include "tools/agent/container/plan_build.h"
#include "tools/agent/task/volumes.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void bind_folder(struct plan_build *b, const char *source, const char *target)
{
	json_array_append_new(
		json_object_get(b->host, "Binds"), json_sprintf("%s:%s", source, target));
}

// What the operator offers by name needs no other leave.
static bool plan_host_volumes(struct plan_build *b, const struct environment *e)
{
	struct task_volumes volumes;
	if (!task_volumes_read(&volumes, b->start->alloc, b->task->spec, e, b->start->node,
		    b->message, b->message_size))
		return false;
	for (uint32_t i = 0; i < volumes.count; i++) {
		const struct mount_volume *v = &volumes.mounts[i];
		json_array_append_new(json_object_get(b->host, "Binds"),
			json_sprintf("%s:/%s:%s,%s", v->source, v->target,
				v->is_read_only ? "ro" : "rw",
				v->follows_node ? "rslave" : "rprivate"));
	}
	return true;
}

bool plan_folders(struct plan_build *b, const struct environment *e)
{
	const struct task_folders *f = b->start->folders;
	json_object_set_new(b->host, "Binds", json_array());
	json_object_set_new(b->host, "Mounts", json_array());
	bind_folder(b, f->alloc, "/alloc");
	bind_folder(b, f->local, "/local");
	bind_folder(b, f->secrets, "/secrets");
	return plan_host_volumes(b, e);
}

// What a volume means on the node: below the task's folder, or any path where the agent allows them. What a link within
// leads to is looked at, too. Caller frees; NULL: refused.
static char *source_of(struct plan_build *b, const char *source)
{
	char path[1200];
	const char *top = b->start->folders->task;
	bool is_inner = *source != '/';
	snprintf(path, sizeof path, "%s%s%.600s", is_inner ? top : "", is_inner ? "/" : "", source);
	char *real = realpath(path, NULL), *real_top = realpath(top, NULL);
	size_t size = real_top ? strlen(real_top) : 0;
	bool is_below = real && real_top && strncmp(real, real_top, size) == 0 &&
			(real[size] == '/' || real[size] == '\0');
	free(real_top);
	if (real && (is_below || (b->settings->allows_volumes && !is_inner)))
		return real;
	if (!real)
		plan_refuse(b, "the volume %.200s is not there: %m", source);
	else
		plan_refuse(b,
			"the volume %.200s is outside of the task's folder, which this node allows "
			"only with --container-volumes",
			source);
	free(real);
	return NULL;
}

bool plan_volumes(struct plan_build *b, const json_t *value)
{
	size_t i;
	const json_t *volume;
	json_array_foreach(value, i, volume)
	{
		const char *text = json_string_value(volume);
		const char *target = text ? strchr(text, ':') : NULL;
		char source[601];
		if (!target || target[1] != '/' || target - text > 600)
			return plan_refuse(b, "volumes are SOURCE:/TARGET or SOURCE:/TARGET:ro");
		snprintf(source, sizeof source, "%.*s", (int)(target - text), text);
		char *real = source_of(b, source);
		if (!real)
			return false;
		bind_folder(b, real, target + 1);
		free(real);
	}
	return true;
}

static bool add_mount(struct plan_build *b, const json_t *mount)
{
	const char *type = spec_text(mount, "type"), *source = spec_text(mount, "source");
	const char *target = spec_text(mount, "target");
	json_t *made = json_pack("{s:s s:s s:b}", "Type", *type ? type : "volume", "Target", target,
		"ReadOnly", json_is_true(json_object_get(mount, "readonly")));
	json_array_append_new(json_object_get(b->host, "Mounts"), made);
	if (*target != '/')
		return plan_refuse(b, "a mount needs a target that begins with /");
	if (strcmp(type, "tmpfs") == 0)
		return true;
	if (strcmp(type, "bind") == 0) {
		char *real = source_of(b, source);
		json_object_set_new(made, "Source", json_string(real ? real : ""));
		free(real);
		return real != NULL;
	}
	if (*type && strcmp(type, "volume") != 0)
		return plan_refuse(
			b, "a mount is of the type bind, tmpfs or volume, not \"%.32s\"", type);
	if (!b->settings->allows_volumes)
		return plan_refuse(b,
			"a mount of the type volume is allowed on this node only with "
			"--container-volumes");
	json_object_set_new(made, "Source", json_string(source));
	return true;
}

bool plan_mounts(struct plan_build *b, const json_t *value)
{
	size_t i;
	const json_t *mount;
	json_array_foreach(value, i, mount)
	{
		if (!json_is_object(mount))
			return plan_refuse(b, "a mount is a block");
		if (!add_mount(b, mount))
			return false;
	}
	return true;
}

// "/run", or "/run:size=16m".
bool plan_tmpfs(struct plan_build *b, const json_t *value)
{
	size_t i;
	const json_t *one;
	json_t *made = json_object();
	json_object_set_new(b->host, "Tmpfs", made);
	json_array_foreach(value, i, one)
	{
		const char *text = json_string_value(one);
		const char *options = text ? strchr(text, ':') : NULL;
		if (!text || *text != '/')
			return plan_refuse(b, "tmpfs is a list of paths that begin with /");
		char *path = text_copy((struct text){
			text, (uint32_t)(options ? (size_t)(options - text) : strlen(text))});
		json_object_set_new(made, path, json_string(options ? options + 1 : ""));
		free(path);
	}
	return true;
}
