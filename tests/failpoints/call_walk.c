#include "tests/failpoints/call_walk.h"
#include "state/base/memory.h"
#include "tests/support/calls/failing_calls.h"
#include "tests/support/core/slowness.h"
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include <cmocka.h>

static const struct walk *walked;
static char place[CALL_PLACE_BYTES];
static uint32_t walks, reached; // what depends on who is faster is not reached each time

// What the process does to end is not looked at.
static bool work_and_stop(void *shared)
{
	bool is_done = walked->work(shared);

	calls_stop();
	return is_done;
}

static bool is_one_of(const char *const *parts)
{
	for (; parts && *parts; parts++)
		if (strstr(place, *parts))
			return true;
	return false;
}

// Without memory a process ends, and says so.
static bool has_died_of_memory(int status)
{
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT &&
	       strstr(walk_output(), "memory");
}

static const char *wrong_work(int status, const struct call_walk_excuses *excuses)
{
	if (has_died_of_memory(status))
		return NULL;
	if (!WIFEXITED(status) ||
		(WEXITSTATUS(status) != WALK_DONE && WEXITSTATUS(status) != WALK_REFUSED))
		return "its process ended";
	if (WEXITSTATUS(status) == WALK_REFUSED && !walk_was_said() && !is_one_of(excuses->unsaid))
		return "it was refused without a word";
	return NULL;
}

static uint32_t walk_place(
	const struct walk *w, uint32_t at, bool only_once, const struct call_walk_excuses *excuses)
{
	static char said[20000];
	void *shared = w->prepare(NULL);

	walks++;
	calls_fail(at, only_once);
	int worked = walk_run(w, shared, true), looked = 0;
	calls_stop();
	reached += calls_failures() > 0;
	const char *wrong = wrong_work(worked, excuses);
	snprintf(said, sizeof said, "%s", walk_output());
	if (!wrong && (looked = walk_run(w, shared, false)) != 0)
		wrong = "what it left is wrong";
	if (wrong)
		print_error("%s (%s): %s (%#x, %#x):\n%s%s\n", place, only_once ? "once" : "always",
			wrong, (unsigned)worked, (unsigned)looked, said,
			looked ? walk_output() : "");
	w->clear(shared);
	return wrong != NULL;
}

// Returns how many there are.
static uint32_t record_places(const struct walk *w)
{
	void *shared = w->prepare(NULL);

	calls_record();
	int worked = walk_run(w, shared, true);
	calls_stop();
	if (worked != 0)
		fail_msg("the work is not done (%#x):\n%s", (unsigned)worked, walk_output());
	w->clear(shared);
	return calls_places();
}

static bool is_excused(const struct call_walk_excuses *excuses)
{
	return is_one_of(excuses->cannot_fail) || (excuses->only && !is_one_of(excuses->only));
}

static uint32_t walk_one(const struct walk *w, uint32_t at, const struct call_walk_excuses *excuses)
{
	uint32_t wrong = 0;

	calls_place_text(at, place);
	bool only_once = is_one_of(excuses->only_once);
	if (!only_once)
		wrong += walk_place(w, at, false, excuses);
	if (only_once || (BUILD_SLOWNESS == 1 && !excuses->only_always))
		wrong += walk_place(w, at, true, excuses);
	return wrong;
}

// Whether the work is done although all of these fail.
static bool is_done_without(const struct walk *w, const uint32_t *some, uint32_t count)
{
	void *shared = w->prepare(NULL);

	calls_fail(some[0], false);
	for (uint32_t i = 1; i < count; i++)
		calls_fail_also(some[i]);
	bool is_done = walk_run(w, shared, true) == WALK_DONE;
	calls_stop();
	is_done = is_done && walk_run(w, shared, false) == 0;
	w->clear(shared);
	return is_done;
}

// What nobody notices fails together, so that many cost no more than one; who notices is found by halves.
static uint32_t walk_together(const struct walk *w, const uint32_t *some, uint32_t count,
	const struct call_walk_excuses *excuses)
{
	if (count <= 1)
		return count ? walk_one(w, some[0], excuses) : 0;
	if (is_done_without(w, some, count))
		return 0;
	uint32_t half = count / 2;
	return walk_together(w, some, half, excuses) +
	       walk_together(w, some + half, count - half, excuses);
}

// What is let go of is gone all the same, and who writes a half goes on.
static bool is_noticed_seldom(void)
{
	return strncmp(place, "close at", 8) == 0 || strncmp(place, "half of", 7) == 0;
}

void walk_calls(const struct walk *given, const struct call_walk_excuses *excuses)
{
	struct walk w = *given;
	uint32_t wrong = 0;

	walked = given;
	w.work = work_and_stop;
	uint32_t places = record_places(&w);
	assert_true(places > 0);
	uint32_t *seldom = memory_take_array(places, sizeof *seldom), seldom_count = 0;
	for (uint32_t at = 0; at < places; at++) {
		calls_place_text(at, place);
		if (is_excused(excuses))
			continue;
		if (is_noticed_seldom())
			seldom[seldom_count++] = at;
		else
			wrong += walk_one(&w, at, excuses);
	}
	wrong += walk_together(&w, seldom, seldom_count, excuses);
	free(seldom);
	if (reached < walks / 2)
		fail_msg("of %u walks only %u came to where something fails", walks, reached);
	if (wrong)
		fail_msg("%u things are wrong of what %u places do", wrong, places);
}
