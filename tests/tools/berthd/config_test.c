#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include "tools/berthd/options.h"
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct config config;
static char message[CONFIG_MESSAGE_BYTES];

static int fresh(void **state)
{
	config_defaults(&config);
	message[0] = 0;
	return 0;
}

static bool read_text(const char *yaml)
{
	FILE *file = fmemopen((void *)yaml, strlen(yaml), "r");
	assert_non_null(file);
	bool good = config_read(&config, file, "berthd.yaml", message);
	fclose(file);
	return good;
}

static void defaults_are_safe(void **state)
{
	assert_string_equal(config.http_address, "127.0.0.1");
	assert_int_equal(config.http_port, 4646);
	assert_int_equal(config.dataplane.udp_port, 4647);
	assert_int_equal(config.store_sync, 1);
	assert_int_equal(config.dataplane.port_count, 0);
	assert_false(config_check(&config, message));
	assert_non_null(strstr(message, "ports"));
}

static void a_file_sets_nested_keys_and_ports(void **state)
{
	assert_true(read_text(
		"http:\n  port: 80\nstore:\n  sync: false\n"
		"ports:\n  - device: eth1\n    addresses: [10.0.0.1, 'fd00::1']\n    queues: 2\n"
		"  - device: \"net_null0,size=64\"\n    addresses: 10.0.0.2\n"));
	assert_int_equal(config.http_port, 80);
	assert_int_equal(config.store_sync, 0);
	assert_int_equal(config.dataplane.port_count, 2);
	assert_int_equal(config.dataplane.ports[0].address_count, 2);
	assert_string_equal(config.dataplane.ports[0].addresses[1], "fd00::1");
	assert_int_equal(config.dataplane.ports[0].queues, 2);
	assert_string_equal(config.dataplane.ports[1].device, "net_null0,size=64");
	assert_true(config_check(&config, message));
}

// They need a place: addresses of the machine, or the interface that has them.
static void sockets_need_no_device(void **state)
{
	assert_true(read_text("ports: [{io: socket, addresses: [127.0.0.1]}]\n"));
	assert_true(config_check(&config, message));
	assert_string_equal(config.dataplane.ports[0].io, "socket");
	fresh(NULL);
	assert_true(read_text("ports: [{io: socket, device: eth0}]\n"));
	assert_true(config_check(&config, message));
	fresh(NULL);
	assert_true(read_text("ports: [{io: socket}]\n"));
	assert_false(config_check(&config, message));
	assert_non_null(strstr(message, "ports.0: addresses is empty; list addresses of this"));
	fresh(NULL);
	assert_true(read_text("ports: [{io: auto, addresses: [10.0.0.1]}]\n"));
	assert_false(config_check(&config, message));
	assert_string_equal(message, "ports.0: device is missing");
	fresh(NULL);
	assert_true(read_text("ports: [{device: eth0, io: af_xdp}]\n"));
	assert_false(config_check(&config, message));
	assert_non_null(strstr(message, "ports.0: addresses is empty; Berth needs"));
	// The kernel may have addresses there.
	fresh(NULL);
	assert_true(read_text("ports: [{device: eth0}]\n"));
	assert_true(config_check(&config, message));
	fresh(NULL);
	assert_true(read_text("ports: [{device: eth0, io: shared}]\n"));
	assert_true(config_check(&config, message));
	fresh(NULL);
	assert_true(read_text("ports: [{io: shared, addresses: [10.0.0.1]}]\n"));
	assert_false(config_check(&config, message));
	assert_non_null(strstr(message, "ports.0: device is missing"));
}

static void a_file_that_is_one_word_is_told(void **state)
{
	assert_false(read_text("nonsense\n"));
	assert_non_null(strstr(message, "a set of keys is expected here"));
}

