#include "bench/harness/directory.h"
#include "state/base/check.h"
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t keeper;
static int lifeline; // held open by this process and those it forks; the keeper sees it end

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *place)
{
	return remove(path);
}

// Runs the keeper, a process that no signal to the benchmark's group reaches: whatever ends the benchmark, SIGKILL
// included, cannot keep the keeper from clearing up.
static _Noreturn void keep(const char *path, int end)
{
	char byte;
	setsid();
	while (read(end, &byte, 1) < 0 && errno == EINTR)
		;
	if (nftw(path, remove_one, 8, FTW_DEPTH | FTW_PHYS) != 0)
		perror(path);
	_exit(0);
}

// Whatever ends the keeper too, a container that is taken away say, leaves nothing where people work.
static const char *temporary_folder(void)
{
	const char *folder = getenv("TMPDIR");
	return folder && *folder ? folder : "/var/tmp";
}

void bench_directory_begin(const struct bench *b, char path[BENCH_PATH_BYTES])
{
	int ends[2];
	sigset_t deadly, before;
	sigemptyset(&deadly);
	sigaddset(&deadly, SIGHUP);
	sigaddset(&deadly, SIGINT);
	sigaddset(&deadly, SIGTERM);
	// Until the keeper is there no signal may end this process; the keeper never unblocks them.
	CHECK(sigprocmask(SIG_BLOCK, &deadly, &before) == 0);
	snprintf(path, BENCH_PATH_BYTES, "%s/%s-bench-XXXXXX",
		bench_option_text(b, "dir", temporary_folder()), b->name);
	if (!mkdtemp(path)) {
		perror(path);
		exit(1);
	}
	CHECK(pipe2(ends, O_CLOEXEC) == 0);
	keeper = fork();
	CHECK(keeper >= 0);
	if (keeper == 0) {
		close(ends[1]);
		keep(path, ends[0]);
	}
	close(ends[0]);
	lifeline = ends[1];
	CHECK(sigprocmask(SIG_SETMASK, &before, NULL) == 0);
}

void bench_directory_end(void)
{
	int status;
	close(lifeline);
	CHECK(waitpid(keeper, &status, 0) == keeper);
}
