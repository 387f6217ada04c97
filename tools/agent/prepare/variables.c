#include "tools/agent/prepare/variables.h"
#include "state/base/memory.h"
#include "state/base/time_source.h"
#include "state/base/time_units.h"
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define WAIT "5m"
#define WAIT_MS (5u * 60 * 1000)
#define SLACK_MS 30000u // of an answer behind its wait
// Between two questions of one watch, when the first failed or came back at once with nothing new.
#define PAUSE_LEAST_MS 500u
#define PAUSE_MOST_MS 60000u
#define STACK_BYTES (512u * 1024)

struct variable_watch {
	struct variables *all;
	struct variable_watch *next;
	struct uuid allocation;
	char *task, *target;
	int stop_fd;
	pthread_t thread;
	bool is_stopped; // the thread has ended, and was waited for
	// Main thread alone.
	json_t *value;
	enum template_found found;
	char trouble[160];
	uint64_t changes;
	// Both, under the lock of all: what the thread brought and nobody took yet.
	json_t *fresh;
	enum template_found fresh_found;
	char fresh_trouble[160];
	bool is_fresh;
};

struct variables {
	struct variable_source source;
	bool has_source;
	int wake_fd;
	pthread_mutex_t lock;
	uint32_t count;
	struct variable_watch *watches;
	struct variable_watch *leaving; // their threads end
};

static void bring(
	struct variable_watch *w, enum template_found found, json_t *value, const char *trouble)
{
	uint64_t one = 1;

	pthread_mutex_lock(&w->all->lock);
	json_decref(w->fresh);
	w->fresh = value;
	w->fresh_found = found;
	snprintf(w->fresh_trouble, sizeof w->fresh_trouble, "%s", trouble);
	w->is_fresh = true;
	pthread_mutex_unlock(&w->all->lock);
	while (write(w->all->wake_fd, &one, sizeof one) < 0 && errno == EINTR)
		;
}

// False: the watch ends.
static bool pause_ms(const struct variable_watch *w, uint32_t ms)
{
	struct pollfd polled = {.fd = w->stop_fd, .events = POLLIN};
	return poll(&polled, 1, (int)ms) <= 0; // a signal only makes it shorter
}

static void take_answer_of(struct variable_watch *w, const struct variable_answer *answer)
{
	char trouble[160];
	json_t *value = answer->status == 200 ? json_loads(answer->body, 0, NULL) : NULL;

	if (value) {
		bring(w, TEMPLATE_FOUND, value, "");
	} else if (answer->status == 404) {
		bring(w, TEMPLATE_ABSENT, NULL, "");
	} else {
		snprintf(trouble, sizeof trouble, "the controller answered %u: %.100s",
			answer->status, answer->body ? answer->body : "");
		bring(w, TEMPLATE_UNKNOWN, NULL, trouble);
	}
}

// One question, which waits for another index than *index. Returns whether it was answered well.
static bool ask_once(struct variable_watch *w, uint64_t *index)
{
	struct variable_answer answer = {0};
	char target[700], message[160];
	uint64_t known = *index;

	snprintf(target, sizeof target, known ? "%.500s&index=%llu&wait=" WAIT : "%.500s",
		w->target, (unsigned long long)known);
	struct variable_question question = {.target = target,
		.allocation = w->allocation,
		.task = w->task,
		.timeout_ms = known ? WAIT_MS + SLACK_MS : SLACK_MS,
		.stop_fd = w->stop_fd};
	int error = w->all->source.ask(
		w->all->source.context, &question, &answer, message, sizeof message);
	if (error == -ECANCELED)
		return false;
	if (error) {
		// What is known stays known while the controller cannot be reached.
		if (!known)
			bring(w, TEMPLATE_UNKNOWN, NULL, message);
		return false;
	}
	bool good = answer.status == 200 || answer.status == 404;
	*index = !good ? 0 : answer.index ? answer.index : 1;
	if (!known || answer.index != known)
		take_answer_of(w, &answer);
	free(answer.body);
	return good;
}

static void *watch_variable(void *context)
{
	struct variable_watch *w = context;
	uint64_t index = 0;
	uint32_t pause = PAUSE_LEAST_MS;
	bool goes_on = true;

	while (goes_on) {
		uint64_t began_ns = time_monotonic_ns(&time_source_real), known = index;
		bool good = ask_once(w, &index);
		bool too_soon = known && index == known &&
				time_monotonic_ns(&time_source_real) - began_ns < NS_PER_S;
		pause = good ? PAUSE_LEAST_MS : pause;
		goes_on = pause_ms(w, good && !too_soon ? 0 : pause);
		if (!good && pause < PAUSE_MOST_MS)
			pause *= 2;
	}
	return NULL;
}

struct variables *variables_open(const struct variable_source *source, int wake_fd)
{
	struct variables *v = memory_take(sizeof *v);

