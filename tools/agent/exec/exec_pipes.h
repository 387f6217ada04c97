// Pipes between a command and the agent.
#pragma once

// One for each of the standard descriptors: the agent's ends, which do not block, and the far ones, which get these
// flags of pipe2(). 0, or -errno and some of them.
int exec_pipes_open(int *const own[3], int far[3], int flags);
// Unless it is -1, which it is afterwards.
void exec_pipe_close(int *fd);
