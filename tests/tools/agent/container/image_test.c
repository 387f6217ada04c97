// The image of a container, from an engine that answers from a script: what a pull says, and who waits for another's.
#include "tests/tools/agent/exec/scripted_engine.h"
#include "tools/agent/container/container_image.h"
#include "tools/agent/container/container_news.h"
#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <cmocka.h>

#define MISSING                                                                               \
	{                                                                                     \
		"GET /images/", ENGINE_JSON("404 Not Found", "{\"message\":\"none\"}"), 0, 0, \
			false                                                                 \
	}

static char folder[64], socket_path[80], exit_path[80];

static int open_folder(void **unused)
{
	snprintf(folder, sizeof folder, "/tmp/berth-image-XXXXXX");
	assert_non_null(mkdtemp(folder));
	snprintf(socket_path, sizeof socket_path, "%s/sock", folder);
	snprintf(exit_path, sizeof exit_path, "%s/exit", folder);
	return 0;
}

// Calls it with each file in the folder but the socket; one of a lock is opened and locked by take.
static int each_file(int (*take)(const char *path))
{
	char path[400];
	int result = 0;
	DIR *entries = opendir(folder);
	for (const struct dirent *entry; (entry = readdir(entries)) != NULL;) {
		snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
		if (entry->d_type == DT_REG)
			result += take(path);
	}
	closedir(entries);
	return result;
}

static int close_folder(void **unused)
{
	return each_file(unlink) | rmdir(folder);
}

static bool make_ready(const struct engine_answer *answers, int signal_fd)
{
	struct container_job job = {.engine = {socket_path, signal_fd},
		.plan = json_pack("{s:s s:s s:I}", "Image", "i", "Exit", exit_path, "PullTimeout",
			(json_int_t)20000000000)};
	scripted_engine_start(socket_path, answers);
	bool is_ready = container_image_make_ready(&job);
	scripted_engine_stop();
	json_decref(job.plan);
	return is_ready;
}

static void what_a_pull_says_is_wrong_is_told(void **unused)
{
	static const struct engine_answer answers[] = {
		MISSING, {"", ENGINE_JSON("200 OK", "{\"error\":\"no space left\"}"), 0, 0, false}};
	enum container_news kind;
	char text[NEWS_TEXT_BYTES];
	assert_false(make_ready(answers, -1));
	assert_true(container_news_read(exit_path, 1, &kind, text));
	assert_int_equal(kind, NEWS_FAILED);
	assert_string_equal(text, "Failed to pull `i`: no space left");
}

static int lock_fd;

static int lock_it(const char *path)
{
	bool is_lock = strstr(path, ".lock") != NULL;
	if (is_lock)
		lock_fd = open(path, O_RDWR | O_CLOEXEC);
	return is_lock ? flock(lock_fd, LOCK_EX) : 0;
}

// Somebody else pulls it.
static void a_signal_ends_the_wait_for_another_pull(void **unused)
{
	static const struct engine_answer answers[] = {
		MISSING, {"", ENGINE_JSON("200 OK", "{}"), 0, 0, false}};
	const struct itimerspec soon = {.it_value = {.tv_nsec = 100000000}};
	int signal_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	assert_true(make_ready(answers, -1));
	assert_int_equal(each_file(lock_it), 0);
	assert_int_equal(timerfd_settime(signal_fd, 0, &soon, NULL), 0);
	assert_false(make_ready(answers, signal_fd));
	assert_null(strstr(scripted_engine_requests(), "POST"));
	close(signal_fd);
	close(lock_fd);
}

int main(void)
{
#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, open_folder, close_folder)
	const struct CMUnitTest tests[] = {
		IN_FOLDER(what_a_pull_says_is_wrong_is_told),
		IN_FOLDER(a_signal_ends_the_wait_for_another_pull),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
