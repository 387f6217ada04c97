// Files that a server can use, and the sentences about those that it cannot.
#include "tests/tools/tls/made.h"
#include "tools/tls/credentials.h"
#include "tools/tls/identity.h"
#include "tools/tls/pem_file.h"
#include <errno.h>
#include <gnutls/x509.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static struct made made;
static char message[512];

// Both certificates in one file.
static void make_both(const char *name, const char *first, const char *second)
{
	const char *const files[] = {first, second};
	char both[16384] = "";
	size_t used = 0;
	for (size_t i = 0; i < 2; i++) {
		char *text =
			pem_file_read("test", made_path(&made, files[i]), message, sizeof message);
		assert_non_null(text);
		used += (size_t)snprintf(both + used, sizeof both - used, "%s", text);
		assert_true(used < sizeof both);
		pem_text_free(text);
	}
	made_write(&made, name, both);
}

static int set_up(void **unused)
{
	made_begin(&made);
	made_sign(&made, "server", "127.0.0.1", -10, 1000);
	made_sign(&made, "other", "127.0.0.1", -10, 2000);
	make_both("mixed.pem", "server.pem", "other.pem");
	make_both("whole.pem", "server.pem", "ca.pem");
	make_both("backwards.pem", "ca.pem", "server.pem");
	made_sign(&made, "open", "127.0.0.1", -10, 1000);
	assert_return_code(chmod(made_path(&made, "open-key.pem"), 0644), 0);
	made_sign(&made, "old", "127.0.0.1", -1000, -10);
	made_sign(&made, "early", "127.0.0.1", 500, 1000);
	made_write(&made, "noise", "this is no PEM\n");
	made_write(&made, "empty", "");
	return 0;
}

static int tear_down(void **unused)
{
	made_end(&made);
	return 0;
}

static struct credentials *load(const char *certificate, const char *key, const char *client_ca)
{
	struct credentials_files files = {made_path(&made, certificate), made_path(&made, key),
		client_ca ? made_path(&made, client_ca) : NULL};
	return credentials_load(&files, made_now_s(), message, sizeof message);
}

static void what_fits_is_used(void **unused)
{
	struct credentials *c = load("server.pem", "server-key.pem", NULL);
	assert_non_null(c);
	assert_in_range(credentials_end_s(c), made_now_s() + 990, made_now_s() + 1000);
	assert_ptr_equal(credentials_share(c), c);
	credentials_release(c);
	credentials_release(c);
	c = load("server.pem", "server-key.pem", "ca.pem");
	assert_non_null(c);
	credentials_release(c);
	c = load("whole.pem", "server-key.pem", NULL);
	assert_non_null(c);
	credentials_release(c);
	credentials_release(NULL);
}

static void what_does_not_is_named(void **unused)
{
	static const struct {
		const char *certificate, *key, *client_ca, *what, *why;
	} rows[] = {
		{"none.pem", "server-key.pem", NULL, "http.tls.certificate: ", "No such file"},
		{"", "server-key.pem", NULL, "http.tls.certificate: ", "Is a directory"},
		{"noise", "server-key.pem", NULL, "http.tls.certificate: ", "holds no certificate"},
		{"empty", "server-key.pem", NULL, "http.tls.certificate: ", "holds no certificate"},
		{"server-key.pem", "server-key.pem", NULL,
			"http.tls.certificate: ", "holds no certificate"},
		{"old.pem", "old-key.pem", NULL, "http.tls.certificate: ", "expired at 20"},
		{"early.pem", "early-key.pem", NULL,
			"http.tls.certificate: ", "is not valid before"},
		{"server.pem", "none.pem", NULL, "http.tls.key: ", "No such file"},
		{"server.pem", "noise", NULL, "http.tls.key: ", "holds no private key"},
		{"server.pem", "server.pem", NULL, "http.tls.key: ", "holds no private key"},
		{"server.pem", "other-key.pem", NULL, "http.tls.key: ", "is not the key of"},
		{"server.pem", "open-key.pem", NULL, "http.tls.key: ", "is open to everybody"},
		{"mixed.pem", "server-key.pem", NULL,
			"http.tls.certificate: ", "must be followed by the one that signed it"},
		{"backwards.pem", "server-key.pem", NULL,
			"http.tls.certificate: ", "must be followed by the one that signed it"},
		{"server.pem", "server-key.pem", "none.pem",
			"http.tls.client_ca: ", "No such file"},
		{"server.pem", "server-key.pem", "noise",
			"http.tls.client_ca: ", "holds no certificate"},
		{"server.pem", "server-key.pem", "other.pem",
			"http.tls.client_ca: ", "may not sign others"},
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		assert_null(load(rows[i].certificate, rows[i].key, rows[i].client_ca));
		if (strncmp(message, rows[i].what, strlen(rows[i].what)) != 0 ||
			!strstr(message, rows[i].why))
			fail_msg("row %zu: \"%s\" does not say %s… %s", i, message, rows[i].what,
				rows[i].why);
	}
}

