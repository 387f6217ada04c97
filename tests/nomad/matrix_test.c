// What each token may do: every route that Berth has is asked with tokens of one capability or one coarse word each,
// and refuses where a real server did (recorded_matrix.json), with the same status and text. What is meant to differ
// stands below with words of docs/nomad-differences.md.
#include "tests/nomad/differences.h"
#include "tests/tools/api/acl_world.h"
#include "tests/tools/api/life.h"
#include "tests/tools/api/scheduling.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define CLOSED "are for those who may read the agent"
#define REFUSED "is refused with 403 whatever it is about"
#define SENTINEL "there are no Sentinel policies to override"
#define EVERYWHERE "403, as other lists, when it may read nowhere"
#define DETACH "needs `csi-write-volume`, as deleting it"

#define TASKS                                                             \
	"'Tasks':[{'Name':'t','Driver':'raw_exec','Config':{'command':'/" \
	"x'},'Resources':{'CPU':100,"                                     \
	"'MemoryMB':32}}]"
#define GROUP(count, more)                                                                \
	"'Type':'service','Datacenters':['dc1'],'TaskGroups':[{'Name':'g','Count':" count \
	"," more TASKS "}]"
#define TASK_GROUP(more) GROUP("0", more)

// A route as the recording names it, and how Berth is asked. NULL: Berth has no such route, or another test asks it.
// A name between < and > is replaced by its id, and ' stands for a quotation mark.
static const struct {
	const char *route, *path, *body;
} routes[] = {
	{"GET /jobs", "/v1/jobs"},
	{"GET /jobs?namespace=*", "/v1/jobs?namespace=*"},
	{"GET /jobs?namespace=other", "/v1/jobs?namespace=other"},
	{"GET /job/:id", "/v1/job/web"},
	{"GET /job/:id (other ns)", "/v1/job/web?namespace=other"},
	{"GET /job/:id/versions", "/v1/job/web/versions"},
	{"GET /job/:id/allocations", "/v1/job/web/allocations"},
	{"GET /job/:id/evaluations", "/v1/job/web/evaluations"},
	{"GET /job/:id/deployments", "/v1/job/web/deployments"},
	{"GET /job/:id/deployment", "/v1/job/web/deployment"},
	{"GET /job/:id/summary", "/v1/job/web/summary"},
	{"GET /job/:id/scale", "/v1/job/web/scale"},
	{"GET /job/:id/submission", "/v1/job/web/submission?version=0"},
	{"GET /job/:id/services", "/v1/job/web/services"},
	{"PUT /jobs", "/v1/jobs", "{'Job':{'ID':'new'," TASK_GROUP("") "}}"},
	{"PUT /jobs (host volume read_only)", "/v1/jobs",
		"{'Job':{'ID':'mount'," TASK_GROUP("'Volumes':{'v':{'Type':'host','Source':'data','"
						   "ReadOnly':true}},") "}}"},
	{"PUT /jobs (policy_override)", "/v1/jobs",
		"{'PolicyOverride':true,'Job':{'ID':'new'," TASK_GROUP("") "}}"},
	{"PUT /jobs/parse", "/v1/jobs/parse", "{'JobHCL':'job {}'}"},
	{"PUT /validate/job", "/v1/validate/job", "{'Job':{'ID':'new'," TASK_GROUP("") "}}"},
	{"PUT /job/:id/plan", "/v1/job/new/plan", "{'Job':{'ID':'new'," TASK_GROUP("") "}}"},
	{"PUT /job/:id/dispatch", "/v1/job/stored/dispatch", "{}"},
	{"PUT /job/:id/periodic/force", "/v1/job/stored/periodic/force", "{}"},
	{"PUT /job/:id/scale", "/v1/job/stored/scale", "{'Target':{'Group':'none'},'Count':1}"},
	{"PUT /job/:id/scale (count)", "/v1/job/stored/scale",
		"{'Target':{'Group':'none'},'Count':1}"},
	{"PUT /job/:id/revert", "/v1/job/stored/revert", "{'JobID':'stored','JobVersion':99}"},
	{"PUT /job/:id/stable", "/v1/job/stored/stable", "{'JobID':'stored','JobVersion':99}"},
	{"PUT /job/:id/evaluate", "/v1/job/stored/evaluate", "{'JobID':'stored'}"},
	{"DELETE /job/:id", "/v1/job/nosuch"},
	{"GET /allocations", "/v1/allocations"},
	{"GET /allocations?namespace=*", "/v1/allocations?namespace=*"},
	{"GET /allocation/:id", "/v1/allocation/<allocation>"},
	{"GET /allocation/:id (other ns)", "/v1/allocation/<other allocation>"},
	{"GET /allocation/:id/services", "/v1/allocation/<allocation>/services"},
	{"GET /client/allocation/:id/checks", "/v1/client/allocation/<allocation>/checks"},
	{"PUT /allocation/:id/stop", "/v1/allocation/<stopped allocation>/stop"},
	{"PUT /allocation/:id/stop (unknown id)",
		"/v1/allocation/12345678-1234-1234-1234-123456789abc/stop"},
	{"GET /client/fs/ls", "/v1/client/fs/ls/<allocation>"},
	{"GET /client/fs/stat", "/v1/client/fs/stat/<allocation>?path=/"},
	{"GET /client/fs/cat", "/v1/client/fs/cat/<allocation>?path=/"},
	{"GET /client/fs/readat", "/v1/client/fs/readat/<allocation>?path=/&offset=0"},
	{"GET /client/fs/stream", "/v1/client/fs/stream/<allocation>?path=/"},
	{"GET /client/fs/logs", "/v1/client/fs/logs/<allocation>?task=t&type=stdout"},
	{"GET /client/fs/logs (unknown alloc)"},
	{"GET /client/allocation/:id/stats", "/v1/client/allocation/<allocation>/stats"},
	{"PUT /client/allocation/:id/restart", "/v1/client/allocation/<allocation>/restart", "{}"},
	{"PUT /client/allocation/:id/signal", "/v1/client/allocation/<allocation>/signal", "{}"},
	{"GET /client/allocation/:id/gc", "/v1/client/allocation/<allocation>/gc"},
	{"GET /client/allocation/:id/snapshot"},
	{"GET /client/allocation/:id/exec (raw_exec)",
		"/v1/client/allocation/<allocation>/exec?task=t&command=%5B%22a%22%5D"},
	{"GET /client/stats", "/v1/client/stats"},
	{"GET /client/gc", "/v1/client/gc"},
	{"GET /client/metadata", "/v1/client/metadata?node_id=<node>"},
	{"POST /client/metadata", "/v1/client/metadata", "{'NodeID':'<node>','Meta':{'a':'b'}}"},
	{"GET /evaluations", "/v1/evaluations"},
	{"GET /evaluations?namespace=*", "/v1/evaluations?namespace=*"},
	{"GET /evaluations/count", "/v1/evaluations/count"},
	{"GET /evaluation/:id", "/v1/evaluation/<evaluation>"},
	{"GET /evaluation/:id/allocations", "/v1/evaluation/<evaluation>/allocations"},
	{"DELETE /evaluations", "/v1/evaluations", "{'EvalIDs':[]}"},
	{"GET /deployments", "/v1/deployments"},
	{"GET /deployments?namespace=*", "/v1/deployments?namespace=*"},
	{"GET /deployment/:id", "/v1/deployment/<deployment>"},
	{"GET /deployment/allocations/:id", "/v1/deployment/allocations/<deployment>"},
	{"PUT /deployment/pause/:id", "/v1/deployment/pause/<deployment>",
		"{'DeploymentID':'<deployment>','Pause':true}"},
	{"PUT /deployment/promote/:id", "/v1/deployment/promote/<deployment>",
		"{'DeploymentID':'<deployment>','All':true}"},
	{"PUT /deployment/fail/:id", "/v1/deployment/fail/<deployment>", "{}"},
	{"PUT /deployment/unblock/:id", "/v1/deployment/unblock/<deployment>",
		"{'DeploymentID':'<deployment>'}"},
	{"PUT /deployment/allocation-health/:id", "/v1/deployment/allocation-health/<deployment>",
		"{'DeploymentID':'<deployment>','HealthyAllocationIDs':['<allocation>']}"},
	{"GET /nodes", "/v1/nodes"},
	{"GET /node/:id", "/v1/node/<node>"},
	{"GET /node/:id/allocations", "/v1/node/<node>/allocations"},
	{"PUT /node/:id/drain", "/v1/node/12345678-1234-1234-1234-123456789abc/drain", "{}"},
	{"PUT /node/:id/eligibility", "/v1/node/12345678-1234-1234-1234-123456789abc/eligibility",
		"{'Eligibility':'eligible'}"},
	{"PUT /node/:id/evaluate", "/v1/node/<node>/evaluate"},
	{"PUT /node/:id/purge", "/v1/node/12345678-1234-1234-1234-123456789abc/purge"},
	{"GET /node/pools", "/v1/node/pools"},
	{"GET /node/pool/:name", "/v1/node/pool/default"},
	{"PUT /node/pools", "/v1/node/pools", "{'Name':'gpu'}"},
	{"DELETE /node/pool/:name", "/v1/node/pool/nosuch"},
	{"GET /node/pool/:name/nodes", "/v1/node/pool/default/nodes"},
	{"GET /node/pool/:name/jobs", "/v1/node/pool/default/jobs"},
	{"GET /scaling/policies", "/v1/scaling/policies"},
	{"GET /scaling/policy/:id", "/v1/scaling/policy/<policy>"},
	{"PUT /search all", "/v1/search", "{'Prefix':'','Context':'all'}"},
	{"PUT /search jobs", "/v1/search", "{'Prefix':'','Context':'jobs'}"},
	{"PUT /search allocs", "/v1/search", "{'Prefix':'','Context':'allocs'}"},
	{"PUT /search evals", "/v1/search", "{'Prefix':'','Context':'evals'}"},
	{"PUT /search deployment", "/v1/search", "{'Prefix':'','Context':'deployment'}"},
	{"PUT /search nodes", "/v1/search", "{'Prefix':'','Context':'nodes'}"},
	{"PUT /search node_pools", "/v1/search", "{'Prefix':'','Context':'node_pools'}"},
	{"PUT /search namespaces", "/v1/search", "{'Prefix':'','Context':'namespaces'}"},
	{"PUT /search vars", "/v1/search", "{'Prefix':'','Context':'vars'}"},
	{"PUT /search scaling_policy", "/v1/search", "{'Prefix':'','Context':'scaling_policy'}"},
	{"PUT /search plugins", "/v1/search", "{'Prefix':'','Context':'plugins'}"},
	{"PUT /search volumes", "/v1/search", "{'Prefix':'','Context':'volumes'}"},
	{"PUT /search/fuzzy all", "/v1/search/fuzzy", "{'Text':'we','Context':'all'}"},
	{"PUT /search/fuzzy jobs", "/v1/search/fuzzy", "{'Text':'we','Context':'jobs'}"},
	{"PUT /search/fuzzy allocs", "/v1/search/fuzzy", "{'Text':'we','Context':'allocs'}"},
	{"PUT /search/fuzzy nodes", "/v1/search/fuzzy", "{'Text':'we','Context':'nodes'}"},
	{"PUT /search/fuzzy namespaces", "/v1/search/fuzzy",
		"{'Text':'we','Context':'namespaces'}"},
	{"GET /event/stream?topic=Job", "/v1/event/stream?topic=Job"},
	{"GET /event/stream?topic=Allocation", "/v1/event/stream?topic=Allocation"},
	{"GET /event/stream?topic=Evaluation", "/v1/event/stream?topic=Evaluation"},
	{"GET /event/stream?topic=Deployment", "/v1/event/stream?topic=Deployment"},
	{"GET /event/stream?topic=Service", "/v1/event/stream?topic=Service"},
	{"GET /event/stream?topic=Node", "/v1/event/stream?topic=Node"},
	{"GET /event/stream?topic=NodePool", "/v1/event/stream?topic=NodePool"},
	{"GET /event/stream?topic=ACLToken", "/v1/event/stream?topic=ACLToken"},
	{"GET /event/stream?topic=ACLPolicy", "/v1/event/stream?topic=ACLPolicy"},
	{"GET /event/stream?topic=Operator", "/v1/event/stream?topic=Operator"},
	{"GET /event/stream?topic=*", "/v1/event/stream?topic=*"},
	{"GET /event/stream?namespace=*", "/v1/event/stream?topic=Job&namespace=*"},
	{"GET /agent/self", "/v1/agent/self"},
	{"GET /agent/health", "/v1/agent/health"},
	{"GET /agent/members", "/v1/agent/members"},
	{"GET /agent/servers", "/v1/agent/servers"},
	{"PUT /agent/servers", "/v1/agent/servers?address=127.0.0.1:1"},
	{"PUT /agent/join", "/v1/agent/join?address=127.0.0.1:1"},
	{"PUT /agent/force-leave", "/v1/agent/force-leave?node=nosuch"},
	{"GET /agent/schedulers", "/v1/agent/schedulers"},
	{"GET /agent/schedulers/config", "/v1/agent/schedulers/config"},
	{"PUT /agent/schedulers/config", "/v1/agent/schedulers/config", "{}"},
	{"GET /agent/host", "/v1/agent/host"},
	{"GET /agent/pprof/cmdline"},
	{"GET /agent/keyring/list"},
	{"GET /metrics", "/v1/metrics"},
	{"GET /status/leader", "/v1/status/leader"},
	{"GET /status/peers", "/v1/status/peers"},
	{"GET /regions", "/v1/regions"},
	{"GET /agent/monitor", "/v1/agent/monitor"},
	{"GET /operator/raft/configuration", "/v1/operator/raft/configuration"},
	{"DELETE /operator/raft/peer", "/v1/operator/raft/peer?id=nosuch"},
	{"GET /operator/autopilot/configuration", "/v1/operator/autopilot/configuration"},
	{"PUT /operator/autopilot/configuration", "/v1/operator/autopilot/configuration", "{}"},
	{"GET /operator/autopilot/health", "/v1/operator/autopilot/health"},
	{"GET /operator/scheduler/configuration", "/v1/operator/scheduler/configuration"},
	{"PUT /operator/scheduler/configuration", "/v1/operator/scheduler/configuration",
		"{'SchedulerAlgorithm':'binpack'}"},
	{"GET /operator/snapshot", "/v1/operator/snapshot"},
	{"GET /operator/keyring/keys", "/v1/operator/keyring/keys"},
	{"PUT /operator/keyring/rotate", "/v1/operator/keyring/rotate"},
	{"DELETE /operator/keyring/key/:id",
		"/v1/operator/keyring/key/12345678-1234-1234-1234-123456789abc"},
	{"GET /operator/license", "/v1/operator/license"},
	{"PUT /system/gc", "/v1/system/gc"},
	{"PUT /system/reconcile/summaries", "/v1/system/reconcile/summaries"},
	{"GET /namespaces", "/v1/namespaces"},
	{"GET /namespace/default", "/v1/namespace/default"},
	{"GET /namespace/other", "/v1/namespace/other"},
	{"PUT /namespace", "/v1/namespace", "{'Name':'new'}"},
	{"DELETE /namespace/:name", "/v1/namespace/nosuch"},
	{"GET /volumes?type=csi", "/v1/volumes?type=csi"},
	{"GET /volume/csi/:id", "/v1/volume/csi/x"},
	{"PUT /volume/csi/:id", "/v1/volume/csi/x", "{}"},
	{"PUT /volume/csi/:id/create", "/v1/volume/csi/x/create", "{}"},
	{"DELETE /volume/csi/:id", "/v1/volume/csi/x"},
	{"DELETE /volume/csi/:id/detach", "/v1/volume/csi/x/detach?node=nosuch"},
	{"GET /volumes/external", "/v1/volumes/external?plugin_id=x"},
	{"GET /volumes/snapshot", "/v1/volumes/snapshot?plugin_id=x"},
	{"GET /plugins?type=csi", "/v1/plugins?type=csi"},
	{"GET /plugin/csi/:id", "/v1/plugin/csi/x"},
	{"GET /vars", "/v1/vars"},
	{"GET /vars?namespace=*", "/v1/vars?namespace=*"},
	{"GET /var/app/x", "/v1/var/app/x"},
	{"PUT /var/app/x", "/v1/var/app/x", "{'Items':{'a':'b'}}"},
	{"DELETE /var/app/x", "/v1/var/app/x"},
	{"GET /services", "/v1/services"},
	{"GET /services?namespace=*", "/v1/services?namespace=*"},
	{"GET /service/:name", "/v1/service/web"},
	{"DELETE /service/:name/:id", "/v1/service/web/x"},
	{"GET /acl/tokens", "/v1/acl/tokens"},
	{"GET /acl/token/self", "/v1/acl/token/self"},
	{"GET /acl/token/:accessor", "/v1/acl/token/<accessor>"},
	{"PUT /acl/token", "/v1/acl/token", "{'Type':'client','Policies':['all']}"},
	{"PUT /acl/token/onetime"},
	{"DELETE /acl/token/:accessor", "/v1/acl/token/12345678-1234-1234-1234-123456789abc"},
	{"GET /acl/policies", "/v1/acl/policies"},
	{"GET /acl/policy/:name", "/v1/acl/policy/all"},
	{"PUT /acl/policy/:name", "/v1/acl/policy/new",
		"{'Name':'new','Rules':'node { policy = \\'read\\' }'}"},
	{"GET /acl/roles", "/v1/acl/roles"},
	{"GET /acl/role/:id", "/v1/acl/role/12345678-1234-1234-1234-123456789abc"},
	{"PUT /acl/role", "/v1/acl/role", "{'Name':''}"},
	{"GET /acl/auth-methods"},
	{"GET /acl/auth-method/:name", "/v1/acl/auth-method/x"},
	{"GET /acl/binding-rules", "/v1/acl/binding-rules"},
	{"PUT /acl/bootstrap", "/v1/acl/bootstrap"},
};

