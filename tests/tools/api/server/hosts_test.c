// Names and sites that requests may come with.
#include "tools/api/server/clients/hosts.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void hosts_are_addresses_localhost_or_configured(void **unused)
{
	static const struct {
		const char *host;
		bool is_known;
	} cases[] = {{"127.0.0.1", true}, {"127.0.0.1:4646", true}, {"10.1.2.3:80", true},
		{"[::1]", true}, {"[fd00::1]:4646", true}, {"localhost", true},
		{"LocalHost:4646", true}, {"localhost.", true}, {"berth.example", true},
		{"BERTH.example.:4646", true}, {"two", true}, {"", false}, {":4646", false},
		{"[]", false}, {"[::1", false}, {"evil.example", false},
		{"localhost.evil.example", false}, {"berth.example.evil.example:4646", false},
		{"127.0.0.1.evil.example", false}, {"berth", false}, {"berth.example,two", false},
		{"1270.0.0.1", false}, {"[evil.example]", false}};
	struct text names = TEXT("berth.example, two,,");

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		if (host_is_known(text_of(cases[i].host), names) != cases[i].is_known)
			fail_msg("%s: known %d", cases[i].host, !cases[i].is_known);
	assert_false(host_is_known(TEXT("berth.example"), TEXT("")));
}

static void an_origin_is_the_host_or_another_site(void **unused)
{
	struct text host = TEXT("127.0.0.1:4646");

	assert_true(origin_is_host(TEXT("http://127.0.0.1:4646"), host));
	assert_true(origin_is_host(TEXT("https://LOCALHOST"), TEXT("localhost")));
	assert_false(origin_is_host(TEXT("http://127.0.0.1:80"), host));
	assert_false(origin_is_host(TEXT("http://127.0.0.1"), host));
	assert_false(origin_is_host(TEXT("http://evil.example:4646"), host));
	assert_false(origin_is_host(TEXT("null"), host));
	assert_false(origin_is_host(TEXT(""), host));
	assert_false(origin_is_host(TEXT("://"), host));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hosts_are_addresses_localhost_or_configured),
		cmocka_unit_test(an_origin_is_the_host_or_another_site),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
