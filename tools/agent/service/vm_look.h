// Which virtual machine of this node a request means, and what is said of it.
#pragma once
#include "state/base/uuid.h"
#include "tools/agent/service/service_request.h"

struct vm_look {
	const char *name, *uid; // of the request; uid "": any
	bool is_here;
	bool is_up;       // its process runs; else it has not begun or has ended
	struct uuid id;   // of its instance
	char folder[512]; // where its monitor is
};

// Waits for it as long as the parameter "wait" says: until it is there, or until it runs. A machine that begins anew
// has two instances for a while: the one that is up counts, else the newest. NULL, or what is wrong; that a machine is
// not here which need not run is not wrong.
struct MHD_Response *vm_find(
	struct service_request *, struct vm_look *, bool has_to_run, unsigned *status);

// {"message": "…"}
struct MHD_Response *vm_say(unsigned *status, unsigned value, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
