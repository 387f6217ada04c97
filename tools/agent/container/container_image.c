#include "tools/agent/container/container_image.h"
#include "state/base/crc32c.h"
#include "state/base/memory.h"
#include "state/base/text.h"
#include "state/base/time_source.h"
#include "state/base/time_units.h"
#include "tools/agent/container/container_news.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#define PATH_BYTES 2000u
#define LOCK_POLL_MS 200
#define PROGRESS_NS (2 * NS_PER_MIN)
#define LINE_BYTES 4096u

// A pull tells how it goes in lines of JSON.
struct pull {
	const char *exit_path;
	char line[LINE_BYTES];
	uint32_t size;
	char error[256];
	uint64_t told_ns;
};

static const char *plan_text(const struct container_job *job, const char *key)
{
	const char *text = json_string_value(json_object_get(job->plan, key));
	return text ? text : "";
}

static void take_progress(struct pull *p)
{
	json_t *line = json_loadb(p->line, p->size, 0, NULL);
	const char *error = json_string_value(json_object_get(line, "error"));
	const char *status = json_string_value(json_object_get(line, "status"));
	uint64_t now_ns = time_monotonic_ns(&time_source_real);
	if (error)
		snprintf(p->error, sizeof p->error, "%s", error);
	if (status && now_ns >= p->told_ns + PROGRESS_NS) {
		p->told_ns = now_ns;
		container_news_tell(
			p->exit_path, NEWS_NOTE, "Docker image pull progress: %s", status);
	}
	json_decref(line);
	p->size = 0;
}

// A line that is too long says nothing that is wanted here.
static bool take_pull(void *context, const char *bytes, size_t size)
{
	struct pull *p = context;
	for (size_t i = 0; i < size; i++) {
		if (bytes[i] == '\n')
			take_progress(p);
		else if (p->size < sizeof p->line)
			p->line[p->size++] = bytes[i];
	}
	return true;
}

static void image_path(const struct container_job *job, const char *format_before,
	const char *format_after, char path[static PATH_BYTES])
{
	char *escaped = curl_easy_escape(NULL, plan_text(job, "Image"), 0);
	snprintf(path, PATH_BYTES, "%s%s%s", format_before, escaped ? escaped : "", format_after);
	curl_free(escaped);
}

// 1: it is there; 0: it is not; -1: the engine does not answer, which was told, or a signal came.
static int has_image(const struct container_job *job)
{
	char path[PATH_BYTES];
	struct engine_reply reply;
	image_path(job, "/images/", "/json", path);
	struct engine_request request = {
		.method = "GET", .path = path, .timeout_ms = ENGINE_TIMEOUT_MS};
	engine_ask(&job->engine, &request, &reply);
	int found = engine_is_good(&reply) ? 1 : reply.status == 0 ? -1 : 0;
	if (found < 0 && !reply.is_told)
		container_news_tell(plan_text(job, "Exit"), NEWS_LOST, "%s", reply.message);
	engine_reply_free(&reply);
	return found;
}

static bool pull_image(const struct container_job *job)
{
	char path[PATH_BYTES];
	struct engine_reply reply;
	struct pull *pull = memory_take(sizeof *pull);
	int64_t timeout_ns = json_integer_value(json_object_get(job->plan, "PullTimeout"));
	*pull = (struct pull){.exit_path = plan_text(job, "Exit"),
		.told_ns = time_monotonic_ns(&time_source_real)};
	image_path(job, "/images/create?fromImage=", "", path);
	struct engine_request request = {.method = "POST",
		.path = path,
		.auth = plan_text(job, "Auth"),
		.timeout_ms = (uint32_t)(timeout_ns / (int64_t)NS_PER_MS),
		.sink = take_pull,
		.context = pull};
	container_news_tell(pull->exit_path, NEWS_NOTE, "Downloading image");
	engine_ask(&job->engine, &request, &reply);
	if (pull->size > 0)
		take_progress(pull);
	bool is_good = engine_is_good(&reply) && !*pull->error;
	if (!is_good && !reply.is_told)
		container_news_tell(pull->exit_path, NEWS_FAILED, "Failed to pull `%.100s`: %s",
			plan_text(job, "Image"), *pull->error ? pull->error : reply.message);
	engine_reply_free(&reply);
	free(pull);
	return is_good;
}

// Tasks that want the same image wait for the one that pulls it. -1: a signal came.
static int lock_image(const struct container_job *job)
{
	const char *image = plan_text(job, "Image"), *exit_path = plan_text(job, "Exit");
	const char *end = strrchr(exit_path, '/');
	char path[700];
	struct pollfd signals = {.fd = job->engine.signal_fd, .events = POLLIN};
	snprintf(path, sizeof path, "%.*s/image-%08x.lock",
		(int)(end && end - exit_path < 600 ? end - exit_path : 0), exit_path,
		crc32c(0, image, strlen(image)));
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	// A file system without locks has nobody wait.
	while (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK)
		if (poll(&signals, 1, LOCK_POLL_MS) > 0) {
			close(fd);
			return -1;
		}
	return fd >= 0 ? fd : open("/dev/null", O_RDONLY | O_CLOEXEC);
}

bool container_image_make_ready(const struct container_job *job)
{
	bool always = strcmp(plan_text(job, "Pulls"), "always") == 0;
	int found = always ? 0 : has_image(job);
	if (found != 0)
		return found > 0;
	int lock = lock_image(job);
	if (lock < 0)
		return false;
	found = always ? 0 : has_image(job);
	bool is_ready = found == 0 ? pull_image(job) : found > 0;
	close(lock);
	return is_ready;
}
