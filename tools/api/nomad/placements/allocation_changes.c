// Stopping an allocation, so that its job is looked at again.
#include "tools/api/nomad/placements/routes.h"
#include "tools/api/server/body.h"
#include "tools/api/server/request.h"
#include "tools/api/server/submission.h"

static void free_nothing(struct command *command)
{
}

void allocation_stop(struct request *request, struct reply *reply)
{
	struct uuid id;
	if (!uuid_parse(request->ids[0], &id)) {
		reply_error(reply, MHD_HTTP_NOT_FOUND, "alloc not found");
		return;
	}
	struct submission *submission = submission_create(request, 1, free_nothing);
	struct command *command = submission_command(submission, 0);
	command->type = COMMAND_ALLOC_STOP;
	command->alloc_stop = (struct command_alloc_stop){
		.allocation = id, .no_shutdown_delay = request_flag(request, "no_shutdown_delay")};
}

void allocation_stopped(struct request *request, struct reply *reply)
{
	const struct command *command = submission_done(request, reply);
	if (!command)
		return;
	struct json_writer *w = reply_json(request, reply);
	json_begin_object(w);
	json_put_uuid(w, "EvalID", &command->alloc_stop.made.id);
	json_put_u64(w, "Index", command->index);
	json_end_object(w);
	reply_index(reply, command->index);
}
