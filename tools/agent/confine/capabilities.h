// Which privileges of the superuser a task keeps, as bits by the kernel's numbers.
#pragma once
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

// What tasks have unless they or the operator say otherwise.
#define CAPABILITIES_DEFAULT                                                                       \
	"audit_write,chown,dac_override,fowner,fsetid,kill,mknod,net_bind_service,setfcap,setgid," \
	"setpcap,setuid,sys_chroot"

struct capabilities {
	uint64_t bounding; // no program of the task has more
	uint64_t ambient;  // that programs of an ordinary user have, too
};

// Names with commas between, in any case, with or without "cap_"; "all": that this process may give away; "" for none.
// False, with the wrong name.
bool capabilities_read(const char *names, uint64_t *bits, char wrong[static 32]);
// cap_add and cap_drop (arrays of names, or NULL) of a task, of which no more than `allowed` may be added. False and a
// sentence when they are not.
bool capabilities_choose(struct capabilities *, uint64_t allowed, const json_t *add,
	const json_t *drop, char *message, uint32_t message_size);

// Child: before the user changes, so that it may keep any. 0, or -1 with errno.
int capabilities_bound(const struct capabilities *);
// Child: after the user has changed; is_root: it is the superuser now. 0, or -1 with errno.
int capabilities_take(const struct capabilities *, bool is_root);
