#include "tools/agent/options.h"
#include "state/base/limits.h"
#include "state/base/log.h"
#include "state/base/number_ranges.h"
#include "tools/agent/confine/confine.h"
#include "tools/agent/container/container.h"
#include "tools/agent/task/probe.h"
#include "tools/agent/vm/vm_worker_lists.h"
#include <stdio.h>
#include <string.h>

#define ARTIFACT_TIMEOUT_S_MAX 86400u

static const struct flag table[] = {
#define AT(field) offsetof(struct agent_options, field)
	{"server", "HOST[:PORT][,...]", FLAG_TEXT, AT(server),
		"the controller, or several of a cluster (required; port 4647)"},
	{"source", "ADDRESS", FLAG_TEXT, AT(source), "local address to send from"},
	{"dial", "HOST[:PORT][,...]", FLAG_TEXT, AT(dial),
		"where to connect to over TCP when the controller calls (default its address, and "
		"the port that it says)"},
	{"state-dir", "DIR", FLAG_TEXT, AT(state_dir),
		"identity and term (default /var/lib/berth-agent)"},
	{"key-file", "FILE", FLAG_TEXT, AT(key_file),
		"the node's key, from `berth node key UUID` (default DIR/node.key)"},
	{"data-dir", "DIR", FLAG_TEXT, AT(data_dir),
		"where tasks run, made when it is missing; its file system's free room is offered "
		"as disk (default the state directory)"},
	{"name", "NAME", FLAG_TEXT, AT(name), "name shown to people (default the host name)"},
	{"datacenter", "NAME", FLAG_TEXT, AT(datacenter), "datacenter (default dc1)"},
	{"class", "NAME", FLAG_TEXT, AT(class_name), "node class (default none)"},
	{"pool", "NAME", FLAG_TEXT, AT(pool), "node pool (default \"default\")"},
	{"meta", "NAME=VALUE", FLAG_LIST, AT(meta), "metadata; may be repeated"},
	{"cpu-mhz", "MHZ", FLAG_U32, AT(cpu_mhz), "total compute (default cores times clock rate)"},
	{"reserved-cpu", "MHZ", FLAG_U32, AT(reserved_cpu_mhz), "not for allocations"},
	{"reserved-memory", "MB", FLAG_U32, AT(reserved_memory_mb), "not for allocations"},
	{"reserved-disk", "MB", FLAG_U32, AT(reserved_disk_mb), "not for allocations"},
	{"host-volume", "NAME=PATH[:ro]", FLAG_LIST, AT(volumes),
		"a folder that groups may mount; may be repeated"},
	{"reserved-ports", "PORTS", FLAG_TEXT, AT(reserved_ports),
		"not for allocations: 22,8000-8010"},
	{"dynamic-ports", "LEAST-MOST", FLAG_TEXT, AT(dynamic_ports),
		"given to allocations (default 20000-32000)"},
	{"reservable-cores", "CORES", FLAG_TEXT, AT(reservable_cores),
		"that tasks may have to themselves: 2-15 (default none)"},
	{"no-raw-exec", NULL, FLAG_SWITCH, AT(no_raw_exec),
		"do not run processes of jobs on this machine"},
	{"no-exec", NULL, FLAG_SWITCH, AT(no_exec), "let nobody run commands inside tasks"},
	{"artifact-max-mb", "MB", FLAG_U32, AT(artifact_max_mb),
		"of one artifact, as it comes and unpacked (default 102400)"},
	{"artifact-max-files", "NUMBER", FLAG_U32, AT(artifact_max_files),
		"that one archive may hold (default 4096)"},
	{"artifact-timeout", "S", FLAG_U32, AT(artifact_timeout_s),
		"that one artifact may take (default 1800)"},
	{"cgroup-parent", "PATH", FLAG_TEXT, AT(cgroup_parent),
		"holds the control groups of tasks, below the mount of cgroup v2 (default "
		"berth.slice)"},
	{"task-pids", "COUNT", FLAG_U32, AT(task_pids),
		"processes and threads of a task that says no number; 0: any (default 16384)"},
	{"denied-users", "NAMES", FLAG_TEXT, AT(denied_users),
		"whom tasks of the driver exec may not run as: root,admin; \"\": nobody is denied "
		"(default root)"},
	{"allow-caps", "NAMES", FLAG_TEXT, AT(allow_caps),
		"capabilities that tasks of the driver exec may have: chown,net_raw, or all "
		"(default what container runtimes give, without net_raw)"},
	{"docker-socket", "PATH", FLAG_TEXT, AT(docker_socket),
		"of the driver docker; \"\": no such driver (default " DOCKER_SOCKET_DEFAULT ")"},
	{"podman-socket", "PATH", FLAG_TEXT, AT(podman_socket),
		"of the driver podman; \"\": no such driver (default " PODMAN_SOCKET_DEFAULT ")"},
	{"container-caps", "NAMES", FLAG_TEXT, AT(container_caps),
		"capabilities that containers may have: chown,net_raw, or all (default what "
		"container runtimes give, without net_raw)"},
	{"container-privileged", NULL, FLAG_SWITCH, AT(container_privileged),
		"let tasks ask for privileged containers, which may do anything on this machine"},
	{"container-volumes", NULL, FLAG_SWITCH, AT(container_volumes),
		"let containers mount folders of this machine, and volumes of their engine"},
	{"worker", NULL, FLAG_SWITCH, AT(worker), "run virtual machines, too"},
	{"worker-resource", "NAME=NUMBER", FLAG_LIST, AT(worker_resources),
		"what machines may ask for; may be repeated (cores and memory are measured)"},
	{"worker-label", "NAME=VALUE", FLAG_LIST, AT(worker_labels),
		"that machines may want; may be repeated"},
	{"worker-ports", "PORTS", FLAG_TEXT, AT(worker_ports),
		"of this machine that administrators may reach through the controller: "
		"22,5900-5909 (default none)"},
	{"worker-runtime", "NAME", FLAG_TEXT, AT(worker_runtime),
		"what runs machines here, for those that ask for it (default none)"},
	{"worker-machine-id", "ID", FLAG_TEXT, AT(worker_machine_id),
		"of this hardware (default /etc/machine-id)"},
	{"worker-default-cpu", "CORES", FLAG_U32, AT(worker_default_cpu),
		"of a machine that asks for none (default 4)"},
	{"worker-default-memory", "MIB", FLAG_U32, AT(worker_default_memory_mib),
		"of a machine that asks for none (default 8192)"},
	{"vm-driver", "NAME", FLAG_TEXT, AT(vm_driver),
		"of machines: qemu, mock (they are only pretended), or auto: qemu where it is "
		"installed (default auto)"},
	{"vm-acceleration", "NAME", FLAG_TEXT, AT(vm_acceleration),
		"of machines: auto: KVM where this one has it, or none (default auto)"},
	{"vm-images", "DIR", FLAG_TEXT, AT(vm_images),
		"where their images are (default images in the data directory)"},
	{"vm-user", "NAME", FLAG_TEXT, AT(vm_user), "who runs them (default the agent's user)"},
	{"vm-network", "NAME", FLAG_TEXT, AT(vm_network),
		"of machines: none, or user: by way of this machine's own (default none)"},
	{"vm-suspended-days", "N", FLAG_U32, AT(vm_suspended_days),
		"remove suspended machines that nobody resumed for so long; 0: never (default 30)"},
	{"probe", "COMMAND", FLAG_TEXT, AT(probe),
		"of /bin/sh: exit status 0 when the machine may take work, 69 when it never "
		"will (default: it always may)"},
	{"probe-backoff", "MS", FLAG_U32, AT(probe_backoff_ms),
		"before it is asked again, doubled up to a minute (default 1000)"},
	{"probe-timeout", "MS", FLAG_U32, AT(probe_timeout_ms),
		"then it is killed, which is no (default 10000)"},
	{"log-level", "LEVEL", FLAG_TEXT, AT(log_level),
		"debug, info, warn or error (default info)"},
	{"log-json", NULL, FLAG_SWITCH, AT(log_json), "log JSON instead of logfmt"},
	{"print-id", NULL, FLAG_SWITCH, AT(print_id),
		"print the node's UUID, making it if need be, and exit"},
	{"print-fingerprint", NULL, FLAG_SWITCH, AT(print_fingerprint),
		"print what would be registered and exit"},
#undef AT
};

