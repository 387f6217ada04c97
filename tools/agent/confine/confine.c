#include "tools/agent/confine/confine.h"
#include "state/base/log.h"
#include "tools/agent/base/user.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#define NEEDED_BY_EXEC (CGROUP_CPU | CGROUP_MEMORY | CGROUP_PIDS)

bool confine_capabilities_are_sound(const char *names, char *message, uint32_t message_size)
{
	uint64_t bits;
	char wrong[32];

	if (capabilities_read(names, &bits, wrong))
		return true;
	snprintf(message, message_size, "there is no capability \"%s\"", wrong);
	return false;
}

// Why confined tasks cannot run on this node, as fault.
static void find_fault(struct confine *c)
{
	char missing[64];
	uint32_t lacks = NEEDED_BY_EXEC & ~c->groups.controllers;

	cgroup_controllers_text(lacks, missing, sizeof missing);
	if (geteuid() != 0)
		snprintf(c->fault, sizeof c->fault, "Driver must run as root");
	else if (!c->groups.is_usable)
		snprintf(c->fault, sizeof c->fault, "%s", c->groups.fault);
	else if (lacks)
		snprintf(c->fault, sizeof c->fault, "cgroup v2 has no controllers for %s", missing);
	else if (mount_setattr(-1, "", 0, NULL, 0) < 0 && errno == ENOSYS)
		snprintf(c->fault, sizeof c->fault, "the kernel is older than 5.12");
}

static void say_what_is_missing(const struct confine *c)
{
	char missing[64], quoted[400];
	const uint32_t all = NEEDED_BY_EXEC | CGROUP_CPUSET;

	cgroup_controllers_text(all & ~c->groups.controllers, missing, sizeof missing);
	if (*missing)
		log_warn("limits-not-enforced", "controllers=\"%s\" error=%s", missing,
			log_quote(*c->groups.fault ? c->groups.fault
						   : "cgroup v2 has no such controllers here",
				quoted, sizeof quoted));
	if (*c->fault)
		log_warn("driver-unhealthy", "driver=exec error=%s",
			log_quote(c->fault, quoted, sizeof quoted));
}

int confine_open(struct confine *c, const struct confine_settings *settings, char *message,
	uint32_t message_size)
{
	char wrong[32];
	uint32_t hidden = 0;

	*c = (struct confine){.users_denied = settings->users_denied, .pids = settings->pids};
	if (!capabilities_read(settings->capabilities, &c->allowed, wrong)) {
		snprintf(message, message_size, "there is no capability \"%s\"", wrong);
		return -EINVAL;
	}
	int error = filter_make(&c->filter, message, message_size);
	if (error)
		return error;
	for (uint32_t i = 0; i < CONFINE_HIDDEN_MOST && settings->hidden[i]; i++) {
		c->hidden[hidden] = realpath(settings->hidden[i], NULL);
		hidden += c->hidden[hidden] != NULL;
	}
	groups_open(&c->groups, "/proc/self/mounts", settings->group_parent);
	find_fault(c);
	say_what_is_missing(c);
	return 0;
}

void confine_close(struct confine *c)
{
	filter_free(&c->filter);
	for (char **path = c->hidden; *path; path++)
		free(*path);
	c->hidden[0] = NULL;
}

// Whether a user of this name is not the one that is asked for; false, and a sentence, where nobody can tell.
static bool is_other_user(
	const char *name, const struct user *asked, char *message, uint32_t message_size)
{
	struct user known;
	int error = user_find(name, &known, message, message_size);

	return error == -ENOENT || (!error && known.uid != asked->uid);
}

// A user is refused under every name that it has.
bool confine_may_run_as(
	const struct confine *c, const char *user, char *message, uint32_t message_size)
{
	char name[64];
	struct user asked;
	int error = user_find(user, &asked, message, message_size);

	if (error && error != -ENOENT)
		return false;
	for (const char *at = c->users_denied; *at; at += *at == ',') {
		size_t size = strcspn(at, ",");
		snprintf(name, sizeof name, "%.*s", (int)(size < 63 ? size : 63), at);
		at += size;
		snprintf(message, message_size, "running as user \"%.64s\" is disallowed", user);
		if (strcmp(name, user) == 0)
			return false;
		if (!error && !is_other_user(name, &asked, message, message_size))
			return false;
	}
	return true;
}
