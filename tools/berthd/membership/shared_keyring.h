// The keyring of a cluster: all members have the same, through etcd, where it is sealed under the master key.
#pragma once
#include "tools/berthd/daemon.h"

// Before the keyring is opened: writes the cluster's into the own file, so that a member that joined has it. Nothing
// happens when there is none yet, or etcd does not answer.
void shared_keyring_fetch(struct berthd *);
// Once it is open: keys that come and go are told to the cluster before they are used.
void shared_keyring_open(struct berthd *);
// The cluster's in the place of the own. When there is none yet and this member leads, tells its own. False and a
// sentence.
bool shared_keyring_take(struct berthd *, bool leads, char *message, uint32_t message_size);
