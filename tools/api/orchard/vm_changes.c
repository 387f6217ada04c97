// Creates, changes and deletes virtual machines.
#include "state/base/memory.h"
#include "tools/api/orchard/host_dirs.h"
#include "tools/api/orchard/routes.h"
#include "tools/api/orchard/vm_body.h"
#include "tools/api/orchard/vm_subject.h"
#include "tools/api/server/body.h"
#include "tools/api/server/command_text.h"
#include "tools/api/server/request.h"
#include "tools/api/server/submission.h"
#include "tools/forms/vm_json.h"
#include <strings.h>

// Answers with the stored machine.
static void reply_stored(struct request *request, struct reply *reply, const char *name)
{
	state_read_begin();
	const struct vm *vm = state_vm(request->api->settings.state, text_of(name));
	if (vm) {
		struct json_writer *w = reply_json(request, reply);
		json_begin_object(w);
		vm_members_json(w, vm);
		subject_warnings_json(w, request);
		json_end_object(w);
		reply_index(reply, vm->record.modify_index);
	} else {
		reply_error(reply, MHD_HTTP_NOT_FOUND,
			"VM \"%.128s\" was deleted by somebody else meanwhile", name);
	}
	state_read_end();
}

static void free_creation(struct command *command)
{
	vm_free(command->vm_create->vm);
}

void vm_add(struct request *request, struct reply *reply)
{
	json_t *body = body_read(request, reply);
	struct subject *subject = subject_begin(request);
	struct vm *vm = body ? vm_body_read(body, &subject->report, reply) : NULL;
	json_decref(body);
	if (vm && !host_dirs_are_allowed(request, vm, reply)) {
		vm_free(vm);
		return;
	}
	if (!vm)
		return;
	subject->name = text_copy(text_of(vm->name));
	struct command *command = submission_one(request, COMMAND_VM_CREATE, free_creation);
	command->vm_create = submission_take(request, sizeof *command->vm_create);
	command->vm_create->vm = vm;
}

void vm_added(struct request *request, struct reply *reply)
{
	const struct command *command = submission_command(request->submission, 0);
	const char *message = command->vm_create->message;
	switch ((int)command->outcome) {
	case OUTCOME_DONE: reply_stored(request, reply, subject_name(request)); break;
	case OUTCOME_CONFLICT:
		reply_error(reply, MHD_HTTP_CONFLICT, "%s",
			*message ? message : "VM with this name already exists");
		break;
	default: reply_refusal(reply, command, message, MHD_HTTP_PRECONDITION_FAILED);
	}
}

static bool read_power_state(json_t *body, int *power_state, struct reply *reply)
{
	json_t *value = json_object_get(body, "powerState");
	const char *text = json_string_value(value);
	for (*power_state = 0; text && vm_power_names[*power_state]; ++*power_state)
		if (strcmp(text, vm_power_names[*power_state]) == 0)
			return true;
	if (!json_is_absent(value) && !text)
		return reply_mistake(reply, "VM.powerState: expected a string");
	return reply_error(reply, MHD_HTTP_PRECONDITION_FAILED,
		"invalid \"powerState\" value: \"%.32s\"; it must be running, stopped or suspended",
		text ? text : "");
}

// Whether the body fits the stored machine; false with a reply. Under read lock.
static bool body_is_of(
	json_t *body, const struct vm *said, const struct vm *vm, struct reply *reply)
{
	const char *uid = json_string_value(json_object_get(body, "uid"));
	const char *differs = vm_body_differs(body, said, vm);
	// An answer that tells a wrong password from the right one would help to guess it.
	bool says_password = said->password && *said->password;
	if (uid && *uid && strcasecmp(uid, vm->uid) != 0)
		reply_error(reply, MHD_HTTP_CONFLICT,
			"the VM of this name is another one by now: its uid is %s, not %.64s",
			vm->uid, uid);
	else if (says_password)
		reply_error(reply, MHD_HTTP_PRECONDITION_FAILED,
			"VM.password: a password is neither changed nor compared with the one that "
			"was created; leave it out");
	else if (differs)
		reply_error(reply, MHD_HTTP_PRECONDITION_FAILED,
			"VM.%s: differs from what was created, and only powerState can be "
			"changed; delete the VM and create it anew",
			differs);
	return !reply->status;
}

static const char *text_for(struct request *request, const char *text)
{
	return text && *text ? command_text(request, text).data : "";
}

// A body with an image is the whole machine, as Orchard's clients send it: what is false or empty is left out there.
static void submit_change(
	struct request *request, json_t *body, const struct vm *said, int power_state)
{
	bool is_whole = body_says(body, "image");
	struct command *command = submission_one(request, COMMAND_VM_POWER, NULL);
	struct command_vm_power *c = submission_take(request, sizeof *c);
	*c = (struct command_vm_power){
		.name = command_text(request, request->ids[0]), .power_state = power_state};
	c->suspendable = (struct optional_bool){
		is_whole || body_says(body, "suspendable"), said->suspendable};
	c->net_softnet = (struct optional_bool){
		is_whole || body_says(body, "netSoftnet") || body_says(body, "net-softnet"),
		said->net_softnet};
	if (is_whole || body_says(body, "netSoftnetAllow"))
		c->net_softnet_allow = text_for(request, said->net_softnet_allow);
	if (is_whole || body_says(body, "netSoftnetBlock"))
		c->net_softnet_block = text_for(request, said->net_softnet_block);
	command->vm_power = c;
}

