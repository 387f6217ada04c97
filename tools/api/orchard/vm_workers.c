// Workers of virtual machines: nodes, and workers that operators keep.
#include "state/base/memory.h"
#include "tools/api/lists/record_list.h"
#include "tools/api/orchard/routes.h"
#include "tools/api/orchard/vm_body.h"
#include "tools/api/orchard/vm_subject.h"
#include "tools/api/server/body.h"
#include "tools/api/server/command_text.h"
#include "tools/api/server/submission.h"
#include "tools/forms/vm_json.h"

static struct worker_view worker_view_of(const struct api *api)
{
	const struct api_settings *s = &api->settings;
	return worker_view_now(s->state, s->time, s->vm_offline_after_ns);
}

// The worker that the path names, or NULL. Under read lock.
static const struct vm_worker *worker_of(const struct request *request)
{
	return state_vm_worker(request->api->settings.state, text_of(request->ids[0]));
}

uint64_t vm_worker_watched(const struct request *request)
{
	const struct vm_worker *worker = worker_of(request);
	return worker ? worker->record.modify_index : 0;
}

// Answers with the stored worker.
static void reply_stored(struct request *request, struct reply *reply, const char *name)
{
	const struct worker_view view = worker_view_of(request->api);
	state_read_begin();
	const struct vm_worker *worker = state_vm_worker(view.state, text_of(name));
	if (worker) {
		struct json_writer *w = reply_json(request, reply);
		json_begin_object(w);
		vm_worker_members_json(w, &view, worker);
		subject_warnings_json(w, request);
		json_end_object(w);
		reply_index(reply, worker->record.modify_index);
	} else {
		reply_error(reply, MHD_HTTP_NOT_FOUND, "worker \"%.128s\" not found", name);
		reply_index(reply, state_index(view.state));
	}
	state_read_end();
}

void vm_worker_read(struct request *request, struct reply *reply)
{
	reply_stored(request, reply, request->ids[0]);
}

static bool is_wanted(const struct record_list *list, const void *record)
{
	const struct vm_worker *worker = record;
	return strncmp(worker->name, list->name_prefix, strlen(list->name_prefix)) == 0;
}

static void write_one(struct json_writer *w, const struct record_list *list, const void *record)
{
	const struct worker_view view = worker_view_of(list->api);
	json_begin_object(w);
	vm_worker_members_json(w, &view, record);
	json_end_object(w);
}

const struct record_kind vm_worker_list = {.table = STATE_VM_WORKERS,
	.is_wanted = is_wanted,
	.write = write_one,
	.type = &vm_worker_description};

static void free_worker(struct command *command)
{
	if (command->type == COMMAND_VM_WORKER)
		vm_worker_free(command->vm_worker.worker);
}

static int64_t now_ns(const struct request *request)
{
	return (int64_t)time_wall_ns(request->api->settings.time);
}

// A worker without a time was seen now; a time in the future counts as now.
static int64_t seen_at(const struct request *request, int64_t said_ns)
{
	int64_t now = now_ns(request);
	return said_ns && said_ns < now ? said_ns : now;
}

void vm_worker_register(struct request *request, struct reply *reply)
{
	json_t *body = body_read(request, reply);
	struct subject *subject = subject_begin(request);
	struct vm_worker *worker = body ? vm_worker_body_read(body, &subject->report, reply) : NULL;
	json_decref(body);
	if (!worker)
		return;
	worker->last_seen_ns = seen_at(request, worker->last_seen_ns);
	subject->name = text_copy(text_of(worker->name));
	struct command *command = submission_one(request, COMMAND_VM_WORKER, free_worker);
	command->vm_worker = (struct command_vm_worker){.worker = worker};
}

static void reply_refused(struct reply *reply, const struct command *command)
{
	if (command->outcome == OUTCOME_CONFLICT)
		reply_error(reply, MHD_HTTP_CONFLICT,
			"this worker is managed from a different machine ID, delete this worker "
			"first to be able to re-create it");
	else
		reply_outcome(reply, (int)command->outcome);
}

void vm_worker_registered(struct request *request, struct reply *reply)
{
	const struct command *command = submission_command(request->submission, 0);
	if (command->outcome == OUTCOME_DONE)
		reply_stored(request, reply, subject_name(request));
	else
		reply_refused(reply, command);
}

