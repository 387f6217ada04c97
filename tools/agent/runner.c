#include "tools/agent/runner.h"
#include "state/base/error.h"
#include "state/base/log.h"
#include "state/base/memory.h"
#include "tools/agent/drivers.h"
#include "tools/agent/task/alloc_store.h"
#include "tools/agent/vm/kept_console.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#define EVENTS_AT_ONCE 32

static int save_alloc(void *context, struct alloc_run *a)
{
	const struct runner *r = context;
	return alloc_store_save_for_good(r->settings.state_folder, a);
}

static struct alloc_place place_of(struct runner *r)
{
	return (struct alloc_place){.data_folder = r->settings.data_folder,
		.state_folder = r->settings.state_folder,
		.node = &r->node,
		.machines = &r->settings.machines,
		.now_ns = r->epoch_ns + (int64_t)time_monotonic_ns(r->settings.time),
		.prng = &r->prng,
		.save = save_alloc,
		.save_context = r,
		.preparation = r->preparations ? preparations_of_tasks(r->preparations) : NULL,
		.confine = r->settings.confine};
}

static void link_alloc(void *context, struct alloc_run *a)
{
	struct runner *r = context;
	a->next = r->allocs;
	r->allocs = a;
	r->count++;
}

static bool open_preparations(struct runner *r, char *message, uint32_t message_size)
{
	struct epoll_event event = {.events = EPOLLIN};

	if (!r->settings.prepare.helper)
		return true;
	r->preparations = preparations_open(&r->settings.prepare, message, message_size);
	if (!r->preparations)
		return false;
	if (epoll_ctl(r->epoll_fd, EPOLL_CTL_ADD, preparations_fd(r->preparations), &event) == 0)
		return true;
	snprintf(message, message_size, "epoll: %m");
	return false;
}

int runner_open(struct runner *r, const struct runner_settings *settings, char *message,
	uint32_t message_size)
{
	*r = (struct runner){.settings = *settings, .contact = {.fd = -1}, .epoll_fd = -1};
	prng_seed(&r->prng, settings->seed);
	r->epoch_ns = (int64_t)(time_wall_ns(settings->time) - time_monotonic_ns(settings->time));
	r->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (r->epoll_fd < 0) {
		snprintf(message, message_size, "epoll: %m");
		return -EMFILE;
	}
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL};
	r->checks = checks_open();
	if (!r->checks || epoll_ctl(r->epoll_fd, EPOLL_CTL_ADD, checks_fd(r->checks), &event) < 0) {
		snprintf(message, message_size, "the checks of services cannot be watched: %m");
		return -EMFILE;
	}
	if (!open_preparations(r, message, message_size))
		return -EMFILE;
	contact_open(&r->contact, settings->state_folder, place_of(r).now_ns);
	struct alloc_place place = {.data_folder = settings->data_folder,
		.state_folder = settings->state_folder,
		.now_ns = place_of(r).now_ns,
		.prng = &r->prng,
		.confine = settings->confine};
	return alloc_store_load(&place, agent_drivers, link_alloc, r, message, message_size);
}

void runner_close(struct runner *r)
{
	while (r->allocs) {
		struct alloc_run *a = r->allocs;
		r->allocs = a->next;
		if (a->is_unsaved)
			(void)alloc_store_save(r->settings.state_folder, a);
		checks_let_go(a);
		alloc_run_free(a);
	}
	if (r->checks)
		checks_close(r->checks);
	r->checks = NULL;
	preparations_close(r->preparations);
	r->preparations = NULL;
	contact_close(&r->contact);
	if (r->epoll_fd > 0)
		close(r->epoll_fd);
	r->epoll_fd = -1;
}

void runner_know_node(struct runner *r, const struct node_facts *node)
{
	r->node = *node;
}

struct alloc_run *runner_find(struct runner *r, const struct uuid *id)
{
	struct alloc_run *a = r->allocs;
	while (a && !uuid_equal(&a->id, id))
		a = a->next;
	return a;
}

static struct alloc_run *add_alloc(struct runner *r, struct alloc_run *a)
{
	for (uint32_t i = 0; i < a->task_count && r->settings.no_raw_exec; i++)
		if (a->tasks[i].driver == &driver_raw_exec)
			a->tasks[i].driver = NULL;
	link_alloc(r, a);
	return a;
}

static int64_t stop_after_ns(const struct alloc_run *a)
{
	return a->spec && !a->is_unwanted ? a->spec->stop_after_disconnect_ns : 0;
}

