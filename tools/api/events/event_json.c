#include "tools/api/events/event_json.h"
#include "state/records/acl_role.h"
#include "state/records/alloc_details.h"
#include "state/records/deployment.h"
#include "state/records/evaluation.h"
#include "state/records/nodes/admit_rule.h"
#include "state/records/nodes/sender.h"
#include "tools/api/server/access.h"
#include "tools/forms/acl/acl_json.h"
#include "tools/forms/allocation_json.h"
#include "tools/forms/job_json.h"
#include "tools/forms/node_json.h"
#include "tools/forms/node_pool_json.h"
#include "tools/forms/vm_json.h"
#include "tools/json/json_record.h"
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

// Nomad's topics that never have an event here; a subscriber may name them.
static const char *const empty_topics[] = {"Service", "Operator", "CSIVolume", "CSIPlugin"};
#define TOPIC_NEVER (EVENT_TOPICS + 1)

static bool is_of_nomad_only(const char *text, size_t size)
{
	for (size_t i = 0; i < sizeof empty_topics / sizeof empty_topics[0]; i++)
		if (strlen(empty_topics[i]) == size &&
			strncasecmp(empty_topics[i], text, size) == 0)
			return true;
	return false;
}

static bool read_wish(const char *text, struct event_wish *wish, struct reply *reply)
{
	size_t size = strcspn(text, ":");
	const char *key = text[size] == ':' ? text + size + 1 : "";
	if (strchr(key, ':'))
		return reply_mistake(reply,
			"Invalid topic query: error parsing topics: Invalid key value pair for "
			"topic, topic: %.64s",
			text);
	wish->topic = is_of_nomad_only(text, size) ? TOPIC_NEVER : EVENT_TOPICS;
	for (uint8_t i = 0; i < EVENT_TOPICS; i++)
		if (strlen(event_topic_names[i]) == size &&
			strncasecmp(event_topic_names[i], text, size) == 0)
			wish->topic = i;
	bool all = size == 0 || (size == 1 && *text == '*');
	if (wish->topic == EVENT_TOPICS && !all)
		return reply_mistake(reply,
			"Invalid topic \"%.64s\": it must be Node, Job, Evaluation, Allocation, "
			"Deployment, NodePool, VM, VMWorker, Liveness, ACLToken, ACLPolicy, "
			"ACLRole, Audit, Admission, Sender or *, and may be followed by : and a "
			"key",
			text);
	wish->key = *key && strcmp(key, "*") != 0 ? text_copy(text_of(key)) : NULL;
	return true;
}

// What it takes to see events of a topic beside the namespace of each; ACL_AREAS: nothing.
static const struct {
	enum acl_area area;
	bool is_for_management;
} topic_rights[EVENT_TOPICS] = {
	[TOPIC_NODE] = {ACL_NODE},
	[TOPIC_JOB] = {ACL_AREAS},
	[TOPIC_EVALUATION] = {ACL_AREAS},
	[TOPIC_ALLOCATION] = {ACL_AREAS},
	[TOPIC_DEPLOYMENT] = {ACL_AREAS},
	[TOPIC_VM] = {ACL_VM},
	[TOPIC_VM_WORKER] = {ACL_VM},
	[TOPIC_LIVENESS] = {ACL_OPERATOR},
	[TOPIC_NODE_POOL] = {ACL_AREAS, true},
	[TOPIC_ACL_TOKEN] = {ACL_AREAS, true},
	[TOPIC_ACL_POLICY] = {ACL_AREAS, true},
	[TOPIC_ACL_ROLE] = {ACL_AREAS, true},
	[TOPIC_AUDIT] = {ACL_OPERATOR},
	[TOPIC_ADMISSION] = {ACL_NODE},
	[TOPIC_SENDER] = {ACL_NODE},
};

