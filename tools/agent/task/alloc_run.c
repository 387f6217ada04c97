#include "tools/agent/task/alloc_run.h"
#include "state/base/base64.h"
#include "state/base/memory.h"
#include "tools/agent/base/folders.h"
#include "tools/agent/confine/confine.h"
#include "tools/agent/task/preparation.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct alloc_run *alloc_run_create(const struct uuid *id, uint64_t job_index,
	struct alloc_spec *spec, const struct driver *const *drivers)
{
	uint32_t count = spec ? spec->task_count : 0;
	struct alloc_run *a = memory_take(sizeof *a + count * sizeof a->tasks[0]);
	a->id = *id;
	a->job_index = job_index;
	a->spec = spec;
	a->is_machine = spec && spec->is_machine;
	a->task_count = count;
	a->description = "";
	a->change = 1;
	a->is_unsaved = true;
	for (uint32_t i = 0; i < count; i++) {
		a->tasks[i].spec = &spec->tasks[i];
		a->tasks[i].driver = driver_find(drivers, spec->tasks[i].driver);
		a->tasks[i].process.fd = -1;
	}
	return a;
}

void alloc_run_free(struct alloc_run *a)
{
	for (uint32_t i = 0; i < a->task_count; i++)
		task_forget(&a->tasks[i]);
	alloc_spec_free(a->spec);
	free(a);
}

static void mark_changed(struct alloc_run *a)
{
	a->change++;
	a->is_unsaved = true;
}

// The new spec's tasks replace the tasks of the same name.
bool alloc_run_revise(struct alloc_run *a, struct alloc_spec *spec, int64_t now_ns)
{
	bool is_same = spec->task_count == a->task_count;
	for (uint32_t i = 0; i < a->task_count && is_same; i++)
		is_same = alloc_spec_task(spec, a->tasks[i].spec->name) != NULL;
	if (!is_same) {
		alloc_spec_free(spec);
		return false;
	}
	bool is_judged_anew = strcmp(spec->deployment_id, a->spec->deployment_id) != 0;
	for (uint32_t i = 0; i < a->task_count; i++)
		a->tasks[i].spec = alloc_spec_task(spec, a->tasks[i].spec->name);
	alloc_spec_free(a->spec);
	a->spec = spec;
	mark_changed(a); // the controller may have forgotten earlier reports
	if (is_judged_anew)
		health_watch(&a->health, spec, now_ns);
	return true;
}

static void alloc_folder(const struct uuid *id, const char *data_folder, char path[static 400])
{
	char text[UUID_TEXT_BYTES];
	snprintf(path, 400, "%.300s/alloc/%s", data_folder, uuid_format(id, text));
}

void alloc_run_task_folders(const struct alloc_run *a, const struct task *t,
	const char *data_folder, struct task_folders *f)
{
	char base[400];
	alloc_folder(&a->id, data_folder, base);
	*f = (struct task_folders){0};
	snprintf(f->alloc, sizeof f->alloc, "%.350s/alloc", base);
	snprintf(f->task, sizeof f->task, "%.350s/%.128s", base, t->spec->name);
	snprintf(f->local, sizeof f->local, "%.350s/%.128s/local", base, t->spec->name);
	snprintf(f->secrets, sizeof f->secrets, "%.350s/%.128s/secrets", base, t->spec->name);
}

void alloc_exit_path(const struct alloc_run *a, const struct task *t, const char *state_folder,
	char path[static 512])
{
	char text[UUID_TEXT_BYTES];
	snprintf(path, 512, "%.300s/allocs/%s.%.128s.exit", state_folder, uuid_format(&a->id, text),
		t->spec->name);
}

// Writes the payload of a dispatched job, below the open folder of the task.
static int write_payload(const struct task *t, const char *payload, int task_folder)
{
	char path[900];
	size_t size = 0;
	if (!*t->spec->payload_file)
		return 0;
	snprintf(path, sizeof path, "local/%s", t->spec->payload_file);
	char *name = strrchr(path, '/');
	*name++ = '\0';
	uint8_t *bytes = memory_take(strlen(payload) + 1);
	int error = base64_decode(payload, strlen(payload), bytes, &size) ? 0 : -EBADMSG;
	int folder = error ? error : folder_make(task_folder, path, 0777);
	if (folder >= 0) {
		error = folder_write(folder, name, 0644, bytes, size);
		close(folder);
	} else {
		error = folder;
	}
	free(bytes);
	return error;
}

