// Whatever the system refuses to what an agent keeps of itself: it is said, who the node is never changes, and a term
// that was stored is known to the next agent.
#include "state/base/check.h"
#include "tests/failpoints/call_walk.h"
#include "tools/agent/base/contact.h"
#include "tools/agent/base/folders.h"
#include "tools/agent/base/identity.h"
#include "tools/agent/base/loopback.h"
#include "tools/agent/base/user.h"
#include <fcntl.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

static const struct call_walk_excuses excuses = {NULL, NULL};

#define HEARD_NS 5000000000
static int listener; // on a port of this machine
static uint16_t port;

struct base_life {
	char folder[64];
	struct uuid node; // nil: it is not known yet
	uint64_t term;    // that was stored
	bool has_heard;   // and kept it
};

static void path_of_kept(const struct base_life *l, const char *name, char path[static 100])
{
	snprintf(path, 100, "%s/%s", l->folder, name);
}

static void *prepare(const struct walk_row *row)
{
	struct base_life *l = walk_shared(sizeof *l);
	char path[100];

	(void)row;
	snprintf(l->folder, sizeof l->folder, "/tmp/berth-walk-XXXXXX");
	assert_non_null(mkdtemp(l->folder));
	path_of_kept(l, "key", path);
	assert_int_equal(
		folder_write(AT_FDCWD, path, 0600, "3:00112233445566778899aabbccddeeff\n", 35), 0);
	return l;
}

static void clear(void *shared)
{
	struct base_life *l = shared;

	folder_remove(AT_FDCWD, l->folder);
	assert_int_equal(munmap(l, sizeof *l), 0);
}

static bool is_good(int error, const char *message)
{
	if (error)
		walk_said(*message ? message : strerror(error < 0 ? -error : error));
	return !error;
}

static bool open_kept(struct base_life *l, struct identity *id, uint64_t seed)
{
	char message[300] = "", path[100];
	struct prng prng;

	prng_seed(&prng, seed);
	path_of_kept(l, "state", path);
	if (!is_good(identity_open(path, &prng, id, message, sizeof message), message))
		return false;
	l->node = id->node;
	return true;
}

static bool store_term(struct base_life *l, struct identity *id)
{
	char message[300] = "";

	if (!is_good(identity_store_term(id, 7, message, sizeof message), message))
		return false;
	l->term = 7;
	return true;
}

static bool read_key(const struct base_life *l)
{
	char message[300] = "", path[100];
	uint8_t key_id;
	struct wire_key key;

	path_of_kept(l, "key", path);
	return is_good(identity_read_key(path, &key_id, &key, message, sizeof message), message);
}

static bool keep_contact(struct base_life *l)
{
	struct contact c;

	contact_open(&c, l->folder, 1);
	contact_heard(&c, HEARD_NS);
	l->has_heard = is_good(contact_keep(&c), "");
	contact_close(&c);
	return l->has_heard;
}

static bool connect_to_server(void)
{
	int fd = loopback_connect(AF_INET, port, LOOPBACK_WAIT_MS);

	if (fd >= 0)
		close(fd);
	return is_good(fd < 0 ? fd : 0, "");
}

static bool find_user(void)
{
	char message[300] = "";
	struct user user;
	int error = user_find_with_groups("nobody", &user, message, sizeof message);

	user_free(&user);
	return is_good(error, message);
}

static bool work(void *shared)
{
	uint32_t descriptors = walk_descriptors();
	struct base_life *l = shared;
	struct identity id;
	bool is_done = open_kept(l, &id, 1);

	if (is_done) {
		is_done = store_term(l, &id);
		identity_close(&id);
	}
	is_done &= read_key(l);
	is_done &= keep_contact(l);
	is_done &= connect_to_server();
	is_done &= find_user();
	CHECK(walk_descriptors() == descriptors);
	return is_done;
}

static void look(void *shared)
{
	struct base_life before = *(struct base_life *)shared, *l = shared;
	struct identity id;
	struct contact c;

	CHECK(open_kept(l, &id, 2));
	CHECK(uuid_is_zero(&before.node) || uuid_equal(&before.node, &id.node));
	CHECK(id.term >= before.term);
	identity_close(&id);
	contact_open(&c, l->folder, 2 * HEARD_NS);
	CHECK(!before.has_heard || c.heard_ns == HEARD_NS);
	contact_close(&c);
}

static void listen_here(void)
{
	struct sockaddr_in here = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof here;

	listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_true(bind(listener, (struct sockaddr *)&here, sizeof here) == 0 &&
		    listen(listener, 1000) == 0 &&
		    getsockname(listener, (struct sockaddr *)&here, &size) == 0);
	port = ntohs(here.sin_port);
}

static void what_an_agent_keeps_is_said_to_be_lost_or_there(void **unused)
{
	const struct walk w = {NULL, 0, prepare, work, look, clear};

	(void)unused;
	listen_here();
	walk_calls(&w, &excuses);
	close(listener);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_an_agent_keeps_is_said_to_be_lost_or_there),
	};
	return cmocka_run_group_tests_name("agent base calls", tests, NULL, NULL);
}
