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

// A machine begins anew at the latest 15 seconds after it did so before.
#define RESTART_WAIT "10s"
#define LOOKS_MAX 6
#define LOGS_PATH_BYTES (HTTP_PATH_BYTES + FRAMES_PLACE_BYTES + 40)

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

// What a follower knows of its machine.
struct followed {
	char uid[64];
	int64_t restarts;
	uint64_t index; // of the machine as it was looked at
};

// NULL: it may not be looked at, or is gone. Waits for a change of what was seen.
static json_t *look_again(struct session *session, const char *machine, struct followed *seen)
{
	char name[HTTP_PATH_BYTES], path[HTTP_PATH_BYTES + 60];
	json_t *vm = NULL;
	snprintf(path, sizeof path, "%s?index=%llu&wait=" RESTART_WAIT,
		name_path("/v1/vms", machine, "", name), (unsigned long long)seen->index);
	http_quiet(session, true);
	enum exit_status status = http_get_indexed(session, path, &vm, &seen->index);
	http_quiet(session, false);
	return status == STATUS_OK ? vm : NULL;
}

static void begin_to_follow(struct session *session, const char *machine, struct followed *seen)
{
	json_t *vm = look_again(session, machine, seen);
	snprintf(seen->uid, sizeof seen->uid, "%s", vm ? field_text(vm, "uid") : "");
	seen->restarts = vm ? field_number(vm, "restart_count") : 0;
	json_decref(vm);
}

enum next { NEXT_UNKNOWN, NEXT_RUN, NEXT_NOTHING };

static enum next next_of(json_t *vm, struct followed *seen)
{
	int64_t restarts = field_number(vm, "restart_count");
	if (strcmp(field_text(vm, "uid"), seen->uid) != 0 ||
		strcmp(field_text(vm, "powerState"), "running") != 0)
		return NEXT_NOTHING;
	if (strcmp(field_text(vm, "status"), "failed") == 0)
		return strcmp(field_text(vm, "restart_policy"), "OnFailure") == 0 ? NEXT_UNKNOWN
										  : NEXT_NOTHING;
	if (restarts <= seen->restarts)
		return NEXT_UNKNOWN;
	seen->restarts = restarts;
	return NEXT_RUN;
}

// Whether a machine that has ended on its worker begins anew, by its policy; waits until that is known.
static bool begins_anew(struct session *session, const char *machine, struct followed *seen)
{
	enum next next = NEXT_UNKNOWN;
	seen->index = 0; // as it is now
	for (int looks = 0; looks < LOOKS_MAX && next == NEXT_UNKNOWN; looks++) {
		json_t *vm = look_again(session, machine, seen);
		next = vm ? next_of(vm, seen) : NEXT_NOTHING;
		json_decref(vm);
	}
	return next == NEXT_RUN;
}

static enum exit_status follow_console(struct session *session, const char *machine,
	uint64_t wait_s, const char *place, uint64_t lines)
{
	char name[HTTP_PATH_BYTES], path[LOGS_PATH_BYTES];
	struct followed seen = {0};
	name_path("/v1/vms", machine, "/logs", name);
	begin_to_follow(session, machine, &seen);
	for (;;) {
		snprintf(path, sizeof path, "%s?wait=%u%s", name, (unsigned)wait_s, place);
		enum exit_status status = frames_print(session, path, lines);
		if (status != STATUS_OK)
			return status;
		bool goes_on = begins_anew(session, machine, &seen);
		fprintf(stderr, "berth: the machine \"%s\" %s\n", machine,
			goes_on ? "begins anew" : "has ended there");
		if (!goes_on)
			return STATUS_OK;
		place = "&follow=true&origin=start&offset=0";
		lines = 0;
	}
}

// Only who follows waits for a machine that has not begun.
static enum exit_status show_console(struct session *session, const char *machine,
	const char *place, uint64_t lines, bool has_lines)
{
	char name[HTTP_PATH_BYTES], path[LOGS_PATH_BYTES];
	uint64_t wait_s;
	if (!vm_way_read_wait(session, &wait_s))
		return STATUS_USAGE;
	if (flag_given(&session->flags, FLAG_FOLLOW)) {
		vm_way_note_wait(session, machine);
		return follow_console(session, machine, wait_s, place, lines);
	}
	snprintf(path, sizeof path, "%s?wait=0%s", name_path("/v1/vms", machine, "/logs", name),
		place);
	// A worker that is kept by hand tells lines, and nothing else is reached there.
	http_quiet(session, has_lines);
	enum exit_status status = frames_print(session, path, lines);
	http_quiet(session, false);
	return has_lines ? STATUS_OK : status;
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
