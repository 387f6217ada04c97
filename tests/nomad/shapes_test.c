// Every route is asked of a server that has run jobs, and its answer is laid beside the recorded one of a real server.
// A member that is missing, of another type, or null where the recording has a value is a difference; those that are
// meant stand in tests/nomad/meant.c with words of docs/nomad-differences.md.
#include "tests/nomad/meant.h"
#include "tests/tools/api/life.h"
#include "tests/tools/api/scheduling.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#define NODES 3u

static struct recorded *recorded;
static struct node_slot slots[NODES];

// What paths and bodies below call by a name between braces.
static struct {
	const char *name;
	char id[64];
} names[] = {{"web allocation"}, {"web evaluation"}, {"web deployment"}, {"failed allocation"},
	{"blocked evaluation"}, {"node"}, {"drained node"}, {"canary deployment"},
	{"canary allocation"}, {"policy"}};

static char *name_id(const char *name, size_t size)
{
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (strlen(names[i].name) == size && strncmp(names[i].name, name, size) == 0)
			return names[i].id;
	fail_msg("no id is called %.*s", (int)size, name);
	return NULL;
}

static void name_set_id(const char *name, const char *id)
{
	snprintf(name_id(name, strlen(name)), sizeof names[0].id, "%s", id);
}

// A quotation mark stands as ', a name between < and > is replaced by its id.
static char *filled(const char *text)
{
	static char results[2][4096];
	static unsigned turn;
	char *result = results[turn++ % 2], *at = result;
	while (*text) {
		size_t size = strcspn(text + 1, ">");
		if (*text == '<') {
			at += snprintf(at, sizeof names[0].id, "%s", name_id(text + 1, size));
			text += size + 2;
			continue;
		}
		*at++ = *text == '\'' ? '"' : *text;
		text++;
	}
	*at = '\0';
	return result;
}

static json_t *ask(const char *method, const char *path, const char *body)
{
	return http_json(server, method, filled(path), body ? filled(body) : NULL);
}

#define TASK(env)                                                                              \
	"{'Name':'t','Driver':'exec','Env':{'A':'" env "'},'Config':{'command':'/x','args':['" \
	"a']},'Resources':{'CPU':100,'MemoryMB':32},'DispatchPayload':{'File':'in'}}"
#define GROUP(count, more, env) \
	"'TaskGroups':[{'Name':'g','Count':" count "," more "'Tasks':[" TASK(env) "]}]"
#define JOB(id, type, more, groups)                                                                \
	"{'Diff':true,'Job':{'ID':'" id "','Name':'" id "','Type':'" type "','Datacenters':['dc1'" \
	"]," CONSTRAINT more groups "}}"
#define CONSTRAINT \
	"'Constraints':[{'LTarget':'${attr.kernel.name}','RTarget':'linux','Operand':'='}],"
#define HOUR "3600000000000"
#define WEB_GROUP                                                                                 \
	CONSTRAINT "'MaxClientDisconnect':" HOUR                                                  \
		   ",'Update':{'MaxParallel':2,'MinHealthyTime':1000000},'Networks':[{"           \
		   "'DynamicPorts':[{'Label':'http','To':80}]}],'Scaling':{'Min':1,'Max':9,"      \
		   "'Enabled':true,'Policy':{'c':1}},'Services':[{'Name':'s','PortLabel':'http'," \
		   "'Provider':'nomad','Checks':[{'Type':'tcp','Interval':1000000000,"            \
		   "'Timeout':1000000000}]}],"
#define WEB JOB("web", "service", "'Meta':{'a':'b'},", GROUP("2", WEB_GROUP, "1"))
#define CANARY(env)                                                                           \
	JOB("canary", "service", "",                                                          \
		GROUP("1", "'Update':{'MaxParallel':1,'Canary':1,'MinHealthyTime':1000000},", \
			env))
#define RETRY                                                                           \
	"'RestartPolicy':{'Attempts':0,'Mode':'fail'},'ReschedulePolicy':{'Unlimited':" \
	"true,'Delay':5000000000,'DelayFunction':'constant'},"
