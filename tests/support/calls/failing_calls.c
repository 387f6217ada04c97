#include "tests/support/calls/failing_calls.h"
#include "state/base/check.h"
#include "tests/support/calls/call_table.h"
#include "tests/support/calls/library_table.h"
#include <errno.h>
#include <execinfo.h>
#include <linux/magic.h>
#include <netdb.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#define FRAMES 3u // the call and those that led to it
#define PLACES 4000u
#define NOWHERE UINT32_MAX
#define LINE_BYTES 400u // of what tells a place
#define RECORDED 12u    // frames of backtrace(): a sanitizer's, its own, the wrapper's, ours

// clang-format off
#define ALL_CALLS(ROW)                                                             \
	CALLS_MINUS(ROW) CALLS_HALF(ROW) CALLS_GONE(ROW) CALLS_NULL(ROW) CALLS_ERROR(ROW) \
	LIBRARY_MINUS(ROW) LIBRARY_NULL(ROW) LIBRARY_NEGATIVE(ROW) LIBRARY_VALUE(ROW)
// clang-format on
#define ENUM(name, error) CALL_##name,
#define ENUM_HALF(name, error) HALF_##name,
enum call { ALL_CALLS(ENUM) CALLS_HALF(ENUM_HALF) CALLS };
#undef ENUM_HALF
#undef ENUM

struct place {
	enum call call;
	void *frames[FRAMES];
};

enum mode { STOPPED, RECORDING, FAILING };

static struct calls {
	_Atomic enum mode mode;
	_Atomic bool is_paused;
	_Atomic uint32_t count;
	struct place places[PLACES];
	_Atomic bool is_whole[PLACES]; // not where who recorded it was killed meanwhile
	bool only_once;
	bool fail[PLACES];
	_Atomic uint32_t failures;
} * calls;
static char place_texts[PLACES][CALL_PLACE_BYTES];

#define NAME(name, error) #name,
#define NAME_HALF(name, error) "half of " #name,
static const char *const call_names[] = {ALL_CALLS(NAME) CALLS_HALF(NAME_HALF)};
#undef NAME_HALF
#undef NAME

