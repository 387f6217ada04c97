// Reads virtual machines.
#include "tools/api/lists/record_list.h"
#include "tools/api/orchard/routes.h"
#include "tools/api/orchard/vm_filter.h"
#include "tools/api/orchard/vm_stream.h"
#include "tools/forms/vm_json.h"

// The machine that the path names, or NULL. Under read lock.
static const void *vm_of(const struct request *request)
{
	return state_vm(request->api->settings.state, text_of(request->ids[0]));
}

uint64_t vm_watched(const struct request *request)
{
	const struct vm *vm = vm_of(request);
	return vm ? vm->record.modify_index : 0;
}

#define EVENTS_MOST (VM_EVENTS_MAX + VM_TOLD_MAX)
struct events_wish {
	uint32_t most;
	bool newest_first;
};

static bool read_limit(const char *text, uint32_t *most, struct reply *reply)
{
	uint64_t limit;
	if (!number_parse(text, UINT64_MAX, &limit) || !limit)
		return reply_mistake(
			reply, "invalid limit \"%.32s\": expected positive integer", text);
	*most = limit < EVENTS_MOST ? (uint32_t)limit : EVENTS_MOST;
	return true;
}

static bool read_wish(const struct request *request, struct events_wish *wish, struct reply *reply)
{
	const char *limit = request_parameter(request, "limit");
	const char *order = request_parameter(request, "order");
	*wish = (struct events_wish){.most = EVENTS_MOST};
	if (limit && *limit && !read_limit(limit, &wish->most, reply))
		return false;
	wish->newest_first = order && strcmp(order, "desc") == 0;
	if (wish->newest_first || !order || !*order || strcmp(order, "asc") == 0)
		return true;
	return reply_mistake(reply, "invalid order \"%.32s\": it must be asc or desc", order);
}

// Answers with the machine that the path names, or with its events.
static void reply_vm(struct request *request, struct reply *reply, const struct events_wish *events)
{
	state_read_begin();
	const struct vm *vm = vm_of(request);
	if (!vm)
		reply_error(reply, MHD_HTTP_NOT_FOUND, "VM \"%.128s\" not found", request->ids[0]);
	else if (events)
		vm_events_json(reply_json(request, reply), vm, events->most, events->newest_first);
	else
		vm_json(reply_json(request, reply), vm);
	reply_index(
		reply, vm ? vm->record.modify_index : state_index(request->api->settings.state));
	state_read_end();
}

void vm_read(struct request *request, struct reply *reply)
{
	if (vm_stream_is_wanted(request))
		vm_stream_answer(request, reply, request->ids[0], false);
	else
		reply_vm(request, reply, NULL);
}

void vm_events_read(struct request *request, struct reply *reply)
{
	struct events_wish wish;
	if (read_wish(request, &wish, reply))
		reply_vm(request, reply, &wish);
}

static const char *or_empty(const char *text)
{
	return text ? text : "";
}

static bool is_wanted(const struct record_list *list, const void *record)
{
	const struct vm *vm = record;
	return strncmp(vm->name, list->name_prefix, strlen(list->name_prefix)) == 0 &&
	       (!*list->status || strcmp(list->status, vm_status_names[vm->status]) == 0) &&
	       (!list->worker || strcmp(list->worker, or_empty(vm->worker)) == 0);
}

static void write_item(struct json_writer *w, const struct record_list *list, const void *record)
{
	vm_json(w, record);
}

static const struct record_kind all = {
	.table = STATE_VMS, .is_wanted = is_wanted, .write = write_item, .type = &vm_description};

void vms_list(struct request *request, struct reply *reply)
{
	char name[NAME_BYTES_MAX + 1];
	const char *worker = vm_filter_worker(request, name);

	if (worker && vm_stream_is_wanted(request)) {
		vm_stream_answer(request, reply, worker, true);
		return;
	}
	vm_filter_translate(request);
	record_list_answer(request, reply, &all);
}