// namespace_name NULL: some namespace, if the topic has them.
static bool may_see(const struct acl *acl, uint8_t topic, const char *namespace_name)
{
	if (!acl || acl_is_management(acl))
		return true;
	if (topic >= EVENT_TOPICS || topic_rights[topic].is_for_management)
		return false;
	if (topic_rights[topic].area != ACL_AREAS)
		return acl_allows_area(acl, topic_rights[topic].area, ACL_LEVEL_READ);
	return namespace_name ? acl_allows_in(acl, namespace_name, ACL_READ_JOB)
			      : acl_allows_somewhere(acl, ACL_READ_JOB);
}

bool event_filter_may(const struct event_filter *filter)
{
	const struct acl *acl = request_acl(filter->request);
	bool is_everywhere = strcmp(filter->namespace_name, "*") == 0;
	bool may = filter->count > 0 || may_see(acl, EVENT_TOPICS, NULL);
	for (uint32_t i = 0; i < filter->count && may; i++)
		may = may_see(acl, filter->wishes[i].topic,
			is_everywhere ? NULL : filter->namespace_name);
	return may;
}

bool event_filter_read(
	const struct request *request, struct event_filter *filter, struct reply *reply)
{
	*filter = (struct event_filter){.request = request, .api = request->api};
	for (uint32_t i = 0; i < request->parameter_count; i++) {
		if (strcmp(request->parameters[i].name, "topic") != 0)
			continue;
		if (!read_wish(
			    request->parameters[i].value, &filter->wishes[filter->count], reply)) {
			event_filter_free(filter);
			return false;
		}
		filter->count++;
	}
	filter->namespace_name = text_copy(text_of(request_namespace(request)));
	if (event_filter_may(filter))
		return true;
	event_filter_free(filter);
	return reply_error(reply, MHD_HTTP_INTERNAL_SERVER_ERROR, "Permission denied");
}

void event_filter_free(struct event_filter *filter)
{
	for (uint32_t i = 0; i < filter->count; i++)
		free(filter->wishes[i].key);
	free(filter->namespace_name);
	*filter = (struct event_filter){0};
}

bool event_filter_has(const struct event_filter *filter, uint8_t topic)
{
	bool has = filter->count == 0;
	for (uint32_t i = 0; i < filter->count && !has; i++)
		has = filter->wishes[i].topic == EVENT_TOPICS || filter->wishes[i].topic == topic;
	return has;
}

// Values by which a subscriber can choose an event.
struct names {
	char key[UUID_TEXT_BYTES > NAME_BYTES_MAX ? UUID_TEXT_BYTES : NAME_BYTES_MAX + 1];
	const char *namespace_name;       // NULL: nodes, machines and workers have none
	const char *job_id;               // of an evaluation, allocation or deployment
	char deployment[UUID_TEXT_BYTES]; // of an evaluation or allocation
	const char *name;                 // of a machine's worker, or of a role
};

static bool wish_fits(const struct event_wish *wish, uint8_t topic, const struct names *names)
{
	if (wish->topic != EVENT_TOPICS && wish->topic != topic)
		return false;
	return !wish->key || strcmp(wish->key, names->key) == 0 ||
	       (names->job_id && strcmp(wish->key, names->job_id) == 0) ||
	       (names->name && strcmp(wish->key, names->name) == 0) ||
	       (*names->deployment && strcmp(wish->key, names->deployment) == 0);
}

static bool is_wanted(const struct event_filter *filter, uint8_t topic, const struct names *names)
{
	bool fits = filter->count == 0;
	for (uint32_t i = 0; i < filter->count && !fits; i++)
		fits = wish_fits(&filter->wishes[i], topic, names);
	return fits && may_see(request_acl(filter->request), topic, names->namespace_name) &&
	       (!names->namespace_name || strcmp(filter->namespace_name, "*") == 0 ||
		       strcmp(filter->namespace_name, names->namespace_name) == 0);
}

