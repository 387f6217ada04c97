// A controller in miniature on a port of loopback: it knows one allocation, that of the rig, and hands what is asked of
// its node to the rig's service.
#pragma once

// Starts it; gives its port.
unsigned way_open(void);
void way_close(void);
// What it answers of the allocation besides its id: members of JSON, each with its comma.
extern const char *way_tasks; // {"t":{}}
