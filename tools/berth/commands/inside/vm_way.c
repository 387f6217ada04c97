#include "tools/berth/commands/inside/vm_way.h"
#include "state/base/check.h"
#include "tools/berth/cli/field.h"
#include "tools/berth/cli/http.h"
#include "tools/berth/cli/name_path.h"
#include "tools/http_client/http_socket.h"
#include "tools/web_socket/relay.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Unless --wait says how long.
#define VM_WAIT_S 60u
#define VM_WAIT_TEXT "60"

bool vm_way_read_wait(const struct session *session, uint64_t *wait_s)
{
	char message[256];
	*wait_s = VM_WAIT_S;
	if (flag_number(&session->flags, FLAG_WAIT, 0, UINT16_MAX, wait_s, message, sizeof message))
		return true;
	complain(STATUS_USAGE, "%s", message);
	return false;
}

void vm_way_note_wait(struct session *session, const char *machine)
{
	char path[HTTP_PATH_BYTES];
	uint64_t wait_s;
	json_t *vm = NULL;
	if (!vm_way_read_wait(session, &wait_s) || wait_s == 0)
		return;
	http_quiet(session, true);
	enum exit_status status =
		http_get_json(session, name_path("/v1/vms", machine, "", path), &vm);
	http_quiet(session, false);
	if (status == STATUS_OK && strcmp(field_text(vm, "status"), "pending") == 0 &&
		strcmp(field_text(vm, "powerState"), "running") == 0)
		fprintf(stderr,
			"berth: the machine \"%s\" does not run yet: waiting up to %llu seconds "
			"(--wait)\n",
			machine, (unsigned long long)wait_s);
	json_decref(vm);
}

struct http_socket *vm_way_open(
	struct session *session, const struct vm_way *way, enum exit_status *status)
{
	char name[HTTP_PATH_BYTES], path[HTTP_PATH_BYTES + 40];
	uint64_t wait_s;
	if (!vm_way_read_wait(session, &wait_s)) {
		*status = STATUS_USAGE;
		return NULL;
	}
	snprintf(path, sizeof path, "%s?port=%u&wait=%u",
		name_path(way->list, way->name, "/port-forward", name), way->port,
		(unsigned)wait_s);
	return http_begin_socket(session, path, RELAY_MESSAGE_BYTES_MAX, status);
}

// Of the command line, for the program that ssh starts.
static void hand_down(const struct flags *flags)
{
	static const enum flag handed[] = {FLAG_ADDRESS, FLAG_TOKEN, FLAG_CA_CERT, FLAG_CLIENT_CERT,
		FLAG_CLIENT_KEY, FLAG_TLS_SERVER_NAME};
	for (size_t i = 0; i < sizeof handed / sizeof handed[0]; i++) {
		char name[64];
		const char *names = flag_descriptions[handed[i]].environment;
		snprintf(name, sizeof name, "%.*s", (int)strcspn(names, " "), names);
		if (flags->values[handed[i]])
			CHECK(setenv(name, flags->values[handed[i]], 1) == 0);
	}
	if (flag_given(flags, FLAG_TLS_SKIP_VERIFY))
		CHECK(setenv("BERTH_SKIP_VERIFY", "true", 1) == 0);
}

// What a shell and ssh take as it is.
static bool is_plain_word(const char *text)
{
	for (; *text; text++)
		if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-",
			    *text))
			return false;
	return true;
}

bool vm_way_command(const struct session *session, const char *machine, char **line)
{
	const char *wait = session->flags.values[FLAG_WAIT];
	char program[PATH_MAX];
	ssize_t size = readlink("/proc/self/exe", program, sizeof program - 1);
	*line = NULL;
	program[size > 0 ? size : 0] = '\0';
	if (size <= 0 || !is_plain_word(program) || !is_plain_word(machine) ||
		(wait && !is_plain_word(wait))) {
		complain(STATUS_FAILURE,
			"a path or a name here has characters that ssh cannot pass on: \"%s\", "
			"\"%s\"",
			program, machine);
		return false;
	}
	hand_down(&session->flags);
	CHECK(asprintf(line, "ProxyCommand=%s vm port-forward --stdio --wait=%s %s %u", program,
		      wait ? wait : VM_WAIT_TEXT, machine, VM_SSH_PORT) >= 0);
	return true;
}
