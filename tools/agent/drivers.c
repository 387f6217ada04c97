#include "tools/agent/drivers.h"
#include "tools/agent/container/container.h"
#include "tools/agent/vm/qemu.h"

const struct driver *const agent_drivers[] = {&driver_raw_exec, &driver_exec, &driver_mock,
	&driver_qemu, &driver_docker, &driver_podman, NULL};
