#include "state/etcd/etcd.h"
#include "tests/support/etcd/etcd_server.h"
#include <errno.h>
#include <setjmp.h>
#include <spawn.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define TIMEOUT_MS 100000u // nothing here is about how long it takes
#define FILE_BYTES 64
#define TRIES 200u

static char folder[32] = "/tmp/berth-tls-XXXXXX";
static char certificate[FILE_BYTES], key[FILE_BYTES], other_certificate[FILE_BYTES],
	other_key[FILE_BYTES];
static struct etcd_server server;

// A certificate that is its own CA.
static void certificate_make(char *certificate_file, char *key_file, const char *name)
{
	snprintf(certificate_file, FILE_BYTES, "%s/%s.pem", folder, name);
	snprintf(key_file, FILE_BYTES, "%s/%s.key", folder, name);
	const char *words[] = {"openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
		"ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", "/CN=berth",
		"-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key_file, "-out",
		certificate_file, NULL};
	pid_t child;
	int status = 0;
	if (posix_spawnp(&child, words[0], NULL, NULL, (char **)words, environ) != 0)
		fail_msg("openssl is not installed: install the package openssl");
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static int begin_all(void **unused)
{
	assert_non_null(mkdtemp(folder));
	certificate_make(certificate, key, "good");
	certificate_make(other_certificate, other_key, "other");
	etcd_server_start_tls(&server, certificate, certificate, key);
	return 0;
}

static int end_all(void **unused)
{
	const char *const files[] = {certificate, key, other_certificate, other_key};
	etcd_server_stop(&server);
	for (size_t i = 0; i < 4; i++)
		unlink(files[i]);
	return rmdir(folder);
}

static int put_with(const char *ca_file, const char *certificate_file, const char *key_file)
{
	char message[ETCD_MESSAGE_BYTES];
	struct etcd *etcd;
	struct etcd_settings settings = {.endpoints = server.url,
		.ca_file = ca_file,
		.certificate_file = certificate_file,
		.key_file = key_file,
		.timeout_ms = TIMEOUT_MS};
	assert_int_equal(etcd_open(&settings, &etcd, message, sizeof message), 0);
	struct etcd_put one = {"key", "x", 1, 0};
	struct etcd_txn txn = {.puts = &one, .put_count = 1};
	struct etcd_txn_result result;
	int error = etcd_txn(etcd, &txn, TIMEOUT_MS, &result);
	etcd_close(etcd);
	return error;
}

static void a_certificate_of_the_ca_is_let_in(void **unused)
{
	assert_int_equal(put_with(certificate, certificate, key), 0);
}

// Never lets it in, and tells why. In TLS 1.3 a client is judged when the request is on its way already:
// that the connection ends may be known before what the server said, and then all we know is that no answer came.
static void assert_refused(const char *certificate_file, const char *key_file)
{
	int error = -ETIMEDOUT;
	for (uint32_t i = 0; i < TRIES && error == -ETIMEDOUT; i++)
		error = put_with(certificate, certificate_file, key_file);
	assert_int_equal(error, -EACCES);
}

static void whoever_has_none_or_another_is_refused(void **unused)
{
	assert_refused(NULL, NULL);
	assert_refused(other_certificate, other_key);
}

static void a_server_of_another_ca_is_not_trusted(void **unused)
{
	assert_int_equal(put_with(other_certificate, certificate, key), -EACCES);
	assert_int_equal(put_with(NULL, certificate, key), -EACCES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_certificate_of_the_ca_is_let_in),
		cmocka_unit_test(whoever_has_none_or_another_is_refused),
		cmocka_unit_test(a_server_of_another_ca_is_not_trusted),
	};
	return cmocka_run_group_tests(tests, begin_all, end_all);
}
