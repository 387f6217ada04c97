// /v1/vms/:id/logs: what a virtual machine of this node says on its first serial port, in frames or plain, as
// /v1/client/fs/logs has the output of a task.
#include "tools/agent/service/follow.h"
#include "tools/agent/service/service_routes.h"
#include "tools/agent/service/service_socket.h"
#include "tools/agent/service/service_values.h"
#include "tools/agent/service/vm_look.h"
#include "tools/agent/vm/kept_console.h"
#include "tools/agent/vm/machine.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CONSOLE MACHINE_TASK ".stdout"

struct console_wish {
	bool follows, is_plain, is_from_end;
	int64_t offset;
};

// NULL, or what is wrong.
static struct MHD_Response *read_console_wish(
	const struct service_request *request, struct console_wish *wish, unsigned *status)
{
	const char *offset = service_parameter(request, "offset");
	const char *origin = service_parameter(request, "origin");
	*wish = (struct console_wish){0};
	if (!service_parameter_bool(request, "follow", &wish->follows) ||
		!service_parameter_bool(request, "plain", &wish->is_plain))
		return vm_say(
			status, MHD_HTTP_BAD_REQUEST, "follow and plain: expected true or false");
	if (offset && *offset &&
		(service_read_i64(offset, &wish->offset) != NULL || wish->offset < 0))
		return vm_say(status, MHD_HTTP_BAD_REQUEST, "offset: expected a number of bytes");
	wish->is_from_end = origin && strcmp(origin, "end") == 0;
	if (!origin || !*origin || wish->is_from_end || strcmp(origin, "start") == 0)
		return NULL;
	return vm_say(status, MHD_HTTP_BAD_REQUEST, "origin: expected start or end");
}

// Of a machine that is gone from here, what it said last. 0 or -errno; -ENOENT: there is nothing.
static int open_console(
	struct follow_wish *wish, const char *data_folder, const struct vm_look *look)
{
	char kept[600];
	if (look->is_here) {
		int error = alloc_files_open(&wish->files, data_folder, &look->id);
		// Without the folder there are no files, and none will come.
		return error == -ENOENT ? 0 : error;
	}
	wish->follows = false;
	return kept_console_folder(data_folder, look->name, look->uid, kept)
		       ? alloc_files_open_folder(&wish->files, kept)
		       : -ENOENT;
}

struct MHD_Response *vm_logs(struct service_request *request, unsigned *status)
{
	struct console_wish wish;
	struct vm_look look;
	struct log_file *list;
	uint32_t count;
	struct MHD_Response *refusal = read_console_wish(request, &wish, status);
	if (!refusal)
		refusal = vm_find(request, &look, false, status);
	if (refusal)
		return refusal;
	struct follow_wish follow = {.follows = wish.follows,
		.ends_with_folder = true,
		.is_plain = wish.is_plain,
		.output = CONSOLE,
		.content_type = wish.is_plain ? SERVICE_TEXT : SERVICE_JSON};
	int error = open_console(&follow, request->settings->data_folder, &look);
	if (error == -ENOENT)
		return vm_say(status, MHD_HTTP_NOT_FOUND,
			"the virtual machine \"%.200s\" has not begun on its worker, or is gone "
			"from there",
			look.name);
	if (!error)
		error = log_files_list(&follow.files, CONSOLE, &list, &count);
	if (error) {
		alloc_files_close(&follow.files);
		return vm_say(status, MHD_HTTP_SERVICE_UNAVAILABLE,
			"what the virtual machine said cannot be read: %s", strerror(-error));
	}
	follow.place = log_place_find(list, count, wish.offset, wish.is_from_end);
	free(list);
	return follow_begin(request, &follow, status);
}
