#include "tools/api/orchard/vm_stream.h"
#include "state/base/memory.h"
#include "state/base/time_units.h"
#include "tools/api/events/live_lines.h"
#include "tools/api/server/parking.h"
#include "tools/forms/vm_json.h"
#include <stdio.h>
#include <stdlib.h>

#define BLOCK_BYTES (64u * 1024)
// What is written before it is sent. More machines are told with the next piece.
#define PIECE_BYTES (256u * 1024)
// How long a stream sleeps at most when nothing changes.
#define SLEEP_NS (60 * NS_PER_S)

struct told {
	char name[NAME_BYTES_MAX + 1], uid[UUID_TEXT_BYTES];
	uint64_t index; // of the machine as it was told
};
struct told_list {
	struct told *items; // by uid
	uint32_t count, room;
};

struct vm_stream {
	struct reply_source source;
	struct live_lines lines;
	char *name;
	bool is_worker;
	bool has_more;  // the newest piece did not hold all
	uint64_t index; // of what was told
	struct told_list told, now;
};

static void told_add(struct told_list *list, const struct told *told)
{
	if (list->count == list->room) {
		list->room = list->room ? 2 * list->room : 8;
		list->items = memory_resize(list->items, list->room * sizeof *list->items);
	}
	list->items[list->count++] = *told;
}

static int told_order(const void *a, const void *b)
{
	return strcmp(((const struct told *)a)->uid, ((const struct told *)b)->uid);
}

static const struct told *told_find(const struct told_list *list, const struct told *like)
{
	if (list->count == 0)
		return NULL;
	return bsearch(like, list->items, list->count, sizeof *like, told_order);
}

static void begin_line(struct json_writer *w, const char *type)
{
	json_begin_object(w);
	json_put_string(w, "type", type);
	json_write_key(w, "object");
}

static void end_line(struct json_writer *w)
{
	json_end_object(w);
	json_write_plain(w, "\n");
}

static bool tell_machine(const struct vm *vm, void *context)
{
	struct vm_stream *s = context;
	struct told machine = {.index = vm->record.modify_index};

	snprintf(machine.name, sizeof machine.name, "%s", vm->name);
	snprintf(machine.uid, sizeof machine.uid, "%s", vm->uid);
	const struct told *before = told_find(&s->told, &machine);
	if (before && before->index == machine.index) {
		told_add(&s->now, before);
	} else if (s->lines.writer.size >= PIECE_BYTES) {
		s->has_more = true;
		if (before)
			told_add(&s->now, before);
	} else {
		begin_line(&s->lines.writer, before ? "MODIFIED" : "ADDED");
		vm_json(&s->lines.writer, vm);
		end_line(&s->lines.writer);
		told_add(&s->now, &machine);
	}
	return true;
}

static void tell_who_is_gone(struct vm_stream *s)
{
	for (uint32_t i = 0; i < s->told.count; i++) {
		const struct told *gone = &s->told.items[i];
		if (told_find(&s->now, gone))
			continue;
		begin_line(&s->lines.writer, "DELETED");
		json_begin_object(&s->lines.writer);
		json_put_string(&s->lines.writer, "name", gone->name);
		json_put_string(&s->lines.writer, "uid", gone->uid);
		json_end_object(&s->lines.writer);
		end_line(&s->lines.writer);
	}
}

static bool tell_nothing(const struct vm *vm, void *context)
{
	(void)vm;
	(void)context;
	return false;
}

// When what the stream follows changed last; 0: it is not there. Under read lock.
static uint64_t index_now(const struct vm_stream *s)
{
	const struct state *state = s->lines.request->api->settings.state;
	uint64_t index = 0;

	if (s->is_worker) {
		state_worker_vms(state, text_of(s->name), &index, tell_nothing, NULL);
		return index;
	}
	const struct vm *vm = state_vm(state, text_of(s->name));
	return vm ? vm->record.modify_index : 0;
}

static void fill_piece(struct vm_stream *s)
{
	const struct state *state = s->lines.request->api->settings.state;
	struct told_list before;

	json_writer_clear(&s->lines.writer);
	s->lines.sent = 0;
	s->now.count = 0;
	s->has_more = false;
	state_read_begin();
	s->index = index_now(s);
	const struct vm *vm = s->is_worker ? NULL : state_vm(state, text_of(s->name));
	if (vm)
		(void)tell_machine(vm, s);
	if (s->is_worker)
		state_worker_vms(state, text_of(s->name), NULL, tell_machine, s);
	state_read_end();
	if (s->now.count)
		qsort(s->now.items, s->now.count, sizeof *s->now.items, told_order);
	tell_who_is_gone(s);
	before = s->told;
	s->told = s->now;
	s->now = before;
}

static bool stream_has_news(const void *context)
{
	const struct vm_stream *s = context;
	return s->has_more || index_now(s) != s->index;
}

static ssize_t stream_read(void *source, uint64_t position, char *to, size_t most)
{
	static const struct parked_kind news = {.is_ready = stream_has_news};
	struct vm_stream *s = source;
	struct request *request = s->lines.request;
	struct parking *parking = request->api->parking;

	(void)position;
	if (live_lines_are_sent(&s->lines)) {
		if (!live_lines_are_wanted(&s->lines))
			return MHD_CONTENT_READER_END_OF_STREAM;
		fill_piece(s);
	}
	if (live_lines_are_sent(&s->lines)) {
		uint64_t sleep_ns = time_monotonic_ns(request->api->settings.time) + SLEEP_NS;
		parking_park(
			parking, request, &news, s, live_lines_deadline_ns(&s->lines, sleep_ns));
		return 0;
	}
	return live_lines_send(&s->lines, to, most);
}

static void stream_free(void *source)
{
	struct vm_stream *s = source;

	json_writer_free(&s->lines.writer);
	free(s->told.items);
	free(s->now.items);
	free(s->name);
	free(s);
}

bool vm_stream_is_wanted(const struct request *request)
{
	return request_flag(request, "watch");
}

void vm_stream_answer(
	struct request *request, struct reply *reply, const char *name, bool is_worker)
{
	struct vm_stream *s = memory_take(sizeof *s);

	// The stream is never compressed: a line would wait for later ones.
	s->source = (struct reply_source){BLOCK_BYTES, stream_read, stream_free, NULL};
	s->lines.request = request;
	s->name = text_copy(text_of(name));
	s->is_worker = is_worker;
	reply->status = MHD_HTTP_OK;
	reply->content_type = "application/x-ndjson";
	reply->source = &s->source;
}
