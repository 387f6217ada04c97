#include "tools/berth/cli/wire_session.h"
#include "state/base/check.h"
#include "tools/berth/cli/file.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The client's key as text: from its own file, or derived from the master keys.
static enum exit_status key_text(struct session *session, char text[static WIRE_KEY_TEXT_BYTES])
{
	const struct flags *flags = &session->flags;
	const char *own = flags->values[FLAG_KEY_FILE], *master = flags->values[FLAG_MASTER_KEY];
	if (own) {
		char *content;
		size_t size;
		enum exit_status result = file_read(own, &content, &size);
		if (result != STATUS_OK)
			return result;
		snprintf(text, WIRE_KEY_TEXT_BYTES, "%.*s", (int)strcspn(content, " \t\r\n"),
			content);
		free(content);
		return STATUS_OK;
	}
	if (!master)
		return complain(STATUS_USAGE,
			"this client's key is needed: --key-file FILE (or BERTH_KEY_FILE), made "
			"with `berth client key %s`",
			flags->values[FLAG_NAME]);
	char message[512];
	struct master_keys keys;
	struct wire_key key;
	if (master_keys_load(master, &keys, message, sizeof message) != 0)
		return complain(STATUS_FAILURE, "%s", message);
	CHECK(client_key_derive(&keys, keys.keys[0].id, text_of(flags->values[FLAG_NAME]), &key));
	wire_key_format(keys.keys[0].id, &key, text);
	return STATUS_OK;
}

enum exit_status wire_open(struct session *session, struct client **client)
{
	const struct flags *flags = &session->flags;
	char key[WIRE_KEY_TEXT_BYTES], message[512] = "";
	uint64_t timeout_s = 60;
	if (!flags->values[FLAG_WIRE])
		return complain(STATUS_USAGE, "the controller's wire address is needed: --wire "
					      "HOST:PORT (or BERTH_WIRE); it is the "
					      "address of Berth's own port, not the machine's");
	if (!flags->values[FLAG_NAME])
		return complain(STATUS_USAGE, "this client's name is needed: --name NAME (or "
					      "BERTH_CLIENT); its key belongs to it");
	if (!flag_number(flags, FLAG_TIMEOUT, 1, 86400, &timeout_s, message, sizeof message))
		return complain(STATUS_USAGE, "%s", message);
	enum exit_status result = key_text(session, key);
	if (result != STATUS_OK)
		return result;
	struct client_settings settings = {
		.server = flags->values[FLAG_WIRE],
		.name = flags->values[FLAG_NAME],
		.key_text = key,
		.deadline_ms = (uint32_t)timeout_s * 1000,
	};
	if (client_open(&settings, client, message, sizeof message) < 0)
		return complain(STATUS_FAILURE, "%s", message);
	return STATUS_OK;
}

enum exit_status wire_problem(
	struct session *session, int result, const struct wire_refused *refused)
{
	char text[1024];
	const struct flags *flags = &session->flags;
	if (result == CLIENT_REFUSED)
		return complain(STATUS_REFUSED, "refused: %s",
			client_refusal_text(refused, text, sizeof text));
	if (result == -ETIMEDOUT)
		return complain(STATUS_UNREACHABLE,
			"no answer from %s within %s s; is the address right, and does the key "
			"belong to "
			"client \"%s\"? A controller answers nothing that it cannot verify",
			flags->values[FLAG_WIRE], flags->values[FLAG_TIMEOUT],
			flags->values[FLAG_NAME]);
	return complain(STATUS_FAILURE, "the request cannot be sent to %s: %s",
		flags->values[FLAG_WIRE], strerror(-result));
}