struct worker_change {
	struct optional_bool paused;
	struct optional_i64 last_seen_ns;
};

// Orchard's clients and workers read a worker, change it and send it back whole, without what is false.
static bool is_whole(json_t *body)
{
	return body_says(body, "name") || body_says(body, "machine_id");
}

// Reads a change: whether the worker is paused, and when it was seen.
static bool read_change(json_t *body, struct worker_change *change, struct reply *reply)
{
	struct json_report report = {0};
	struct vm_worker *worker = vm_worker_create();
	json_read_record(&vm_worker_description, worker, body, "Worker", &report);
	*change = (struct worker_change){
		.paused = {is_whole(body) || body_says(body, "scheduling_paused"),
			worker->scheduling_paused},
		.last_seen_ns = {body_says(body, "last_seen"), worker->last_seen_ns},
	};
	bool fine = report_is_clean(&report, reply);
	if (fine && !change->paused.set && !change->last_seen_ns.set) {
		reply_mistake(reply,
			"Worker.scheduling_paused, or Worker.last_seen: one of them is needed; "
			"everything else is said by registering the worker again");
		fine = false;
	}
	json_report_free(&report);
	vm_worker_free(worker);
	return fine;
}

// Drops changes without effect: a pause that already holds, and a time for a node, which is seen when it beats. False
// for an unknown worker.
static bool leave_what_changes(const struct request *request, struct worker_change *change)
{
	state_read_begin();
	const struct vm_worker *worker = worker_of(request);
	if (worker && change->paused.set && change->paused.value == worker->scheduling_paused)
		change->paused.set = false;
	if (worker && !uuid_is_zero(&worker->node))
		change->last_seen_ns.set = false;
	state_read_end();
	return worker != NULL;
}

static void put_seen(struct command *command, const struct request *request, int64_t seen_ns)
{
	command->type = COMMAND_VM_WORKER;
	command->vm_worker =
		(struct command_vm_worker){.worker = vm_worker_create(), .only_seen = true};
	command->vm_worker.worker->name = text_copy(text_of(request->ids[0]));
	command->vm_worker.worker->last_seen_ns = seen_at(request, seen_ns);
}

static void put_paused(struct command *command, struct request *request, bool paused)
{
	command->type = COMMAND_VM_WORKER_PAUSE;
	command->vm_named = (struct command_vm_named){
		.name = command_text(request, request->ids[0]), .paused = paused};
}

static void submit_change(struct request *request, const struct worker_change *change)
{
	uint32_t count = (uint32_t)change->paused.set + (uint32_t)change->last_seen_ns.set;
	struct submission *submission = submission_create(request, count, free_worker);
	uint32_t next = 0;
	if (change->last_seen_ns.set)
		put_seen(submission_command(submission, next++), request,
			change->last_seen_ns.value);
	if (change->paused.set)
		put_paused(submission_command(submission, next), request, change->paused.value);
}

void vm_worker_change(struct request *request, struct reply *reply)
{
	struct worker_change change;
	json_t *body = body_read(request, reply);
	bool fits = body && body_names(request, body, "name", "worker name", reply) &&
		    read_change(body, &change, reply);
	json_decref(body);
	if (!fits)
		return;
	if (!leave_what_changes(request, &change))
		reply_outcome(reply, OUTCOME_UNKNOWN_WORKER);
	else if (change.paused.set || change.last_seen_ns.set)
		submit_change(request, &change);
	else
		reply_stored(request, reply, request->ids[0]);
}

void vm_worker_changed(struct request *request, struct reply *reply)
{
	for (uint32_t i = 0; i < submission_count(request->submission); i++) {
		const struct command *command = submission_command(request->submission, i);
		if (command->outcome != OUTCOME_DONE) {
			reply_refused(reply, command);
			return;
		}
	}
	reply_stored(request, reply, request->ids[0]);
}

void vm_worker_remove(struct request *request, struct reply *reply)
{
	struct command *command = submission_one(request, COMMAND_VM_WORKER_DELETE, NULL);
	command->vm_named =
		(struct command_vm_named){.name = command_text(request, request->ids[0])};
}