// The key of a file, locked.
static void lock_key(const char *from, const char *to)
{
	gnutls_x509_privkey_t key;
	gnutls_datum_t locked;
	char *text = pem_file_read("key", made_path(&made, from), message, sizeof message);
	gnutls_datum_t data = {(unsigned char *)text, (unsigned)strlen(text)};
	assert_int_equal(gnutls_x509_privkey_init(&key), 0);
	assert_int_equal(gnutls_x509_privkey_import(key, &data, GNUTLS_X509_FMT_PEM), 0);
	assert_int_equal(gnutls_x509_privkey_export2_pkcs8(key, GNUTLS_X509_FMT_PEM, "pass",
				 GNUTLS_PKCS_PBES2_AES_256, &locked),
		0);
	made_write(&made, to, (char *)locked.data);
	gnutls_free(locked.data);
	gnutls_x509_privkey_deinit(key);
	pem_text_free(text);
}

static void a_key_with_a_pass_phrase_is_refused(void **unused)
{
	lock_key("server-key.pem", "locked.pem");
	assert_null(load("server.pem", "locked.pem", NULL));
	assert_non_null(strstr(message, "is locked with a pass phrase"));
}

static void an_identity_keeps_what_it_has_until_it_gets_a_better_one(void **unused)
{
	struct credentials_files files = {
		made_path(&made, "mine.pem"), made_path(&made, "mine-key.pem"), NULL};
	assert_null(identity_create(&files, made_now_s(), message, sizeof message));
	made_sign(&made, "mine", "127.0.0.1", -10, 500);
	struct identity *identity = identity_create(&files, made_now_s(), message, sizeof message);
	assert_non_null(identity);
	struct credentials *first = identity_share(identity);
	made_write(&made, "mine-key.pem", "noise");
	assert_false(identity_renew(identity, made_now_s(), message, sizeof message));
	assert_non_null(strstr(message, "http.tls.key: "));
	struct credentials *same = identity_share(identity);
	assert_ptr_equal(first, same);
	made_sign(&made, "mine", "127.0.0.1", -10, 900);
	assert_true(identity_renew(identity, made_now_s(), message, sizeof message));
	struct credentials *second = identity_share(identity);
	assert_in_range(credentials_end_s(second) - credentials_end_s(first), 395, 405);
	identity_destroy(identity);
	identity_destroy(NULL);
	credentials_release(first);
	credentials_release(same);
	credentials_release(second);
}

static void a_file_is_only_written_where_none_is(void **unused)
{
	const char *path = made_path(&made, "new");
	struct stat found;
	assert_int_equal(pem_file_write(path, 0600, "a"), 0);
	assert_int_equal(stat(path, &found), 0);
	assert_int_equal(found.st_mode & 07777, 0600);
	assert_int_equal(pem_file_write(path, 0644, "b"), -EEXIST);
	char *text = pem_file_read("what", path, message, sizeof message);
	assert_string_equal(text, "a");
	pem_text_free(text);
	pem_text_free(NULL);
	assert_int_equal(pem_file_write(made_path(&made, "no/such"), 0600, "a"), -ENOENT);
}

// As on a full disk.
static void half_a_file_is_not_left_behind(void **unused)
{
	const char *path = made_path(&made, "half");
	struct rlimit limit, small;
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	small = (struct rlimit){4, limit.rlim_max};
	(void)signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	int error = pem_file_write(path, 0600, "12345678");
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	assert_int_equal(error, -EFBIG);
	assert_int_equal(access(path, F_OK), -1);
}

static void what_is_no_file_of_text_is_told(void **unused)
{
	static const struct {
		const char *path, *says;
	} rows[] = {
		{"/proc/self", "key: /proc/self cannot be read: Is a directory; "},
		{"/proc/self/mem", "key: /proc/self/mem cannot be read: Input/output error; "},
		// It grows as it is read.
		{"/proc/self/status", "key: /proc/self/status cannot be read: File too large; "},
	};
	for (uint32_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		assert_null(pem_file_read("key", rows[i].path, message, sizeof message));
		assert_int_equal(strncmp(message, rows[i].says, strlen(rows[i].says)), 0);
	}
}

static void a_file_that_is_far_too_large_is_not_read(void **unused)
{
	const char *path = made_path(&made, "large");
	made_write(&made, "large", "");
	assert_int_equal(truncate(path, PEM_FILE_BYTES_MAX + 1), 0);
	assert_null(pem_file_read("what", path, message, sizeof message));
	assert_non_null(strstr(message, "what: "));
	assert_non_null(strstr(message, "File too large"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_fits_is_used),
		cmocka_unit_test(what_does_not_is_named),
		cmocka_unit_test(a_key_with_a_pass_phrase_is_refused),
		cmocka_unit_test(an_identity_keeps_what_it_has_until_it_gets_a_better_one),
		cmocka_unit_test(a_file_is_only_written_where_none_is),
		cmocka_unit_test(half_a_file_is_not_left_behind),
		cmocka_unit_test(what_is_no_file_of_text_is_told),
		cmocka_unit_test(a_file_that_is_far_too_large_is_not_read),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