#define BATCH JOB("work", "batch", "", GROUP("1", RETRY, "1"))
#define BATCH_CHANGED \
	JOB("work", "batch", "", GROUP("2", "'RestartPolicy':{'Attempts':3,'Mode':'delay'},", "2"))
#define BIG                                                                                   \
	"{'Diff':true,'Job':{'ID':'big','Name':'big','Type':'service','Datacenters':['dc1']"  \
	"," CONSTRAINT                                                                        \
	"'TaskGroups':[{'Name':'g','Count':1,'Tasks':[{'Name':'t','Driver':'exec','Config':{" \
	"'command':'/x'},'Resources':{'CPU':99000,'MemoryMB':32}}]}]}}"
#define PERIODIC                                                                   \
	JOB("cron", "batch", "'Periodic':{'Specs':['0 0 1 1 *'],'Enabled':true},", \
		GROUP("1", "", "1"))
#define BEFORE                                                                                    \
	"{'Name':'before','Driver':'exec','Config':{'command':'/"                                 \
	"x'},'Lifecycle':{'Hook':'prestart'},'Templates':[{'SourcePath':'','DestPath':'local/"    \
	"x','EmbeddedTmpl':'x','ChangeMode':'restart','ChangeScript':null,'ChangeSignal':'','"    \
	"Splay':5000000000,'Perms':'0644','Uid':null,'Gid':null,'LeftDelim':'','RightDelim':'','" \
	"Envvars':false,'VaultGrace':0,'Wait':null,'ErrMissingKey':false}]}"
#define PARAMETERIZED                                                                             \
	JOB("param", "batch",                                                                     \
		"'ParameterizedJob':{'Payload':'optional','MetaRequired':['m'],'MetaOptional':['" \
		"o']},",                                                                          \
		"'TaskGroups':[{'Name':'g','Count':1,'Tasks':[" TASK("1") "," BEFORE "]}]")

static void pause_ms(int ms)
{
	nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000l}, NULL);
}

// Waits until a member of an answer is this text, and returns the answer.
static json_t *await_text(const char *path, const char *member, const char *text)
{
	for (int i = 0; i < 3000; i++) {
		json_t *answer = ask("GET", path, NULL);
		json_t *of = json_is_array(answer) ? json_array_get(answer, 0) : answer;
		if (strcmp(member_text(of, member), text) == 0)
			return answer;
		json_decref(answer);
		pause_ms(20);
	}
	struct response r = http(server, "GET", filled(path), NULL);
	fail_msg("%s of %s never becomes %s: %s", member, path, text, r.body);
	return NULL;
}

static void name_from(const char *name, const char *path, const char *member, const char *text)
{
	json_t *answer = await_text(path, member, text);
	name_set_id(name,
		member_text(json_is_array(answer) ? json_array_get(answer, 0) : answer, "ID"));
	json_decref(answer);
}

static struct node_slot slot_of(const char *node)
{
	for (uint32_t i = 0; i < NODES; i++) {
		char id[UUID_TEXT_BYTES];
		struct uuid one = server_node_id(i);
		if (strcmp(uuid_format(&one, id), node) == 0)
			return slots[i];
	}
	fail_msg("there is no node %s", node);
	return slots[0];
}

static void fail_an_allocation(void)
{
	name_from("failed allocation", "/v1/job/work/allocations", "ClientStatus", "pending");
	json_t *shown = ask("GET", "/v1/allocation/<failed allocation>", NULL);
	server_report(server, slot_of(member_text(shown, "NodeID")), filled("<failed allocation>"),
		ALLOC_FAILED, 0);
	json_decref(shown);
}

