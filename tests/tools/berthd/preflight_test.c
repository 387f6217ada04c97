// What berthd --check says of a configuration that a start would refuse.
#include "tests/tools/tls/made.h"
#include "tools/berthd/preflight.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

struct scene {
	struct config config;
	char folder[64];
};

static const char key_line[] =
	"1 000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f\n";

static int make_scene(void **state)
{
	struct scene *s = calloc(1, sizeof *s);
	assert_non_null(s);
	config_defaults(&s->config);
	s->config.http_port = 0; // any
	snprintf(s->folder, sizeof s->folder, "%s", "/tmp/berth-preflight-XXXXXX");
	assert_non_null(mkdtemp(s->folder));
	snprintf(s->config.data_dir, sizeof s->config.data_dir, "%s/store", s->folder);
	snprintf(s->config.master_key_file, sizeof s->config.master_key_file, "%s/key", s->folder);
	FILE *file = fopen(s->config.master_key_file, "w");
	assert_non_null(file);
	assert_true(fputs(key_line, file) >= 0);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(chmod(s->config.master_key_file, 0600), 0);
	*state = s;
	return 0;
}

static int remove_scene(void **state)
{
	struct scene *s = *state;
	unlink(s->config.master_key_file);
	rmdir(s->folder);
	free(s);
	return 0;
}

// Exactly one check complains, in words that have these in them; NULL: none does.
static void expect_complaint(const struct config *config, const char *words)
{
	char message[1024];
	uint32_t complaints = 0;
	for (uint32_t i = 0; i < PREFLIGHT_CHECKS; i++) {
		if (preflight_checks[i](config, message, sizeof message))
			continue;
		complaints++;
		if (!words || !strstr(message, words))
			fail_msg("unexpected: %s", message);
	}
	assert_int_equal(complaints, words != NULL);
}

static void what_is_right_passes(void **state)
{
	struct scene *s = *state;
	expect_complaint(&s->config, NULL);
	snprintf(s->config.dataplane.eal_extra, sizeof s->config.dataplane.eal_extra, "%s",
		"--single-file-segments");
	snprintf(s->config.peer_regions, sizeof s->config.peer_regions, "%s",
		"east=http://10.1.0.1:4646");
	expect_complaint(&s->config, NULL);
}

static void key_files_are_there_and_secret(void **state)
{
	struct scene *s = *state;
	assert_int_equal(chmod(s->config.master_key_file, 0644), 0);
	expect_complaint(&s->config, "chmod 600");
	assert_int_equal(unlink(s->config.master_key_file), 0);
	expect_complaint(&s->config, "No such file");
}

static void a_keyring_is_secret_or_not_there(void **state)
{
	struct scene *s = *state;
	// The file of master keys is no keyring.
	snprintf(s->config.keyring_file, sizeof s->config.keyring_file, "%s/nosuch", s->folder);
	expect_complaint(&s->config, NULL);
	snprintf(s->config.keyring_file, sizeof s->config.keyring_file, "%s",
		s->config.master_key_file);
	expect_complaint(&s->config, "keyring_file: ");
	snprintf(
		s->config.keyring_file, sizeof s->config.keyring_file, "%s/key/keyring", s->folder);
	expect_complaint(&s->config, "Not a directory");
}

static void data_goes_into_a_directory(void **state)
{
	struct scene *s = *state;
	snprintf(s->config.data_dir, sizeof s->config.data_dir, "%s/key", s->folder);
	expect_complaint(&s->config, "data_dir");
	snprintf(s->config.data_dir, sizeof s->config.data_dir, "%s/no/where", s->folder);
	expect_complaint(&s->config, "create it");
	snprintf(s->config.data_dir, sizeof s->config.data_dir, "%s", "/proc/berth");
	if (geteuid() != 0) // a superuser is only told by the file system itself
		expect_complaint(&s->config, "cannot hold the store");
}

static void arguments_and_regions_are_understood(void **state)
{
	struct scene *s = *state;
	snprintf(s->config.dataplane.eal_extra, sizeof s->config.dataplane.eal_extra, "%s",
		"--no-such-flag");
	expect_complaint(&s->config, "no-such-flag");
	s->config.dataplane.eal_extra[0] = '\0';
	snprintf(s->config.peer_regions, sizeof s->config.peer_regions, "%s", "east");
	expect_complaint(&s->config, "peers.regions");
}

static void set_text(char *setting, const char *text)
{
	snprintf(setting, 128, "%s", text);
}

static void open_addresses_are_asked_for(void **state)
{
	struct scene *s = *state;
	static const char *const open[] = {"0.0.0.0", "::"};
	for (size_t i = 0; i < sizeof open / sizeof open[0]; i++) {
		snprintf(s->config.http_address, sizeof s->config.http_address, "%s", open[i]);
		s->config.http_insecure = false;
		expect_complaint(&s->config, "http.insecure");
		s->config.http_insecure = true;
		expect_complaint(&s->config, NULL);
	}
	assert_true(http_address_is_open("10.0.0.1"));
	set_text(s->config.http_address, "203.0.113.9"); // of nobody
	s->config.http_insecure = true;
	expect_complaint(&s->config, "cannot listen on 203.0.113.9");
	static const char *const closed[] = {"127.0.0.1", "127.8.9.1", "::1", "localhost"};
	s->config.http_insecure = false;
	for (size_t i = 0; i < sizeof closed / sizeof closed[0]; i++) {
		snprintf(s->config.http_address, sizeof s->config.http_address, "%s", closed[i]);
		expect_complaint(&s->config, NULL);
	}
}