static void put_head(struct json_writer *w, const struct event *event, const struct names *names)
{
	json_begin_object(w);
	json_put_string(w, "Topic", event_topic_names[event->topic]);
	json_put_string(w, "Type", event_type_names[event->type]);
	json_put_string(w, "Key", names->key);
	json_put_string(w, "Namespace", names->namespace_name);
	json_write_key(w, "FilterKeys");
	if (names->job_id) {
		json_begin_array(w);
		json_write_string(w, names->job_id);
		if (event->topic != TOPIC_DEPLOYMENT)
			json_write_string(w, names->deployment);
		json_end_array(w);
	} else if (names->name) {
		json_begin_array(w);
		json_write_string(w, names->name);
		json_end_array(w);
	} else {
		json_write_null(w);
	}
	json_put_u64(w, "Index", event->index);
	json_open_object(w, "Payload");
	json_write_key(w, event_topic_names[event->topic]);
}

static void name_deployment(struct names *names, const struct uuid *id)
{
	if (!uuid_is_zero(id))
		uuid_format(id, names->deployment);
}

// How events of a topic find their record and name it. Under read lock.
struct subject {
	// NULL when the record is gone; then names come from the event alone.
	const void *(*find)(struct state *, const struct event *, struct names *);
	enum event_type end; // event type of a removal; EVENT_TYPES: none
};

static const void *find_node(struct state *state, const struct event *event, struct names *names)
{
	return state_node_by_id(state, &event->id);
}

static const void *find_job(struct state *state, const struct event *event, struct names *names)
{
	names->namespace_name = event->namespace_name;
	return state_job(state, text_of(event->namespace_name), text_of(event->name));
}

static const void *find_evaluation(
	struct state *state, const struct event *event, struct names *names)
{
	const struct evaluation *e = state_evaluation(state, &event->id);
	if (!e)
		return NULL;
	names->namespace_name = e->namespace_name;
	names->job_id = e->job_id;
	name_deployment(names, &e->deployment_id);
	return e;
}

static const void *find_allocation(
	struct state *state, const struct event *event, struct names *names)
{
	const struct allocation *a = state_allocation(state, &event->id);
	if (!a)
		return NULL;
	names->namespace_name = a->job->namespace_name;
	names->job_id = a->job->id;
	if (a->details)
		name_deployment(names, &a->details->deployment_id);
	return a;
}

static const void *find_deployment(
	struct state *state, const struct event *event, struct names *names)
{
	const struct deployment *d = state_deployment(state, &event->id);
	if (!d)
		return NULL;
	names->namespace_name = d->namespace_name;
	names->job_id = d->job_id;
	return d;
}

static const void *find_vm(struct state *state, const struct event *event, struct names *names)
{
	const struct vm *vm = state_vm(state, text_of(event->name));
	if (vm && vm->worker && *vm->worker)
		names->name = vm->worker;
	return vm;
}

static const void *find_vm_worker(
	struct state *state, const struct event *event, struct names *names)
{
	return state_vm_worker(state, text_of(event->name));
}

static const void *find_node_pool(
	struct state *state, const struct event *event, struct names *names)
{
	return state_node_pool(state, text_of(event->name));
}

static const void *find_acl_token(
	struct state *state, const struct event *event, struct names *names)
{
	return state_acl_token(state, &event->id);
}

static const void *find_acl_policy(
	struct state *state, const struct event *event, struct names *names)
{
	return state_acl_policy(state, text_of(event->name));
}

static const void *find_acl_role(
	struct state *state, const struct event *event, struct names *names)
{
	const struct acl_role *role = state_acl_role(state, &event->id);
	names->name = role ? role->name : NULL;
	return role;
}

static const void *find_refused_node(
	struct state *state, const struct event *event, struct names *names)
{
	return state_record(state, STATE_REFUSED_NODES, &event->id);
}

static const void *find_sender(struct state *state, const struct event *event, struct names *names)
{
	return state_sender(state, text_of(event->name));
}

// What it is about is no record; the event stands for it.
static const void *find_liveness(
	struct state *state, const struct event *event, struct names *names)
{
	snprintf(names->key, sizeof names->key, "expiry");
	return event;
}