// What is meant to differ: a route and the tokens (NULL: all of them) of which Berth says something else.
static const struct {
	const char *route, *tokens, *words;
} meant[] = {
	{"GET /metrics", NULL, CLOSED},
	{"PUT /agent/join", NULL, CLOSED},
	{"GET /operator/keyring/keys", NULL, CLOSED},
	{"GET /agent/monitor", " unknown malformed expired deleted ", REFUSED},
	{"GET /client/fs/cat", NULL, REFUSED},
	{"GET /client/fs/readat", NULL, REFUSED},
	{"GET /client/fs/stream", NULL, REFUSED},
	{"GET /client/fs/logs", " unknown deleted ", REFUSED},
	{"GET /client/allocation/:id/exec (raw_exec)", NULL, REFUSED},
	{"PUT /jobs (policy_override)", NULL, SENTINEL},
	{"GET /services?namespace=*", NULL, EVERYWHERE},
	{"DELETE /volume/csi/:id/detach", NULL, DETACH},
	{"GET /event/stream?topic=Service", NULL, EVERYWHERE},
	{"GET /acl/token/:accessor", " malformed ", REFUSED},
};
static bool was_met[sizeof meant / sizeof meant[0]];

#define TOKENS_MAX 128u

static struct {
	char name[64], secret[SECRET_BYTES];
	bool has_secret;
} tokens[TOKENS_MAX];
static uint32_t token_count;

