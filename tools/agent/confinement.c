#include "tools/agent/confinement.h"
#include "tools/agent/task/task.h"
#include <sys/vfs.h>
#include <unistd.h>

#define CGROUP_MOUNT "/sys/fs/cgroup" // where one is looked for by everybody
#define CGROUP2_MAGIC 0x63677270

static const char *said_or(const char *said, const char *without)
{
	return said ? said : without;
}

int confinement_open(
	struct confine *c, const struct agent_options *o, char *message, uint32_t message_size)
{
	struct confine_settings settings = {
		.group_parent = said_or(o->cgroup_parent, CONFINE_PARENT_DEFAULT),
		.users_denied = said_or(o->denied_users, CONFINE_USERS_DENIED_DEFAULT),
		.capabilities = said_or(o->allow_caps, CAPABILITIES_DEFAULT),
		.pids = o->task_pids,
		.hidden = {o->state_dir, o->key_file ? o->key_file : o->state_dir, o->data_dir}};

	return confine_open(c, &settings, message, message_size);
}

static void describe_groups(const struct confine *c, struct fingerprint *f)
{
	char text[64];
	struct statfs st;
	bool is_there = statfs(CGROUP_MOUNT, &st) == 0;
	bool is_v2 = is_there && st.f_type == CGROUP2_MAGIC;
	bool is_v1 = is_there && !is_v2 && access(CGROUP_MOUNT "/memory", F_OK) == 0;

	if (is_v1 || is_v2) {
		fingerprint_pair(f, WIRE_PAIR_ATTRIBUTE, "unique.cgroup.version",
			is_v2 ? TEXT("v2") : TEXT("v1"));
		fingerprint_pair(
			f, WIRE_PAIR_ATTRIBUTE, "unique.cgroup.mountpoint", TEXT(CGROUP_MOUNT));
	}
	cgroup_controllers_text(c->groups.controllers, text, sizeof text);
	if (*text)
		fingerprint_pair(f, WIRE_PAIR_ATTRIBUTE, "berth.cgroup.controllers", text_of(text));
}

void confinement_describe(const struct confine *c, struct fingerprint *f)
{
	bool is_healthy = !*c->fault;

	describe_groups(c, f);
	if (is_healthy)
		fingerprint_pair(f, WIRE_PAIR_ATTRIBUTE, "driver.exec", TEXT("1"));
	fingerprint_pair(f, WIRE_PAIR_DRIVER, driver_exec.name, is_healthy ? TEXT("1") : TEXT("0"));
}
