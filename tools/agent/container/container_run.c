#include "tools/agent/container/container_run.h"
#include "state/base/memory.h"
#include "state/base/text.h"
#include "state/base/time_source.h"
#include "state/base/time_units.h"
#include "tools/agent/container/container_image.h"
#include "tools/agent/container/container_news.h"
#include "tools/agent/container/container_output.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define EXIT_NOT_RUN 125
#define RETRY_MS 1000
// A stream of output that goes on so long after the end of its container is given up.
#define LAST_OUTPUT_MS 5000
#define PATH_BYTES 1024u

struct run {
	struct container_job job;
	const char *name, *exit_path;
	CURLM *multi;
	struct engine_stream *wait, *logs;
	struct container_output output;
	int exit_code;
	bool is_over;
};

int container_signal_coded(int number)
{
	return number == SIGKILL ? SIGRTMIN : number == SIGSTOP ? SIGRTMIN + 1 : number;
}

int container_signal_decoded(int number)
{
	return number == SIGRTMIN ? SIGKILL : number == SIGRTMIN + 1 ? SIGSTOP : number;
}

bool container_run_is_meant(int argc, char **argv)
{
	return argc == 3 && strcmp(argv[1], CONTAINER_RUN) == 0;
}

__attribute__((format(printf, 5, 6))) static void ask_container(struct run *r, const char *method,
	const json_t *body, struct engine_reply *reply, const char *format, ...)
{
	struct engine steady = {.socket = r->job.engine.socket, .signal_fd = -1};
	char path[PATH_BYTES];
	va_list values;
	va_start(values, format);
	vsnprintf(path, sizeof path, format, values);
	va_end(values);
	struct engine_request request = {
		.method = method, .path = path, .body = body, .timeout_ms = ENGINE_TIMEOUT_MS};
	engine_ask(&steady, &request, reply);
}

static void remove_container(struct run *r)
{
	struct engine_reply reply;
	ask_container(r, "DELETE", NULL, &reply, "/containers/%s?force=true&v=true", r->name);
	engine_reply_free(&reply); // what it is not rid of is removed by the next run
}

// What an engine that answers cannot do will not be otherwise for another try, unless it is the engine's fault.
static bool tell_failure(const struct run *r, const struct engine_reply *reply, const char *what)
{
	enum container_news kind = reply->status == 0     ? NEWS_LOST
				   : reply->status >= 500 ? NEWS_FAILED
							  : NEWS_REFUSED;
	return container_news_tell(r->exit_path, kind, "%s: %s", what, reply->message) && false;
}

static bool create_container(struct run *r)
{
	struct engine_reply reply;
	remove_container(r); // of a former run that nobody ended
	ask_container(r, "POST", json_object_get(r->job.plan, "Create"), &reply,
		"/containers/create?name=%s", r->name);
	bool is_good =
		engine_is_good(&reply) || tell_failure(r, &reply, "Failed to create container");
	engine_reply_free(&reply);
	return is_good;
}

static bool start_container(struct run *r)
{
	struct engine_reply reply;
	ask_container(r, "POST", NULL, &reply, "/containers/%s/start", r->name);
	bool is_good =
		engine_is_good(&reply) || tell_failure(r, &reply, "Failed to start container");
	engine_reply_free(&reply);
	return is_good && container_news_tell(r->exit_path, NEWS_STARTED, "%s", r->name);
}

static struct engine_stream *open_stream(
	struct run *r, const char *method, const char *query, engine_sink *sink)
{
	char path[PATH_BYTES];
	snprintf(path, sizeof path, "/containers/%s/%s", r->name, query);
	struct engine_request request = {
		.method = method, .path = path, .sink = sink, .context = sink ? &r->output : NULL};
	return engine_stream_open(&r->job.engine, r->multi, &request);
}

static void follow_output(struct run *r)
{
	engine_stream_close(r->logs);
	container_output_begin(&r->output);
	r->logs = open_stream(r, "GET", "logs?follow=true&stdout=true&stderr=true&tail=all",
		container_output_take);
}

static void await_end(struct run *r)
{
	engine_stream_close(r->wait);
	r->wait = open_stream(r, "POST", "wait", NULL);
}

static void pass_signals_on(struct run *r)
{
	struct signalfd_siginfo info;
	while (read(r->job.engine.signal_fd, &info, sizeof info) == sizeof info) {
		int number = container_signal_decoded((int)info.ssi_signo);
		const char *name = sigabbrev_np(number);
		struct engine_reply reply;
		if (!name || number == SIGPIPE || number == SIGCHLD)
			continue;
		ask_container(
			r, "POST", NULL, &reply, "/containers/%s/kill?signal=SIG%s", r->name, name);
		engine_reply_free(&reply); // it may be over
	}
}

