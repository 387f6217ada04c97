// Certificates, keys and sessions of TLS, of which any call of GnuTLS or of the system fails: who asked is told, and no
// file is left that is not whole.
#include "state/base/check.h"
#include "state/base/error.h"
#include "tests/failpoints/call_walk.h"
#include "tests/tools/tls/made.h"
#include "tools/tls/identity.h"
#include "tools/tls/pem_file.h"
#include "tools/tls/psk.h"
#include <gnutls/x509.h>
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

static const char *const names[] = {
	"ca.pem", "server.pem", "server-key.pem", "client.pem", "client-key.pem"};
enum { CA, SERVER, SERVER_KEY, CLIENT, CLIENT_KEY, FILES };

struct papers {
	char folder[64];
	char message[300];
};

static void *prepare(const struct walk_row *row)
{
	struct papers *p = walk_shared(sizeof *p);

	snprintf(p->folder, sizeof p->folder, "/tmp/berth-walk-XXXXXX");
	assert_non_null(mkdtemp(p->folder));
	return p;
}

static const char *path_of(const struct papers *p, int file, char path[static 100])
{
	snprintf(path, 100, "%s/%s", p->folder, names[file]);
	return path;
}

static void clear(void *shared)
{
	struct papers *p = shared;
	char path[100];

	for (int i = 0; i < FILES; i++)
		unlink(path_of(p, i, path));
	assert_return_code(rmdir(p->folder), 0);
	assert_int_equal(munmap(p, sizeof *p), 0);
}

// Whoever asked hears the sentence.
static bool is_told(struct papers *p, bool is_done)
{
	walk_said(is_done ? "" : p->message);
	*p->message = '\0';
	return is_done;
}

static bool is_without_error(int error)
{
	walk_said(error ? gnutls_strerror(error) : "");
	return error == 0;
}

static bool write_file(const struct papers *p, int file, const char *text)
{
	char path[100];
	int error = pem_file_write(path_of(p, file, path), 0600, text);

	walk_said(error ? error_text(error) : "");
	return error == 0;
}

static bool make_pair(
	struct papers *p, const struct certificate *authority, int file, bool is_server)
{
	static const char *const hosts[] = {"localhost", "127.0.0.1"};
	struct certificate_wish wish = {.name = is_server ? "server" : "client",
		.key = is_server ? CERTIFICATE_KEY_P256 : CERTIFICATE_KEY_ED25519,
		.from_s = made_now_s() - 10,
		.until_s = made_now_s() + 10,
		.hosts = hosts,
		.host_count = is_server ? 2 : 0};
	struct certificate c;

	if (!is_told(p, certificate_make(&wish, authority, &c, p->message, sizeof p->message)))
		return false;
	bool is_written = write_file(p, file, c.certificate) && write_file(p, file + 1, c.key);
	certificate_free(&c);
	return is_written;
}

static bool make_papers(struct papers *p)
{
	struct certificate_wish wish = {
		.name = "authority", .from_s = made_now_s() - 100, .until_s = made_now_s() + 100};
	struct certificate authority;

	if (!is_told(p, authority_make(&wish, &authority, p->message, sizeof p->message)))
		return false;
	bool is_made = write_file(p, CA, authority.certificate) &&
		       make_pair(p, &authority, SERVER, true) &&
		       make_pair(p, &authority, CLIENT, false);
	certificate_free(&authority);
	return is_made;
}

// Until both have what they want, or one of them an error. Neither is this test's mistake.
static bool shake_both(gnutls_session_t a, gnutls_session_t b)
{
	int of_a = GNUTLS_E_AGAIN, of_b = GNUTLS_E_AGAIN;

	for (int i = 0; i < 20 && (of_a || of_b); i++) {
		of_a = of_a ? gnutls_handshake(a) : 0;
		of_b = of_b ? gnutls_handshake(b) : 0;
	}
	return is_without_error(of_a) && is_without_error(of_b);
}

