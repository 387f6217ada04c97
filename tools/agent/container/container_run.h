// The process of one container: pulls its image, creates and starts it, writes what it writes, passes signals on to it,
// and ends as it ends. What it cannot do it tells as news.
#pragma once
#include <stdbool.h>

// How the agent's program is told to be this process: by its first argument. The second is the number of an open file
// that holds the plan.
#define CONTAINER_RUN "container-run"

// Signals that no process can catch have another number on their way here.
int container_signal_coded(int number);
int container_signal_decoded(int number);

// Whether the program is to be this process.
bool container_run_is_meant(int argc, char **argv);
// The exit status of the program.
int container_run(int argc, char **argv);
