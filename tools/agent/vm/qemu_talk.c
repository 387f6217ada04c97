// A talk with a machine that is told to end, a step each time it has answered:
//
//	greeting → capabilities → system_powerdown
//	                        → query-migrate ─none──────→ stop → parameters → file → migrate ─┐
//	                              ↑     └───completed─→ put aside → quit                      │
//	                              └─────────────────────────under way────────────────────────┘
//
// The machine's answers decide the next step, so that the next agent goes on where one left off.
#include "tools/agent/vm/qemu_talk.h"
#include "state/base/error.h"
#include "state/base/log.h"
#include "state/base/memory.h"
#include "state/base/time_units.h"
#include "tools/agent/vm/machine.h"
#include "tools/agent/vm/qmp.h"
#include "tools/agent/vm/vm_image.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define POLL_NS (50 * NS_PER_MS)
#define STATE_FD_NAME "state"
// No limit: as fast as the file takes it.
#define BYTES_PER_S_MAX (1ll << 42)

enum step {
	STEP_GREETING,
	STEP_CAPABILITIES,
	STEP_ASKED,
	STEP_STOPPED,
	STEP_PARAMETERS,
	STEP_FILE,
	STEP_BEGUN,
	STEP_WAITING, // for the next question
	STEP_LAST,    // there is nothing more to say
};

struct talk {
	struct qmp *qmp;
	enum step step;
	bool has_news; // the task has a new note
};

void qemu_talk_forget(struct task *t)
{
	if (!t->talk)
		return;
	qmp_close(t->talk->qmp);
	free(t->talk);
	t->talk = NULL;
}

static bool is_to_be_suspended(const struct task *t)
{
	return strcmp(t->spec->kill_signal, MACHINE_SUSPEND_SIGNAL) == 0;
}

static bool say_command(struct task *t, enum step next, json_t *command, int fd)
{
	t->talk->step = next;
	return qmp_send(t->talk->qmp, command, fd);
}

static bool say_word(struct task *t, enum step next, const char *word)
{
	return say_command(t, next, json_pack("{s:s}", "execute", word), -1);
}

// An unfinished suspension has a name of its own.
static void folders_of(
	const struct task_start *start, char whole[static 600], char part[static 620])
{
	char name[200];
	vm_suspended_name(json_object_get(start->alloc->root, "Machine"), name);
	vm_suspended_folder(start->data_folder, name, whole);
	snprintf(part, 620, "%s.part", whole);
}

static void remove_part(const char *folder)
{
	static const char *const files[] = {SUSPENDED_STATE, SUSPENDED_DISK, SUSPENDED_MACHINE};
	char path[700];
	for (uint32_t i = 0; i < sizeof files / sizeof files[0]; i++) {
		snprintf(path, sizeof path, "%s/%s", folder, files[i]);
		unlink(path);
	}
	rmdir(folder);
}

static int make_part(const struct task_start *start, char part[static 620])
{
	char all[600], whole[600];
	vm_suspended_folder(start->data_folder, "", all);
	folders_of(start, whole, part);
	remove_part(part);
	if (mkdir(all, 0711) < 0 && errno != EEXIST)
		return -errno;
	return mkdir(part, 0711) < 0 ? -errno : 0;
}

// Opens the file for the memory. Returns its descriptor, or -errno.
static int open_state(struct task *t, const struct task_start *start)
{
	char part[620], path[700];
	struct vm_image image;
	char message[300];
	const json_t *machine = json_object_get(start->alloc->root, "Machine");
	struct vm_shape shape = vm_shape_of(machine, start->machines);
	int error = make_part(start, part);
	if (!error)
		error = vm_image_find(&image, spec_text(t->spec->config, "image"),
			start->machines->images, start->data_folder, &shape, message,
			sizeof message);
	if (!error)
		error = vm_image_describe(part, image.origin, &shape);
	if (error)
		return error;
	snprintf(path, sizeof path, "%s/%s", part, SUSPENDED_STATE);
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	return fd < 0 ? -errno : fd;
}

static int sync_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int error = fd < 0 || fsync(fd) < 0 ? -errno : 0;
	if (fd >= 0)
		close(fd);
	return error;
}

// The machine is paused and has written its memory.
static int put_aside(const struct task_start *start)
{
	char whole[600], part[620], disk[700], path[700];
	folders_of(start, whole, part);
	snprintf(path, sizeof path, "%s/%s", part, SUSPENDED_STATE);
	int error = sync_file(path);
	snprintf(disk, sizeof disk, "%s/%s", start->folders->secrets, SUSPENDED_DISK);
	snprintf(path, sizeof path, "%s/%s", part, SUSPENDED_DISK);
	if (!error && link(disk, path) < 0 && errno != ENOENT && errno != EEXIST)
		error = -errno;
	if (!error && access(path, F_OK) == 0)
		error = sync_file(path);
	if (!error && rename(part, whole) < 0)
		error = -errno;
	return error;
}

static bool is_noted(const struct task *t, const char *type)
{
	for (uint32_t i = 0; i < t->note_count; i++)
		if (strcmp(t->notes[i].type, type) == 0)
			return true;
	return false;
}

// By a talk that broke off then, or of a former agent, which may have told nobody.
static bool is_put_aside(const struct task_start *start)
{
	char whole[600], part[620];
	folders_of(start, whole, part);
	return access(part, F_OK) < 0 && access(whole, F_OK) == 0;
}