// A client that shows its certificate to the identity.
static bool meet(const struct papers *p, struct identity *identity)
{
	gnutls_certificate_credentials_t own;
	gnutls_session_t a, b;
	char path[100], key[100], name[64] = "";
	int fds[2];
	struct credentials *credentials = identity_share(identity);

	CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds) == 0);
	CHECK(gnutls_certificate_allocate_credentials(&own) == 0);
	CHECK(gnutls_certificate_set_x509_key_file(own, path_of(p, CLIENT, path),
		      path_of(p, CLIENT_KEY, key), GNUTLS_X509_FMT_PEM) == 0);
	CHECK(gnutls_init(&a, GNUTLS_SERVER | GNUTLS_NONBLOCK) == 0);
	CHECK(gnutls_init(&b, GNUTLS_CLIENT | GNUTLS_NONBLOCK) == 0);
	CHECK(gnutls_priority_set_direct(a, credentials_priorities, NULL) == 0);
	CHECK(gnutls_set_default_priority(b) == 0);
	CHECK(gnutls_credentials_set(b, GNUTLS_CRD_CERTIFICATE, own) == 0);
	credentials_use(credentials, a);
	gnutls_transport_set_int(a, fds[0]);
	gnutls_transport_set_int(b, fds[1]);
	bool is_well = shake_both(a, b);
	if (is_well && !credentials_peer_name(a, name, sizeof name)) {
		walk_said("the client has no name"); // which the log of who did what shows
		is_well = false;
	}
	CHECK(!is_well || strcmp(name, "client") == 0);
	gnutls_deinit(a);
	gnutls_deinit(b);
	gnutls_certificate_free_credentials(own);
	credentials_release(credentials);
	CHECK(close(fds[0]) == 0 && close(fds[1]) == 0);
	return is_well;
}

static bool use_papers(struct papers *p)
{
	char certificate[100], key[100], ca[100];
	struct credentials_files files = {
		path_of(p, SERVER, certificate), path_of(p, SERVER_KEY, key), path_of(p, CA, ca)};
	struct identity *identity =
		identity_create(&files, made_now_s(), p->message, sizeof p->message);

	if (!is_told(p, identity != NULL))
		return false;
	// What cannot be renewed goes on as it was.
	bool is_well =
		is_told(p, identity_renew(identity, made_now_s(), p->message, sizeof p->message));
	is_well = meet(p, identity) && is_well;
	identity_destroy(identity);
	return is_well;
}

static bool find_any_key(
	void *context, const char *name, size_t size, uint8_t key[static PSK_KEY_BYTES])
{
	memset(key, 7, PSK_KEY_BYTES);
	return true;
}

// The line's two ends.
static bool join_line(struct psk_server *server, struct psk_client *client, const int fds[static 2])
{
	gnutls_session_t a, b;

	if (!is_without_error(psk_server_session(server, fds[0], NULL, &a))) {
		CHECK(!a); // nobody frees it again
		return false;
	}
	if (!is_without_error(psk_client_session(client, fds[1], LINE_NODE_ASKS, &b))) {
		CHECK(!b);
		gnutls_deinit(a);
		return false;
	}
	bool is_well = shake_both(a, b);
	enum line_kind kind = psk_session_kind(a);
	if (is_well && kind == LINE_UNKNOWN) {
		walk_said("it is not known who asks"); // and then it is refused
		is_well = false;
	}
	CHECK(!is_well || kind == LINE_NODE_ASKS);
	gnutls_deinit(a);
	gnutls_deinit(b);
	return is_well;
}

static bool use_line(void)
{
	const struct psk_identity of = {.key_id = 7, .node = {{1}}};
	uint8_t key[PSK_KEY_BYTES];
	int fds[2];

	memset(key, 7, sizeof key);
	CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds) == 0);
	struct psk_server *server = psk_server_create(find_any_key);
	struct psk_client *client = psk_client_create(&of, key);
	bool is_well = server && client && join_line(server, client, fds);
	walk_said(server && client ? "" : "memory is short");
	psk_server_destroy(server);
	psk_client_destroy(client);
	CHECK(close(fds[0]) == 0 && close(fds[1]) == 0);
	return is_well;
}

static bool work(void *shared)
{
	uint32_t descriptors = walk_descriptors();
	bool is_line_well = use_line();
	bool is_well = make_papers(shared) && use_papers(shared);

	CHECK(walk_descriptors() == descriptors);
	return is_well && is_line_well;
}

static bool is_whole(const char *text)
{
	static const char end[] = "-----\n";
	size_t size = strlen(text);

	return size > sizeof end && strcmp(text + size - (sizeof end - 1), end) == 0;
}

static void look(void *shared)
{
	const struct papers *p = shared;
	char path[100], message[300];

	for (int i = 0; i < FILES; i++) {
		if (access(path_of(p, i, path), F_OK) != 0)
			continue;
		char *text = pem_file_read("papers", path, message, sizeof message);
		CHECK(text && is_whole(text));
		pem_text_free(text);
	}
}

static void what_tls_refuses_is_said_and_no_half_is_left(void **unused)
{
	static const struct walk w = {NULL, 0, prepare, work, look, clear};
	static const char *const ours[] = {"at tools/tls/", NULL};
	static const struct call_walk_excuses excuses = {.only = ours};

	walk_calls(&w, &excuses);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_tls_refuses_is_said_and_no_half_is_left),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
