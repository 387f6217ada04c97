// What a task shows to read the variables that its path names: its allocation's id, and the keyring's signature of that
// and of the task's name. Nobody keeps it: it holds as long as the allocation runs and the keyring has the key.
//
//	task.f6343442-3c41-98e1-6c06-fe8fa744180e.5b3a…
#pragma once
#include "state/base/uuid.h"
#include "tools/keyring/keyring.h"

struct task_token {
	struct uuid allocation;
	struct keyring_signature signature;
};

// "task.", the id, '.', the signature in hexadecimal, NUL.
#define TASK_TOKEN_TEXT_BYTES (5 + UUID_TEXT_BYTES - 1 + 1 + 2 * KEYRING_SIGNATURE_BYTES + 1)

// Any thread; does not wait. False: the keyring has no key.
bool task_token_make(struct keyring *, const struct uuid *allocation, const char *task,
	char text[static TASK_TOKEN_TEXT_BYTES]);
// False: the text is none.
bool task_token_read(const char *text, struct task_token *);
// Whether the keyring made it for the task of that name.
bool task_token_is_of(struct keyring *, const struct task_token *, const char *task);