static void the_api_listens_with_tls_and_at_a_path(void **state)
{
	assert_int_equal(config.socket_mode, 0660);
	assert_true(read_text(
		"http:\n  tls: {certificate: /a.pem, key: /b.pem, client_ca: /c.pem}\n"
		"  socket:\n    path: /run/berth/api.sock\n    mode: 0600\n    group: ops\n"
		"peers:\n  tls: {ca: /d.pem, certificate: /e.pem, key: /f.pem}\n"
		"ports: [{device: eth1, addresses: 10.0.0.1}]\n"));
	assert_string_equal(config.tls_certificate, "/a.pem");
	assert_string_equal(config.tls_key, "/b.pem");
	assert_string_equal(config.tls_client_ca, "/c.pem");
	assert_string_equal(config.socket_path, "/run/berth/api.sock");
	assert_int_equal(config.socket_mode, 0600);
	assert_string_equal(config.socket_group, "ops");
	assert_string_equal(config.peer_ca, "/d.pem");
	assert_string_equal(config.peer_certificate, "/e.pem");
	assert_string_equal(config.peer_key, "/f.pem");
	assert_true(config_check(&config, message));
}

static void modes_are_octal(void **state)
{
	static const char *const wrong[] = {"", "8", "0o660", "1777", "-1", "+1", "rw", "0660x"};
	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		assert_false(config_set(&config, "http.socket.mode", wrong[i], message));
		assert_non_null(strstr(message, "is no mode in octal"));
	}
	assert_true(config_set(&config, "http.socket.mode", "666", message));
	assert_int_equal(config.socket_mode, 0666);
	assert_true(config_set(&config, "http.socket.mode", "0", message));
	assert_int_equal(config.socket_mode, 0);
}

static void what_belongs_together_is_given_together(void **state)
{
	static const struct {
		const char *name, *value, *complaint;
	} rows[] = {
		{"acl.token_min_expiration_ttl_s", "86401",
			"must not be longer than acl.token_max_expiration_ttl_s"},
		{"http.tls.certificate", "/a", "http.tls.key: is missing"},
		{"http.tls.key", "/a", "http.tls.certificate: is missing"},
		{"http.tls.client_ca", "/a", "without http.tls.certificate"},
		{"peers.tls.certificate", "/a", "peers.tls.key: is missing"},
		{"peers.tls.key", "/a", "peers.tls.certificate: is missing"},
		{"http.response_headers", "Date: today",
			"http.response_headers: \"Date\" is said by the server itself"},
		{"http.address", "", "the API must listen somewhere"},
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		fresh(NULL);
		assert_true(config_set(&config, "ports.0.device", "eth1", message));
		assert_true(config_set(&config, "ports.0.addresses", "10.0.0.1", message));
		assert_true(config_check(&config, message));
		assert_true(config_set(&config, rows[i].name, rows[i].value, message));
		assert_false(config_check(&config, message));
		if (!strstr(message, rows[i].complaint))
			fail_msg("%s does not say %s", message, rows[i].complaint);
	}
	assert_true(config_set(&config, "http.socket.path", "/run/berth.sock", message));
	assert_true(config_check(&config, message));
	assert_true(config_set(&config, "http.tls.certificate", "/a", message));
	assert_true(config_set(&config, "http.tls.key", "/a", message));
	assert_false(config_check(&config, message));
	assert_non_null(strstr(message, "without http.address"));
}

static void headers_are_names_and_values(void **state)
{
	char *text = NULL;
	size_t size = 0;
	static const char lines[] = "Cache-Control: no-store, max-age=0\nX-Frame-Options: DENY\n";
	assert_true(read_text("http:\n  response_headers:\n    Cache-Control: no-store, max-age=0\n"
			      "    X-Frame-Options: 'DENY'\nports: [{device: eth1, addresses: "
			      "[10.0.0.1]}]\n"));
	assert_string_equal(config.http_response_headers, lines);
	assert_true(config_check(&config, message));
	FILE *out = open_memstream(&text, &size);
	config_print(&config, out);
	assert_int_equal(fclose(out), 0);
	fresh(NULL);
	assert_true(read_text(text));
	assert_string_equal(config.http_response_headers, lines);
	free(text);
	assert_false(read_text("http: {response_headers: {A: [b]}}\n"));
	assert_non_null(strstr(message, "a word is expected for each name"));
	assert_false(read_text("http: {response_headers: [a, b]}\n"));
	assert_non_null(strstr(message, "names with values are expected here, no list"));
}