static void with_tls_other_machines_may_reach_the_api(void **state)
{
	struct scene *s = *state;
	struct made made;
	made_begin(&made);
	made_sign(&made, "server", "berth.example", -10, 1000);
	made_sign(&made, "old", "berth.example", -1000, -10);
	set_text(s->config.http_address, "0.0.0.0");
	expect_complaint(&s->config, "berth tls cert create");
	set_text(s->config.tls_certificate, made_path(&made, "server.pem"));
	set_text(s->config.tls_key, made_path(&made, "server-key.pem"));
	set_text(s->config.tls_client_ca, made_path(&made, "ca.pem"));
	expect_complaint(&s->config, NULL);
	assert_int_equal(chmod(s->config.tls_key, 0604), 0);
	expect_complaint(&s->config, "http.tls.key: ");
	assert_int_equal(chmod(s->config.tls_key, 0640), 0);
	expect_complaint(&s->config, NULL);
	set_text(s->config.tls_key, made_path(&made, "old-key.pem"));
	expect_complaint(&s->config, "is not the key of the certificate");
	set_text(s->config.tls_certificate, made_path(&made, "old.pem"));
	expect_complaint(&s->config, "expired at ");
	set_text(s->config.tls_certificate, made_path(&made, "none.pem"));
	expect_complaint(&s->config, "No such file");
	made_end(&made);
}

static void a_path_and_its_group_are_looked_at(void **state)
{
	struct scene *s = *state;
	s->config.http_address[0] = '\0';
	snprintf(s->config.socket_path, sizeof s->config.socket_path, "%s/api.sock", s->folder);
	expect_complaint(&s->config, NULL);
	set_text(s->config.socket_group, "no-such-group");
	expect_complaint(&s->config, "http.socket.group: ");
	set_text(s->config.socket_group, "");
	snprintf(s->config.socket_path, sizeof s->config.socket_path, "%s/key", s->folder);
	expect_complaint(&s->config, "it is no socket");
	snprintf(s->config.socket_path, sizeof s->config.socket_path, "%s/no/api.sock", s->folder);
	expect_complaint(&s->config, "a directory that this user may write to");
	set_text(s->config.socket_path, "api.sock");
	expect_complaint(&s->config, "http.socket.path: ");
}

static void files_for_other_regions_are_there(void **state)
{
	struct scene *s = *state;
	struct made made;
	made_begin(&made);
	made_sign(&made, "peer", NULL, -10, 1000);
	set_text(s->config.peer_ca, made_path(&made, "ca.pem"));
	set_text(s->config.peer_certificate, made_path(&made, "peer.pem"));
	set_text(s->config.peer_key, made_path(&made, "peer-key.pem"));
	expect_complaint(&s->config, NULL);
	set_text(s->config.peer_key, made_path(&made, "none.pem"));
	expect_complaint(&s->config, "peers.tls.key: ");
	set_text(s->config.peer_key, made_path(&made, "peer-key.pem"));
	set_text(s->config.peer_ca, s->folder);
	expect_complaint(&s->config, "peers.tls.ca: ");
	made_end(&made);
}

static void the_audit_log_can_be_written(void **state)
{
	struct scene *s = *state;
	snprintf(s->config.audit_path, sizeof s->config.audit_path, "%s/audit", s->folder);
	expect_complaint(&s->config, NULL);
	memcpy(s->config.audit_path, s->config.master_key_file, sizeof s->config.audit_path);
	expect_complaint(&s->config, NULL);
	set_text(s->config.audit_path, s->folder);
	expect_complaint(&s->config, "audit.path: ");
	snprintf(s->config.audit_path, sizeof s->config.audit_path, "%s/no/where", s->folder);
	expect_complaint(&s->config, "audit.path: ");
}

static void secrets_are_kept_from_others(void **state)
{
	struct scene *s = *state;
	char *const secrets[] = {s->config.peer_token_file, s->config.peer_key,
		s->config.cluster_key, s->config.cluster_password_file,
		s->config.cluster_token_file};
	static const char *const names[] = {"peers.token_file: ", "peers.tls.key: ",
		"cluster.tls.key: ", "cluster.password_file: ", "cluster.token_file: "};
	char message[1024], path[96];
	snprintf(path, sizeof path, "%s/secret", s->folder);
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	assert_int_equal(fclose(file), 0);
	for (size_t i = 0; i < sizeof secrets / sizeof secrets[0]; i++) {
		snprintf(secrets[i], CONFIG_PATH_BYTES, "%s", path);
		assert_int_equal(chmod(path, 0640), 0);
		assert_true(preflight_secrets(&s->config, message, sizeof message));
		assert_int_equal(chmod(path, 0644), 0);
		assert_false(preflight_secrets(&s->config, message, sizeof message));
		assert_memory_equal(message, names[i], strlen(names[i]));
		assert_non_null(strstr(message, "open to everybody"));
		*secrets[i] = '\0';
	}
	assert_int_equal(unlink(path), 0);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, make_scene, remove_scene)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(what_is_right_passes),
		CASE(key_files_are_there_and_secret),
		CASE(a_keyring_is_secret_or_not_there),
		CASE(data_goes_into_a_directory),
		CASE(arguments_and_regions_are_understood),
		CASE(open_addresses_are_asked_for),
		CASE(with_tls_other_machines_may_reach_the_api),
		CASE(a_path_and_its_group_are_looked_at),
		CASE(files_for_other_regions_are_there),
		CASE(the_audit_log_can_be_written),
		CASE(secrets_are_kept_from_others),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
