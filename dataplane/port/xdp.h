// Which XDP program the kernel runs on an interface.
#pragma once
#include <stddef.h>
#include <stdint.h>

// Sets the program's number, 0 when there is none. Returns 0 or a negative error.
int xdp_program(const char *interface, uint32_t *program);
// The same from what the kernel answered, aligned as a struct nlmsghdr; -EPROTO: that is no answer to the question.
int xdp_read_answer(const char *answer, size_t bytes, uint32_t *program);
