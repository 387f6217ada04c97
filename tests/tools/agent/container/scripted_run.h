// The process of a container, as a program begins it, with an engine that answers from a script.
#pragma once

// Runs "c" of the image "i" on the engine of this socket until it is over. Its output goes to the descriptor. Returns
// its exit code; -1: a signal ended the process.
int scripted_run(const char *socket_path, const char *exit_path, int output_fd);