// Writes what the task shows the controller, for its user alone.
static int write_token(const struct task_spec *spec, int task_folder)
{
	static const char name[] = "nomad_token";
	if (!spec->token_in_file || !*spec->token)
		return 0;
	int secrets = folder_make(task_folder, "secrets", 0700);
	if (secrets < 0)
		return secrets;
	int error = folder_write(secrets, name, 0600, spec->token, strlen(spec->token));
	error = error ? error : process_give_file(secrets, name, spec->user);
	close(secrets);
	return error;
}

// Folders of an allocation and of a task, below it: the folder that holds others belongs to the agent and is sticky, so
// that no task puts something else in the place of what is in it. Outputs are written by the agent alone.
struct folder_row {
	const char *name;
	mode_t mode;
};
static const struct folder_row shared_folders[] = {{"alloc", 01777}, {"alloc/data", 0777},
	{"alloc/logs", 0755}, {"alloc/tmp", 01777}, {NULL, 0}};
static const struct folder_row own_folders[] = {
	{"local", 0777}, {"tmp", 01777}, {"secrets", 0700}, {NULL, 0}};

static int make_folders(int top, const struct folder_row *row)
{
	for (; row->name; row++) {
		int folder = folder_make(top, row->name, row->mode);
		if (folder < 0)
			return folder;
		close(folder);
	}
	return 0;
}

static int make_task_folders(const struct alloc_run *a, const struct task *t, int alloc)
{
	int task = folder_make(alloc, t->spec->name, 01777);
	if (task < 0)
		return task;
	int error = make_folders(task, own_folders);
	error = error ? error : write_payload(t, a->spec->payload, task);
	error = error ? error : write_token(t->spec, task);
	error = error ? error : process_give_file(task, "secrets", t->spec->user);
	close(task);
	return error;
}

int alloc_run_make_folders(const struct alloc_run *a, const struct alloc_place *place)
{
	char path[6 + UUID_TEXT_BYTES] = "alloc/";
	int top = folder_open(place->data_folder);
	if (top < 0)
		return top;
	uuid_format(&a->id, path + 6);
	int alloc = folder_make(top, path, 0711);
	close(top);
	if (alloc < 0)
		return alloc;
	int error = make_folders(alloc, shared_folders);
	for (uint32_t i = 0; i < a->task_count && !error; i++)
		error = make_task_folders(a, &a->tasks[i], alloc);
	close(alloc);
	return error;
}

void alloc_run_remove_folders(const struct uuid *id, const char *data_folder)
{
	char path[400], text[UUID_TEXT_BYTES];
	snprintf(path, sizeof path, "%.300s/alloc", data_folder);
	int top = folder_open(path);
	if (top < 0)
		return; // there is nothing
	folder_remove(top, uuid_format(id, text));
	close(top);
}

struct beginning {
	struct alloc_run *alloc;
	const struct alloc_place *place;
};

static int save_beginning(void *context)
{
	struct beginning *b = context;
	return b->place->save ? b->place->save(b->place->save_context, b->alloc) : 0;
}

static void output_path(const struct task_folders *f, const struct task *t, const char *which,
	char path[static 700])
{
	snprintf(path, 700, "%s/logs/%.128s.%s", f->alloc, t->spec->name, which);
}

static bool is_to_begin(const struct task *t, int64_t now_ns)
{
	return t->phase == PHASE_WAITING || (t->phase == PHASE_RESTARTING && now_ns >= t->due_ns);
}

// Whether the driver may start the task: goes on with what it needs before.
static bool is_prepared(struct alloc_run *a, struct task *t, const struct task_start *start,
	const struct preparation *p)
{
	struct preparation_news news = {0};
	enum preparedness now = p && t->driver ? p->advance(p->context, t, start, &news) : PREPARED;

	t->due_ns = now == PREPARING ? 0 : t->due_ns;
	if (now == PREPARING_ENDS)
		task_not_prepared(t, news.may_help, start->now_ns, start->prng);
	if (news.has_noted || now == PREPARING_ENDS)
		mark_changed(a);
	return now == PREPARED;
}

