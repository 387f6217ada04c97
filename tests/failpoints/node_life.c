#include "tests/failpoints/node_life.h"
#include "state/base/check.h"
#include "state/base/time_units.h"
#include "tools/agent/base/folders.h"
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#define PATIENCE_NS (20 * NS_PER_S)

const struct uuid node_life_alloc = {{0xa1}};
struct confine node_life_confine;

static const struct node_facts facts = {
	.id = {{7}}, .name = "n", .datacenter = "dc1", .class_name = "", .pool = "default"};
static struct time_source source;

void node_life_path(const struct node_life *l, const char *name, char path[static 160])
{
	char text[UUID_TEXT_BYTES];

	snprintf(path, 160, "%s/alloc/%s/alloc/%s", l->folder, uuid_format(&node_life_alloc, text),
		name);
}

void *node_life_prepare(const struct walk_row *row)
{
	struct node_life *l = walk_shared(sizeof *l);
	char shared[160];

	(void)row;
	snprintf(l->folder, sizeof l->folder, "/tmp/berth-walk-XXXXXX");
	assert_non_null(mkdtemp(l->folder));
	snprintf(l->group, sizeof l->group, "%s.slice", l->folder + strlen("/tmp/"));
	node_life_path(l, "", shared);
	int top = folder_open("/"), folder = folder_make(top, shared + 1, 01777);
	assert_true(folder >= 0 && close(folder) == 0 && close(top) == 0);
	return l;
}

static int remove_group(const char *path, const struct stat *st, int kind, struct FTW *where)
{
	return kind == FTW_DP ? rmdir(path) : 0;
}

void node_life_clear(void *shared)
{
	struct node_life *l = shared;

	if (*l->groups) // those that could not be removed with their tasks are still there
		(void)nftw(l->groups, remove_group, 8, FTW_DEPTH | FTW_PHYS);
	folder_remove(AT_FDCWD, l->folder);
	assert_int_equal(munmap(l, sizeof *l), 0);
}

void node_life_close(void)
{
	runner_close(&runner);
	confine_close(&node_life_confine);
}

bool node_life_open(struct node_life *l, const struct prepare_settings *prepare)
{
	struct confine_settings confinement = {.group_parent = l->group,
		.users_denied = "root",
		.capabilities = CAPABILITIES_DEFAULT};
	struct runner_settings settings = {.data_folder = l->folder,
		.state_folder = l->folder,
		.time = &source,
		.seed = 3,
		.confine = &node_life_confine};

	if (prepare)
		settings.prepare = *prepare;
	manual = (struct manual_time){.monotonic_ns = 1000000000, .wall_ns = 1700000000000000000};
	source = time_source_manual(&manual);
	if (confine_open(&node_life_confine, &confinement, l->message, sizeof l->message) < 0)
		return false;
	if (node_life_confine.groups.is_usable)
		snprintf(l->groups, sizeof l->groups, "%s", node_life_confine.groups.parent);
	if (runner_open(&runner, &settings, l->message, sizeof l->message) < 0) {
		node_life_close();
		return false;
	}
	runner_know_node(&runner, &facts);
	return true;
}

struct alloc_run *node_life_ask(const char *task)
{
	const struct uuid *id = &node_life_alloc;

	if (!runner_find(&runner, id))
		runner_add(&runner, id, 9, 5,
			stage_describe(id, "batch", "\"Payload\":\"aGVsbG8=\",", task));
	return runner_find(&runner, id);
}

bool node_life_step_to(const struct alloc_run *a, enum task_phase phase)
{
	uint64_t until_ns = time_monotonic_ns(&time_source_real) + PATIENCE_NS;

	runner_step(&runner);
	while (a->tasks[0].phase != phase && !alloc_run_is_over(a) &&
		time_monotonic_ns(&time_source_real) < until_ns) {
		poll(&(struct pollfd){.fd = runner.epoll_fd, .events = POLLIN}, 1, 5);
		stage_pass_ms(20);
	}
	return a->tasks[0].phase == phase;
}

void node_life_say(const struct alloc_run *a)
{
	static const char *const types[] = {"Driver Failure", "Setup Failure", "Template",
		"Failed Artifact Download", "Task hook failed", "Terminated"};

	for (uint32_t i = 0; i < a->tasks[0].note_count; i++)
		for (uint32_t k = 0; k < sizeof types / sizeof types[0]; k++)
			if (strcmp(a->tasks[0].notes[i].type, types[k]) == 0)
				walk_said(a->tasks[0].notes[i].message);
}

bool node_life_has_note(const struct alloc_run *a, const char *type, const char *part)
{
	for (uint32_t i = 0; i < a->tasks[0].note_count; i++)
		if (strcmp(a->tasks[0].notes[i].type, type) == 0 &&
			strstr(a->tasks[0].notes[i].message, part))
			return true;
	return false;
}

void node_life_forget(void)
{
	runner_forget(&runner, runner_find(&runner, &node_life_alloc));
	runner_step(&runner);
}