static void set_each(const char *const (*pairs)[2])
{
	for (; (*pairs)[0]; pairs++)
		assert_true(config_set(&config, (*pairs)[0], (*pairs)[1], message));
}

static void a_cluster_is_told_whole(void **state)
{
	static const char *const port[][2] = {
		{"ports.0.device", "eth1"}, {"ports.0.addresses", "10.0.0.1"}, {NULL, NULL}};
	static const char *const cluster[][2] = {{"cluster.name", "prod"},
		{"cluster.endpoints", "http://10.0.0.1:2379"},
		{"cluster.advertise_http", "http://10.0.0.1:4646"}, {NULL, NULL}};
	static const struct {
		const char *name, *value, *complaint;
	} rows[] = {
		{"cluster.name", "", "cluster.name: is missing"},
		{"cluster.name", "a/b", "cluster.name: must be at most 63 letters"},
		{"cluster.endpoints", "", "cluster.endpoints: is missing"},
		{"cluster.advertise_http", "", "cluster.advertise_http: is missing"},
		{"cluster.tls.certificate", "/a", "cluster.tls.key: is missing"},
		{"cluster.tls.key", "/a", "cluster.tls.certificate: is missing"},
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		fresh(NULL);
		set_each(port);
		set_each(cluster);
		assert_true(config_check(&config, message));
		assert_true(config_set(&config, rows[i].name, rows[i].value, message));
		assert_false(config_check(&config, message));
		if (!strstr(message, rows[i].complaint))
			fail_msg("%s does not say %s", message, rows[i].complaint);
	}
}

static void a_controller_stands_alone_unless_told(void **state)
{
	assert_string_equal(config.cluster_name, "");
	assert_int_equal(config.cluster_ttl_ms, 3000);
	assert_false(config_set(&config, "cluster.ttl_ms", "999", message));
	assert_false(config_set(&config, "cluster.ttl_ms", "600001", message));
	assert_true(read_text("cluster:\n  name: prod\n  endpoints: http://a:2379,http://b:2379\n"
			      "  advertise_http: https://a:4646\n  advertise_wire: 10.0.0.11:4647\n"
			      "  ttl_ms: 5000\n  user: u\n  password_file: /p\n  token_file: /t\n"
			      "  tls: {ca: /c.pem, certificate: /a.pem, key: /b.pem}\n"
			      "ports: [{device: eth1, addresses: 10.0.0.1}]\n"));
	assert_true(config_check(&config, message));
	assert_string_equal(config.cluster_endpoints, "http://a:2379,http://b:2379");
	assert_string_equal(config.cluster_http, "https://a:4646");
	assert_string_equal(config.cluster_wire, "10.0.0.11:4647");
	assert_int_equal(config.cluster_ttl_ms, 5000);
	assert_string_equal(config.cluster_password_file, "/p");
	assert_string_equal(config.cluster_ca, "/c.pem");
	assert_string_equal(config.cluster_key, "/b.pem");
}

static void virtual_machines_have_times_of_their_own(void **state)
{
	assert_int_equal(config.vm_offline_after_ms, 180000);
	assert_int_equal(config.vm_interval_ms, 5000);
	assert_true(read_text("vms:\n  offline_after_ms: 2500\n  interval_ms: 250\n"));
	assert_int_equal(config.vm_offline_after_ms, 2500);
	assert_int_equal(config.vm_interval_ms, 250);
	assert_int_equal(config.vm_metrics, 0);
	assert_true(read_text("vms:\n  metrics: true\n"));
	assert_int_equal(config.vm_metrics, 1);
	assert_false(read_text("vms:\n  interval_ms: 9\n"));
	assert_non_null(strstr(message, "from 10"));
	assert_false(read_text("vms:\n  offline_after_ms: 0\n"));
	assert_non_null(strstr(message, "from 1"));
}

