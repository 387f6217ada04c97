// The daemon as a member of a cluster.
#pragma once
#include "tools/berthd/daemon.h"

// Before the store is recovered: opens the cluster that is configured, with the identity that data_dir has. Refuses a
// data_dir of a cluster where none is configured, and the reverse. False and a sentence.
bool membership_open(struct berthd *, char *message, uint32_t message_size);
// Whether it would, as far as can be said without asking etcd. False and the same sentence.
bool membership_is_fit(const struct config *, char *message, uint32_t message_size);
// Starts to follow; `lead` is called when this member has become the leader, on another thread.
bool membership_start(struct berthd *, bool (*lead)(struct berthd *, char *message), char *message,
	uint32_t message_size);
// Now and then, on the main thread: takes what the leader tells beside the log.
void membership_look_after(struct berthd *);
// The IP address of cluster.advertise_wire; "": none.
void membership_own_address(const struct config *, char *address, uint32_t size);
// For struct api_settings.
void membership_status(void *context, struct cluster_status *);

#define MEMBERSHIP_PASSWORD_BYTES 256u
// The password of cluster.password_file, which the caller wipes; "" without one. False and a sentence.
bool membership_password(const struct config *, char password[static MEMBERSHIP_PASSWORD_BYTES],
	char *message, uint32_t message_size);
// How etcd is reached. Points into both.
struct etcd_settings membership_etcd(const struct config *, const char *password);
