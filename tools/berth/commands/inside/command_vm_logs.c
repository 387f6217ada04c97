// berth vm logs: what a worker told of its machine, such as the lines of its startup script, and what the machine says
// on its serial port. berth vm ip: where it is reached on its worker.
#include "tools/berth/cli/field.h"
#include "tools/berth/cli/http.h"
#include "tools/berth/cli/name_path.h"
#include "tools/berth/commands/commands.h"
#include "tools/berth/commands/inside/vm_way.h"
#include "tools/berth/views/frames.h"
#include <stdio.h>
#include <string.h>

static bool is_line(json_t *event)
{
	return strcmp(field_text(event, "kind"), "log_line") == 0;
}

static size_t count_lines(json_t *events)
{
	size_t i, count = 0;
	json_t *event;
	json_array_foreach(events, i, event) count += is_line(event);
	return count;
}

// The last lines, or all (0). Returns how many there were.
static size_t put_lines(json_t *events, uint64_t last_lines)
{
	size_t i, count = count_lines(events), left = count;
	json_t *event;
	json_array_foreach(events, i, event)
	{
		if (is_line(event) && (last_lines == 0 || left-- <= last_lines))
			puts(field_text(event, "payload"));
	}
	fflush(stdout);
	return count;
}

// Only who follows waits for a machine that has not begun.
static enum exit_status show_console(struct session *session, const char *machine,
	const char *place, uint64_t lines, bool has_lines)
{
	bool follows = flag_given(&session->flags, FLAG_FOLLOW);
	char name[HTTP_PATH_BYTES], path[HTTP_PATH_BYTES + FRAMES_PLACE_BYTES + 40];
	uint64_t wait_s = 0;
	if (follows && !vm_way_read_wait(session, &wait_s))
		return STATUS_USAGE;
	if (follows)
		vm_way_note_wait(session, machine);
	snprintf(path, sizeof path, "%s?wait=%u%s", name_path("/v1/vms", machine, "/logs", name),
		(unsigned)wait_s, place);
	// A worker that is kept by hand tells lines, and nothing else is reached there.
	bool is_optional = has_lines && !follows;
	http_quiet(session, is_optional);
	enum exit_status status = frames_print(session, path, lines);
	http_quiet(session, false);
	if (status == STATUS_OK && follows)
		fprintf(stderr, "berth: the machine \"%s\" has ended there\n", machine);
	return is_optional ? STATUS_OK : status;
}

enum exit_status machine_logs(struct session *session, const char **arguments, int count)
{
	char path[HTTP_PATH_BYTES], place[FRAMES_PLACE_BYTES];
	uint64_t lines;
	json_t *events;
	enum exit_status status = frames_read_place(&session->flags, place, &lines);
	if (status != STATUS_OK)
		return status;
	name_path("/v1/vms", arguments[0], "/events", path);
	if (flag_given(&session->flags, FLAG_JSON))
		return http_show(session, path, NULL);
	status = http_get_json(session, path, &events);
	if (status != STATUS_OK)
		return status;
	bool has_lines = put_lines(events, lines) > 0;
	json_decref(events);
	return show_console(session, arguments[0], place, lines, has_lines);
}

static void put_address(json_t *answer)
{
	puts(field_text(answer, "ip"));
}

enum exit_status machine_ip(struct session *session, const char **arguments, int count)
{
	char name[HTTP_PATH_BYTES], path[HTTP_PATH_BYTES + 40];
	uint64_t wait_s;
	if (!vm_way_read_wait(session, &wait_s))
		return STATUS_USAGE;
	vm_way_note_wait(session, arguments[0]);
	snprintf(path, sizeof path, "%s?wait=%u", name_path("/v1/vms", arguments[0], "/ip", name),
		(unsigned)wait_s);
	return http_show(session, path, put_address);
}
