#include "tests/failpoints/walk.h"
#include "state/base/log.h"
#include "tests/support/core/slowness.h"
#include "tests/support/descriptors.h"
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

// A check of cmocka that fails in a child makes its main() return 1.
enum { DONE = WALK_DONE, REFUSED = WALK_REFUSED, OUTPUT_BYTES = 1 << 20, CHILD_S = 30 };

// The sanitizers' builds are ten times as slow, and look at memory, which every hit shows as well as another.
static const char *const hits[] = {"", "@1", "@2", "@3", "@5"};
#define HITS (BUILD_SLOWNESS > 1 ? 2u : sizeof hits / sizeof hits[0])

static char armed[256];
static char output[OUTPUT_BYTES]; // of the last child, on its standard error

void *walk_shared(uint32_t bytes)
{
	void *shared = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	assert_true(shared != MAP_FAILED);
	return shared;
}

void walk_said(const char *sentence)
{
	if (*sentence)
		log_warn("refused", "%s", sentence);
}

uint32_t walk_descriptors(void)
{
	return descriptors_open();
}

const char *walk_output(void)
{
	return output;
}

bool walk_was_said(void)
{
	return strstr(output, "level=warn") || strstr(output, "level=error");
}

// Leaves by exit(), so that what looks for leaks at the end does.
static _Noreturn void child_run(const struct walk *w, void *shared, bool does_work, int errors)
{
	static const int deadly[] = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL};

	for (uint32_t i = 0; i < sizeof deadly / sizeof deadly[0]; i++)
		signal(deadly[i], SIG_DFL); // cmocka would go on with its tests in the child
	if (dup2(errors, STDERR_FILENO) < 0)
		_exit(99);
	int result = DONE;
	alarm(CHILD_S); // what hangs ends, too
	if (does_work)
		result = w->work(shared) ? DONE : REFUSED;
	else
		w->look(shared);
	exit(result);
}

int walk_run(const struct walk *w, void *shared, bool does_work)
{
	int status = -1, errors = memfd_create("errors", MFD_CLOEXEC);
	pid_t child = fork();

	if (child == 0)
		child_run(w, shared, does_work, errors);
	assert_int_equal(waitpid(child, &status, 0), child);
	ssize_t size = pread(errors, output, sizeof output - 1, 0);
	close(errors);
	output[size > 0 ? size : 0] = '\0';
	return status;
}

static void arm(const struct walk_row *row, const char *hit)
{
	char message[512];

	snprintf(armed, sizeof armed, "%s=%s%s;%s", failpoint_name(row->point), row->error, hit,
		row->also ? row->also : "");
	if (failpoints_arm(armed, message, sizeof message) < 0)
		fail_msg("%s", message);
}

static void judge_work(const struct walk_row *row, int status)
{
	bool is_reached = failpoint_failures(row->point) > 0;
	bool has_died = row->is_deadly && WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;

	if (!has_died && (!WIFEXITED(status) ||
				 (WEXITSTATUS(status) != DONE && WEXITSTATUS(status) != REFUSED)))
		fail_msg("%s: the process ended with %#x:\n%s", armed, (unsigned)status, output);
	if (has_died && !strstr(output, "memory"))
		fail_msg("%s: it died without a word:\n%s", armed, output);
	if (is_reached && row->says && !strstr(output, row->says))
		fail_msg("%s: it did not say \"%s\":\n%s", armed, row->says, output);
	bool is_refused = WIFEXITED(status) && WEXITSTATUS(status) == REFUSED;
	if (is_refused && !walk_was_said())
		fail_msg("%s: it was refused without a word:\n%s", armed, output);
	if (is_refused && (row->is_absorbed || (!is_reached && !row->also)))
		fail_msg("%s: it was refused:\n%s", armed, output);
}

// Returns whether the work was refused, or its process died.
static bool walk_hit(const struct walk *w, const struct walk_row *row, const char *hit)
{
	void *shared = w->prepare(row);

	arm(row, hit);
	int worked = walk_run(w, shared, true);
	bool is_first = !*hit || strcmp(hit, "@1") == 0;
	if (is_first && failpoint_failures(row->point) == 0)
		fail_msg("%s: the work does not come there", armed);
	judge_work(row, worked);
	assert_int_equal(failpoints_arm("", NULL, 0), 0);
	int looked = walk_run(w, shared, false);
	if (looked != 0)
		fail_msg("%s: what it left is wrong (%#x):\n%s", armed, (unsigned)looked, output);
	w->clear(shared);
	return worked != DONE;
}

static bool is_of_area(enum failpoint point, const char *area)
{
	const char *name = failpoint_name(point);
	size_t size = strlen(area);

	return strncmp(name, area, size) == 0 && name[size] == '.';
}

static void walk_row(const struct walk *w, const struct walk_row *row)
{
	bool is_felt = false;

	for (uint32_t h = 0; h < HITS; h++)
		is_felt |= walk_hit(w, row, hits[h]);
	if (!is_felt && !row->is_absorbed)
		fail_msg("%s: nobody noticed that it failed", failpoint_name(row->point));
}

static void walk_point(const struct walk *w, enum failpoint point)
{
	uint32_t rows = 0;

	for (uint32_t i = 0; i < w->row_count; i++)
		if (w->rows[i].point == point) {
			walk_row(w, &w->rows[i]);
			rows++;
		}
	if (rows == 0)
		fail_msg("%s: no row walks it", failpoint_name(point));
}

void walk_area(const struct walk *w, const char *area)
{
	uint32_t points = 0;

	for (uint32_t point = 0; point < FAILPOINTS; point++)
		if (is_of_area((enum failpoint)point, area)) {
			walk_point(w, (enum failpoint)point);
			points++;
		}
	if (points == 0)
		fail_msg("%s: no failpoint has a name of this area", area);
}