// Of a text.
#define TEN "0123456789"
#define LONG                                                                                    \
	TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN \
		TEN TEN TEN TEN

static void a_port_has_addresses_that_fit(void **state)
{
	assert_false(config_set(&config, "ports.0.addresses", LONG, message));
	assert_non_null(strstr(message, "an address is too long"));
	assert_false(config_set(&config, "ports.0.addresses", "1,2,3,4,5,6,7,8,9", message));
	assert_non_null(strstr(message, "at most 8 addresses a port"));
	assert_true(config_set(&config, "ports.0.addresses", "1,2,3,4,5,6,7,8", message));
	assert_false(config_set(&config, "ports.x.device", "a", message));
	assert_non_null(strstr(message, "ports.NUMBER.KEY"));
	assert_false(config_set(&config, "region", LONG LONG LONG LONG, message));
	assert_non_null(strstr(message, "the text is too long"));
}

static void what_does_not_go_together_is_refused(void **state)
{
	static const struct {
		const char *settings[4][2];
		const char *what;
	} cases[] = {
		{{{"ports.0.queues", "64"}, {"ports.1.device", "b"},
			 {"ports.1.addresses", "10.0.0.2"}},
			"more than 64 queues"},
		{{{"dataplane.huge", "maybe"}}, "none of auto yes no"},
		{{{"wire.stall_ms", "900"}, {"wire.ttl_ms", "900"}}, "shorter than wire.ttl_ms"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		config_defaults(&config);
		assert_true(config_set(&config, "ports.0.device", "a", message));
		assert_true(config_set(&config, "ports.0.addresses", "10.0.0.1", message));
		assert_true(config_check(&config, message));
		for (size_t s = 0; s < 4 && cases[i].settings[s][0]; s++)
			if (!config_set(&config, cases[i].settings[s][0], cases[i].settings[s][1],
				    message))
				fail_msg("%s", message);
		assert_false(config_check(&config, message));
		if (!strstr(message, cases[i].what))
			fail_msg("case %zu: %s", i, message);
	}
}

static void mistakes_name_line_and_column(void **state)
{
	static const struct {
		const char *yaml, *where, *what;
	} cases[] = {
		{"http:\n  prot: 80\n", "berthd.yaml:2:3:", "no such setting"},
		{"http:\n  port: eighty\n", "berthd.yaml:2:3:", "whole number from 0 to 65535"},
		{"http:\n  port: 80\n  port: 81\n", "berthd.yaml:3:3:", "given before"},
		{"wire:\n  ttl_ms: 99\n", "berthd.yaml:2:3:", "from 100"},
		{"log:\n  level: loud\n", "berthd.yaml:2:3:", "debug info warn error"},
		{"ports:\n  - eth1\n", "berthd.yaml:2:5:", "set of keys"},
		{"ports:\n  - device: eth1\n    speed: 10\n",
			"berthd.yaml:3:5:", "no such setting"},
		{"- a\n", "berthd.yaml:1:1:", "no such setting"},
		{"http: [1, [2]]\n", "berthd.yaml:1:7:", "list of words"},
		{"data_dir: [a, b]\n", "berthd.yaml:1:11:", "one value is expected here, no list"},
		{"http: {hosts: [a], address: [b]}\n", "berthd.yaml:1:29:", "no list"},
		{"a: &x\n  b: *x\n", "berthd.yaml:", ""},
		{"http: {port: 80\n", "berthd.yaml:2:1:", ""},
		{"? [a]\n: b\n", "berthd.yaml:1:3:", "plain name"},
		{"ports:\n  - &x\n    device: a\n    b: [c]\n", "berthd.yaml:", ""},
		{"http: {response_headers: {A: " LONG LONG LONG LONG ", B: " LONG "}}\n",
			"berthd.yaml:1:", "too long"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		config_defaults(&config);
		assert_false(read_text(cases[i].yaml));
		if (!strstr(message, cases[i].where) || !strstr(message, cases[i].what))
			fail_msg("case %zu: %s", i, message);
	}
}

static void a_missing_file_says_so(void **state)
{
	assert_false(config_load(&config, "/nonexistent/berthd.yaml", message));
	assert_non_null(strstr(message, "No such file"));
}

static void printed_configuration_reads_back_equal(void **state)
{
	assert_true(config_set(&config, "name", "a \"quoted\\ name", message));
	assert_true(config_set(&config, "ports.0.device", "net_pcap0,rx_pcap=a b.pcap", message));
	assert_true(config_set(&config, "ports.0.addresses", "10.0.0.1,fd00::2", message));
	assert_true(config_set(&config, "ports.0.promiscuous", "true", message));
	assert_true(config_set(&config, "placement.algorithm", "spread", message));
	assert_true(config_set(&config, "http.tls.key", "/etc/berth/key.pem", message));
	assert_true(config_set(&config, "http.socket.mode", "0606", message));
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	config_print(&config, out);
	fclose(out);
	struct config before = config;
	config_defaults(&config);
	if (!read_text(text))
		fail_msg("%s in\n%s", message, text);
	assert_memory_equal(&before, &config, sizeof config);
	free(text);
}

static void json_is_one_object(void **state)
{
	assert_true(config_set(&config, "ports.0.device", "eth\"1", message));
	char *json = config_json(&config);
	assert_int_equal(json[0], '{');
	assert_non_null(strstr(json, "\"ports.0.device\":\"eth\\\"1\""));
	assert_non_null(strstr(json, "\"log.level\":\"info\""));
	assert_int_equal(json[strlen(json) - 1], '}');
	free(json);
}

static bool read_options(struct options *o, const char *const *words)
{
	int count = 0;
	while (words[count])
		count++;
	return options_read(count, words, &config, o, message);
}

static void flags_win_over_the_file_wherever_they_stand(void **state)
{
	char path[] = "/tmp/berthd-config-XXXXXX";
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "http:\n  port: 80\n  address: 10.0.0.9\n", 37), 37);
	close(fd);
	struct options o;
	assert_true(read_options(&o,
		(const char *[]){"berthd", "--http.port=81", "--config", path, "--check", NULL}));
	unlink(path);
	assert_int_equal(config.http_port, 81);
	assert_string_equal(config.http_address, "10.0.0.9");
	assert_int_equal(o.action, ACTION_CHECK);
}