__attribute__((constructor)) static void share_calls(void)
{
	void *ignored[2];

	calls = mmap(
		NULL, sizeof *calls, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(calls != MAP_FAILED);
	(void)backtrace(ignored, 2); // loads what it needs by now
}

static uint32_t index_of(const struct place *p)
{
	for (uint32_t i = 0; i < calls->count; i++)
		if (calls->is_whole[i] && memcmp(&calls->places[i], p, sizeof *p) == 0)
			return i;
	return NOWHERE;
}

// Without a lock, which somebody might hold who is killed. Two may record the same place at once.
static void record(const struct place *p)
{
	if (index_of(p) != NOWHERE)
		return;
	uint32_t i = atomic_fetch_add(&calls->count, 1);
	CHECK(i < PLACES);
	calls->places[i] = *p;
	calls->is_whole[i] = true;
}

// What the kernel keeps as files, and a message, is written whole or not at all.
static bool takes_half(int fd)
{
	struct stat about;
	struct statfs kept;
	int type;
	socklen_t size = sizeof type;

	if (fstat(fd, &about) != 0)
		return false;
	if (S_ISSOCK(about.st_mode))
		return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 &&
		       type == SOCK_STREAM;
	return S_ISREG(about.st_mode) && fstatfs(fd, &kept) == 0 &&
	       kept.f_type != PROC_SUPER_MAGIC && kept.f_type != SYSFS_MAGIC &&
	       kept.f_type != CGROUP2_SUPER_MAGIC && kept.f_type != CGROUP_SUPER_MAGIC;
}

// To change or end what is watched needs nothing.
static bool can_fail(enum call call, long first, long second)
{
	if (call >= HALF_write) // the first of them
		return takes_half((int)first);
	return call != CALL_epoll_ctl || second == EPOLL_CTL_ADD;
}

// Frames that begin with the caller: without the wrapper, and all below it.
static void find_place(struct place *p, enum call call, const void *caller)
{
	void *frames[RECORDED] = {NULL};
	uint32_t first = 0;

	(void)backtrace(frames, RECORDED);
	memset(p, 0, sizeof *p);
	p->call = call;
	while (first < RECORDED - FRAMES && frames[first] != caller)
		first++;
	memcpy(p->frames, frames + first, sizeof p->frames);
}

__attribute__((noinline)) static bool fails(
	enum call call, long first, long second, const void *caller)
{
	static _Thread_local bool is_inside; // what is called here, and by backtrace()
	enum mode mode = calls ? calls->mode : STOPPED;
	int saved = errno;
	struct place p;

	if (mode == STOPPED || is_inside || calls->is_paused)
		return false;
	is_inside = true;
	bool can = can_fail(call, first, second);
	if (can)
		find_place(&p, call, caller);
	is_inside = false;
	errno = saved;
	if (can && mode == RECORDING)
		record(&p);
	uint32_t place = can && mode == FAILING ? index_of(&p) : NOWHERE;
	if (place == NOWHERE || !calls->fail[place])
		return false;
	return atomic_fetch_add(&calls->failures, 1) == 0 || !calls->only_once;
}

// Integers and pointers are passed alike, six in registers, and nobody looks at those that a function has not. A
// library of which the program has nothing is not linked with it.
#define SIX long a, long b, long c, long d, long e, long g
#define WRAP(name, failed)                                                   \
	__attribute__((weak)) long __real_##name(SIX);                       \
	long __wrap_##name(SIX);                                             \
	__attribute__((noinline)) long __wrap_##name(SIX)                    \
	{                                                                    \
		if (fails(CALL_##name, a, b, __builtin_return_address(0))) { \
			failed;                                              \
		}                                                            \
		return __real_##name(a, b, c, d, e, g);                      \
	}
#define WRAP_HALF(name, error)                                    \
	__attribute__((weak)) long __real_##name(SIX);            \
	long __wrap_##name(SIX);                                  \
	__attribute__((noinline)) long __wrap_##name(SIX)         \
	{                                                         \
		const void *caller = __builtin_return_address(0); \
		if (fails(CALL_##name, a, b, caller)) {           \
			errno = error;                            \
			return -1;                                \
		}                                                 \
		if (c > 1 && fails(HALF_##name, a, b, caller))    \
			c /= 2;                                   \
		return __real_##name(a, b, c, d, e, g);           \
	}
// What has failed is closed all the same. A descriptor that is closed twice is another's by the second time, where
// threads open some.
#define WRAP_GONE(name, error)                                                        \
	__attribute__((weak)) long __real_##name(SIX);                                \
	long __wrap_##name(SIX);                                                      \
	__attribute__((noinline)) long __wrap_##name(SIX)                             \
	{                                                                             \
		bool is_said = fails(CALL_##name, a, b, __builtin_return_address(0)); \
		long closed = __real_##name(a, b, c, d, e, g);                        \
		CHECK(closed == 0 || errno != EBADF || (int)a < 0);                   \
		if (is_said) {                                                        \
			errno = error;                                                \
			return -1;                                                    \
		}                                                                     \
		return closed;                                                        \
	}
#define WRAP_MINUS(name, error) WRAP(name, errno = error; return -1)
#define WRAP_NULL(name, error) WRAP(name, errno = error; return 0)
#define WRAP_VALUE(name, error) WRAP(name, return error)
#define WRAP_NEGATIVE(name, error) WRAP(name, return -error)
CALLS_MINUS(WRAP_MINUS)
CALLS_HALF(WRAP_HALF)
CALLS_GONE(WRAP_GONE)
CALLS_NULL(WRAP_NULL)
CALLS_ERROR(WRAP_VALUE)
LIBRARY_MINUS(WRAP_MINUS)
LIBRARY_NULL(WRAP_NULL)
LIBRARY_NEGATIVE(WRAP_NEGATIVE)
LIBRARY_VALUE(WRAP_VALUE)

void calls_record(void)
{
	calls->count = 0;
	for (uint32_t i = 0; i < PLACES; i++)
		calls->is_whole[i] = false;
	calls->mode = RECORDING;
}

void calls_fail_also(uint32_t place)
{
	CHECK(place < calls->count);
	calls->fail[place] = true;
}

void calls_fail(uint32_t place, bool only_once)
{
	memset(calls->fail, 0, sizeof calls->fail);
	calls_fail_also(place);
	calls->only_once = only_once;
	calls->failures = 0;
	calls->mode = FAILING;
}

void calls_stop(void)
{
	calls->mode = STOPPED;
}

void calls_pause(bool begins)
{
	calls->is_paused = begins;
}

uint32_t calls_failures(void)
{
	return calls->failures;
}

// Of the first byte of this program, where it is in memory.
extern const char __executable_start[];

// addr2line asks for addresses of the file.
static void write_addresses(FILE *to)
{
	unsigned char kind =
		(unsigned char)__executable_start[16]; // e_type: 2 is a program at its own address
	uintptr_t base = kind == 2 ? 0 : (uintptr_t)__executable_start;

	for (uint32_t i = 0; i < calls->count; i++)
		for (uint32_t f = 0; f < FRAMES; f++)
			fprintf(to, "%#lx\n", (uintptr_t)calls->places[i].frames[f] - base - 1);
}

// How a build that counts lines ends its processes is not the source's matter.
static bool is_ours(const char *place)
{
	return strncmp(place, "tests/", 6) != 0 && !strstr(place, "failpoint/coverage_exit.c") &&
	       !strchr(place, '?') && *place != '/';
}

// The place as from the root of the source: what is told leads there through the folder of the build.
static const char *name_place(char *line)
{
	char *up = strstr(line, "/../");

	line[strcspn(line, " \n")] = '\0';
	return up ? up + 4 : strncmp(line, "../", 3) == 0 ? line + 3 : line;
}

// Keeps the place if the call stands in the source, once.
static void keep(uint32_t at, char lines[FRAMES][LINE_BYTES])
{
	const char *places[FRAMES];
	struct place p = calls->places[at];

	for (uint32_t f = 0; f < FRAMES; f++)
		places[f] = name_place(lines[f]);
	if (!calls->is_whole[at] || !is_ours(places[0]) || index_of(&p) != NOWHERE)
		return;
	snprintf(place_texts[calls->count], CALL_PLACE_BYTES, "%s at %.150s < %.150s < %.150s",
		call_names[p.call], places[0], places[1], places[2]);
	calls->places[calls->count] = p;
	calls->is_whole[calls->count++] = true;
}

// Returns what it says of the addresses, from its beginning.
static FILE *run_addr2line(FILE *addresses)
{
	char program[40];
	char *arguments[] = {(char[]){"addr2line"}, (char[]){"-e"}, program, NULL};
	posix_spawn_file_actions_t actions;
	FILE *told = tmpfile();
	pid_t child;
	int status = -1;

	CHECK(told && fflush(addresses) == 0);
	rewind(addresses);
	snprintf(program, sizeof program, "/proc/%d/exe", (int)getpid());
	CHECK(posix_spawn_file_actions_init(&actions) == 0);
	CHECK(posix_spawn_file_actions_adddup2(&actions, fileno(addresses), STDIN_FILENO) == 0);
	CHECK(posix_spawn_file_actions_adddup2(&actions, fileno(told), STDOUT_FILENO) == 0);
	CHECK(posix_spawnp(&child, arguments[0], &actions, NULL, arguments, environ) == 0);
	CHECK(waitpid(child, &status, 0) == child && status == 0);
	posix_spawn_file_actions_destroy(&actions);
	rewind(told);
	return told;
}

uint32_t calls_places(void)
{
	char lines[FRAMES][LINE_BYTES];
	FILE *addresses = tmpfile();

	CHECK(addresses);
	write_addresses(addresses);
	FILE *told = run_addr2line(addresses);
	uint32_t recorded = calls->count, at = 0;
	for (calls->count = 0; at < recorded; at++) {
		for (uint32_t f = 0; f < FRAMES; f++)
			CHECK(fgets(lines[f], sizeof lines[f], told));
		keep(at, lines);
	}
	CHECK(fclose(told) == 0 && fclose(addresses) == 0);
	return calls->count;
}

const char *calls_place_text(uint32_t place, char text[CALL_PLACE_BYTES])
{
	CHECK(place < calls->count);
	snprintf(text, CALL_PLACE_BYTES, "%s", place_texts[place]);
	return text;
}