// What paths and bodies call by a name between < and >.
static struct {
	const char *name;
	char id[64];
} names[] = {{"allocation"}, {"other allocation"}, {"stopped allocation"}, {"evaluation"},
	{"deployment"}, {"node"}, {"policy"}, {"accessor"}};

static char *id_of(const char *name, size_t size)
{
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (strlen(names[i].name) == size && strncmp(names[i].name, name, size) == 0)
			return names[i].id;
	fail_msg("no id is called %.*s", (int)size, name);
	return NULL;
}

static const char *filled(const char *text, char to[static 1024])
{
	char *at = to;
	if (!text)
		return NULL;
	while (*text) {
		size_t size = strcspn(text + 1, ">");
		if (*text == '<') {
			at += snprintf(at, sizeof names[0].id, "%s", id_of(text + 1, size));
			text += size + 2;
			continue;
		}
		*at++ = *text == '\'' ? '"' : *text;
		text++;
	}
	*at = '\0';
	return to;
}

static void note_first(const char *name, const char *path)
{
	json_t *list = http_json(server, "GET", path, NULL);
	assert_true(json_array_size(list) > 0);
	snprintf(id_of(name, strlen(name)), sizeof names[0].id, "%s",
		member_text(json_array_get(list, 0), "ID"));
	json_decref(list);
}

