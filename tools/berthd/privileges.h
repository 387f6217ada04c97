// The user that berthd is. Started by root it goes there in two steps: at first files are opened as the user and only
// ports as root, then nothing is left of root in any thread.
#pragma once
#include <stdbool.h>
#include <stdint.h>

// The first step, while there is one thread. From here on files are the user's, whose also what root left in data_dir
// becomes, and of root's capabilities there are those that opening a port may take. "" is the owner of data_dir. Does
// nothing where the user is who this is already. False: a sentence in message, what and what to do.
bool privileges_lower(const char *user, const char *data_dir, char *message, uint32_t message_size);

// The second step, once all ports are open, of all threads and for good. Does nothing unless the first one was taken.
// keeps_net_admin: the calling thread may still take an XDP program off its interface.
bool privileges_drop(bool keeps_net_admin, char *message, uint32_t message_size);
