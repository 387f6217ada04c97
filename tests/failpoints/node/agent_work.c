// An agent that starts, describes its machine, tells a controller that does not answer, and pauses.
#include "dataplane/wire/auth.h"
#include "state/base/check.h"
#include "tests/failpoints/node/works.h"
#include "tools/agent/agent.h"
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

static void give_key(struct work_place *place)
{
	char text[WIRE_KEY_TEXT_BYTES], path[200];

	wire_key_format(1, &(struct wire_key){{1, 2}}, text);
	work_write(place, "node.key", text);
	work_path(place, "node.key", path);
	CHECK(chmod(path, 0600) == 0);
}

// The groups of tasks are of a name that nobody else has.
static void write_slice(const struct work_place *place, char name[static 80])
{
	snprintf(name, 80, "%s.slice", place->folder + strlen("/tmp/"));
}

static void remove_slice(struct work_place *place)
{
	static const char *const groups[] = {"/share", "/reserve", ""};
	char slice[80], path[200];

	write_slice(place, slice);
	for (uint32_t i = 0; i < sizeof groups / sizeof groups[0]; i++) {
		snprintf(path, sizeof path, "/sys/fs/cgroup/%s%s", slice, groups[i]);
		(void)rmdir(path); // without control groups there are none
	}
}

static bool start_and_pause(struct work_place *place)
{
	static struct agent agent;
	char message[300] = "", slice[80];
	int signals[2];
	const struct signalfd_siginfo pause_now = {.ssi_signo = SIGUSR1};
	const struct agent_options options = {.server = "127.0.0.1:9",
		.state_dir = place->folder,
		.datacenter = "dc1",
		.class_name = "",
		.pool = "default",
		.worker = true,
		.cgroup_parent = slice,
		.cpu_mhz = 4000};

	write_slice(place, slice);
	CHECK(pipe2(signals, O_CLOEXEC) == 0);
	CHECK(write(signals[1], &pause_now, sizeof pause_now) == sizeof pause_now);
	bool is_done = agent_create(&agent, &options, message, sizeof message) == 0;
	walk_said(message);
	if (is_done)
		is_done = agent_run(&agent, signals[0]) == AGENT_LEFT && agent.counters.sent > 0;
	if (is_done && uuid_is_zero(&place->node))
		place->node = agent.identity.node;
	agent_destroy(&agent);
	close(signals[0]);
	close(signals[1]);
	return is_done;
}

// The next agent is the same node.
static void start_next(struct work_place *place)
{
	struct uuid before = place->node;

	place->node = (struct uuid){0};
	CHECK(start_and_pause(place));
	CHECK(uuid_is_zero(&before) || uuid_equal(&before, &place->node));
}

const struct node_work node_agent_work = {.name = "agent",
	.furnish = give_key,
	.work = start_and_pause,
	.look = start_next,
	.clear = remove_slice,
	.excuses = {.cannot_fail = (const char *const[]){"at tools/agent/base/",
			    "at tools/agent/confine/", "at tools/agent/task/",
			    "at tools/agent/check/", "at tools/agent/prepare/",
			    "at tools/agent/container/", "at state/", "fclose at", NULL},
		.only_once =
			(const char *const[]){"ppoll at", "read at tools/agent/agent.c", NULL}}};