static void follow_task(struct alloc_run *a, struct task *t, const struct task_start *start,
	const struct preparation *p)
{
	struct preparation_news news = {0};

	if (t->phase == PHASE_RUNNING && p)
		p->follow(p->context, t, start, &news);
	if (task_is_over(t) && t->prepared)
		t->prepared->forget(t);
	if (news.has_noted)
		mark_changed(a);
}

static void begin_task(struct alloc_run *a, struct task *t, const struct alloc_place *place)
{
	struct task_folders folders;
	struct beginning beginning = {a, place};
	char output[700], error[700], exit_path[512];
	alloc_run_task_folders(a, t, place->data_folder, &folders);
	alloc_exit_path(a, t, place->state_folder, exit_path);
	output_path(&folders, t, "stdout", output);
	output_path(&folders, t, "stderr", error);
	struct task_start start = {place->node, a->spec, &folders, place->data_folder,
		place->machines, output, error, exit_path, place->now_ns, place->prng,
		save_beginning, &beginning, place->confine};
	if (is_to_begin(t, place->now_ns)) {
		if (!is_prepared(a, t, &start, place->preparation))
			return;
		folders.variables = t->variables;
		if (t->phase == PHASE_WAITING) {
			output_begin(output, &t->spec->output_rule);
			output_begin(error, &t->spec->output_rule);
		}
		task_begin(t, &start);
		mark_changed(a);
	} else if (task_tick(t, &start)) {
		mark_changed(a);
	}
	follow_task(a, t, &start, place->preparation);
}

// Sums over all tasks of some hooks (one bit each).
struct tally {
	uint32_t count, waiting, up, over, failed;
	bool leader_over;
};
#define HOOK_BIT(hook) (1u << (hook))
enum kind { ANY, ONCE, SIDECAR };

static struct tally tally(const struct alloc_run *a, uint32_t hooks, enum kind kind)
{
	struct tally sum = {0};
	for (uint32_t i = 0; i < a->task_count; i++) {
		const struct task *t = &a->tasks[i];
		if (!(hooks & HOOK_BIT(t->spec->hook)) ||
			(kind != ANY && t->spec->sidecar != (kind == SIDECAR)))
			continue;
		sum.count++;
		sum.waiting += t->phase == PHASE_WAITING || t->is_starting;
		sum.up += (task_is_up(t) && !t->is_starting) ||
			  (t->phase == PHASE_RESTARTING && t->has_run);
		sum.over += task_is_over(t);
		sum.failed += task_is_over(t) && t->failed;
		sum.leader_over |= t->spec->leader && task_is_over(t);
	}
	return sum;
}

static void begin_all(struct alloc_run *a, enum task_hook hook, const struct alloc_place *place)
{
	for (uint32_t i = 0; i < a->task_count; i++)
		if (a->tasks[i].spec->hook == hook && a->tasks[i].phase == PHASE_WAITING)
			begin_task(a, &a->tasks[i], place);
}

static bool leads(const struct task *t)
{
	return t->spec->leader && t->spec->hook == HOOK_MAIN;
}

// Stops the leader first, and the other tasks once the leader is over.
static void stop_all(struct alloc_run *a, uint32_t hooks, enum kind kind, const char *why,
	const struct alloc_place *place)
{
	bool waits_for_leader = false;
	for (uint32_t i = 0; i < a->task_count; i++)
		waits_for_leader |= leads(&a->tasks[i]) && !task_is_over(&a->tasks[i]);
	for (uint32_t i = 0; i < a->task_count; i++) {
		struct task *t = &a->tasks[i];
		bool meant = (hooks & HOOK_BIT(t->spec->hook)) &&
			     (kind == ANY || t->spec->sidecar == (kind == SIDECAR));
		if (!meant || t->is_unwanted || task_is_over(t) || (waits_for_leader && !leads(t)))
			continue;
		if (*why)
			task_note(t, place->now_ns, 0, why, "%s",
				strcmp(why, "Leader Task Dead") == 0 ? "Leader Task in Group dead"
								     : "Task's sibling failed");
		task_stop(t, place->now_ns);
		mark_changed(a);
	}
}

