// Reads logs, and says of all what is untrue of them: logs of members and of etcd.
#pragma once
#include "tests/cluster/log_source.h"
#include "tests/cluster/verdict.h"

struct judged_member {
	const char *name, *directory;
};

// etcd_file: what etcd_log_keep() wrote; NULL: there was no etcd.
void log_judge(
	struct verdict *, const struct judged_member *, uint32_t count, const char *etcd_file);
