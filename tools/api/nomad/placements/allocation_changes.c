// Stops an allocation, so that its job is evaluated again.
#include "tools/api/nomad/placements/routes.h"
#include "tools/api/server/command_text.h"
#include "tools/api/server/request.h"

void allocation_stop(struct request *request, struct reply *reply)
{
	struct uuid id;
	if (!path_uuid(request, "alloc", &id, reply))
		return;
	struct command *command = submission_one(request, COMMAND_ALLOC_STOP, NULL);
	command->alloc_stop = (struct command_alloc_stop){
		.allocation = id, .no_shutdown_delay = request_flag(request, "no_shutdown_delay")};
}

void allocation_stopped(struct request *request, struct reply *reply)
{
	const struct command *command;
	struct json_writer *w = done_begin(request, reply, &command);
	if (!w)
		return;
	json_put_uuid(w, "EvalID", &command->alloc_stop.made.id);
	json_put_u64(w, "Index", command->index);
	done_end(w, reply, command);
}