static void put_job(const char *path, const char *body)
{
	char text[1024];
	json_t *made = http_json(server, "PUT", path, filled(body, text));
	if (*member_text(made, "EvalID"))
		json_decref(await_evaluation(member_text(made, "EvalID")));
	json_decref(made);
}

static void run_jobs(void)
{
	put_job("/v1/jobs",
		"{'Job':{'ID':'web','Update':{'MaxParallel':1}," GROUP(
			"1", "'Scaling':{'Min':0,'Max':5,'Enabled':true,'Policy':{}},") "}}");
	server_namespace(server, "other");
	put_job("/v1/jobs?namespace=other",
		"{'Job':{'ID':'web','Update':{'MaxParallel':1}," GROUP("1", "") "}}");
	put_job("/v1/jobs", "{'Job':{'ID':'stop'," GROUP("1", "") "}}");
	put_job("/v1/jobs", "{'Job':{'ID':'stored'," TASK_GROUP("") "}}");
	note_first("allocation", "/v1/job/web/allocations");
	note_first("other allocation", "/v1/job/web/allocations?namespace=other");
	note_first("stopped allocation", "/v1/job/stop/allocations");
	note_first("evaluation", "/v1/job/web/evaluations");
	note_first("deployment", "/v1/job/web/deployments");
	note_first("policy", "/v1/scaling/policies");
	note_first("node", "/v1/nodes");
}

