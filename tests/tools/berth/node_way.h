// A controller in miniature on a port of loopback: it knows one allocation, that of the rig, and hands what is asked of
// its node to the rig's service.
#pragma once

// Starts it; gives its port.
unsigned way_open(void);
void way_close(void);
// The tasks of the allocation, as JSON.
extern const char *_Atomic way_tasks; // {"t":{}}
// What that becomes which replaces it, once it was asked to stop: "running".
extern const char *_Atomic way_next_status;
