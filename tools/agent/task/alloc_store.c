// Stores each allocation as STATE/allocs/ID.json, rewritten whole after every change. A process is known by its number
// and its start time; no other process has both until the machine boots again, which the boot id tells.
#include "tools/agent/task/alloc_store.h"
#include "state/base/base64.h"
#include "state/base/error.h"
#include "state/base/failpoint/failpoint.h"
#include "state/base/listing/listing.h"
#include "state/base/log.h"
#include "state/base/memory.h"
#include "tools/agent/base/folders.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define STORE_VERSION 1

static char boot_id[40]; // known before anything is loaded or saved

// 0, or -errno.
static int know_boot(void)
{
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, boot_id, sizeof boot_id - 1);
	int error = n < 0 ? -errno : 0;

	boot_id[n > 0 ? n : 0] = '\0';
	boot_id[strcspn(boot_id, "\n")] = '\0';
	if (fd >= 0)
		close(fd);
	return error;
}

static void path_of(
	const char *state_folder, const struct uuid *id, const char *suffix, char path[static 512])
{
	char text[UUID_TEXT_BYTES];
	snprintf(path, 512, "%.300s/allocs/%s.json%s", state_folder, uuid_format(id, text), suffix);
}

static json_t *notes_json(const struct task *t)
{
	json_t *notes = json_array();
	for (uint32_t i = 0; i < t->note_count; i++)
		json_array_append_new(
			notes, json_pack("[s s I i]", t->notes[i].type, t->notes[i].message,
				       (json_int_t)t->notes[i].time_ns, t->notes[i].exit_code));
	return notes;
}

static json_t *task_json(const struct task *t)
{
	json_t *json = json_pack(
		"{s:i s:b s:b s:b s:b s:b s:i s:i s:I s:I s:I s:I s:I s:b s:i s:i s:I s:I s:I s:I "
		"s:i s:i s:o}",
		"phase", t->phase, "failed", t->failed, "is_nodes_fault", t->is_nodes_fault,
		"has_run", t->has_run, "is_unwanted", t->is_unwanted, "is_restarting",
		t->is_restarting, "restarts", t->restarts, "attempts", t->attempts, "interval",
		(json_int_t)t->interval_ns, "started", (json_int_t)t->started_ns, "finished",
		(json_int_t)t->finished_ns, "last_restart", (json_int_t)t->last_restart_ns, "due",
		(json_int_t)t->due_ns, "is_forced", t->is_forced, "shim", (int)t->process.shim,
		"pid", (int)t->process.task, "shim_started", (json_int_t)t->process.shim_started,
		"pid_started", (json_int_t)t->process.task_started, "mock_ends",
		(json_int_t)t->mock.ends_ns, "mock_kill_after", (json_int_t)t->mock.kill_after_ns,
		"mock_exit_code", t->mock.exit_code, "mock_exit_signal", t->mock.exit_signal,
		"notes", notes_json(t));
	if (t->anew)
		json_object_set_new(json, "anew", json_integer(t->anew));
	if (t->has_artifacts)
		json_object_set_new(json, "has_artifacts", json_true());
	if (t->is_starting || t->news > 0)
		json_object_set_new(
			json, "starting", json_pack("[b i]", t->is_starting, (int)t->news));
	if (t->handle.size > 0) {
		char *bytes = base64_encode((struct text){t->handle.bytes, t->handle.size});
		json_object_set_new(
			json, "handle", json_pack("[I s]", (json_int_t)t->handle.version, bytes));
		free(bytes);
	}
	return json;
}