static char *add_token(const char *name)
{
	assert_true(token_count < TOKENS_MAX && strlen(name) < sizeof tokens[0].name);
	snprintf(tokens[token_count].name, sizeof tokens[0].name, "%s", name);
	tokens[token_count].has_secret = true;
	return tokens[token_count++].secret;
}

static void add_policies(json_t *policies)
{
	const char *name;
	char policy[16];
	json_t *rules;
	json_object_foreach(policies, name, rules)
	{
		snprintf(policy, sizeof policy, "p%u", token_count);
		acl_world_policy(policy, json_string_value(rules));
		(void)acl_world_token(policy, 0, add_token(name));
	}
}

// The tokens whose names say what is wrong with them have a right to everything but that.
static void add_tokens(json_t *recorded)
{
	acl_world_bootstrap(add_token("management"));
	acl_world_policy("all",
		"namespace \"*\" { policy = \"write\" } node { policy = \"write\" } "
		"agent { policy = \"write\" } operator { policy = \"write\" }");
	add_policies(json_object_get(recorded, "policies"));
	add_policies(json_object_get(recorded, "combined"));
	(void)add_token("anonymous");
	tokens[token_count - 1].has_secret = false;
	snprintf(add_token("malformed"), SECRET_BYTES, "abc");
	snprintf(add_token("unknown"), SECRET_BYTES, "12345678-1234-1234-1234-123456789abc");
	(void)acl_world_token(
		"all", (int64_t)time_wall_ns(&time_source_real) - 1000000000, add_token("expired"));
	acl_world_delete_token(acl_world_token("all", 0, add_token("deleted")));
	struct uuid accessor = acl_world_token("all", 0, (char[SECRET_BYTES]){""});
	uuid_format(&accessor, id_of("accessor", 8));
}