static const struct flags flags = {
	.program = "berth-agent",
	.environment = "BERTH_AGENT_",
	.usage = "usage: berth-agent --server HOST[:PORT][,...] [OPTION]...\n"
		 "Registers this machine with a Berth controller, runs its allocations and keeps "
		 "reporting.\n",
	.notes = "\nEach option is also read from the environment: BERTH_AGENT_STATE_DIR=...\n"
		 "Exit status: 0 left cleanly, 1 failure, 2 usage, 3 goodbye not confirmed.\n"
		 "SIGTERM and SIGINT stop all tasks and leave; SIGUSR1 ends the agent and lets "
		 "tasks go "
		 "on,\nto be taken up by the next one; SIGHUP describes the machine again.\n",
	.table = table,
	.count = sizeof table / sizeof table[0],
};

static bool check_meta(const struct flag_list *meta)
{
	for (uint32_t i = 0; i < meta->count; i++) {
		const char *item = meta->items[i], *equals = strchr(item, '=');
		if (equals && equals != item && equals - item <= (int)ATTRIBUTE_NAME_BYTES_MAX &&
			strlen(equals + 1) <= ATTRIBUTE_VALUE_BYTES_MAX)
			continue;
		fprintf(stderr,
			"berth-agent: --meta wants NAME=VALUE with a name of 1 to %u bytes and a "
			"value of up to %u, not \"%.64s\"\n",
			ATTRIBUTE_NAME_BYTES_MAX, ATTRIBUTE_VALUE_BYTES_MAX, item);
		return false;
	}
	return true;
}