// Jobs of each kind, one that failed, one that waits for room, a deployment of each outcome and a drained node.
static int set_up(void **unused)
{
	char id[UUID_TEXT_BYTES];
	server = server_start(&(struct server_options){.schedulers = 1, .watchers = true});
	recorded = recorded_load();
	struct response made = http(server, "PUT", "/v1/namespace",
		filled("{'Name':'settled','Capabilities':{'DisabledTaskDrivers':['qemu']}}"));
	assert_int_equal(made.status, 200);
	response_free(&made);
	for (uint32_t i = 0; i < NODES; i++) {
		struct uuid node = server_node(server, i);
		slots[i] = server->newest;
		name_set_id("drained node", uuid_format(&node, id));
	}
	json_decref(ask("PUT", "/v1/jobs", BATCH));
	fail_an_allocation();
	life_begin(slots, NODES);
	json_decref(ask("PUT", "/v1/jobs", WEB));
	json_decref(ask("PUT", "/v1/jobs", CANARY("1")));
	json_decref(ask("PUT", "/v1/jobs", BIG));
	json_decref(ask("PUT", "/v1/jobs", JOB("sys", "system", "", GROUP("1", "", "1"))));
	json_decref(ask("PUT", "/v1/jobs", PERIODIC));
	json_decref(ask("PUT", "/v1/jobs", PARAMETERIZED));
	json_decref(
		ask("PUT", "/v1/job/work/evaluate", "{'EvalOptions':{'ForceReschedule':true}}"));
	name_from("web deployment", "/v1/job/web/deployment", "Status", "successful");
	json_decref(await_text("/v1/job/canary/deployment", "Status", "successful"));
	name_from("web allocation", "/v1/job/web/allocations", "ClientStatus", "running");
	json_t *shown = ask("GET", "/v1/allocation/<web allocation>", NULL);
	name_set_id("web evaluation", member_text(shown, "EvalID"));
	name_set_id("node", member_text(shown, "NodeID"));
	json_decref(shown);
	name_from("blocked evaluation", "/v1/evaluations?status=blocked", "Status", "blocked");
	json_decref(ask("PUT", "/v1/job/param/dispatch", "{'Meta':{'m':'1'},'Payload':'aGk='}"));
	name_from("policy", "/v1/scaling/policies", "Type", "horizontal");
	return 0;
}

static int tear_down(void **unused)
{
	server_stop(server);
	recorded_free(recorded);
	return 0;
}

struct question {
	const char *route, *path, *body; // body NULL: none
};

static void compare_all(const struct question *questions, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct question *q = &questions[i];
		char method[8];
		sscanf(q->route, "%7s", method);
		json_t *answer = ask(method, q->path ? q->path : strchr(q->route, '/'), q->body);
		if (json_is_array(answer) && json_array_size(answer) == 0)
			fail_msg("%s is empty", q->path ? q->path : q->route);
		recorded_compare(recorded, q->route, answer);
		json_decref(answer);
	}
}

