#include "tools/keyring/task_token.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include <sodium.h>
#include <stdlib.h>

#define LABEL "task."
#define ID_DIGITS (UUID_TEXT_BYTES - 1)
#define SIGNATURE_DIGITS ((size_t)2 * KEYRING_SIGNATURE_BYTES)

// What is signed: the allocation's id, which is always as long, and the task's name. Caller frees the text's bytes.
static struct text signed_text(const struct uuid *allocation, const char *task)
{
	size_t size = sizeof allocation->bytes + strlen(task);
	char *bytes = memory_take(size);
	memcpy(bytes, allocation->bytes, sizeof allocation->bytes);
	memcpy(bytes + sizeof allocation->bytes, task, strlen(task));
	return (struct text){bytes, (uint32_t)size};
}

bool task_token_make(struct keyring *keyring, const struct uuid *allocation, const char *task,
	char text[static TASK_TOKEN_TEXT_BYTES])
{
	struct keyring_signature signature;
	struct text what = signed_text(allocation, task);
	bool is_signed = keyring_sign(keyring, what, &signature);
	free((char *)what.data);
	if (!is_signed)
		return false;
	char *at = text + sizeof LABEL - 1;
	memcpy(text, LABEL, sizeof LABEL - 1);
	uuid_format(allocation, at);
	at += ID_DIGITS;
	*at++ = '.';
	sodium_bin2hex(at, SIGNATURE_DIGITS + 1, signature.bytes, sizeof signature.bytes);
	CHECK(at + SIGNATURE_DIGITS + 1 == text + TASK_TOKEN_TEXT_BYTES);
	return true;
}

bool task_token_read(const char *text, struct task_token *token)
{
	char id[UUID_TEXT_BYTES];
	size_t size;
	if (strlen(text) != TASK_TOKEN_TEXT_BYTES - 1 ||
		strncmp(text, LABEL, sizeof LABEL - 1) != 0)
		return false;
	text += sizeof LABEL - 1;
	memcpy(id, text, ID_DIGITS);
	id[ID_DIGITS] = '\0';
	return uuid_parse(id, &token->allocation) && text[ID_DIGITS] == '.' &&
	       sodium_hex2bin(token->signature.bytes, sizeof token->signature.bytes,
		       text + ID_DIGITS + 1, SIGNATURE_DIGITS, NULL, &size, NULL) == 0 &&
	       size == sizeof token->signature.bytes;
}

bool task_token_is_of(struct keyring *keyring, const struct task_token *token, const char *task)
{
	struct text what = signed_text(&token->allocation, task);
	bool is_its = keyring_verify(keyring, what, &token->signature);
	free((char *)what.data);
	return is_its;
}
