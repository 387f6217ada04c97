#include "state/base/log.h"
#include "tools/agent/agent.h"
#include "tools/agent/container/container_run.h"
#include "tools/agent/fetch/fetch.h"
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

static void print_fingerprint(const struct wire_register *d)
{
	static const char *const kinds[WIRE_PAIR_KINDS] = {
		"attribute", "meta", "driver", "volume", "network", "address", "setting", "device"};
	printf("name %.*s\ndatacenter %.*s\nclass %.*s\npool %.*s\n", (int)d->name.size,
		d->name.data, (int)d->datacenter.size, d->datacenter.data, (int)d->class_name.size,
		d->class_name.data, (int)d->pool.size, d->pool.data);
	printf("cpu_mhz %u reserved %u\nmemory_mb %u reserved %u\ndisk_mb %u reserved %u\n",
		d->cpu_mhz, d->reserved_cpu_mhz, d->memory_mb, d->reserved_memory_mb, d->disk_mb,
		d->reserved_disk_mb);
	for (uint32_t i = 0; i < d->pair_count; i++)
		printf("%s %.*s=%.*s\n", kinds[d->pairs[i].kind], (int)d->pairs[i].name.size,
			d->pairs[i].name.data, (int)d->pairs[i].value.size, d->pairs[i].value.data);
}

static int signal_descriptor(void)
{
	sigset_t signals;
	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGHUP);
	sigaddset(&signals, SIGUSR1);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	return signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
}

static int work_as_agent(struct agent *agent, const struct agent_options *options)
{
	char text[UUID_TEXT_BYTES];
	if (options->print_id) {
		printf("%s\n", uuid_format(&agent->identity.node, text));
		return AGENT_LEFT;
	}
	if (options->print_fingerprint) {
		if (!agent_describe(agent)) {
			fprintf(stderr, "berth-agent: %s\n", agent->fingerprint.failure);
			return AGENT_FAILED;
		}
		print_fingerprint(&agent->fingerprint.description);
		return AGENT_LEFT;
	}
	log_info("start", "version=%s node=%s server=%s", BERTH_VERSION,
		uuid_format(&agent->identity.node, text), options->server);
	int signal_fd = signal_descriptor();
	int code = agent_run(agent, signal_fd);
	const struct agent_counters *c = &agent->counters;
	log_info("stop",
		"exit=%d sent=%lu answered=%lu ignored=%lu registrations=%lu refused=%lu "
		"old_terms=%lu reconnects=%lu notices=%lu redirects=%lu",
		code, (unsigned long)c->sent, (unsigned long)c->answered, (unsigned long)c->ignored,
		(unsigned long)c->registrations, (unsigned long)c->refused,
		(unsigned long)c->old_terms, (unsigned long)c->reconnects,
		(unsigned long)c->notices, (unsigned long)c->redirects);
	if (signal_fd >= 0)
		close(signal_fd);
	return code;
}

int main(int argc, char **argv)
{
	static struct agent agent;
	struct agent_options options;
	int code;
	char message[300];
	if (argc == 2 && strcmp(argv[1], FETCH_ARGUMENT) == 0)
		return fetch_main();
	if (container_run_is_meant(argc, argv))
		return container_run(argc, argv);
	if (!agent_options_read(argc, argv, &options, &code))
		return code;
	log_detect_journal();
	if (agent_create(&agent, &options, message, sizeof message) < 0) {
		fprintf(stderr, "berth-agent: %s\n", message);
		code = AGENT_FAILED;
	} else {
		code = work_as_agent(&agent, &options);
	}
	agent_destroy(&agent);
	return code;
}