static void reads_have_the_recorded_shape(void **unused)
{
	static const struct question questions[] = {
		{"GET /v1/agent/health"},
		{"GET /v1/agent/members"},
		{"GET /v1/agent/schedulers"},
		{"GET /v1/agent/schedulers/config"},
		{"GET /v1/agent/self"},
		{"GET /v1/agent/servers"},
		{"GET /v1/allocation/:id", "/v1/allocation/<web allocation>"},
		{"GET /v1/allocation/:id", "/v1/allocation/<failed allocation>"},
		{"GET /v1/allocations"},
		{"GET /v1/allocations", "/v1/allocations?resources=true"},
		{"GET /v1/client/metadata", "/v1/client/metadata?node_id=<node>"},
		{"GET /v1/deployment/:id", "/v1/deployment/<web deployment>"},
		{"GET /v1/deployment/allocations/:id",
			"/v1/deployment/allocations/<web deployment>"},
		{"GET /v1/deployments"},
		{"GET /v1/evaluation/:id", "/v1/evaluation/<web evaluation>"},
		{"GET /v1/evaluation/:id", "/v1/evaluation/<web evaluation>?related=true"},
		{"GET /v1/evaluation/:id", "/v1/evaluation/<blocked evaluation>"},
		{"GET /v1/evaluation/:id/allocations",
			"/v1/evaluation/<web evaluation>/allocations"},
		{"GET /v1/evaluations"},
		{"GET /v1/evaluations/count"},
		{"GET /v1/job/:id", "/v1/job/web"},
		{"GET /v1/job/:id", "/v1/job/cron"},
		{"GET /v1/job/:id", "/v1/job/param"},
		{"GET /v1/job/:id", "/v1/job/canary"},
		{"GET /v1/job/:id/allocations", "/v1/job/web/allocations"},
		{"GET /v1/job/:id/allocations", "/v1/job/work/allocations"},
		{"GET /v1/job/:id/deployment", "/v1/job/web/deployment"},
		{"GET /v1/job/:id/deployment", "/v1/job/work/deployment"},
		{"GET /v1/job/:id/deployments", "/v1/job/web/deployments"},
		{"GET /v1/job/:id/evaluations", "/v1/job/web/evaluations"},
		{"GET /v1/job/:id/scale", "/v1/job/web/scale"},
		{"GET /v1/job/:id/summary", "/v1/job/web/summary"},
		{"GET /v1/job/:id/summary", "/v1/job/cron/summary"},
		{"GET /v1/job/:id/versions", "/v1/job/canary/versions?diffs=true"},
		{"GET /v1/jobs"},
		{"GET /v1/jobs", "/v1/jobs?meta=true"},
		{"GET /v1/metrics"},
		{"GET /v1/namespace/:name", "/v1/namespace/settled"},
		{"GET /v1/namespaces"},
		{"GET /v1/node/:id", "/v1/node/<node>"},
		{"GET /v1/node/:id", "/v1/node/<drained node>"},
		{"GET /v1/node/:id/allocations", "/v1/node/<node>/allocations"},
		{"GET /v1/node/pool/:name", "/v1/node/pool/default"},
		{"GET /v1/node/pool/:name/jobs", "/v1/node/pool/default/jobs"},
		{"GET /v1/node/pool/:name/nodes", "/v1/node/pool/default/nodes"},
		{"GET /v1/node/pools"},
		{"GET /v1/nodes"},
		{"GET /v1/nodes", "/v1/nodes?resources=true&os=true"},
		{"GET /v1/operator/autopilot/configuration"},
		{"GET /v1/operator/autopilot/health"},
		{"GET /v1/operator/raft/configuration"},
		{"GET /v1/operator/scheduler/configuration"},
		{"GET /v1/regions"},
		{"GET /v1/scaling/policies"},
		{"GET /v1/scaling/policy/:id", "/v1/scaling/policy/<policy>"},
		{"GET /v1/status/leader"},
		{"GET /v1/status/peers"},
	};
	compare_all(questions, sizeof questions / sizeof questions[0]);
}

static void writes_have_the_recorded_shape(void **unused)
{
	static const struct question questions[] = {
		{"PUT /v1/validate/job", NULL, WEB},
		{"PUT /v1/job/:id/plan", "/v1/job/web/plan", WEB},
		{"PUT /v1/job/:id/plan", "/v1/job/work/plan", BATCH_CHANGED},
		{"PUT /v1/job/:id/plan", "/v1/job/big/plan", BIG},
		{"PUT /v1/job/:id/plan", "/v1/job/cron/plan", PERIODIC},
		{"PUT /v1/jobs", NULL, WEB},
		{"PUT /v1/job/:id", "/v1/job/big", BIG},
		{"PUT /v1/job/:id/stable", "/v1/job/web/stable",
			"{'JobID':'web','JobVersion':0,'Stable':true}"},
		{"PUT /v1/job/:id/evaluate", "/v1/job/web/evaluate", "{'JobID':'web'}"},
		{"PUT /v1/job/:id/dispatch", "/v1/job/param/dispatch", "{'Meta':{'m':'2'}}"},
		{"PUT /v1/job/:id/periodic/force", "/v1/job/cron/periodic/force", "{}"},
		{"PUT /v1/search", NULL, "{'Prefix':'w','Context':'all'}"},
		{"PUT /v1/search/fuzzy", NULL, "{'Text':'we','Context':'all'}"},
		{"PUT /v1/operator/scheduler/configuration", NULL,
			"{'SchedulerAlgorithm':'binpack'}"},
		{"PUT /v1/agent/join", "/v1/agent/join?address=127.0.0.1:1", ""},
		{"PUT /v1/agent/schedulers/config", NULL,
			"{'num_schedulers':2,'enabled_schedulers':['_core','service',"
			"'batch','system','sysbatch']}"},
		{"PUT /v1/node/:id/eligibility", "/v1/node/<node>/eligibility",
			"{'Eligibility':'eligible'}"},
		{"PUT /v1/node/:id/evaluate", "/v1/node/<node>/evaluate", ""},
		{"PUT /v1/allocation/:id/stop", "/v1/allocation/<web allocation>/stop", ""},
		{"GET /v1/allocation/:id", "/v1/allocation/<web allocation>"},
	};
	compare_all(questions, sizeof questions / sizeof questions[0]);
}