	*v = (struct variables){.wake_fd = wake_fd, .has_source = source && source->ask};
	if (v->has_source)
		v->source = *source;
	pthread_mutex_init(&v->lock, NULL);
	return v;
}

static void free_watch(struct variable_watch *w)
{
	close(w->stop_fd);
	json_decref(w->value);
	json_decref(w->fresh);
	free(w->task);
	free(w->target);
	free(w);
}

static void tell_to_stop(const struct variable_watch *w)
{
	uint64_t one = 1;
	while (write(w->stop_fd, &one, sizeof one) < 0 && errno == EINTR)
		;
}

static void wait_for(struct variable_watch *list)
{
	for (struct variable_watch *w = list; w; w = w->next) {
		if (!w->is_stopped)
			pthread_join(w->thread, NULL);
		w->is_stopped = true;
	}
}

// Frees the watches that ended.
static void reap_watches(struct variables *v)
{
	for (struct variable_watch **link = &v->leaving; *link;) {
		struct variable_watch *w = *link;
		if (!w->is_stopped && pthread_tryjoin_np(w->thread, NULL) == EBUSY) {
			link = &w->next;
			continue;
		}
		*link = w->next;
		free_watch(w);
	}
}

void variables_stop(struct variables *v)
{
	if (!v)
		return;
	v->has_source = false;
	for (struct variable_watch *w = v->watches; w; w = w->next)
		tell_to_stop(w);
	wait_for(v->watches);
	wait_for(v->leaving);
}

void variables_close(struct variables *v)
{
	if (!v)
		return;
	variables_stop(v);
	while (v->watches)
		variables_leave(v, v->watches);
	reap_watches(v);
	pthread_mutex_destroy(&v->lock);
	free(v);
}

void variables_step(struct variables *v)
{
	pthread_mutex_lock(&v->lock);
	for (struct variable_watch *w = v->watches; w; w = w->next) {
		bool is_same = w->found == w->fresh_found && json_equal(w->value, w->fresh);
		if (!w->is_fresh)
			continue;
		w->is_fresh = false;
		w->changes +=
			w->found == TEMPLATE_UNKNOWN && strcmp(w->trouble, w->fresh_trouble) != 0;
		memcpy(w->trouble, w->fresh_trouble, sizeof w->trouble);
		bool keeps = w->fresh_found == TEMPLATE_UNKNOWN && w->found != TEMPLATE_UNKNOWN;
		if (is_same || keeps)
			continue;
		json_decref(w->value);
		w->value = w->fresh;
		w->found = w->fresh_found;
		w->fresh = NULL;
		w->changes++;
	}
	pthread_mutex_unlock(&v->lock);
	reap_watches(v);
}

static int begin_thread(struct variable_watch *w)
{
	pthread_attr_t attributes;
	int error = pthread_attr_init(&attributes);

	if (error)
		return error;
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	error = pthread_create(&w->thread, &attributes, watch_variable, w);
	pthread_attr_destroy(&attributes);
	return error;
}

struct variable_watch *variables_watch(struct variables *v, const struct uuid *allocation,
	const char *task, const char *target, char *message, uint32_t message_size)
{
	if (!v->has_source || v->count == VARIABLES_WATCHED_MAX) {
		snprintf(message, message_size,
			v->has_source ? "this node watches %u variables already"
				      : "this node cannot ask its controller for variables",
			VARIABLES_WATCHED_MAX);
		return NULL;
	}
	struct variable_watch *w = memory_take(sizeof *w);
	*w = (struct variable_watch){.all = v,
		.allocation = *allocation,
		.task = text_copy(text_of(task)),
		.target = text_copy(text_of(target)),
		.stop_fd = eventfd(0, EFD_CLOEXEC),
		.found = TEMPLATE_UNKNOWN};
	if (w->stop_fd < 0 || begin_thread(w) != 0) {
		snprintf(message, message_size, "a thread to watch a variable cannot be made");
		free_watch(w);
		return NULL;
	}
	w->next = v->watches;
	v->watches = w;
	v->count++;
	return w;
}

void variables_leave(struct variables *v, struct variable_watch *w)
{
	for (struct variable_watch **link = &v->watches; *link; link = &(*link)->next) {
		if (*link != w)
			continue;
		*link = w->next;
		v->count--;
		w->next = v->leaving;
		v->leaving = w;
		tell_to_stop(w);
		return;
	}
}

const char *variable_watch_target(const struct variable_watch *w)
{
	return w->target;
}

enum template_found variable_watch_now(
	const struct variable_watch *w, const json_t **value, const char **trouble)
{
	*value = w->value;
	*trouble = w->trouble;
	return w->found;
}

uint64_t variable_watch_changes(const struct variable_watch *w)
{
	return w->changes;
}
