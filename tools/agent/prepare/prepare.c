#include "tools/agent/prepare/prepare.h"
#include "state/base/memory.h"
#include "tools/agent/prepare/prepare_inner.h"
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

void stage_note(const struct prepare_stage *s, const char *type, const char *format, ...)
{
	char text[400];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	task_note(s->task, s->start->now_ns, 0, type, "%s", text);
	s->news->has_noted = true;
}

void stage_wake(const struct prepare_stage *s, int64_t due_ns)
{
	if (!s->task->prepare_ns || due_ns < s->task->prepare_ns)
		s->task->prepare_ns = due_ns;
}

static bool needs_something(const struct task_spec *spec)
{
	return json_array_size(json_object_get(spec->json, "Artifacts")) > 0 ||
	       json_array_size(json_object_get(spec->json, "Templates")) > 0;
}

static void forget_prepared(struct task *t)
{
	struct prepared_task *p = (struct prepared_task *)t->prepared;

	helper_stop(&p->helper);
	forget_templates(p);
	env_list_free(&p->environment);
	free(p->task);
	free(p->namespace_name);
	free(p);
	t->prepared = NULL;
	t->variables = NULL;
	t->prepare_ns = 0;
}

static struct prepare_stage stage_of(struct preparations *all, struct task *t,
	const struct task_start *start, struct preparation_news *news)
{
	struct prepared_task *p = (struct prepared_task *)t->prepared;

	if (!p) {
		p = memory_take(sizeof *p);
		*p = (struct prepared_task){.prepared = {forget_prepared},
			.all = all,
			.allocation = start->alloc->id,
			.task = text_copy(text_of(t->spec->name)),
			.namespace_name = text_copy(text_of(start->alloc->namespace_name)),
			.helper = HELPER_NONE};
		t->prepared = &p->prepared;
	}
	t->prepare_ns = 0;
	return (struct prepare_stage){p, t, start, news};
}

static enum preparedness advance_task(void *context, struct task *t, const struct task_start *start,
	struct preparation_news *news)
{
	if (!needs_something(t->spec))
		return PREPARED;
	struct prepare_stage s = stage_of(context, t, start, news);
	enum preparedness now = fetch_artifacts(&s);
	return now == PREPARED ? render_templates(&s) : now;
}

static void follow_prepared(void *context, struct task *t, const struct task_start *start,
	struct preparation_news *news)
{
	if (!needs_something(t->spec))
		return;
	struct prepare_stage s = stage_of(context, t, start, news);
	follow_templates(&s);
}

static int open_watch(struct preparations *all)
{
	struct epoll_event event = {.events = EPOLLIN};

	all->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	all->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (all->wake_fd < 0 || all->epoll_fd < 0 ||
		epoll_ctl(all->epoll_fd, EPOLL_CTL_ADD, all->wake_fd, &event) < 0)
		return -errno;
	return 0;
}

struct preparations *preparations_open(
	const struct prepare_settings *settings, char *message, uint32_t message_size)
{
	struct preparations *all = memory_take(sizeof *all);

	*all = (struct preparations){.limits = settings->limits,
		.program = open(settings->helper, O_PATH | O_CLOEXEC),
		.wake_fd = -1,
		.epoll_fd = -1};
	all->seam = (struct preparation){advance_task, follow_prepared, all};
	prng_seed(&all->prng, settings->seed);
	if (all->program < 0 || open_watch(all) < 0) {
		snprintf(message, message_size, "what tasks need cannot be prepared: %s: %m",
			settings->helper);
		preparations_close(all);
		return NULL;
	}
	all->variables = variables_open(&settings->source, all->wake_fd);
	return all;
}

void preparations_close(struct preparations *all)
{
	if (!all)
		return;
	reap_scripts(all, true);
	variables_close(all->variables);
	for (int i = 0; i < 3; i++) {
		int fd = i == 0 ? all->program : i == 1 ? all->wake_fd : all->epoll_fd;
		if (fd >= 0)
			close(fd);
	}
	free(all);
}

void preparations_stop(struct preparations *all)
{
	if (all)
		variables_stop(all->variables);
}

int preparations_fd(const struct preparations *all)
{
	return all->epoll_fd;
}

void preparations_step(struct preparations *all)
{
	uint64_t count;

	while (read(all->wake_fd, &count, sizeof count) < 0 && errno == EINTR)
		;
	reap_scripts(all, false);
	variables_step(all->variables);
}

const struct preparation *preparations_of_tasks(const struct preparations *all)
{
	return &all->seam;
}
