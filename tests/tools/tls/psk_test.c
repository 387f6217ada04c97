// Two sessions over a socketpair: who has the key gets in, and nobody else.
#include "tools/tls/psk.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#define NODE "7f1e9c1a-52f4-4f0e-9d39-1c07b6c4a0de"

static const uint8_t right_key[PSK_KEY_BYTES] = {1, 2, 3}, wrong_key[PSK_KEY_BYTES] = {4, 5, 6};

struct seen {
	char name[64];
	bool is_known;
};

static bool find(void *context, const char *name, size_t size, uint8_t key[static PSK_KEY_BYTES])
{
	struct seen *seen = context;
	assert_true(size < sizeof seen->name);
	memcpy(seen->name, name, size);
	seen->name[size] = '\0';
	memcpy(key, right_key, PSK_KEY_BYTES);
	return seen->is_known;
}

struct pair {
	int fds[2];
	struct psk_server *server;
	struct psk_client *client;
	gnutls_session_t a, b; // of the server, of the client
	struct seen seen;
};

static struct psk_identity identity(void)
{
	struct psk_identity of = {.key_id = 7};
	assert_true(uuid_parse(NODE, &of.node));
	return of;
}

static void open_pair(struct pair *p, const uint8_t *key, enum line_kind kind, bool is_known)
{
	*p = (struct pair){.seen.is_known = is_known};
	const struct psk_identity of = identity();
	assert_return_code(
		socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, p->fds), 0);
	p->server = psk_server_create(find);
	p->client = psk_client_create(&of, key);
	assert_int_equal(psk_server_session(p->server, p->fds[0], &p->seen, &p->a), 0);
	assert_int_equal(psk_client_session(p->client, p->fds[1], kind, &p->b), 0);
}

static void close_pair(struct pair *p)
{
	gnutls_deinit(p->a);
	gnutls_deinit(p->b);
	psk_server_destroy(p->server);
	psk_client_destroy(p->client);
	close(p->fds[0]);
	close(p->fds[1]);
}

// Whether both ends are satisfied.
static bool shake_hands(struct pair *p)
{
	int a = GNUTLS_E_AGAIN, b = GNUTLS_E_AGAIN;
	for (int i = 0; i < 20 && (a == GNUTLS_E_AGAIN || b == GNUTLS_E_AGAIN); i++) {
		b = b == GNUTLS_E_AGAIN ? gnutls_handshake(p->b) : b;
		a = a == GNUTLS_E_AGAIN ? gnutls_handshake(p->a) : a;
	}
	return a == GNUTLS_E_SUCCESS && b == GNUTLS_E_SUCCESS;
}

static void who_has_the_key_gets_in(void **unused)
{
	char text[8] = "";
	for (enum line_kind kind = LINE_CONTROLLER_ASKS; kind <= LINE_NODE_ASKS; kind++) {
		struct pair p;
		open_pair(&p, right_key, kind, true);
		assert_true(shake_hands(&p));
		assert_string_equal(p.seen.name, "7:" NODE);
		assert_int_equal(psk_session_kind(p.a), kind);
		assert_int_equal(gnutls_record_send(p.a, "hello", 5), 5);
		assert_int_equal(gnutls_record_recv(p.b, text, sizeof text), 5);
		assert_memory_equal(text, "hello", 5);
		close_pair(&p);
	}
}

// Whatever both agree on has ephemeral keys, also with a peer that knows no TLS 1.3.
static void keys_are_ephemeral(void **unused)
{
	static const char *const versions[] = {"+VERS-TLS1.3", "+VERS-TLS1.2"};
	for (size_t i = 0; i < 2; i++) {
		struct pair p;
		char priorities[100];
		open_pair(&p, right_key, LINE_NODE_ASKS, true);
		snprintf(priorities, sizeof priorities,
			"NORMAL:-VERS-ALL:%s:-KX-ALL:+PSK:+ECDHE-PSK", versions[i]);
		assert_int_equal(gnutls_priority_set_direct(p.b, priorities, NULL), 0);
		assert_true(shake_hands(&p));
		assert_int_equal(
			gnutls_protocol_get_version(p.a), i == 0 ? GNUTLS_TLS1_3 : GNUTLS_TLS1_2);
		assert_int_equal(gnutls_kx_get(p.a), GNUTLS_KX_ECDHE_PSK);
		close_pair(&p);
	}
	struct pair p;
	open_pair(&p, right_key, LINE_NODE_ASKS, true);
	assert_int_equal(
		gnutls_priority_set_direct(p.b, "NORMAL:-VERS-ALL:+VERS-TLS1.2:-KX-ALL:+PSK", NULL),
		0);
	assert_false(shake_hands(&p));
	close_pair(&p);
}

static void nobody_else_gets_in(void **unused)
{
	struct pair p;
	open_pair(&p, wrong_key, LINE_CONTROLLER_ASKS, true);
	assert_false(shake_hands(&p));
	close_pair(&p);
	open_pair(&p, right_key, LINE_CONTROLLER_ASKS, false);
	assert_false(shake_hands(&p));
	assert_string_equal(p.seen.name, "7:" NODE);
	close_pair(&p);
}

static void identities_are_read_strictly(void **unused)
{
	static const char *const bad[] = {"", ":", "7:", "7", NODE, ":" NODE, "0:" NODE, "07:" NODE,
		"256:" NODE, "1000:" NODE, "-1:" NODE, "7:" NODE "0", "7:7f1e9c1a", "x:" NODE,
		"7 :" NODE};
	struct psk_identity read, of = identity();
	char text[PSK_IDENTITY_BYTES];
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		assert_false(psk_identity_read(bad[i], strlen(bad[i]), &read));
	assert_false(psk_identity_read("7:" NODE "\0x", strlen("7:" NODE) + 2, &read));
	psk_identity_write(&of, text);
	assert_string_equal(text, "7:" NODE);
	of.key_id = 255;
	psk_identity_write(&of, text);
	assert_true(psk_identity_read(text, strlen(text), &read));
	assert_int_equal(read.key_id, 255);
	assert_true(uuid_equal(&read.node, &of.node));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_has_the_key_gets_in),
		cmocka_unit_test(keys_are_ephemeral),
		cmocka_unit_test(nobody_else_gets_in),
		cmocka_unit_test(identities_are_read_strictly),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
