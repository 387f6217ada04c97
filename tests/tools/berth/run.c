#include "tests/tools/berth/run.h"
#include "state/base/memory.h"
#include "state/base/text.h"
#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define WORDS_MAX 128

struct run run;
static char folder[] = "/tmp/berth-test-XXXXXX";
static char address[80];
static char token[64];       // "": none
static char points[64];      // "": none
static const char *out_path; // NULL: the folder's "out"

static void slurp(int fd, char *text, size_t size)
{
	ssize_t got = pread(fd, text, size - 1, 0);
	text[got > 0 ? got : 0] = '\0';
	close(fd);
}

static int file(const char *name)
{
	char path[128];
	snprintf(path, sizeof path, "%s/%s", folder, name);
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	return fd;
}

void run_begin(unsigned port)
{
	assert_non_null(mkdtemp(folder));
	snprintf(address, sizeof address, "BERTH_ADDR=http://127.0.0.1:%u", port);
}

void run_end(void)
{
	DIR *all = opendir(folder);
	assert_non_null(all);
	for (struct dirent *one = readdir(all); one; one = readdir(all)) {
		char path[512];
		snprintf(path, sizeof path, "%s/%s", folder, one->d_name);
		if (one->d_name[0] != '.')
			unlink(path);
	}
	closedir(all);
	rmdir(folder);
}

const char *run_folder(void)
{
	return folder;
}

void run_as(const char *secret)
{
	token[0] = '\0';
	if (secret)
		snprintf(token, sizeof token, "BERTH_TOKEN=%s", secret);
}

void run_failing(const char *names)
{
	points[0] = '\0';
	if (names)
		snprintf(points, sizeof points, "BERTH_FAILPOINTS=%s", names);
}

void run_out(const char *path)
{
	out_path = path;
}

int berth(const char *line)
{
	char empty[] = "", program[] = BERTH_PROGRAM, path[] = "PATH=/usr/bin:/bin";
	char *words[WORDS_MAX + 1] = {program}, *copy = text_copy(text_of(line)), *next;
	int count = 1;
	for (char *word = strtok_r(copy, " ", &next); word; word = strtok_r(NULL, " ", &next)) {
		assert_true(count < WORDS_MAX);
		words[count++] = strcmp(word, "''") == 0 ? empty : word;
	}
	char *environment[5] = {address, path};
	int variables = 2;
	if (*token)
		environment[variables++] = token;
	if (*points)
		environment[variables] = points;
	int out = out_path ? open(out_path, O_WRONLY | O_CLOEXEC) : file("out");
	int error = file("error");
	assert_true(out >= 0);
	posix_spawn_file_actions_t actions;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, out, 1);
	posix_spawn_file_actions_adddup2(&actions, error, 2);
	pid_t pid;
	assert_int_equal(posix_spawn(&pid, BERTH_PROGRAM, &actions, NULL, words, environment), 0);
	posix_spawn_file_actions_destroy(&actions);
	int status;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	free(copy);
	if (out_path)
		close(out);
	else
		slurp(out, run.out, sizeof run.out);
	slurp(error, run.error, sizeof run.error);
	run.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
	return run.status;
}

void expect_run(const char *line, int status, const char *out, const char *error)
{
	berth(line);
	if (run.status != status || !strstr(run.out, out) || !strstr(run.error, error))
		fail_msg("berth %s gave %d\n%s\n%s\nnot %d with \"%s\" and \"%s\"", line,
			run.status, run.out, run.error, status, out, error);
}

void run_write(const char *name, const char *text)
{
	int fd = file(name);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
}
