// The system calls that a confined task cannot make: those that change the machine, reach into other processes or make
// namespaces. They fail with EPERM.
#pragma once
#include <linux/filter.h>
#include <stdint.h>

// Compiles the filter: 0, or -errno and a sentence. Free it with filter_free().
int filter_make(struct sock_fprog *, char *message, uint32_t message_size);
void filter_free(struct sock_fprog *);

// Child: sets no_new_privs, and the filter for this process and all that come from it. 0, or -1 with errno.
int filter_take(const struct sock_fprog *);
