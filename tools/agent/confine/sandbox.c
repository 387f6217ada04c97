#include "tools/agent/confine/sandbox.h"
#include "state/base/failpoint/failpoint.h"
#include "tools/agent/confine/cgroup.h"
#include <sched.h>

int sandbox_prepare_fork(const struct sandbox *s)
{
	return s->is_isolated && s->has_own_pids ? CAN_FAIL(CONFINE_PIDS, unshare(CLONE_NEWPID))
						 : 0;
}

int sandbox_enter_group(const struct sandbox *s)
{
	return s->group >= 0 ? cgroup_enter(s->group) : 0;
}

int sandbox_enter_root(const struct sandbox *s, int *row)
{
	if (!s->is_isolated)
		return 0;
	int kinds = CLONE_NEWNS | (s->has_own_ipc ? CLONE_NEWIPC : 0);
	if (CAN_FAIL(CONFINE_NAMESPACE, unshare(kinds)) < 0)
		return -1;
	*row = mount_plan_enter(s->mounts);
	return *row < 0 ? 0 : -1;
}

int sandbox_bound(const struct sandbox *s)
{
	return s->is_isolated ? capabilities_bound(&s->capabilities) : 0;
}

int sandbox_finish(const struct sandbox *s, bool is_root)
{
	if (!s->is_isolated)
		return 0;
	return capabilities_take(&s->capabilities, is_root) < 0 ? -1 : filter_take(s->filter);
}

const char *sandbox_row_target(const struct sandbox *s, int row)
{
	bool is_row = s && s->mounts && row >= 0 && (uint32_t)row < s->mounts->count;

	return is_row ? s->mounts->rows[row].target : "";
}
