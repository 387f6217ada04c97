// How a script ended.
#pragma once
#include <stdbool.h>
#include <stdint.h>

#define SCRIPT_OUTPUT_BYTES 3072u

struct script_end {
	bool is_known;     // it ran to its end; else the message says why not
	bool is_task_over; // so that how it ended says nothing of it
	bool is_late;      // it took more than its time, and was killed
	int exit_code;     // 128 and its number of a signal
	char message[300];
	uint32_t size;
	char output[SCRIPT_OUTPUT_BYTES + 1];
};
