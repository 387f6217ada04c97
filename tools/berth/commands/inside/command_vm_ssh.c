// berth vm ssh and vm exec: shells and commands in virtual machines, by the ssh of this one over a forwarded port.
#include "state/base/bytes.h"
#include "tools/berth/cli/field.h"
#include "tools/berth/cli/http.h"
#include "tools/berth/cli/name_path.h"
#include "tools/berth/commands/commands.h"
#include "tools/berth/commands/inside/vm_way.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define USER_DEFAULT "admin"
#define OPTIONS_MAX 16u

struct ssh_line {
	const char *words[OPTIONS_MAX];
	uint32_t count;
};

static void add_word(struct ssh_line *line, const char *word)
{
	if (line->count + 1 < OPTIONS_MAX)
		line->words[line->count++] = word;
}

// In the words of the shell that sshd starts, which takes one text.
static char *quote_words(const char **words)
{
	struct bytes_writer w = bytes_writer_growing(256);
	for (; *words; words++) {
		bytes_put(&w, "'", 1);
		for (const char *at = *words; *at; at++)
			if (*at == '\'')
				bytes_put(&w, "'\\''", 4);
			else
				bytes_put(&w, at, 1);
		bytes_put(&w, words[1] ? "' " : "'", words[1] ? 2 : 1);
	}
	bytes_put_u8(&w, 0);
	return (char *)w.data;
}

// The program takes this one's place; returns only when it cannot.
static enum exit_status run_ssh(struct ssh_line *line)
{
	line->words[line->count] = NULL;
	execvp(line->words[0], (char *const *)line->words);
	return complain(STATUS_FAILURE,
		"cannot run ssh: %s; install openssh-client, or forward the port "
		"with berth vm port-forward",
		strerror(errno));
}

// A machine's key is its own, and a machine of the same name is another machine: its key is kept under its uid.
static enum exit_status connect_ssh(
	struct session *session, const char *machine, const char *option, const char *command)
{
	const char *given = session->flags.values[FLAG_USER];
	char path[HTTP_PATH_BYTES], user[200], alias[200];
	char *way;
	json_t *vm;
	enum exit_status status =
		http_get_json(session, name_path("/v1/vms", machine, "", path), &vm);
	if (status != STATUS_OK)
		return status;
	const char *own = field_text(vm, "username");
	snprintf(user, sizeof user, "%s", given ? given : *own ? own : USER_DEFAULT);
	snprintf(alias, sizeof alias, "HostKeyAlias=berth-vm-%s", field_text(vm, "uid"));
	json_decref(vm);
	if (!vm_way_command(session, machine, &way))
		return STATUS_FAILURE;
	struct ssh_line line = {.count = 0};
	const char *const words[] = {"ssh", "-o", way, "-o", alias, "-o",
		"StrictHostKeyChecking=accept-new", "-l", user};
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		add_word(&line, words[i]);
	if (option)
		add_word(&line, option);
	add_word(&line, "--");
	add_word(&line, machine);
	if (command)
		add_word(&line, command);
	status = run_ssh(&line);
	free(way);
	return status;
}

enum exit_status machine_ssh(struct session *session, const char **arguments, int count)
{
	char *command = count > 1 ? quote_words(arguments + 1) : NULL;
	enum exit_status status = connect_ssh(session, arguments[0],
		flag_given(&session->flags, FLAG_TTY) ? "-tt" : NULL, command);
	free(command);
	return status;
}

enum exit_status machine_exec(struct session *session, const char **arguments, int count)
{
	const struct flags *flags = &session->flags;
	const char **words = arguments + 1;
	words += strcmp(*words, "--") == 0 && words[1] != NULL;
	// -n: standard input is not read.
	const char *option = flag_given(flags, FLAG_TTY)                ? "-tt"
			     : flag_is_refused(flags, FLAG_INTERACTIVE) ? "-nT"
									: "-T";
	char *command = quote_words(words);
	enum exit_status status = connect_ssh(session, arguments[0], option, command);
	free(command);
	return status;
}
