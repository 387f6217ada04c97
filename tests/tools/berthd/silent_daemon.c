#include "tests/tools/berthd/silent_daemon.h"
#include "state/base/memory.h"
#include "tests/state/store/store_dir.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static const char *directory;

const char *silent_daemon_configure(struct berthd *b)
{
	char message[BERTHD_MESSAGE_BYTES];
	directory = dir_create();
	config_defaults(&b->config);
	char lost_ms[16];
	snprintf(lost_ms, sizeof lost_ms, "%u", SILENT_DAEMON_LOST_MS);
	const char *const settings[][2] = {{"data_dir", directory}, {"http.port", "0"},
		{"ports.0.device", "net_null0,no-rx=1"}, {"ports.0.addresses", "10.0.0.1"},
		{"dataplane.huge", "no"}, {"limits.nodes", "1000"}, {"limits.allocations", "1000"},
		{"limits.place_requests", "1000"}, {"log.level", "error"},
		{"vms.offline_after_ms", "300"}, {"vms.interval_ms", "50"},
		{"lifecycle.lost_after_ms", lost_ms}};
	for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++)
		if (!config_set(&b->config, settings[i][0], settings[i][1], message))
			fail_msg("%s", message);
	b->keys = (struct master_keys){.count = 1, .keys = {{.id = 1, .bytes = {7}}}};
	return directory;
}

int silent_daemon_begin(void **state)
{
	struct berthd *b = memory_take(sizeof *b);
	char message[BERTHD_MESSAGE_BYTES];
	silent_daemon_configure(b);
	if (!berthd_open(b, false, message) || !berthd_start(b, message))
		fail_msg("%s", message);
	*state = b;
	return 0;
}

int silent_daemon_end(void **state)
{
	berthd_close(*state);
	free(*state);
	dir_remove(directory);
	return 0;
}
