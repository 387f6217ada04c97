// Which XDP program the kernel runs on an interface.
#pragma once
#include <stdint.h>

// Sets the program's number, 0 when there is none. Returns 0 or a negative error.
int xdp_program(const char *interface, uint32_t *program);
