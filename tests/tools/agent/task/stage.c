#include "tests/tools/agent/task/stage.h"
#include "state/base/time_units.h"
#include "tests/tools/agent/confine/slice.h"
#include "tools/agent/confine/confine.h"
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

char stage_folder[64];
struct manual_time manual;
struct runner runner;
struct prepare_settings stage_prepare;
const struct confine *stage_confine;
static struct time_source source;
static const struct node_facts *facts;

void stage_reopen(void)
{
	char message[200];
	struct runner_settings settings = {.data_folder = stage_folder,
		.state_folder = stage_folder,
		.time = &source,
		.seed = 3,
		.prepare = stage_prepare,
		.confine = stage_confine};
	if (runner_open(&runner, &settings, message, sizeof message) < 0)
		fail_msg("%s", message);
	runner_know_node(&runner, facts);
}

void stage_open(const struct node_facts *of_node)
{
	snprintf(stage_folder, sizeof stage_folder, "/tmp/berth-agent-XXXXXX");
	assert_non_null(mkdtemp(stage_folder));
	manual = (struct manual_time){.monotonic_ns = 1000000000, .wall_ns = 1700000000000000000};
	source = time_source_manual(&manual);
	facts = of_node;
	stage_reopen();
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *where)
{
	return remove(path);
}

int stage_close(void)
{
	runner_close(&runner);
	return nftw(stage_folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

int stage_close_confine(struct confine *confine)
{
	int result = slice_remove(&confine->groups);
	confine_close(confine);
	return result;
}

const char *stage_content(const struct uuid *id, const char *name)
{
	static char text[8000];
	char path[300], id_text[UUID_TEXT_BYTES];
	snprintf(path, sizeof path, "%s/alloc/%s/%s", stage_folder, uuid_format(id, id_text), name);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	return text;
}

struct alloc_spec *stage_describe(
	const struct uuid *id, const char *job_type, const char *further, const char *tasks)
{
	char json[4000], text[UUID_TEXT_BYTES], message[200];
	int size = snprintf(json, sizeof json,
		"{\"ID\":\"%s\",\"Name\":\"j.g[0]\",\"Namespace\":\"default\",\"JobID\":\"j\","
		"\"JobName\":\"job\",\"JobType\":\"%s\",\"Region\":\"global\",\"TaskGroup\":\"g\","
		"\"Index\":0,%s%s\"Tasks\":[%s]}",
		uuid_format(id, text), job_type, further,
		strstr(further, "\"Ports\"") ? "" : "\"Ports\":[],", tasks);
	assert_in_range(size, 1, sizeof json - 1);
	struct alloc_spec *spec = alloc_spec_read(json, (size_t)size, id, message, sizeof message);
	if (!spec)
		fail_msg("%s: %s", message, json);
	return spec;
}

struct alloc_run *stage_run(
	const struct uuid *id, const char *job_type, const char *further, const char *tasks)
{
	runner_add(&runner, id, 9, 5, stage_describe(id, job_type, further, tasks));
	runner_step(&runner);
	return runner_find(&runner, id);
}

void stage_pass_ms(uint32_t ms)
{
	manual_time_advance_ms(&manual, ms);
	runner_step(&runner);
}

uint64_t stage_wait_a_moment(void)
{
	poll(NULL, 0, 2);
	return time_monotonic_ns(&time_source_real) / NS_PER_MS;
}