// Writes a file that nobody looks at yet.
static int write_new(const char *path, const char *text)
{
	int fd = CAN_FAIL(ALLOC_CREATE,
		open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
	size_t size = strlen(text);
	int error = 0;

	if (fd < 0)
		return -errno;
	ssize_t written = CAN_FAIL(ALLOC_WRITE, write(fd, text, size));
	if (written != (ssize_t)size)
		error = written < 0 ? -errno : -ENOSPC;
	else if (CAN_FAIL(ALLOC_SYNC, fdatasync(fd)) < 0)
		error = -errno;
	return folder_close_file(fd, error);
}

int alloc_store_save(const char *state_folder, struct alloc_run *a)
{
	char path[512], temporary[512], quoted[600];
	json_t *tasks = json_array();
	for (uint32_t i = 0; i < a->task_count; i++)
		json_array_append_new(tasks, task_json(&a->tasks[i]));
	json_t *json = json_pack("{s:i s:s s:I s:I s:i s:I s:b s:O s:o}", "version", STORE_VERSION,
		"boot", boot_id, "job_index", (json_int_t)a->job_index, "spec_version",
		(json_int_t)a->version, "healthy", a->health.verdict, "health_deadline",
		(json_int_t)a->health.deadline_ns, "is_unwanted", a->is_unwanted, "spec",
		a->spec->root, "tasks", tasks);
	char *text = json_dumps(json, JSON_COMPACT);
	json_decref(json);
	path_of(state_folder, &a->id, "", path);
	path_of(state_folder, &a->id, ".new", temporary);
	int error = text ? write_new(temporary, text) : -ENOMEM;
	if (!error && CAN_FAIL(ALLOC_RENAME, rename(temporary, path)) < 0)
		error = -errno;
	if (error)
		log_error("allocation-not-saved", "file=%s error=\"%s\"",
			log_quote(path, quoted, sizeof quoted), error_text(error));
	else
		a->is_unsaved = false;
	free(text);
	return error;
}

int alloc_store_save_for_good(const char *state_folder, struct alloc_run *a)
{
	char folder[400];
	int error = alloc_store_save(state_folder, a);

	if (error)
		return error;
	snprintf(folder, sizeof folder, "%.300s/allocs", state_folder);
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	error = CAN_FAIL(ALLOC_SYNC_FOLDER, fsync(fd)) < 0 ? -errno : 0;
	close(fd);
	return error;
}

void alloc_store_remove(const char *state_folder, const struct alloc_run *a)
{
	char path[512], unfinished[520];
	path_of(state_folder, &a->id, "", path);
	unlink(path);
	for (uint32_t i = 0; i < a->task_count; i++) {
		alloc_exit_path(a, &a->tasks[i], state_folder, path);
		unlink(path);
		snprintf(unfinished, sizeof unfinished, "%s.new", path);
		unlink(unfinished);
	}
}

static int64_t json_number(const json_t *json, const char *key)
{
	return (int64_t)json_integer_value(json_object_get(json, key));
}

static bool json_flag(const json_t *json, const char *key)
{
	return json_is_true(json_object_get(json, key));
}

static void load_notes(struct task *t, const json_t *notes)
{
	const json_t *note;
	size_t i;
	json_array_foreach(notes, i, note)
	{
		const char *type = json_string_value(json_array_get(note, 0));
		const char *message = json_string_value(json_array_get(note, 1));
		task_note(t, (int64_t)json_integer_value(json_array_get(note, 2)),
			(int)json_integer_value(json_array_get(note, 3)), type ? type : "", "%s",
			message ? message : "");
	}
}

static void load_handle(struct task *t, const json_t *json)
{
	const char *bytes = json_string_value(json_array_get(json, 1));
	if (bytes && !handle_read(&t->handle, (int64_t)json_integer_value(json_array_get(json, 0)),
			     bytes))
		t->handle.size = 0;
}

static void load_task(struct task *t, const json_t *json)
{
	int64_t phase = json_number(json, "phase");
	t->phase = phase >= PHASE_WAITING && phase <= PHASE_ENDED ? (enum task_phase)phase
								  : PHASE_ENDED;
	t->failed = json_flag(json, "failed");
	t->is_nodes_fault = json_flag(json, "is_nodes_fault");
	t->has_run = json_flag(json, "has_run");
	t->is_unwanted = json_flag(json, "is_unwanted");
	t->is_restarting = json_flag(json, "is_restarting");
	int64_t anew = json_number(json, "anew");
	t->anew = anew == ANEW_AT_ONCE || anew == ANEW_IN_TURN ? (enum task_anew)anew : ANEW_NOT;
	t->has_artifacts = json_flag(json, "has_artifacts");
	t->restarts = (uint32_t)json_number(json, "restarts");
	t->attempts = (uint32_t)json_number(json, "attempts");
	t->interval_ns = json_number(json, "interval");
	t->started_ns = json_number(json, "started");
	t->finished_ns = json_number(json, "finished");
	t->last_restart_ns = json_number(json, "last_restart");
	t->due_ns = json_number(json, "due");
	t->is_forced = json_flag(json, "is_forced");
	t->process = (struct process){.shim = (pid_t)json_number(json, "shim"),
		.task = (pid_t)json_number(json, "pid"),
		.shim_started = (uint64_t)json_number(json, "shim_started"),
		.task_started = (uint64_t)json_number(json, "pid_started"),
		.fd = -1};
	t->mock = (struct mock){.ends_ns = json_number(json, "mock_ends"),
		.kill_after_ns = json_number(json, "mock_kill_after"),
		.exit_code = (int)json_number(json, "mock_exit_code"),
		.exit_signal = (int)json_number(json, "mock_exit_signal")};
	t->is_starting = json_is_true(json_array_get(json_object_get(json, "starting"), 0));
	t->news =
		(uint32_t)json_integer_value(json_array_get(json_object_get(json, "starting"), 1));
	load_handle(t, json_object_get(json, "handle"));
	load_notes(t, json_object_get(json, "notes"));
}

struct loader {
	const struct alloc_place *place;
	const struct driver *const *drivers;
	void (*found)(void *context, struct alloc_run *);
	void *context;
};

// Attaches to a process that still runs, or learns how it ended. 0, or -errno: neither can be told now.
static int attach_task(
	const struct alloc_place *place, struct alloc_run *a, struct task *t, bool same_boot)
{
	if (!task_is_up(t) || !t->driver || t->driver->has_ended)
		return 0;
	int is_there = same_boot ? process_attach(&t->process) : 0;
	if (is_there > 0)
		task_note(t, place->now_ns, 0, "Restored", "Task was taken up again");
	else if (is_there == 0)
		alloc_run_process_ended(a, t, place);
	return is_there < 0 ? is_there : 0;
}

static int attach_tasks(const struct alloc_place *place, struct alloc_run *a, const json_t *json)
{
	bool same_boot = strcmp(spec_text(json, "boot"), boot_id) == 0;
	int error = 0;

	for (uint32_t i = 0; i < a->task_count && !error; i++)
		error = attach_task(place, a, &a->tasks[i], same_boot);
	return error;
}

static void load_health(struct health *h, const json_t *json)
{
	int64_t verdict = json_number(json, "healthy");
	bool is_known = verdict == WIRE_HEALTHY || verdict == WIRE_UNHEALTHY;
	*h = (struct health){.verdict = is_known ? (uint8_t)verdict : WIRE_HEALTH_UNSAID,
		.deadline_ns = json_number(json, "health_deadline")};
}

static struct alloc_run *load_alloc(const struct loader *l, const struct uuid *id,
	const json_t *json, char *message, uint32_t message_size)
{
	const json_t *tasks = json_object_get(json, "tasks"),
		     *described = json_object_get(json, "spec");
	if (json_number(json, "version") != STORE_VERSION) {
		snprintf(message, message_size, "it is of another version of the agent");
		return NULL;
	}
	snprintf(message, message_size, "it does not say what its tasks are");
	if (!json_is_object(described))
		return NULL;
	char *text = spec_dump(described);
	struct alloc_spec *spec = alloc_spec_read(text, strlen(text), id, message, message_size);
	free(text);
	if (!spec || json_array_size(tasks) != spec->task_count) {
		alloc_spec_free(spec);
		return NULL;
	}
	struct alloc_run *a =
		alloc_run_create(id, (uint64_t)json_number(json, "job_index"), spec, l->drivers);
	a->version = (uint64_t)json_number(json, "spec_version");
	load_health(&a->health, json);
	a->is_unwanted = json_flag(json, "is_unwanted");
	for (uint32_t i = 0; i < a->task_count; i++)
		load_task(&a->tasks[i], json_array_get(tasks, i));
	return a;
}

// What cannot be read is no allocation that is lost, nor is a process that cannot be looked at over: the task may run,
// and would be started once more.
static json_t *read_json(const char *path, int *error)
{
	FILE *file = FAILPOINT(ALLOC_LOAD) ? NULL : fopen(path, "re");
	json_t *json = file ? json_loadf(file, 0, NULL) : NULL;

	*error = !file ? -errno : ferror(file) ? -EIO : 0;
	if (file)
		fclose(file);
	return json;
}

static int load_file(const struct loader *l, const char *folder, const char *name, char *refusal,
	uint32_t refusal_size)
{
	char path[600], id_text[UUID_TEXT_BYTES], message[300] = "it is not JSON", quoted[400];
	struct uuid id;
	struct alloc_run *a = NULL;
	int error;
	snprintf(id_text, sizeof id_text, "%.36s", name);
	if (strlen(name) != 41 || strcmp(name + 36, ".json") != 0 || !uuid_parse(id_text, &id))
		return 0;
	snprintf(path, sizeof path, "%s/%s", folder, name);
	json_t *json = read_json(path, &error);
	if (json)
		a = load_alloc(l, &id, json, message, sizeof message);
	if (a)
		error = attach_tasks(l->place, a, json);
	json_decref(json);
	if (error)
		snprintf(refusal, refusal_size, "cannot read %.200s, or look at its processes: %s",
			path, strerror(-error));
	if (a && error)
		alloc_run_free(a);
	else if (a)
		l->found(l->context, a);
	else if (!error)
		log_error("allocation-not-restored", "id=%s error=%s", id_text,
			log_quote(message, quoted, sizeof quoted));
	return error;
}

int alloc_store_load(const struct alloc_place *place, const struct driver *const *drivers,
	void (*found)(void *context, struct alloc_run *), void *context, char *message,
	uint32_t message_size)
{
	const struct loader loader = {place, drivers, found, context};
	char folder[400];
	int error = know_boot();
	if (error) {
		snprintf(message, message_size, "cannot read the id of this machine's boot: %s",
			strerror(-error));
		return error;
	}
	snprintf(folder, sizeof folder, "%.300s/allocs", place->state_folder);
	if (CAN_FAIL(ALLOC_MKDIR, mkdir(folder, 0700)) < 0 && errno != EEXIST) {
		error = -errno;
		snprintf(message, message_size, "cannot make %s: %s", folder, strerror(-error));
		return error;
	}
	DIR *listing = FAILPOINT(ALLOC_LIST) ? NULL : opendir(folder);
	int unlisted = listing ? 0 : -errno;
	const struct dirent *entry;
	while (listing && !error && (entry = LISTING_NEXT(ALLOC_NEXT, listing, &unlisted)) != NULL)
		error = load_file(&loader, folder, entry->d_name, message, message_size);
	if (listing)
		closedir(listing);
	// The tasks of one that is not found would run on, and be started once more.
	if (unlisted)
		snprintf(message, message_size, "cannot read %s: %s", folder, strerror(-unlisted));
	return unlisted ? unlisted : error;
}