#define BEFORE_STOP (HOOK_BIT(HOOK_PRESTART) | HOOK_BIT(HOOK_MAIN) | HOOK_BIT(HOOK_POSTSTART))

// All tasks are to begin anew, and one of them has not ended yet.
static bool waits_to_begin_anew(const struct alloc_run *a)
{
	for (uint32_t i = 0; i < a->task_count; i++)
		if (a->tasks[i].anew == ANEW_IN_TURN && task_is_up(&a->tasks[i]))
			return true;
	return false;
}

static void start_what_may(struct alloc_run *a, const struct alloc_place *place)
{
	if (waits_to_begin_anew(a))
		return;
	begin_all(a, HOOK_PRESTART, place);
	struct tally once = tally(a, HOOK_BIT(HOOK_PRESTART), ONCE);
	struct tally beside = tally(a, HOOK_BIT(HOOK_PRESTART), SIDECAR);
	if (once.over < once.count || beside.waiting > 0 || tally(a, BEFORE_STOP, ANY).failed > 0)
		return;
	begin_all(a, HOOK_MAIN, place);
	if (tally(a, HOOK_BIT(HOOK_MAIN), ANY).waiting == 0)
		begin_all(a, HOOK_POSTSTART, place);
}

static void order_tasks(struct alloc_run *a, const struct alloc_place *place)
{
	struct tally before = tally(a, BEFORE_STOP, ANY);
	struct tally main_tasks = tally(a, HOOK_BIT(HOOK_MAIN), ANY);
	if (a->is_unwanted)
		stop_all(a, BEFORE_STOP, ANY, "", place);
	else if (before.failed > 0)
		stop_all(a, BEFORE_STOP, ANY, "Sibling Task Failed", place);
	else if (main_tasks.leader_over)
		stop_all(a, BEFORE_STOP, ANY, "Leader Task Dead", place);
	else if (main_tasks.over == main_tasks.count)
		stop_all(a, BEFORE_STOP, SIDECAR, "", place);
	else
		start_what_may(a, place);
	before = tally(a, BEFORE_STOP, ANY);
	bool ran = false;
	for (uint32_t i = 0; i < a->task_count; i++)
		ran |= a->tasks[i].has_run;
	if (before.over < before.count)
		return;
	if (ran)
		begin_all(a, HOOK_POSTSTOP, place);
	else
		stop_all(a, HOOK_BIT(HOOK_POSTSTOP), ANY, "", place);
}

static void judge_status(struct alloc_run *a)
{
	struct tally all = tally(a, BEFORE_STOP | HOOK_BIT(HOOK_POSTSTOP), ANY);
	struct tally before = tally(a, BEFORE_STOP, ANY);
	uint8_t status = WIRE_CLIENT_PENDING;
	const char *text = "No tasks have started";
	if (all.failed > 0) {
		status = WIRE_CLIENT_FAILED;
		text = "Failed tasks";
	} else if (all.over == all.count) {
		status = WIRE_CLIENT_COMPLETE;
		text = "All tasks have completed";
	} else if (before.up > 0 || before.over == before.count) {
		status = WIRE_CLIENT_RUNNING;
		text = "Tasks are running";
	}
	if (a->status != status || a->description != text)
		mark_changed(a);
	a->status = status;
	a->description = text;
}

static void judge_health(struct alloc_run *a, int64_t now_ns)
{
	if (a->is_unwanted)
		health_leave(&a->health);
	else if (health_judge(&a->health, a->spec, a->tasks, a->task_count, now_ns))
		mark_changed(a);
}

void alloc_run_step(struct alloc_run *a, const struct alloc_place *place)
{
	uint32_t before;
	if (!a->spec)
		return;
	do { // the end of one task may start another
		before = a->change;
		for (uint32_t i = 0; i < a->task_count; i++)
			if (a->tasks[i].phase != PHASE_WAITING)
				begin_task(a, &a->tasks[i], place);
		order_tasks(a, place);
	} while (a->change != before);
	judge_status(a);
	judge_health(a, place->now_ns);
}