// Without a power state the machine keeps its own, if the body changes anything else.
static bool says_spec(json_t *body)
{
	return body_says(body, "suspendable") || body_says(body, "netSoftnet") ||
	       body_says(body, "net-softnet") || body_says(body, "netSoftnetAllow") ||
	       body_says(body, "netSoftnetBlock");
}

static void change_vm(
	struct request *request, json_t *body, const struct vm *said, struct reply *reply)
{
	int power_state;
	state_read_begin();
	const struct vm *vm = state_vm(request->api->settings.state, text_of(request->ids[0]));
	if (!vm)
		reply_outcome(reply, OUTCOME_UNKNOWN_VM);
	bool fits = vm && body_is_of(body, said, vm, reply);
	power_state = vm ? vm->power_state : 0;
	state_read_end();
	bool keeps_power = !body_says(body, "powerState") && says_spec(body);
	if (fits && (keeps_power || read_power_state(body, &power_state, reply)))
		submit_change(request, body, said, power_state);
}

void vm_change(struct request *request, struct reply *reply)
{
	struct json_report report = {0};
	json_t *body = body_read(request, reply);
	struct vm *said = body && body_names(request, body, "name", "VM name", reply)
				  ? vm_body_read(body, &report, reply)
				  : NULL;
	if (said)
		change_vm(request, body, said, reply);
	vm_free(said);
	json_report_free(&report);
	json_decref(body);
}

void vm_changed(struct request *request, struct reply *reply)
{
	const struct command *command = submission_command(request->submission, 0);
	if (command->outcome == OUTCOME_DONE)
		reply_stored(request, reply, request->ids[0]);
	else
		reply_refusal(
			reply, command, command->vm_power->message, MHD_HTTP_PRECONDITION_FAILED);
}

// Reads a machine as its worker reports it, or NULL with a reply. Members that the worker leaves out keep their
// defaults.
static struct vm *read_state(json_t *body, struct reply *reply)
{
	struct json_report report = {0};
	struct vm *vm = vm_create();
	json_read_record(&vm_description, vm, body, "VM", &report);
	bool fine =
		report_is_clean(&report, reply) && texts_are_fit(&vm_description, vm, "VM", reply);
	json_report_free(&report);
	if (fine)
		return vm;
	vm_free(vm);
	return NULL;
}

// Only the controller decides whether a machine is scheduled.
static struct array conditions_of(struct request *request, const struct array *from)
{
	struct vm_condition *taken = submission_take(request, (from->count + 1) * sizeof *taken);
	struct array to = {.items = taken};
	for (uint32_t i = 0; i < from->count; i++) {
		const struct vm_condition *c = ARRAY_AT(from, struct vm_condition, i);
		if (c->type != VM_CONDITION_SCHEDULED)
			taken[to.count++] = *c;
	}
	return to;
}

// Without a uid the report is about the present machine of that name. Under no read lock.
static struct text uid_of(struct request *request, const char *said)
{
	struct text uid = {0};
	state_read_begin();
	const struct vm *vm = state_vm(request->api->settings.state, text_of(request->ids[0]));
	if (said && *said)
		uid = command_text(request, said);
	else if (vm)
		uid = command_text(request, vm->uid);
	state_read_end();
	return uid;
}

static void submit_report(struct request *request, json_t *body, const struct vm *said)
{
	struct command *command = submission_one(request, COMMAND_VM_REPORT, NULL);
	command->vm_report = submission_take(request, sizeof *command->vm_report);
	*command->vm_report = (struct command_vm_report){
		.name = command_text(request, request->ids[0]),
		.uid = uid_of(request, said->uid),
		.status = {body_says(body, "status"), said->status},
		.conditions = conditions_of(request, &said->conditions),
		.observed_generation = {body_says(body, "observedGeneration"),
			(int64_t)said->observed_generation},
	};
	if (body_says(body, "status_message"))
		command->vm_report->status_message =
			command_text(request, said->status_message).data;
}

void vm_report(struct request *request, struct reply *reply)
{
	json_t *body = body_read(request, reply);
	struct vm *said = body && body_names(request, body, "name", "VM name", reply)
				  ? read_state(body, reply)
				  : NULL;
	if (said)
		submit_report(request, body, said);
	vm_free(said);
	json_decref(body);
}

void vm_reported(struct request *request, struct reply *reply)
{
	const struct command *command = submission_command(request->submission, 0);
	switch ((int)command->outcome) {
	case OUTCOME_DONE: reply_stored(request, reply, request->ids[0]); break;
	case OUTCOME_CONFLICT:
		reply_error(reply, MHD_HTTP_CONFLICT,
			"the VM of this name is another one by now: its uid is not %s",
			command->vm_report->uid.data);
		break;
	default: reply_outcome(reply, (int)command->outcome);
	}
}

void vm_remove(struct request *request, struct reply *reply)
{
	struct command *command = submission_one(request, COMMAND_VM_DELETE, NULL);
	command->vm_named =
		(struct command_vm_named){.name = command_text(request, request->ids[0])};
}