// Stores when the controller was heard, if an allocation may have to stop without it.
static void keep_contact(const struct runner *r)
{
	bool matters = false;
	for (const struct alloc_run *a = r->allocs; a && !matters; a = a->next)
		matters = stop_after_ns(a) > 0;
	int error = matters ? contact_keep(&r->contact) : 0;
	if (error)
		log_error("contact-not-kept", "error=\"%s\"", error_text(error));
}

static void revise_alloc(struct runner *r, struct alloc_run *a, struct alloc_spec *spec)
{
	char text[UUID_TEXT_BYTES];
	if (alloc_run_revise(a, spec, place_of(r).now_ns))
		log_info("allocation-revised", "id=%s", uuid_format(&a->id, text));
	else
		log_error("allocation-has-other-tasks", "id=%s", uuid_format(&a->id, text));
}

void runner_add(struct runner *r, const struct uuid *id, uint64_t job_index, uint64_t version,
	struct alloc_spec *spec)
{
	char text[UUID_TEXT_BYTES];
	struct alloc_place place = place_of(r);
	struct alloc_run *a = runner_find(r, id);
	if (a) {
		a->version = version;
		revise_alloc(r, a, spec);
		keep_contact(r);
		return;
	}
	a = add_alloc(r, alloc_run_create(id, job_index, spec, agent_drivers));
	a->version = version;
	health_watch(&a->health, spec, place.now_ns);
	keep_contact(r);
	int error = alloc_run_make_folders(a, &place);
	log_info("allocation", "id=%s name=%s tasks=%u", uuid_format(id, text), spec->name,
		a->task_count);
	for (uint32_t i = 0; i < a->task_count; i++) {
		struct task *t = &a->tasks[i];
		task_note(t, place.now_ns, 0, "Received", "Task received by client");
		task_note(t, place.now_ns, 0, "Task Setup", "Building Task Directory");
		if (!error)
			continue;
		task_note(t, place.now_ns, 0, "Setup Failure",
			"failed to make the task's folders: %s", strerror(-error));
		t->phase = PHASE_ENDED;
		t->failed = true;
		t->is_nodes_fault = !task_error_is_its_own(error);
	}
}

struct alloc_run *runner_add_ended(struct runner *r, const struct uuid *id, bool failed)
{
	struct alloc_run *a = add_alloc(r, alloc_run_create(id, 0, NULL, agent_drivers));
	a->is_unwanted = true;
	a->status = failed ? WIRE_CLIENT_FAILED : WIRE_CLIENT_COMPLETE;
	a->is_unsaved = false;
	return a;
}

void runner_stop(struct runner *r, struct alloc_run *a)
{
	(void)r;
	if (a->is_unwanted)
		return;
	a->is_unwanted = true;
	a->is_unsaved = true;
}

void runner_forget(struct runner *r, struct alloc_run *a)
{
	runner_stop(r, a);
	a->is_forgotten = true;
	if (a->is_machine)
		alloc_run_hurry(a, place_of(r).now_ns);
}

void runner_forget_machines(struct runner *r)
{
	for (struct alloc_run *a = r->allocs; a; a = a->next)
		if (a->is_machine)
			runner_forget(r, a);
}

void runner_report_all(struct runner *r)
{
	for (struct alloc_run *a = r->allocs; a; a = a->next)
		a->change++;
}

void runner_reconnect(struct runner *r, struct alloc_run *a)
{
	int64_t now_ns = place_of(r).now_ns;
	for (uint32_t i = 0; i < a->task_count; i++)
		task_note(&a->tasks[i], now_ns, 0, "Reconnected", "Client reconnected");
	a->change++;
	a->is_unsaved = true;
}

void runner_heard(struct runner *r)
{
	contact_heard(&r->contact, place_of(r).now_ns);
	keep_contact(r);
}

void runner_stop_all(struct runner *r)
{
	for (struct alloc_run *a = r->allocs; a; a = a->next)
		runner_stop(r, a);
}

bool runner_is_idle(const struct runner *r)
{
	for (const struct alloc_run *a = r->allocs; a; a = a->next)
		if (!alloc_run_is_over(a))
			return false;
	return true;
}

static void watch_processes(struct runner *r, struct alloc_run *a)
{
	for (uint32_t i = 0; i < a->task_count; i++) {
		struct task *t = &a->tasks[i];
		struct epoll_event event = {.events = EPOLLIN, .data.ptr = t};
		if (t->process.fd >= 0 &&
			epoll_ctl(r->epoll_fd, EPOLL_CTL_ADD, t->process.fd, &event) < 0 &&
			errno != EEXIST)
			log_error("process-not-watched", "error=\"%s\"", error_text(-errno));
	}
}