static bool check_volumes(const struct flag_list *volumes)
{
	for (uint32_t i = 0; i < volumes->count; i++) {
		const char *item = volumes->items[i], *equals = strchr(item, '=');
		if (equals && equals != item && equals[1] == '/' &&
			equals - item <= (int)ATTRIBUTE_NAME_BYTES_MAX &&
			strlen(equals + 1) < ATTRIBUTE_VALUE_BYTES_MAX - 4)
			continue;
		fprintf(stderr,
			"berth-agent: --host-volume wants NAME=/PATH or NAME=/PATH:ro, not "
			"\"%.64s\"\n",
			item);
		return false;
	}
	return true;
}

static bool check_ranges(const struct agent_options *o)
{
	const struct {
		const char *name, *value;
	} lists[] = {{"reserved-ports", o->reserved_ports}, {"dynamic-ports", o->dynamic_ports},
		{"reservable-cores", o->reservable_cores}, {"worker-ports", o->worker_ports}};
	for (uint32_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
		struct text value = text_of(lists[i].value);
		bool one = i == 1; // a single range
		if (!lists[i].value || (value.size > 0 && value.size <= ATTRIBUTE_VALUE_BYTES_MAX &&
					       number_ranges_are_sound(value, 65535) &&
					       !(one && memchr(value.data, ',', value.size))))
			continue;
		fprintf(stderr,
			"berth-agent: --%s wants numbers and ranges up to 65535, not \"%.64s\"\n",
			lists[i].name, lists[i].value);
		return false;
	}
	return true;
}

static bool is_one_of(const char *option, const char *value, const char *const *names)
{
	for (const char *const *name = names; *name; name++)
		if (strcmp(value, *name) == 0)
			return true;
	fprintf(stderr, "berth-agent: --%s is %s, %s%s%s, not \"%.64s\"\n", option, names[0],
		names[1], names[2] ? " or " : "", names[2] ? names[2] : "", value);
	return false;
}

static bool check_worker(const struct agent_options *o)
{
	static const char *const drivers[] = {"auto", "qemu", "mock", NULL};
	static const char *const networks[] = {"none", "user", NULL};
	static const char *const accelerations[] = {"auto", "none", NULL};
	char message[200];
	if (!is_one_of("vm-driver", o->vm_driver, drivers) ||
		!is_one_of("vm-network", o->vm_network, networks) ||
		!is_one_of("vm-acceleration", o->vm_acceleration, accelerations))
		return false;
	if (vm_worker_resources_are_sound(&o->worker_resources, message, sizeof message) &&
		vm_worker_labels_are_sound(&o->worker_labels, message, sizeof message))
		return true;
	fprintf(stderr, "berth-agent: %s\n", message);
	return false;
}

static bool configure_log(const struct agent_options *o)
{
	static const char *const names[] = {"debug", "info", "warn", "error"};
	for (uint32_t i = 0; i < 4; i++) {
		if (strcmp(o->log_level, names[i]) != 0)
			continue;
		log_configure((enum log_level)i, o->log_json);
		return true;
	}
	fprintf(stderr, "berth-agent: --log-level is debug, info, warn or error, not \"%s\"\n",
		o->log_level);
	return false;
}

