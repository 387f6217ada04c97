// Whatever the system refuses to parts of the agent: nobody dies or hangs of it, no descriptor is lost, and who asked
// is told.
#include "state/base/check.h"
#include "tests/failpoints/node/works.h"
#include "tools/agent/base/folders.h"
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

static const struct node_work *const works[] = {&check_work, &engine_work, &exec_container_work,
	&exec_work, &line_work, &node_agent_work, &qmp_work, &service_work};
static const struct node_work *walked;

static void *prepare_place(const struct walk_row *row)
{
	struct work_place *place = walk_shared(sizeof *place);

	snprintf(place->folder, sizeof place->folder, "/tmp/berth-node-XXXXXX");
	assert_non_null(mkdtemp(place->folder));
	if (walked->furnish)
		walked->furnish(place);
	return place;
}

static void clear_place(void *shared)
{
	struct work_place *place = shared;

	if (walked->clear)
		walked->clear(place);
	folder_remove(AT_FDCWD, place->folder);
	assert_int_equal(munmap(place, sizeof *place), 0);
}

static bool work_in_place(void *shared)
{
	uint32_t before = walk_descriptors();
	bool is_done = walked->work(shared);

	CHECK(walk_descriptors() == before);
	return is_done;
}

static void look_at_place(void *shared)
{
	if (walked->look)
		walked->look(shared);
}

static void what_is_refused_is_said_and_nothing_is_lost(void **argument)
{
	char **words = *argument;

	for (uint32_t i = 0; i < sizeof works / sizeof works[0]; i++)
		if (strcmp(works[i]->name, words[1]) == 0)
			walked = works[i];
	assert_non_null(walked);
	const struct walk w = {walked->rows, walked->row_count, prepare_place, work_in_place,
		look_at_place, clear_place};
	if (strcmp(words[0], "calls") == 0)
		walk_calls(&w, &walked->excuses);
	else
		walk_area(&w, walked->name);
}

// calls or points, and the name of the work.
int main(int argc, char **argv)
{
	assert_true(argc == 3);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_prestate(what_is_refused_is_said_and_nothing_is_lost, argv + 1),
	};
	return cmocka_run_group_tests_name(argv[2], tests, NULL, NULL);
}
