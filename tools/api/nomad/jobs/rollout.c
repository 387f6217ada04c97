// Multiregion jobs: this region's part of them, and its progress (GET /v1/berth/rollout/:id).
#include "tools/api/nomad/jobs/rollout.h"
#include "placement/job_check/job_region.h"
#include "state/base/memory.h"
#include "state/records/deployment.h"
#include "tools/api/nomad/jobs/routes.h"
#include "tools/api/server/request.h"
#include "tools/json/json_record.h"
#include <stdlib.h>

static void set_text(char **text, const char *value)
{
	free(*text);
	*text = value && *value ? text_copy(text_of(value)) : NULL;
}

static char *submission_of(const struct job *job)
{
	struct json_writer w = {0};
	json_record(&w, &job_type_description, job);
	return json_writer_take(&w);
}

// The same text again is the same submission: no region begins anything because of it. A job that was stopped meanwhile
// begins anew, in all its regions.
static bool take_known_rollout(const struct request *request, struct job *job)
{
	state_read_begin();
	const struct job *stored = state_job(
		request->api->settings.state, text_of(job->namespace_name), text_of(job->id));
	const struct multiregion *known = stored && !stored->stop ? stored->multiregion : NULL;
	bool same = known &&
		    text_equal(text_of(known->submission), text_of(job->multiregion->submission));
	if (same)
		set_text(&job->multiregion->rollout, known->rollout);
	state_read_end();
	return same;
}

static void name_rollout(struct request *request, struct job *job)
{
	struct api *api = request->api;
	char name[UUID_TEXT_BYTES];
	if (take_known_rollout(request, job))
		return;
	pthread_mutex_lock(&api->prng_lock);
	struct uuid id = prng_uuid(&api->prng);
	pthread_mutex_unlock(&api->prng_lock);
	set_text(&job->multiregion->rollout, uuid_format(&id, name));
}

static void check_regions(const struct request *request, struct job_body *read)
{
	const struct api *api = request->api;
	const struct job *job = read->job;
	for (uint32_t i = 0; i < job->multiregion->regions.count; i++) {
		const char *name = ARRAY_AT(&job->multiregion->regions, struct job_region, i)->name;
		bool known = strcmp(name, api->region) == 0 ||
			     (api->settings.has_peer &&
				     api->settings.has_peer(api->settings.context, name));
		if (!known)
			json_sentence(&read->invalid,
				"region \"%.64s\" is not known to this controller; name its "
				"address in the setting peers.regions",
				name);
	}
	if (job_region_index(job, api->region) < 0)
		json_sentence(&read->invalid,
			"region \"%.64s\" of this controller is none of the job's; submit it in "
			"one of them",
			api->region);
}

void rollout_settle(struct request *request, struct job_body *read)
{
	struct job *job = read->job;
	const char *rollout = request_parameter(request, "rollout");
	if (!job || !job->multiregion || !job_body_is_valid(read))
		return;
	set_text(&job->multiregion->rollout, rollout);
	set_text(&job->multiregion->submission, NULL);
	if (!rollout) {
		job->multiregion->submission = submission_of(job);
		name_rollout(request, job);
	}
	check_regions(request, read);
	(void)job_take_region(job, request->api->region);
}

struct search {
	uint64_t version;
	const struct deployment *found;
};

static bool is_of_version(const struct deployment *d, void *context)
{
	struct search *search = context;
	if (d->job_version != search->version)
		return true;
	search->found = d;
	return false;
}

// The newest version of this submission; NULL: it is no longer kept, or never came.
static const struct job *find_version(
	const struct state *state, struct text namespace_name, struct text id, const char *rollout)
{
	const struct job *job = state_job(state, namespace_name, id);
	for (uint64_t version = job ? job->version + 1 : 0; version-- > 0;) {
		job = state_job_version(state, namespace_name, id, version);
		if (!job)
			return NULL;
		if (job->multiregion && job->multiregion->rollout &&
			strcmp(job->multiregion->rollout, rollout) == 0)
			return job;
	}
	return NULL;
}

// Without a deployment, other regions have nothing to wait for.
static const char *status_of(const struct state *state, const struct job *job)
{
	struct search search = {.version = job->version};
	state_job_deployments(
		state, text_of(job->namespace_name), text_of(job->id), is_of_version, &search);
	int status = search.found ? search.found->status : DEPLOYMENT_SUCCESSFUL;
	return deployment_status_names[status];
}

void rollout_read(struct request *request, struct reply *reply)
{
	const struct state *state = request->api->settings.state;
	const char *rollout = request_parameter(request, "rollout");
	state_read_begin();
	const struct job *job = find_version(state, text_of(request_namespace(request)),
		text_of(request->ids[0]), rollout ? rollout : "");
	if (job) {
		json_write_plain(&reply->body, "%s", status_of(state, job));
		reply->status = MHD_HTTP_OK;
		reply->content_type = API_TEXT_PLAIN;
	} else {
		reply_error(reply, MHD_HTTP_NOT_FOUND, "no such submission of the job");
	}
	reply_index(reply, state_index(state));
	state_read_end();
}