// What the engine knows of a container: whether it runs, and how it ended. An engine that does not answer, because it
// begins anew, is asked again: its containers may run on.
static void look_at_state(struct run *r)
{
	struct engine_reply reply;
	ask_container(r, "GET", NULL, &reply, "/containers/%s/json", r->name);
	const json_t *state = json_object_get(reply.body, "State");
	if (reply.status == 404) {
		r->is_over = true;
		r->exit_code = EXIT_NOT_RUN;
		container_news_tell(
			r->exit_path, NEWS_NOTE, "The container was removed by somebody else");
	} else if (engine_is_good(&reply) && state &&
		   !json_is_true(json_object_get(state, "Running")) &&
		   !json_is_true(json_object_get(state, "Paused"))) {
		r->is_over = true;
		r->exit_code = (int)json_integer_value(json_object_get(state, "ExitCode")) & 0xff;
		if (json_is_true(json_object_get(state, "OOMKilled")))
			container_news_tell(r->exit_path, NEWS_OOM, "OOM Killed");
	}
	engine_reply_free(&reply);
}

static uint64_t now_ms(void)
{
	return time_monotonic_ns(&time_source_real) / NS_PER_MS;
}

static void take_last_output(struct run *r)
{
	uint64_t end_ms = now_ms() + LAST_OUTPUT_MS;
	while (r->logs && !engine_stream_is_over(r->logs) && now_ms() < end_ms)
		engine_streams_step(r->multi, &(struct engine){.signal_fd = -1}, 100);
}

// Whether the engine stayed until the end, so that it sends the output up to it as well.
static bool was_told_of_end(const struct run *r)
{
	struct engine_reply reply = {0};
	if (r->wait)
		engine_stream_reply(r->wait, &reply);
	bool was_told = engine_is_good(&reply) && reply.body;
	engine_reply_free(&reply);
	return was_told;
}

static void follow_container(struct run *r)
{
	follow_output(r);
	await_end(r);
	while (!r->is_over) {
		engine_streams_step(r->multi, &r->job.engine, RETRY_MS);
		pass_signals_on(r);
		if (r->wait && !engine_stream_is_over(r->wait))
			continue;
		bool is_complete = was_told_of_end(r);
		look_at_state(r);
		if (!r->is_over)
			usleep(RETRY_MS * 1000);
		if (!r->is_over || !is_complete)
			follow_output(r);
		if (!r->is_over)
			await_end(r);
	}
	take_last_output(r);
}

static int run_container(struct run *r)
{
	if (json_is_true(json_object_get(r->job.plan, "Removes"))) {
		remove_container(r);
		return 0;
	}
	r->multi = curl_multi_init();
	if (!r->multi || !container_image_make_ready(&r->job) || !create_container(r))
		return EXIT_NOT_RUN;
	if (start_container(r))
		follow_container(r);
	else
		r->exit_code = EXIT_NOT_RUN;
	engine_stream_close(r->wait);
	engine_stream_close(r->logs);
	remove_container(r);
	return r->exit_code;
}

// All but those of faults; the process learns of them when it looks.
static int block_signals(void)
{
	sigset_t signals;
	sigfillset(&signals);
	sigdelset(&signals, SIGSEGV);
	sigdelset(&signals, SIGABRT);
	sigprocmask(SIG_SETMASK, &signals, NULL);
	return signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
}

int container_run(int argc, char **argv)
{
	struct run r = {.output = {.fds = {STDOUT_FILENO, STDERR_FILENO}}};
	int plan_fd = argc == 3 ? (int)strtol(argv[2], NULL, 10) : -1;
	prctl(PR_SET_NAME, "berth-container");
	r.job.engine.signal_fd = block_signals();
	r.job.plan = lseek(plan_fd, 0, SEEK_SET) < 0 ? NULL : json_loadfd(plan_fd, 0, NULL);
	if (!r.job.plan || r.job.engine.signal_fd < 0 ||
		curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
		return EXIT_NOT_RUN;
	close(plan_fd);
	r.job.engine.socket = json_string_value(json_object_get(r.job.plan, "Socket"));
	r.name = json_string_value(json_object_get(r.job.plan, "Name"));
	r.exit_path = json_string_value(json_object_get(r.job.plan, "Exit"));
	r.output.frames.is_raw = json_is_true(json_object_get(r.job.plan, "Tty"));
	int code = run_container(&r);
	curl_multi_cleanup(r.multi);
	json_decref(r.job.plan);
	return code;
}