static int matrix_begin(void **unused)
{
	static struct node_slot slot;
	json_t *recorded = json_load_file(RECORDED_MATRIX, 0, NULL);
	assert_int_equal(scheduler_group_begin(unused), 0);
	(void)server_node(server, 0);
	slot = server->newest;
	life_begin(&slot, 1);
	run_jobs();
	add_tokens(recorded);
	json_decref(recorded);
	return 0;
}

static int matrix_end(void **unused)
{
	life_end();
	return server_group_end(unused);
}

static bool names_token(const char *list, const char *name)
{
	size_t size = strlen(name);
	for (const char *at = strstr(list, name); at; at = strstr(at + 1, name))
		if ((at == list || at[-1] == ' ') && (at[size] == ' ' || !at[size]))
			return true;
	return false;
}

// Words that a refusal for want of a right has, and nothing else.
static bool is_refusal(int status, const char *text)
{
	static const char *const words[] = {"Permission denied", "Unknown allocation",
		"ACL token not found", "ACL token expired", "UUID must be 36 characters",
		"failed to verify token"};
	bool has_words = false;
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		has_words = has_words || strstr(text, words[i]);
	return status == 403 || has_words;
}

// A text that names an allocation names that of the real server.
static bool says_same(const char *ours, const char *recorded)
{
	return strncmp(recorded, "Unknown allocation", 18) == 0 ? strncmp(ours, recorded, 20) == 0
								: strcmp(ours, recorded) == 0;
}

static bool is_meant(const char *route, const char *token)
{
	for (size_t i = 0; i < sizeof meant / sizeof meant[0]; i++) {
		if (strcmp(meant[i].route, route) != 0 ||
			(meant[i].tokens && !names_token(meant[i].tokens, token)))
			continue;
		was_met[i] = true;
		return true;
	}
	return false;
}

struct tally {
	uint32_t asked, equal, meant, wrong;
};

