// A task's artifacts, one after the other, each by a helper.
#include "state/base/time_units.h"
#include "tools/agent/prepare/prepare_inner.h"
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

// A helper ends by itself in its time; one that does not is killed.
#define GRACE_S 10

static enum preparedness fetch_failed(const struct prepare_stage *s, bool may_help, const char *why)
{
	s->p->has_told = false;
	s->news->may_help = may_help;
	stage_note(s, "Failed Artifact Download", "failed to download artifact \"%.60s\": %s",
		s->p->source, why);
	return PREPARING_ENDS;
}

static enum preparedness begin_fetch(const struct prepare_stage *s, const struct artifact *a)
{
	struct prepared_task *p = s->p;
	struct epoll_event event = {.events = EPOLLIN};
	char message[200];
	int folder = inner_open(s->start->folders);

	if (folder < 0)
		return fetch_failed(s, true, strerror(-folder));
	int error = helper_start(&p->helper, p->all->program, &a->request, folder,
		s->task->spec->user, message, sizeof message);
	close(folder);
	if (error)
		return fetch_failed(s, !task_error_is_its_own(error), message);
	p->helper.deadline_ns =
		s->start->now_ns + ((int64_t)a->request.timeout_s + GRACE_S) * NS_PER_S;
	if (epoll_ctl(p->all->epoll_fd, EPOLL_CTL_ADD, p->helper.fd, &event) < 0) {
		helper_stop(&p->helper);
		return fetch_failed(s, true, "it cannot be watched");
	}
	stage_wake(s, p->helper.deadline_ns);
	return PREPARING;
}

static enum preparedness fetch_next(const struct prepare_stage *s)
{
	struct environment e;
	struct artifact a = {0};
	char message[300];
	enum preparedness now;

	if (!s->p->has_told)
		stage_note(s, "Downloading Artifacts", "Client is downloading artifacts");
	s->p->has_told = true;
	bool good = environment_build(&e, s->start->node, s->start->alloc, s->task->spec,
			    s->start->folders, message, sizeof message) &&
		    artifact_read(&a, s->p->fetched, s->task->spec, &e, s->start->node,
			    s->start->folders, &s->p->all->limits, message, sizeof message);
	snprintf(s->p->source, sizeof s->p->source, "%s", a.source ? a.source : "");
	now = good ? begin_fetch(s, &a) : fetch_failed(s, false, message);
	artifact_free(&a);
	environment_free(&e);
	return now;
}

enum preparedness fetch_artifacts(const struct prepare_stage *s)
{
	struct prepared_task *p = s->p;
	struct fetch_result result;

	while (!s->task->has_artifacts) {
		if (p->helper.pid == 0 && p->fetched == artifact_count(s->task->spec)) {
			s->task->has_artifacts = true;
			s->news->has_noted |= p->fetched > 0; // that is stored
			break;
		}
		if (p->helper.pid == 0) {
			enum preparedness now = fetch_next(s);
			if (now == PREPARING_ENDS)
				return now;
		}
		if (helper_ended(&p->helper, &result)) {
			if (!result.is_done)
				return fetch_failed(s, result.may_help, result.message);
			p->fetched++;
		} else if (s->start->now_ns >= p->helper.deadline_ns) {
			helper_stop(&p->helper);
			return fetch_failed(s, true, "it took too long");
		} else {
			stage_wake(s, p->helper.deadline_ns);
			return PREPARING;
		}
	}
	return PREPARED;
}
