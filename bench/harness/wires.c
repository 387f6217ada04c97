#include "bench/harness/wires.h"
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>

// Neighbours are told where they are, and nothing has IPv6: so that nothing but heartbeats is on a wire. A veth leaves
// checksums to hardware that is not there, and Berth checks them.
static const char laying[] = "exec 2>&1; set -e; child=%d; near0_is_of_kernel=%d\n"
			     "there() { nsenter -t $child -n \"$@\"; }\n"
			     "for wire in 0 1; do\n"
			     "	near=02:00:00:00:0$wire:01 far=02:00:00:00:0$wire:02\n"
			     "	ip link add near$wire address $near type veth \\\n"
			     "		peer name far$wire address $far netns $child\n"
			     "	ip link set near$wire addrgenmode none\n"
			     "	there ip link set far$wire addrgenmode none\n"
			     "	there ethtool -K far$wire tx off >/dev/null\n"
			     "	there ip address add 10.78.$wire.2/24 dev far$wire\n"
			     "	if [ $wire = 1 ] || [ $near0_is_of_kernel = 1 ]; then\n"
			     "		ip address add 10.78.$wire.1/24 dev near$wire\n"
			     "	fi\n"
			     "	ip link set near$wire up\n"
			     "	there ip link set far$wire up\n"
			     "	ip neighbour add 10.78.$wire.2 lladdr $far dev near$wire\n"
			     "	there ip neighbour add 10.78.$wire.1 lladdr $near dev far$wire\n"
			     "done\n";

int wires_leave(void)
{
	if (unshare(CLONE_NEWNET | CLONE_NEWNS) != 0 ||
		mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
		mount("sysfs", "/sys", "sysfs", 0, NULL) != 0)
		return -errno;
	return 0;
}

bool wires_lay(pid_t child, bool is_near0_of_kernel, char *message, uint32_t message_size)
{
	char script[sizeof laying + 32], line[256] = "", rest[256];
	snprintf(script, sizeof script, laying, (int)child, is_near0_of_kernel);
	FILE *said = popen(script, "re");
	if (said == NULL) {
		snprintf(message, message_size, "sh does not start: %s", strerror(errno));
		return false;
	}
	(void)!fgets(line, sizeof line, said);
	while (fgets(rest, sizeof rest, said)) // so that it never waits
		;
	line[strcspn(line, "\n")] = '\0';
	if (pclose(said) == 0)
		return true;
	snprintf(message, message_size, "ip or ethtool make no pair of veth: %s", line);
	return false;
}