static struct alloc_run *alloc_of(struct runner *r, const struct task *t)
{
	for (struct alloc_run *a = r->allocs; a; a = a->next)
		if (t >= a->tasks && t < a->tasks + a->task_count)
			return a;
	return NULL;
}

static void take_ends(struct runner *r, const struct alloc_place *place)
{
	struct epoll_event events[EVENTS_AT_ONCE];
	int count = epoll_wait(r->epoll_fd, events, EVENTS_AT_ONCE, 0);
	for (int i = 0; i < count; i++) {
		struct task *t = events[i].data.ptr;
		struct alloc_run *a = alloc_of(r, t);
		if (a && t->process.fd >= 0)
			alloc_run_process_ended(a, t, place);
	}
}

static void drop_forgotten(struct runner *r)
{
	struct alloc_run **link = &r->allocs;
	while (*link) {
		struct alloc_run *a = *link;
		bool is_done =
			alloc_run_is_over(a) &&
			(a->is_forgotten || (!a->spec && !a->is_machine && !alloc_run_has_news(a)));
		if (!is_done) {
			link = &a->next;
			continue;
		}
		*link = a->next;
		r->count--;
		if (a->is_machine && a->spec)
			kept_console_put(r->settings.data_folder,
				json_object_get(a->spec->root, "Machine"), &a->id);
		alloc_run_remove_folders(&a->id, r->settings.data_folder);
		alloc_store_remove(r->settings.state_folder, a);
		checks_let_go(a);
		alloc_run_free(a);
	}
}

static void take_sooner(int64_t *due_ns, int64_t own_ns)
{
	if (own_ns && (!*due_ns || own_ns < *due_ns))
		*due_ns = own_ns;
}

// Stops an allocation that may not run on without the controller. Returns when that is due; 0: never.
static int64_t stop_if_alone(struct runner *r, struct alloc_run *a, int64_t now_ns)
{
	char text[UUID_TEXT_BYTES];
	if (stop_after_ns(a) == 0)
		return 0;
	int64_t lost_ns = contact_lost_ns(&r->contact, stop_after_ns(a));
	if (now_ns <= lost_ns)
		return lost_ns + 1;
	log_warn("stopped-without-controller", "id=%s", uuid_format(&a->id, text));
	runner_stop(r, a);
	return 0;
}

static void step_alloc(
	struct runner *r, struct alloc_run *a, const struct alloc_place *place, int64_t *due_ns)
{
	take_sooner(due_ns, stop_if_alone(r, a, place->now_ns));
	alloc_run_step(a, place);
	if (checks_follow(r->checks, a, place))
		alloc_run_step(a, place);
	watch_processes(r, a);
	if (a->is_unsaved && a->spec)
		(void)alloc_store_save(r->settings.state_folder, a); // else again at the next step
	take_sooner(due_ns, alloc_run_due_ns(a));
	take_sooner(due_ns, checks_due_ns(r->checks, a));
}

// Steps machines that the controller has forgotten: their resources are free only once they have ended. Returns whether
// one has not ended.
static bool step_leaving_machines(
	struct runner *r, const struct alloc_place *place, int64_t *due_ns)
{
	bool is_left = false;
	for (struct alloc_run *a = r->allocs; a; a = a->next) {
		if (!a->is_machine || !a->is_forgotten)
			continue;
		step_alloc(r, a, place, due_ns);
		is_left |= !alloc_run_is_over(a);
	}
	return is_left;
}

static bool is_fresh_machine(const struct alloc_run *a)
{
	return a->is_machine && a->spec && !a->is_unwanted && a->tasks[0].phase == PHASE_WAITING;
}

uint64_t runner_step(struct runner *r)
{
	struct alloc_place place = place_of(r);
	int64_t due = 0;
	take_ends(r, &place);
	checks_step(r->checks, place.now_ns);
	if (r->preparations)
		preparations_step(r->preparations);
	bool is_leaving = step_leaving_machines(r, &place, &due);
	for (struct alloc_run *a = r->allocs; a; a = a->next)
		if (!(a->is_machine && a->is_forgotten) && !(is_leaving && is_fresh_machine(a)))
			step_alloc(r, a, &place, &due);
	drop_forgotten(r);
	if (!due)
		return UINT64_MAX;
	return due > r->epoch_ns ? (uint64_t)(due - r->epoch_ns) : 0;
}