static const struct subject subjects[EVENT_TOPICS] = {
	[TOPIC_NODE] = {find_node, EVENT_NODE_DEREGISTRATION},
	[TOPIC_JOB] = {find_job, EVENT_JOB_DEREGISTERED},
	[TOPIC_EVALUATION] = {find_evaluation, EVENT_TYPES},
	[TOPIC_ALLOCATION] = {find_allocation, EVENT_TYPES},
	[TOPIC_DEPLOYMENT] = {find_deployment, EVENT_TYPES},
	[TOPIC_VM] = {find_vm, EVENT_VM_DELETED},
	[TOPIC_VM_WORKER] = {find_vm_worker, EVENT_VM_WORKER_DEREGISTRATION},
	[TOPIC_LIVENESS] = {find_liveness, EVENT_TYPES},
	[TOPIC_NODE_POOL] = {find_node_pool, EVENT_NODE_POOL_DELETED},
	[TOPIC_ACL_TOKEN] = {find_acl_token, EVENT_ACL_TOKEN_DELETED},
	[TOPIC_ACL_POLICY] = {find_acl_policy, EVENT_ACL_POLICY_DELETED},
	[TOPIC_ACL_ROLE] = {find_acl_role, EVENT_ACL_ROLE_DELETED},
	[TOPIC_ADMISSION] = {find_refused_node, EVENT_TYPES},
	[TOPIC_SENDER] = {find_sender, EVENT_SENDER_RESTORED},
};

static void put_liveness(struct json_writer *w, const struct api_settings *s)
{
	char *liveness = s->liveness ? s->liveness(s->context) : NULL;
	json_write_raw(w, liveness ? text_of(liveness) : TEXT("null"));
	free(liveness);
}

static void put_record(
	struct json_writer *w, const struct api_settings *s, uint8_t topic, const void *record)
{
	const struct worker_view view = worker_view_now(s->state, s->time, s->vm_offline_after_ns);
	switch ((enum event_topic)topic) {
	case TOPIC_NODE: node_json(w, s->state, record); break;
	case TOPIC_JOB: job_json(w, record); break;
	case TOPIC_EVALUATION: json_record(w, &evaluation_description, record); break;
	case TOPIC_ALLOCATION: allocation_json_without_job(w, s->state, record); break;
	case TOPIC_DEPLOYMENT: json_record(w, &deployment_description, record); break;
	case TOPIC_VM: vm_json(w, record); break;
	case TOPIC_VM_WORKER: vm_worker_json(w, &view, record); break;
	case TOPIC_LIVENESS: put_liveness(w, s); break;
	case TOPIC_NODE_POOL: node_pool_json(w, record); break;
	case TOPIC_ADMISSION: json_record(w, &refused_node_description, record); break;
	case TOPIC_SENDER: json_record(w, &sender_description, record); break;
	case TOPIC_ACL_TOKEN: acl_token_json(w, s->state, record, ""); break;
	case TOPIC_ACL_POLICY: acl_policy_json(w, record); break;
	case TOPIC_ACL_ROLE: acl_role_json(w, record); break;
	case TOPIC_AUDIT:
	case EVENT_TOPICS: break;
	}
}

static bool put_event(struct json_writer *w, struct state *state, const struct event_filter *filter,
	const struct event *event)
{
	const struct subject *subject = &subjects[event->topic];
	struct names names = {0};
	if (*event->name)
		snprintf(names.key, sizeof names.key, "%s", event->name);
	else
		uuid_format(&event->id, names.key);
	const void *record = subject->find(state, event, &names);
	if ((!record && event->type != subject->end) || !is_wanted(filter, event->topic, &names))
		return false;
	put_head(w, event, &names);
	if (record)
		put_record(w, &filter->api->settings, event->topic, record);
	else
		json_write_null(w);
	json_end_object(w);
	json_end_object(w);
	return true;
}

bool event_json(struct json_writer *w, struct state *state, const struct event_filter *filter,
	const struct event *event)
{
	state_read_begin();
	bool written = put_event(w, state, filter, event);
	state_read_end();
	return written;
}