static void bad_flags_are_refused(void **state)
{
	struct options o;
	assert_false(read_options(&o, (const char *[]){"berthd", "--http.prot=81", NULL}));
	assert_non_null(strstr(message, "no such setting"));
	assert_false(read_options(&o, (const char *[]){"berthd", "stray", NULL}));
	assert_false(read_options(&o, (const char *[]){"berthd", "--http.port", NULL}));
	assert_false(read_options(&o, (const char *[]){"berthd", "--ports.1.device=x", NULL}));
	assert_false(
		read_options(&o, (const char *[]){"berthd", "--check", "--print-config", NULL}));
	assert_false(read_options(&o, (const char *[]){"berthd", "genkey", NULL}));
	assert_true(read_options(&o, (const char *[]){"berthd", "genkey", "--rotate", "k", NULL}));
	assert_int_equal(o.action, ACTION_GENKEY);
	assert_true(o.rotate);
	assert_false(read_options(&o, (const char *[]){"berthd", "restore", NULL}));
	assert_non_null(strstr(message, "name the file"));
	assert_false(
		read_options(&o, (const char *[]){"berthd", "restore", "--data_dir=/d", NULL}));
	assert_false(read_options(&o, (const char *[]){"berthd", "restore", "f", "stray", NULL}));
	assert_true(read_options(
		&o, (const char *[]){"berthd", "restore", "f", "--data_dir=/d", NULL}));
	assert_int_equal(o.action, ACTION_RESTORE);
	assert_string_equal(o.archive, "f");
	assert_string_equal(config.data_dir, "/d");
}