static void metadata_is_set(void **unused)
{
	json_t *answer = ask("POST", "/v1/client/metadata?node_id=<node>", "{'Meta':{'dyn':'1'}}");
	recorded_compare(recorded, "PUT /v1/client/metadata", answer);
	json_decref(answer);
}

static void evaluations_are_deleted(void **unused)
{
	static const struct question questions[] = {
		{"PUT /v1/operator/scheduler/configuration", NULL, "{'PauseEvalBroker':true}"},
		{"DELETE /v1/evaluations", NULL, "{'Filter':'JobID == `nosuch`'}"},
		{"PUT /v1/operator/scheduler/configuration", NULL, "{'PauseEvalBroker':false}"},
	};
	compare_all(questions, sizeof questions / sizeof questions[0]);
}

// Canaries that wait for a promotion, and what is done to their deployment.
static void deployments_are_changed(void **unused)
{
	static const struct question before[] = {
		{"PUT /v1/jobs", NULL, CANARY("2")},
	};
	static const struct question waiting[] = {
		{"GET /v1/job/:id/deployment", "/v1/job/canary/deployment"},
		{"GET /v1/job/:id/versions", "/v1/job/canary/versions?diffs=true"},
		{"PUT /v1/deployment/unblock/:id", "/v1/deployment/unblock/<canary deployment>",
			"{}"},
		{"PUT /v1/deployment/pause/:id", "/v1/deployment/pause/<canary deployment>",
			"{'Pause':true}"},
		{"PUT /v1/deployment/pause/:id", "/v1/deployment/pause/<canary deployment>",
			"{'Pause':false}"},
		{"PUT /v1/deployment/promote/:id", "/v1/deployment/promote/<canary deployment>",
			"{'All':true}"},
		{"GET /v1/deployment/:id", "/v1/deployment/<canary deployment>"},
		{"PUT /v1/job/:id/scale", "/v1/job/web/scale",
			"{'Target':{'Group':'g'},'Count':3,'Message':'m'}"},
		{"GET /v1/job/:id/scale", "/v1/job/web/scale"},
		{"PUT /v1/job/:id/revert", "/v1/job/web/revert", "{'JobVersion':0}"},
	};
	compare_all(before, 1);
	json_decref(await_text("/v1/job/canary/deployment", "StatusDescription",
		"Deployment is running but requires manual promotion"));
	name_from("canary deployment", "/v1/job/canary/deployment", "Status", "running");
	pause_ms(300);
	compare_all(waiting, sizeof waiting / sizeof waiting[0]);
}

static void deployments_fail(void **unused)
{
	static const struct question failing[] = {
		{"PUT /v1/deployment/allocation-health/:id",
			"/v1/deployment/allocation-health/<canary deployment>",
			"{'HealthyAllocationIDs':['<canary allocation>']}"},
		{"PUT /v1/deployment/fail/:id", "/v1/deployment/fail/<canary deployment>", ""},
	};
	json_decref(await_text("/v1/job/canary/deployment", "Status", "successful"));
	json_decref(ask("PUT", "/v1/jobs", CANARY("3")));
	json_decref(await_text("/v1/job/canary/deployment", "StatusDescription",
		"Deployment is running but requires manual promotion"));
	name_from("canary deployment", "/v1/job/canary/deployment", "Status", "running");
	name_from("canary allocation", "/v1/deployment/allocations/<canary deployment>",
		"ClientStatus", "running");
	compare_all(failing, sizeof failing / sizeof failing[0]);
}

