#include "tools/agent/engines.h"
#include "state/base/log.h"
#include "state/base/time_source.h"
#include "state/base/time_units.h"
#include <poll.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <unistd.h>

#define LOOK_MS 1000u

static const char *const names[CONTAINER_ENGINES] = {"docker", "podman"};

static const char *text_or_none(const char *text)
{
	return text ? text : "";
}

void engines_open(struct engines *e, const struct agent_options *o)
{
	e->settings = (struct container_settings){
		.sockets = {[ENGINE_DOCKER] = text_or_none(o->docker_socket),
			[ENGINE_PODMAN] = text_or_none(o->podman_socket)},
		.program = "/proc/self/exe",
		.capabilities = text_or_none(o->container_caps),
		.allows_privileged = o->container_privileged,
		.allows_volumes = o->container_volumes};
	for (uint32_t i = 0; i < CONTAINER_ENGINES; i++)
		engine_watch_open(&e->watches[i], e->settings.sockets[i]);
	container_configure(&e->settings);
}

void engines_close(struct engines *e)
{
	for (uint32_t i = 0; i < CONTAINER_ENGINES; i++)
		engine_watch_close(&e->watches[i]);
}

bool engines_step(struct engines *e, int epoll_fd, uint64_t now_ns)
{
	bool has_changed = false;
	for (uint32_t i = 0; i < CONTAINER_ENGINES; i++) {
		struct engine_watch *w = &e->watches[i];
		if (!engine_watch_step(w, epoll_fd, now_ns))
			continue;
		has_changed = true;
		log_info("container-engine", "driver=%s healthy=%s version=%s", names[i],
			w->is_healthy ? "yes" : "no", w->version);
	}
	return has_changed;
}

uint64_t engines_due_ns(const struct engines *e)
{
	uint64_t due_ns = UINT64_MAX;
	for (uint32_t i = 0; i < CONTAINER_ENGINES; i++) {
		uint64_t own_ns = engine_watch_due_ns(&e->watches[i]);
		due_ns = own_ns < due_ns ? own_ns : due_ns;
	}
	return due_ns;
}

void engines_look(struct engines *e)
{
	uint64_t end_ns = time_monotonic_ns(&time_source_real) + LOOK_MS * NS_PER_MS;
	struct pollfd polled = {.fd = epoll_create1(EPOLL_CLOEXEC), .events = POLLIN};
	bool waits;
	do {
		uint64_t now_ns = time_monotonic_ns(&time_source_real);
		waits = false;
		for (uint32_t i = 0; i < CONTAINER_ENGINES && now_ns < end_ns; i++) {
			(void)engine_watch_step(&e->watches[i], polled.fd, now_ns);
			waits |= e->watches[i].fd >= 0;
		}
	} while (waits && poll(&polled, 1, 100) >= 0);
	close(polled.fd);
}

static void describe_engine(struct fingerprint *f, const struct container_settings *settings,
	const char *driver, const struct engine_watch *w)
{
	const struct {
		const char *name, *value;
	} attributes[] = {{"", "1"}, {".version", w->version},
		{".volumes.enabled", settings->allows_volumes ? "1" : ""},
		{".privileged.enabled", settings->allows_privileged ? "1" : ""}};
	char name[64];
	fingerprint_pair(f, WIRE_PAIR_DRIVER, driver, w->is_healthy ? TEXT("1") : TEXT("0"));
	for (size_t i = 0; i < sizeof attributes / sizeof attributes[0] && w->is_healthy; i++) {
		snprintf(name, sizeof name, "driver.%s%s", driver, attributes[i].name);
		if (*attributes[i].value)
			fingerprint_pair(
				f, WIRE_PAIR_ATTRIBUTE, name, text_of(attributes[i].value));
	}
}

void engines_describe(const struct engines *e, struct fingerprint *f)
{
	for (uint32_t i = 0; i < CONTAINER_ENGINES; i++)
		if (e->watches[i].is_seen)
			describe_engine(f, &e->settings, names[i], &e->watches[i]);
}