static bool give_up(struct task *t, const struct task_start *start, const char *why)
{
	char whole[600], part[620];
	folders_of(start, whole, part);
	remove_part(part);
	task_note(t, start->now_ns, 0, "Driver Failure", "VM could not be suspended: %s", why);
	t->talk->has_news = true;
	return say_word(t, STEP_LAST, "quit");
}

static bool begin_file(struct task *t, const struct task_start *start)
{
	int fd = open_state(t, start);
	if (fd < 0)
		return give_up(t, start, error_text(fd));
	bool is_said = say_command(t, STEP_FILE,
		json_pack(
			"{s:s s:{s:s}}", "execute", "getfd", "arguments", "fdname", STATE_FD_NAME),
		fd);
	close(fd);
	return is_said;
}

static bool look_at_state(struct task *t, const struct task_start *start, const json_t *said)
{
	const char *status = spec_text(said, "status");
	bool is_completed = strcmp(status, "completed") == 0;
	// A resumed machine reports how it was loaded. Only a report with "ram" tells how it was saved.
	if (!*status || (is_completed && !json_object_get(said, "ram")))
		return say_word(t, STEP_STOPPED, "stop");
	if (strcmp(status, "failed") == 0 || strcmp(status, "cancelled") == 0) {
		const char *why = spec_text(said, "error-desc");
		return give_up(t, start, *why ? why : status);
	}
	if (!is_completed) {
		t->talk->step = STEP_WAITING;
		return true;
	}
	int error = is_put_aside(start) ? 0 : put_aside(start);
	if (error)
		return give_up(t, start, error_text(error));
	if (!is_noted(t, "Suspended"))
		task_note(t, start->now_ns, 0, "Suspended", "VM was suspended");
	t->talk->has_news = true;
	return say_word(t, STEP_LAST, "quit");
}

static bool say_parameters(struct task *t)
{
	return say_command(t, STEP_PARAMETERS,
		json_pack("{s:s s:{s:I}}", "execute", "migrate-set-parameters", "arguments",
			"max-bandwidth", (json_int_t)BYTES_PER_S_MAX),
		-1);
}

static bool say_migrate(struct task *t)
{
	return say_command(t, STEP_BEGUN,
		json_pack("{s:s s:{s:s}}", "execute", "migrate", "arguments", "uri",
			"fd:" STATE_FD_NAME),
		-1);
}

// Handles one answer. False: the talk breaks off.
static bool take_answer(struct task *t, const struct task_start *start, const json_t *answer)
{
	const json_t *error = json_object_get(answer, "error");
	if (error && is_to_be_suspended(t) && t->talk->step != STEP_LAST)
		return give_up(t, start, spec_text(error, "desc"));
	switch (t->talk->step) {
	case STEP_GREETING: return say_word(t, STEP_CAPABILITIES, "qmp_capabilities");
	case STEP_CAPABILITIES:
		if (is_to_be_suspended(t))
			return say_word(t, STEP_ASKED, "query-migrate");
		return say_word(t, STEP_LAST, "system_powerdown");
	case STEP_ASKED: return look_at_state(t, start, json_object_get(answer, "return"));
	case STEP_STOPPED: return say_parameters(t);
	case STEP_PARAMETERS: return begin_file(t, start);
	case STEP_FILE: return say_migrate(t);
	case STEP_BEGUN: t->talk->step = STEP_WAITING; return true;
	case STEP_WAITING:
	case STEP_LAST: return true;
	}
	return true;
}

// Handles the answers that have come. False: the machine is gone, or the talk breaks off.
static bool listen_to(struct task *t, const struct task_start *start)
{
	bool is_over, goes_on = true;
	json_t *answer;
	while (goes_on && (answer = qmp_receive(t->talk->qmp, &is_over)) != NULL) {
		goes_on = take_answer(t, start, answer);
		json_decref(answer);
	}
	return goes_on && !is_over;
}

static bool meet_monitor(struct task *t, const struct task_start *start)
{
	struct qmp *qmp = qmp_open(start->folders->secrets);
	if (!qmp)
		return false;
	t->talk = memory_take(sizeof *t->talk);
	t->talk->qmp = qmp;
	return true;
}

// Starts writing the memory file to disk early, so that nobody waits for all of it in the end.
static bool ask_again(struct task *t, const struct task_start *start)
{
	char whole[600], part[620], path[700];
	folders_of(start, whole, part);
	snprintf(path, sizeof path, "%s/%s", part, SUSPENDED_STATE);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		(void)sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE); // fsync() reports errors
		close(fd);
	}
	return say_word(t, STEP_ASKED, "query-migrate");
}

// Nobody waits for a machine that does not answer: its time to end runs out.
bool qemu_talk_turn(struct task *t, const struct task_start *start)
{
	if (t->phase != PHASE_STOPPING) {
		t->poll_ns = 0;
		return false;
	}
	t->poll_ns = start->now_ns + POLL_NS;
	if (!t->talk && !meet_monitor(t, start))
		return false;
	bool goes_on =
		(t->talk->step != STEP_WAITING || ask_again(t, start)) && listen_to(t, start);
	bool has_news = t->talk->has_news;
	t->talk->has_news = false;
	if (t->talk->step == STEP_LAST)
		t->poll_ns = 0;
	if (!goes_on)
		qemu_talk_forget(t);
	return has_news;
}
