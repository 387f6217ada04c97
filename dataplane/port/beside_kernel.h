// Ports that use addresses of the kernel's: sockets, and those that share their interface.
#pragma once
#include "dataplane/port/port_settings.h"

// Settles what is open where the kernel has the addresses of a port. io "auto" of a kernel interface whose addresses
// are the kernel's, or that lists none, becomes "shared" if that works here, else "socket", and the settings say why.
// Such a port without addresses gets those of its interface, but for those of the link. Other settings stay.
void beside_kernel_settle(struct port_settings *);
