// berthd: reads its configuration, then starts everything, waits for a signal, stops everything.
#pragma once

// All of the program, from its command line on. Once in a process. Returns its exit status.
int berthd_run(int argc, char **argv);