static void a_cluster_is_begun_joined_and_left(void **state)
{
	static const char *const verbs[] = {"init", "join", "leave"};
	struct options o;
	for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++) {
		assert_true(read_options(&o, (const char *[]){"berthd", "cluster", verbs[i],
						     "--cluster.name=prod", NULL}));
		assert_int_equal(o.action, ACTION_CLUSTER);
		assert_string_equal(o.verb, verbs[i]);
		assert_string_equal(config.cluster_name, "prod");
	}
	static const char *const bad[] = {NULL, "", "start", "ini", "inits", "--init"};
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		assert_false(read_options(&o, (const char *[]){"berthd", "cluster", bad[i], NULL}));
		assert_string_equal(message, "cluster: say init, join or leave first");
	}
	assert_false(read_options(&o, (const char *[]){"berthd", "cluster", "init", "join", NULL}));
	assert_false(
		read_options(&o, (const char *[]){"berthd", "cluster", "init", "--check", NULL}));
	assert_false(read_options(
		&o, (const char *[]){"berthd", "--cluster.name=x", "cluster", "init", NULL}));
}

static void note_name(const char *name, void *context)
{
	char *names = context;
	size_t used = strlen(names);
	snprintf(names + used, 256 - used, "%s ", name);
}

static void what_differs_is_named_and_may_be_taken(void **state)
{
	static struct config a, b;
	char names[256] = "", text[CONFIG_MESSAGE_BYTES];
	config_defaults(&a);
	config_defaults(&b);
	assert_true(config_set(&a, "ports.0.device", "eth1", text));
	assert_true(config_set(&b, "ports.0.device", "eth1", text));
	config_compare(&a, &b, note_name, names);
	assert_string_equal(names, "");
	assert_true(config_set(&b, "log.level", "debug", text));
	assert_true(config_set(&b, "peers.regions", "east=http://e", text));
	assert_true(config_set(&b, "ports.0.queues", "2", text));
	assert_true(config_set(&b, "ports.1.device", "eth2", text));
	config_compare(&a, &b, note_name, names);
	assert_string_equal(names, "log.level peers.regions ports.0 ports.1 ");
	config_take(&a, &b, "log.level");
	config_take(&a, &b, "peers.regions");
	names[0] = '\0';
	config_compare(&a, &b, note_name, names);
	assert_string_equal(names, "ports.0 ports.1 ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(defaults_are_safe, fresh),
		cmocka_unit_test_setup(a_file_sets_nested_keys_and_ports, fresh),
		cmocka_unit_test_setup(sockets_need_no_device, fresh),
		cmocka_unit_test_setup(a_file_that_is_one_word_is_told, fresh),
		cmocka_unit_test_setup(the_api_listens_with_tls_and_at_a_path, fresh),
		cmocka_unit_test_setup(modes_are_octal, fresh),
		cmocka_unit_test_setup(what_belongs_together_is_given_together, fresh),
		cmocka_unit_test_setup(headers_are_names_and_values, fresh),
		cmocka_unit_test_setup(a_cluster_is_told_whole, fresh),
		cmocka_unit_test_setup(a_controller_stands_alone_unless_told, fresh),
		cmocka_unit_test_setup(virtual_machines_have_times_of_their_own, fresh),
		cmocka_unit_test_setup(a_port_has_addresses_that_fit, fresh),
		cmocka_unit_test_setup(what_does_not_go_together_is_refused, fresh),
		cmocka_unit_test_setup(mistakes_name_line_and_column, fresh),
		cmocka_unit_test_setup(a_missing_file_says_so, fresh),
		cmocka_unit_test_setup(printed_configuration_reads_back_equal, fresh),
		cmocka_unit_test_setup(json_is_one_object, fresh),
		cmocka_unit_test_setup(what_differs_is_named_and_may_be_taken, fresh),
		cmocka_unit_test_setup(flags_win_over_the_file_wherever_they_stand, fresh),
		cmocka_unit_test_setup(bad_flags_are_refused, fresh),
		cmocka_unit_test_setup(a_cluster_is_begun_joined_and_left, fresh),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