void alloc_run_process_ended(struct alloc_run *a, struct task *t, const struct alloc_place *place)
{
	char exit_path[512], error[700], newest[720] = "";
	struct task_folders folders;
	struct output errors;
	alloc_exit_path(a, t, place->state_folder, exit_path);
	alloc_run_task_folders(a, t, place->data_folder, &folders);
	output_path(&folders, t, "stderr", error);
	if (output_find(&errors, error, &t->spec->output_rule) == 0)
		output_newest_path(&errors, newest, sizeof newest);
	struct process_end how = process_end_of(&t->process, exit_path);
	how.is_oom =
		place->confine && groups_end(&place->confine->groups, &a->id, t->spec->name) > 0;
	if (t->driver->judge)
		t->driver->judge(t, exit_path, &how, place->now_ns);
	task_ended(t, &how, place->now_ns, place->prng);
	if (t->driver->explain)
		t->driver->explain(t, &how, newest, place->now_ns);
	if (t->driver->forget)
		t->driver->forget(t);
	mark_changed(a);
}

int64_t alloc_run_due_ns(const struct alloc_run *a)
{
	int64_t due = a->spec ? health_due_ns(&a->health, a->spec, a->tasks, a->task_count) : 0;
	for (uint32_t i = 0; i < a->task_count; i++) {
		const struct task *t = &a->tasks[i];
		int64_t own = t->due_ns;
		if (task_is_up(t) && t->mock.ends_ns && (!own || t->mock.ends_ns < own))
			own = t->mock.ends_ns;
		if (!task_is_over(t) && t->prepare_ns && (!own || t->prepare_ns < own))
			own = t->prepare_ns;
		if (task_is_up(t) && t->poll_ns && (!own || t->poll_ns < own))
			own = t->poll_ns;
		if (own && (!due || own < due))
			due = own;
	}
	return due;
}

bool alloc_run_is_over(const struct alloc_run *a)
{
	struct tally all = tally(a, BEFORE_STOP | HOOK_BIT(HOOK_POSTSTOP), ANY);
	return all.over == all.count;
}

bool alloc_run_has_ended(const struct alloc_run *a)
{
	bool is_final = a->status == WIRE_CLIENT_COMPLETE || a->status == WIRE_CLIENT_FAILED;
	return is_final && a->spec && !a->is_machine;
}

bool alloc_run_is_nodes_fault(const struct alloc_run *a)
{
	for (uint32_t i = 0; i < a->task_count && a->status == WIRE_CLIENT_FAILED; i++)
		if (a->tasks[i].failed && a->tasks[i].is_nodes_fault)
			return true;
	return false;
}

void alloc_run_hurry(struct alloc_run *a, int64_t now_ns)
{
	for (uint32_t i = 0; i < a->task_count; i++) {
		struct task *t = &a->tasks[i];
		a->spec->tasks[i].kill_timeout_ns = 0;
		if (t->phase == PHASE_STOPPING && !t->is_forced)
			t->due_ns = now_ns;
	}
}

// The message of the newest event of one of these types; NULL: none.
static const char *newest_of(const struct task *t, const char *const *types)
{
	for (uint32_t i = t->note_count; i-- > 0;)
		for (const char *const *type = types; *type; type++)
			if (strcmp(t->notes[i].type, *type) == 0)
				return t->notes[i].message;
	return NULL;
}

// Nobody can look at a machine's tasks, so that its description says why it is over.
static const char *machine_description(const struct alloc_run *a)
{
	static const char *const failures[] = {
		"Driver Failure", "Setup Failure", "Terminated", NULL};
	static const char *const ends[] = {"Driver Failure", "Suspended", NULL};
	bool is_failed = a->status == WIRE_CLIENT_FAILED;
	if (!is_failed && !a->is_unwanted)
		return "VM ended";
	const char *said = a->spec ? newest_of(a->tasks, is_failed ? failures : ends) : NULL;
	return said ? said : is_failed ? "VM cannot run on this worker" : "VM was stopped";
}

const char *alloc_run_description(const struct alloc_run *a)
{
	bool is_over = a->status == WIRE_CLIENT_COMPLETE || a->status == WIRE_CLIENT_FAILED;
	return a->is_machine && is_over ? machine_description(a) : a->description;
}
