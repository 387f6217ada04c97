#include "state/base/failpoint/failpoint.h"
#include "state/base/check.h"
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define ERRORS 134 // one more than the largest number of Linux
#define NAME_BYTES 64u
#define SAID_MOST 20u // failures of a point

// Whoever arms anew writes while others hit points.
struct armed {
	_Atomic int error;            // 0: not armed
	_Atomic uint32_t first, last; // hits that fail
	_Atomic uint32_t hits, failures;
};
#define POINTS_BYTES (FAILPOINTS * sizeof(struct armed))

#define FAILPOINT_NAME(id, name) name,
static const char *const names[FAILPOINTS] = {FAILPOINT_TABLE(FAILPOINT_NAME)};
#undef FAILPOINT_NAME

_Atomic bool failpoints_are_armed;
static struct armed
	*points; // shared with the processes that are forked off, or with all that have the file
static bool is_for_others; // they are armed by this process, and fail in others

const char *failpoint_name(enum failpoint point)
{
	CHECK(point < FAILPOINTS);
	return names[point];
}

uint32_t failpoint_hits(enum failpoint point)
{
	return points ? atomic_load(&points[point].hits) : 0;
}

uint32_t failpoint_failures(enum failpoint point)
{
	return points ? atomic_load(&points[point].failures) : 0;
}

// Not by the log: the process may be a child that has one thread of many, and whatever that one had locked.
static void failpoint_say(enum failpoint point, uint32_t hit, int error)
{
	char line[160];
	int size = snprintf(line, sizeof line, "berth: failpoint %s: hit %u fails with %s\n",
		names[point], hit, strerrorname_np(error));

	ssize_t said = write(STDERR_FILENO, line, (size_t)size);
	(void)said; // whoever closed it does not want to know
}

bool failpoint_fails(enum failpoint point)
{
	struct armed *p = &points[point];
	int error = atomic_load(&p->error);

	if (error == 0)
		return false;
	uint32_t hit = atomic_fetch_add(&p->hits, 1) + 1;
	if (hit < p->first || hit > p->last)
		return false;
	uint32_t failure = atomic_fetch_add(&p->failures, 1);
	if (failure < SAID_MOST)
		failpoint_say(point, hit, error);
	errno = error;
	return true;
}

static enum failpoint point_of(const char *name)
{
	uint32_t point = 0;

	while (point < FAILPOINTS && strcmp(names[point], name) != 0)
		point++;
	return (enum failpoint)point;
}

static int error_of(const char *name)
{
	for (int error = 1; error < ERRORS; error++) {
		const char *known = strerrorname_np(error);
		if (known && strcasecmp(known, name) == 0)
			return error;
	}
	return 0;
}

// Goes on behind the number; false: there is none.
static bool take_number(const char **text, uint32_t *number)
{
	char *end;

	if (**text < '0' || **text > '9')
		return false;
	*number = (uint32_t)strtoul(*text, &end, 10);
	*text = end;
	return true;
}

// N, N-M or N-; nothing: every hit.
static bool read_hits(const char *text, struct armed *p)
{
	bool is_every = !*text;
	uint32_t first = 1, last = UINT32_MAX;

	if (*text && !take_number(&text, &first))
		return false;
	if (*text == '\0' && !is_every)
		last = first;
	else if (*text == '-' && *++text && !take_number(&text, &last))
		return false;
	p->first = first;
	p->last = last;
	return *text == '\0' && first > 0 && last >= first;
}

// One NAME=ERROR[@HITS].
static int arm_one(const char *text, size_t size, char *message, uint32_t message_size)
{
	char name[NAME_BYTES] = "", error[NAME_BYTES] = "", hits[NAME_BYTES] = "",
	     one[3 * NAME_BYTES];

	snprintf(one, sizeof one, "%.*s", (int)size, text);
	int found = sscanf(one, "%63[^=]=%63[^@]@%63s", name, error, hits);
	enum failpoint point = point_of(name);
	const char *wrong = point == FAILPOINTS                 ? "there is no such point"
			    : found < 2 || error_of(error) == 0 ? "the error has no name of errno's"
			    : !read_hits(hits, &points[point])
				    ? "the hits are neither N, N-M nor N-"
				    : NULL;
	if (wrong) {
		snprintf(message, message_size,
			"BERTH_FAILPOINTS: \"%s\": %s; write NAME=ERROR or NAME=ERROR@HITS, as in "
			"log.fdatasync=eio@3, and ';' between them (names: "
			"state/base/failpoint/failpoint.h)",
			one, wrong);
		return -EINVAL;
	}
	points[point].error = error_of(error);
	return 0;
}

static void map_points(int fd)
{
	points = mmap(NULL, POINTS_BYTES, PROT_READ | PROT_WRITE,
		MAP_SHARED | (fd < 0 ? MAP_ANONYMOUS : 0), fd, 0);
	CHECK(points != MAP_FAILED);
}

static void disarm(struct armed *p)
{
	atomic_store(&p->error, 0);
	atomic_store(&p->hits, 0);
	atomic_store(&p->failures, 0);
}

int failpoints_arm(const char *text, char *message, uint32_t message_size)
{
	int error = 0;

	if (!points)
		map_points(-1);
	failpoints_are_armed = false;
	for (uint32_t point = 0; point < FAILPOINTS; point++)
		disarm(&points[point]);
	for (const char *at = text; *at && error == 0; at += *at == ';') {
		size_t size = strcspn(at, ";");
		if (size > 0)
			error = arm_one(at, size, message, message_size);
		at += size;
	}
	failpoints_are_armed = error == 0 && *text && !is_for_others;
	return error;
}

int failpoints_share(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);

	if (fd < 0 || ftruncate(fd, (off_t)POINTS_BYTES) < 0)
		return -errno;
	map_points(fd);
	is_for_others = true;
	return close(fd) == 0 ? 0 : -errno;
}

// Another process arms them, at any time.
static bool take_shared(const char *path)
{
	struct stat found;
	int fd = open(path, O_RDWR | O_CLOEXEC);

	if (fd < 0 || fstat(fd, &found) < 0 || found.st_size != (off_t)POINTS_BYTES)
		return false;
	map_points(fd);
	close(fd);
	failpoints_are_armed = true;
	return true;
}

// Every program, before its main().
__attribute__((constructor)) static void arm_from_environment(void)
{
	char message[512];
	const char *text = getenv("BERTH_FAILPOINTS");

	if (!text)
		return;
	snprintf(message, sizeof message,
		"BERTH_FAILPOINTS: \"%s\" is no file of points of this build", text);
	if (*text == '@' ? take_shared(text + 1)
			 : failpoints_arm(text, message, sizeof message) == 0)
		return;
	dprintf(STDERR_FILENO, "%s\n", message);
	_exit(2);
}