static void nodes_are_drained(void **unused)
{
	static const struct question drained[] = {
		{"PUT /v1/node/:id/drain", "/v1/node/<drained node>/drain",
			"{'DrainSpec':{'Deadline':600000000000}}"},
		{"GET /v1/node/:id", "/v1/node/<drained node>"},
		{"GET /v1/nodes", "/v1/nodes"},
	};
	// What runs there ends for nobody, so that the drain lasts; and nobody may speak for a node that is gone.
	life_end();
	compare_all(drained, sizeof drained / sizeof drained[0]);
	server_node_expires(server, slots[NODES - 1]);
	compare_all(
		&(struct question){"PUT /v1/node/:id/purge", "/v1/node/<drained node>/purge", ""},
		1);
}

// An allocation of a node that is not heard any more, and may come back.
static void an_allocation_is_unknown(void **unused)
{
	json_t *list = ask("GET", "/v1/job/web/allocations", NULL), *one;
	size_t i;
	json_array_foreach(list, i, one)
	{
		if (strcmp(member_text(one, "ClientStatus"), "running") != 0 ||
			strcmp(member_text(one, "DesiredStatus"), "run") != 0 ||
			strcmp(member_text(one, "NodeID"), filled("<drained node>")) == 0)
			continue;
		name_set_id("web allocation", member_text(one, "ID"));
		name_set_id("node", member_text(one, "NodeID"));
	}
	json_decref(list);
	server_node_expires(server, slot_of(name_id("node", 4)));
	json_decref(await_text("/v1/allocation/<web allocation>", "ClientStatus", "unknown"));
	compare_all(
		&(struct question){"GET /v1/allocation/:id", "/v1/allocation/<web allocation>"}, 1);
	compare_all(&(struct question){"DELETE /v1/job/:id", "/v1/job/web"}, 1);
}

// The stream does not end: what it says until it tells of the last change is looked at. Without chunks, as HTTP/1.0 has
// none.
static void events_have_the_recorded_shape(void **unused)
{
	static const char request[] =
		"GET /v1/event/stream?index=1 HTTP/1.0\r\nHost: localhost\r\n\r\n";
	static char text[4u << 20];
	const char *last;
	size_t size = 0;
	server_node(server, NODES);
	int fd = server_connect(server), looked_at = 0;
	assert_int_equal(send(fd, request, sizeof request - 1, MSG_NOSIGNAL), sizeof request - 1);
	while (!(last = strstr(text, "\"node-000003\"")) || !strchr(last, '\n')) {
		ssize_t got = recv(fd, text + size, sizeof text - 1 - size, 0);
		assert_true(got > 0);
		size += (size_t)got;
	}
	close(fd);
	char *rest = NULL, *line = strtok_r(text, "\n", &rest);
	for (; line; line = strtok_r(NULL, "\n", &rest)) {
		json_t *events = json_loads(line, 0, NULL);
		if (json_object_size(events) > 0) {
			recorded_compare(recorded, "GET /v1/event/stream", events);
			looked_at++;
		}
		json_decref(events);
	}
	assert_true(looked_at > 20);
}

// Runs when all others have.
static void what_differs_is_meant(void **unused)
{
	expect_only_meant(recorded);
}

static void no_shape_is_left_out(void **unused)
{
	expect_all_shown(recorded);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_have_the_recorded_shape),
		cmocka_unit_test(writes_have_the_recorded_shape),
		cmocka_unit_test(metadata_is_set),
		cmocka_unit_test(evaluations_are_deleted),
		cmocka_unit_test(deployments_are_changed),
		cmocka_unit_test(deployments_fail),
		cmocka_unit_test(nodes_are_drained),
		cmocka_unit_test(an_allocation_is_unknown),
		cmocka_unit_test(events_have_the_recorded_shape),
		cmocka_unit_test(what_differs_is_meant),
		cmocka_unit_test(no_shape_is_left_out),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
