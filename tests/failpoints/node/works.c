#include "tests/failpoints/node/works.h"
#include "state/base/check.h"
#include "tests/tools/agent/task/stage.h"
#include "tools/agent/base/folders.h"
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

const struct uuid work_id = {{0xa1, [15] = 1}};

void work_path(const struct work_place *place, const char *below, char path[static 200])
{
	CHECK(snprintf(path, 200, "%s/%s", place->folder, below) < 200);
}

void work_write(const struct work_place *place, const char *below, const char *text)
{
	char path[200];

	work_path(place, below, path);
	char *name = strrchr(path, '/');
	*name++ = '\0';
	int top = folder_open("/"), folder = folder_make(top, path + 1, 0755);
	CHECK(folder >= 0 && folder_write(folder, name, 0644, text, strlen(text)) == 0);
	CHECK(close(folder) == 0 && close(top) == 0);
}

bool work_open_runner(const struct work_place *place, struct runner_settings settings)
{
	static struct time_source source;
	static const struct node_facts facts = {
		.id = {{7}}, .name = "n", .datacenter = "dc1", .class_name = "", .pool = "default"};
	char message[300];

	manual = (struct manual_time){.monotonic_ns = 1000000000, .wall_ns = 1700000000000000000};
	source = time_source_manual(&manual);
	settings.time = settings.time ? settings.time : &source;
	settings.data_folder = settings.state_folder = place->folder;
	settings.seed = 3;
	if (runner_open(&runner, &settings, message, sizeof message) < 0) {
		walk_said(message);
		runner_close(&runner);
		return false;
	}
	runner_know_node(&runner, &facts);
	return true;
}