// Asks the route with the token and compares. text NULL: a real server allowed it.
static void compare(
	struct tally *tally, size_t route, uint32_t token, int status, const char *recorded)
{
	char path[1024], body[1024];
	const char *name = routes[route].route;
	size_t method_size = strcspn(name, " ");
	char method[8] = "";
	memcpy(method, name, method_size);
	const char *secret = tokens[token].has_secret ? tokens[token].secret : NULL;
	struct answer ours = ask_with(
		secret, method, filled(routes[route].path, path), filled(routes[route].body, body));
	bool refuses = is_refusal(ours.status, ours.text), refused = is_refusal(status, recorded);
	bool same = refuses == refused &&
		    (!refused || (ours.status == status && says_same(ours.text, recorded)));
	tally->asked++;
	if (same) {
		tally->equal++;
	} else if (is_meant(name, tokens[token].name)) {
		tally->meant++;
	} else {
		tally->wrong++;
		print_error("%s, %s: %d \"%.60s\", not %d \"%s\"\n", name, tokens[token].name,
			ours.status, ours.text, status, recorded);
	}
}

// The recorded result of a token: that which names it, else the last.
static json_t *result_of(json_t *results, const char *token)
{
	json_t *result;
	size_t i;
	json_array_foreach(results, i, result)
	{
		const char *list = json_string_value(json_array_get(result, 2));
		if (!*list || names_token(list, token))
			return result;
	}
	fail_msg("nothing is recorded of %s", token);
	return NULL;
}

static void walk_tokens(struct tally *tally, size_t route, json_t *recorded)
{
	json_t *policies = json_object_get(recorded, "policies");
	json_t *combined = json_object_get(recorded, "combined");
	json_t *one = json_object_get(json_object_get(recorded, "routes"), routes[route].route);
	json_t *together =
		json_object_get(json_object_get(recorded, "combined_routes"), routes[route].route);
	assert_non_null(one);
	for (uint32_t i = 0; i < token_count; i++) {
		const char *name = tokens[i].name;
		json_t *result = NULL;
		if (strncmp(name, "allbut:", 7) == 0)
			continue;
		if (!json_object_get(combined, name) || json_object_get(policies, name))
			result = result_of(json_object_get(one, "results"), name);
		else
			result = json_object_get(together, name);
		if (result)
			compare(tally, route, i, (int)json_integer_value(json_array_get(result, 0)),
				json_string_value(json_array_get(result, 1)));
	}
}

// Tokens with every capability but one, of which only refusals are recorded.
static void walk_missing(struct tally *tally, size_t route, json_t *recorded)
{
	json_t *one = json_object_get(json_object_get(recorded, "routes"), routes[route].route);
	json_t *result;
	size_t i;
	json_array_foreach(json_object_get(one, "missing"), i, result)
	{
		for (uint32_t t = 0; t < token_count; t++)
			if (strncmp(tokens[t].name, "allbut:", 7) == 0 &&
				names_token(json_string_value(json_array_get(result, 2)),
					tokens[t].name + 7))
				compare(tally, route, t,
					(int)json_integer_value(json_array_get(result, 0)),
					json_string_value(json_array_get(result, 1)));
	}
}

static void every_cell_is_as_recorded(void **unused)
{
	json_t *recorded = json_load_file(RECORDED_MATRIX, 0, NULL);
	struct tally tally = {0};
	for (size_t i = 0; i < sizeof routes / sizeof routes[0]; i++) {
		if (!routes[i].path)
			continue;
		walk_tokens(&tally, i, recorded);
		walk_missing(&tally, i, recorded);
	}
	json_decref(recorded);
	print_message(
		"%u cells: %u equal, %u meant to differ\n", tally.asked, tally.equal, tally.meant);
	assert_int_equal(tally.wrong, 0);
	assert_true(tally.asked > 10000);
}

static void what_differs_is_told(void **unused)
{
	for (size_t i = 0; i < sizeof meant / sizeof meant[0]; i++) {
		if (!differences_say(meant[i].words))
			fail_msg("the page does not say \"%s\"", meant[i].words);
		if (!was_met[i])
			fail_msg("%s does not differ", meant[i].route);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_cell_is_as_recorded),
		cmocka_unit_test(what_differs_is_told),
	};
	return cmocka_run_group_tests(tests, matrix_begin, matrix_end);
}