static bool check_probe(const struct agent_options *o)
{
	if (o->probe_backoff_ms > 0 && o->probe_backoff_ms <= PROBE_BACKOFF_CAP_MS &&
		o->probe_timeout_ms > 0)
		return true;
	fprintf(stderr,
		"berth-agent: --probe-backoff wants 1 to %u and --probe-timeout at least 1, not "
		"%u and %u\n",
		PROBE_BACKOFF_CAP_MS, o->probe_backoff_ms, o->probe_timeout_ms);
	return false;
}

static bool check_artifacts(const struct agent_options *o)
{
	if (o->artifact_max_mb > 0 && o->artifact_max_files > 0 && o->artifact_timeout_s > 0 &&
		o->artifact_timeout_s <= ARTIFACT_TIMEOUT_S_MAX)
		return true;
	fprintf(stderr,
		"berth-agent: --artifact-max-mb and --artifact-max-files want at least 1, and "
		"--artifact-timeout 1 to %u\n",
		ARTIFACT_TIMEOUT_S_MAX);
	return false;
}

static bool check_capabilities(const char *flag, const char *names)
{
	char message[100];

	if (confine_capabilities_are_sound(names, message, sizeof message))
		return true;
	fprintf(stderr, "berth-agent: --%s: %s\n", flag, message);
	return false;
}

static bool check_confinement(const struct agent_options *o)
{
	const char *parent = o->cgroup_parent;

	if (!check_capabilities("allow-caps", o->allow_caps) ||
		!check_capabilities("container-caps", o->container_caps))
		return false;
	if (*parent && strlen(parent) <= CONFINE_PARENT_BYTES_MAX && !strstr(parent, ".."))
		return true;
	fprintf(stderr,
		"berth-agent: --cgroup-parent wants a path of up to %u bytes below the mount of "
		"cgroup v2, such as " CONFINE_PARENT_DEFAULT ", not \"%.64s\"\n",
		CONFINE_PARENT_BYTES_MAX, parent);
	return false;
}

bool agent_options_read(int argc, char **argv, struct agent_options *o, int *exit_code)
{
	*o = (struct agent_options){.state_dir = "/var/lib/berth-agent",
		.datacenter = "dc1",
		.class_name = "",
		.pool = "default",
		.vm_driver = "auto",
		.vm_user = "",
		.vm_network = "none",
		.vm_acceleration = "auto",
		.vm_suspended_days = 30,
		.artifact_max_mb = 100 * 1024,
		.artifact_max_files = 4096,
		.artifact_timeout_s = 1800,
		.cgroup_parent = CONFINE_PARENT_DEFAULT,
		.task_pids = CONFINE_PIDS_DEFAULT,
		.denied_users = CONFINE_USERS_DENIED_DEFAULT,
		.allow_caps = CAPABILITIES_DEFAULT,
		.docker_socket = DOCKER_SOCKET_DEFAULT,
		.podman_socket = PODMAN_SOCKET_DEFAULT,
		.container_caps = CAPABILITIES_DEFAULT,
		.probe_backoff_ms = 1000,
		.probe_timeout_ms = 10000,
		.log_level = "info"};
	enum flags_result result = flags_read(&flags, argc, argv, o);
	*exit_code = result == FLAGS_DONE ? AGENT_LEFT : AGENT_USAGE;
	if (result != FLAGS_READ || !configure_log(o) || !check_meta(&o->meta) ||
		!check_volumes(&o->volumes) || !check_ranges(o) || !check_probe(o) ||
		!check_artifacts(o) || !check_worker(o) || !check_confinement(o))
		return false;
	*exit_code = AGENT_USAGE;
	if (!o->server && !o->print_id && !o->print_fingerprint) {
		fprintf(stderr, "berth-agent: --server HOST[:PORT] is missing; see --help\n");
		return false;
	}
	const char *const names[] = {o->name, o->datacenter, o->class_name, o->pool};
	for (uint32_t i = 0; i < 4; i++) {
		if (names[i] && strlen(names[i]) > NAME_BYTES_MAX) {
			fprintf(stderr, "berth-agent: \"%.32s...\" is longer than %u bytes\n",
				names[i], NAME_BYTES_MAX);
			return false;
		}
	}
	return true;
}
