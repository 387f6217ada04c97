// Reads deployments.
#include "state/records/alloc_details.h"
#include "state/records/deployment.h"
#include "tools/api/lists/record_list.h"
#include "tools/api/nomad/placements/routes.h"
#include "tools/api/server/blocking_query.h"
#include "tools/api/server/one_record.h"
#include "tools/json/json_record.h"

const struct one_record deployment_by_id = {
	.noun = "deployment", .table = STATE_DEPLOYMENTS, .type = &deployment_description};

static bool is_wanted(const struct record_list *list, const void *record)
{
	const struct deployment *d = record;
	return record_list_wants(
		list, &d->id, d->namespace_name, deployment_status_names[d->status], d->job_id);
}

static const char *namespace_of_deployment(const void *record)
{
	return ((const struct deployment *)record)->namespace_name;
}

const struct record_kind deployment_list = {.table = STATE_DEPLOYMENTS,
	.namespace_of = namespace_of_deployment,
	.shown_with = ACL_READ_JOB,
	.noun = "deployment",
	.is_wanted = is_wanted,
	.type = &deployment_description};

uint64_t job_deployments_watched(const struct request *request)
{
	const struct state *state = request->api->settings.state;
	struct text namespace_name = text_of(request_namespace(request));
	struct text id = text_of(request->ids[0]);
	uint64_t job = state_job_index(state, namespace_name, id);
	uint64_t deployments = state_job_index_of(state, STATE_DEPLOYMENTS, namespace_name, id);
	return job > deployments ? job : deployments;
}

struct of_job {
	struct json_writer *writer;
	uint64_t job_create_index; // of the wanted incarnation; 0: all
};

static bool write_deployment(const struct deployment *d, void *context)
{
	const struct of_job *of = context;
	if (!of->job_create_index || d->job_create_index == of->job_create_index)
		json_record(of->writer, &deployment_description, d);
	return true;
}

// The present job's create index; 0: no such job. Under read lock.
static uint64_t incarnation(const struct request *request)
{
	const struct job *job = job_of_path(request);
	return job ? job->record.create_index : 0;
}

// The index for readers of a job: the table's when the job is unknown.
static uint64_t index_or_all(const struct request *request, uint64_t index)
{
	return index ? index : table_index(request, STATE_DEPLOYMENTS);
}

// A job keeps few enough deployments for one piece.
void job_deployments(struct request *request, struct reply *reply)
{
	struct of_job of = {.writer = reply_json(request, reply)};
	json_begin_array(of.writer);
	state_read_begin();
	if (!request_flag(request, "all"))
		of.job_create_index = incarnation(request);
	state_job_deployments(request->api->settings.state, text_of(request_namespace(request)),
		text_of(request->ids[0]), write_deployment, &of);
	reply_index(reply, index_or_all(request, job_deployments_watched(request)));
	state_read_end();
	json_end_array(of.writer);
}

void job_deployment(struct request *request, struct reply *reply)
{
	struct json_writer *w = reply_json(request, reply);
	state_read_begin();
	const struct deployment *d = state_latest_deployment(request->api->settings.state,
		text_of(request_namespace(request)), text_of(request->ids[0]));
	if (d)
		json_record(w, &deployment_description, d);
	else
		json_write_null(w);
	reply_index(reply, index_or_all(request, job_deployments_watched(request)));
	state_read_end();
}
