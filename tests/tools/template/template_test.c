// Templates by a table: a text and what it renders, or where and why it does not.
#include "state/base/memory.h"
#include "tools/template/template.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

// Of a node with one variable.
static const char variable_text[] = "{\"Namespace\":\"default\",\"Path\":\"nomad/jobs/"
				    "web\",\"CreateIndex\":7,\"ModifyIndex\":9,"
				    "\"CreateTime\":1,\"ModifyTime\":2,\"Items\":{\"user\":\"ann\","
				    "\"pass\":\"s<e\",\"empty\":\"\"}}";
static json_t *variable, *variables;

static const char *env_of(void *context, const char *name)
{
	static const struct {
		const char *name, *value;
	} known[] = {{"GREETING", "hello"}, {"EMPTY", ""}, {"node.unique.name", "node-a"},
		{"attr.cpu.arch", "amd64"}, {"meta.rack", "r7"}};
	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
		if (strcmp(known[i].name, name) == 0)
			return known[i].value;
	return NULL;
}

static enum template_found find_one(void *context, const char *path, const json_t **found)
{
	if (strncmp(path, "unknown", 7) == 0)
		return TEMPLATE_UNKNOWN;
	*found = variable;
	return strcmp(path, "nomad/jobs/web") == 0 ? TEMPLATE_FOUND : TEMPLATE_ABSENT;
}

static enum template_found find_list(void *context, const char *prefix, const json_t **found)
{
	*found = variables;
	return strcmp(prefix, "unknown") == 0 ? TEMPLATE_UNKNOWN : TEMPLATE_FOUND;
}

static bool read_file(void *context, const char *path, struct bytes_writer *contents, char *message,
	uint32_t message_size)
{
	if (strcmp(path, "local/here") != 0) {
		snprintf(message, message_size, "there is no %s", path);
		return false;
	}
	bytes_put(contents, "of a file", 9);
	return true;
}

static struct template_data data = {.env = env_of,
	.variable = find_one,
	.list = find_list,
	.file = read_file,
	.now_ns = 1700000000000000000};

// "4:7 why" of what is wrong, "Missing: …", or the text.
static void expect_delimited(
	const char *text, const char *left, const char *right, const char *wanted)
{
	struct template_trouble trouble;
	struct bytes_writer out = bytes_writer_growing(64);
	char wrong[500] = "";
	struct template *t = template_parse(text_of(text), left, right, &trouble);
	enum template_end end = t ? template_render(t, &data, &out, &trouble) : TEMPLATE_FAILED;

	if (end == TEMPLATE_FAILED)
		snprintf(wrong, sizeof wrong, "%u:%u %s", trouble.line, trouble.column,
			trouble.text);
	else if (end == TEMPLATE_WAITS)
		snprintf(wrong, sizeof wrong, "%s", trouble.text);
	bytes_put_u8(&out, 0);
	const char *got = end == TEMPLATE_RENDERED ? (const char *)out.data : wrong;
	if (strcmp(got, wanted) != 0)
		fail_msg("%s\n  gives   \"%s\"\n  and not \"%s\"", text, got, wanted);
	bytes_writer_free(&out);
	template_free(t);
}

struct one {
	const char *text, *wanted;
};

static void expect_all(const struct one *cases, size_t count)
{
	for (size_t i = 0; i < count; i++)
		expect_delimited(cases[i].text, "", "", cases[i].wanted);
}
#define EXPECT(...)                                   \
	expect_all((const struct one[]){__VA_ARGS__}, \
		sizeof((const struct one[]){__VA_ARGS__}) / sizeof(struct one))

static void texts_and_trimming(void **unused)
{
	EXPECT({"", ""}, {"plain\n", "plain\n"}, {"a {{ 1 }} b", "a 1 b"},
		{"a \n {{- 1 -}} \n b", "a1b"}, {"a {{- \"x\" }} b", "ax b"}, {"{{-1}}", "-1"},
		{"a {{/* no */}} b", "a  b"}, {"a {{- /* no */ -}} b", "ab"},
		{"{{/* a */}}{{/* b */}}c", "c"}, {"}} { {", "}} { {"});
	expect_delimited("a {{ b }} [[ 1 ]] [[- 2 -]] c", "[[", "]]", "a {{ b }} 12c");
}

static void constants_are_printed(void **unused)
{
	EXPECT({"{{ \"a\\n\\\"\\u00e9\\x41\\101\" }}", "a\n\"\303\251AA"},
		{"{{ `a\\n}}` }}", "a\\n}}"},
		{"{{ 'a' }} {{ '\\n' }} {{ '\303\251' }}", "97 10 233"},
		{"{{ 12 }} {{ -3 }} {{ 0x1f }} {{ 1_000 }} {{ 2.50 }} {{ 1e21 }} {{ 1e-7 }} {{ "
		 "100.0 }}",
			"12 -3 31 1000 2.5 1e+21 1e-07 100"},
		{"{{ true }}{{ false }}", "truefalse"}, {"{{ . }}", "<no value>"},
		{"{{ parseJSON `{\"b\":[1,2.5,\"x\",null],\"a\":true}` }}",
			"map[a:true b:[1 2.5 x <nil>]]"});
}

static void conditions_choose(void **unused)
{
	EXPECT({"{{ if true }}a{{ else }}b{{ end }}", "a"},
		{"{{ if \"\" }}a{{ else }}b{{ end }}", "b"},
		{"{{ if 0 }}a{{ else if 0.0 }}b{{ else if 1 }}c{{ else }}d{{ end }}", "c"},
		{"{{ if eq 1 2 3 1 }}y{{ end }}{{ if ne \"a\" \"b\" }}n{{ end }}", "yn"},
		{"{{ lt 1 2 }}{{ le 2 2 }}{{ gt 1 2 }}{{ ge \"b\" \"a\" }}{{ eq 1 1.0 }}",
			"truetruefalsetruetrue"},
		{"{{ and 1 \"\" 2 }}|{{ or 0 \"x\" (index 1 2) }}|{{ not 0 }}|{{ 0 | or 5 }}|{{ 7 "
		 "| and 5 }}",
			"|x|true|5|7"},
		{"{{ if and (eq (env \"GREETING\") \"hello\") (not (env \"EMPTY\")) }}ok{{ end }}",
			"ok"},
		{"{{ with \"x\" }}{{ . }}{{ end }}{{ with \"\" }}a{{ else }}b{{ end }}", "xb"},
		{"{{ with $x := 5 }}{{ $x }}{{ . }}{{ end }}", "55"},
		{"{{ if $x := 0 }}{{ else }}{{ $x }}{{ end }}", "0"},
		{"{{ eq 1 \"1\" }}", "1:4 error calling eq: incompatible types for comparison: an "
				     "integer and a text"});
}

static void variables_keep_values(void **unused)
{
	EXPECT({"{{ $x := 1 }}{{ $x }}{{ $x = 2 }}{{ $x }}", "12"},
		{"{{ $x := 1 }}{{ if true }}{{ $x = 2 }}{{ $x := 3 }}{{ $x }}{{ end }}{{ $x }}",
			"32"},
		{"{{ $m := parseJSON `{\"a\":{\"b\":5}}` }}{{ $m.a.b }} {{ ($m).a.b }} {{ with $m "
		 "}}{{ .a.b }}{{ $.x }}{{ end }}",
			"1:92 nil has no field .x"},
		{"{{ $x }}", "1:4 undefined variable \"$x\""},
		{"{{ if true }}{{ $y := 1 }}{{ end }}{{ $y }}", "1:39 undefined variable \"$y\""},
		{"{{ $x = 1 }}", "1:4 undefined variable \"$x\""});
}

static void ranges_go_through(void **unused)
{
	EXPECT({"{{ range split \",\" \"a,b,c\" }}<{{ . }}>{{ end }}", "<a><b><c>"},
		{"{{ range $i, $e := split \",\" \"a,b\" }}{{ $i }}={{ $e }} {{ end }}",
			"0=a 1=b "},
		{"{{ range $k, $v := parseJSON `{\"b\":1,\"a\":2}` }}{{ $k }}{{ $v }}{{ end }}",
			"a2b1"},
		{"{{ range $v := loop 3 }}{{ $v }}{{ end }}{{ range loop 5 8 }}{{ . }}{{ end }}",
			"012567"},
		{"{{ range split \",\" \"\" }}x{{ else }}none{{ end }}", "none"},
		{"{{ range loop 9 }}{{ if eq . 2 }}{{ continue }}{{ end }}{{ if eq . 4 }}{{ break "
		 "}}{{ end }}{{ . }}{{ end }}.",
			"013."},
		{"{{ range loop 2 }}{{ range loop 3 }}{{ if . }}{{ break }}{{ end }}{{ . }}{{ end "
		 "}};{{ end }}",
			"0;0;"},
		{"{{ range 5 }}{{ end }}", "1:4 range can't iterate over an integer"},
		{"{{ break }}", "1:4 {{break}} outside {{range}}"});
}

static void texts_are_worked_on(void **unused)
{
	EXPECT({"{{ \"aBc\" | toUpper }}{{ toLower \"A\303\211\" }}{{ toTitle \"a bc\" }}",
		       "ABCa\303\251A Bc"},
		{"[{{ trimSpace \" \\t a \\n\" }}] {{ trim \"x\" \"xxaxx\" }} {{ \"v1\" | "
		 "trimPrefix \"v\" }} {{ trimSuffix \".c\" \"a.c\" }}",
			"[a] a 1 a"},
		{"{{ replaceAll \"a\" \"bb\" \"xaya\" }}{{ replaceAll \"\" \"b\" \"x\" }}",
			"xbbybbx"},
		{"{{ \"a,b\" | split \",\" | join \"-\" }}", "a-b"},
		{"{{ range split \"\" \"a\303\251\" }}[{{ . }}]{{ end }}", "[a][\303\251]"},
		{"{{ $m := splitToMap \",\" \"=\" \"b=1, a=2=3,c\" }}{{ $m.a }}{{ $m.b }}{{ $m.c "
		 "}}{{ len $m }}",
			"2=313"},
		{"{{ indent 2 \"a\\n\\nb\" }}", "  a\n\n  b"},
		{"{{ contains \"b\" \"abc\" }}{{ in (split \",\" \"a,b\") \"c\" }}{{ \"abc\" | "
		 "contains \"x\" }}",
			"truefalsefalse"},
		{"{{ $l := split \",\" \"a,b\" }}{{ containsAll (split \",\" \"a,c\") $l }}{{ "
		 "containsAny (split \",\" \"a,c\") $l }}{{ containsNone (split \",\" \"c\") $l "
		 "}}{{ containsNotAll (split \",\" \"a,c\") $l }}",
			"falsetruetruetrue"},
		{"{{ slice \"hello\" 1 3 }}{{ len \"hello\" }}{{ index (split \",\" \"a,b\") 1 }}",
			"el5b"},
		{"{{ index (parseJSON `{\"a\":[1,{\"b\":2}]}`) \"a\" 1 \"b\" }}", "2"},
		{"{{ index (split \",\" \"a,b\") 2 }}",
			"1:4 error calling index: index 2 is out of range: there are 2"},
		{"{{ toUpper 5 }}",
			"1:4 error calling toUpper: argument 1 is an integer, not a text"});
}

static void formats_print(void **unused)
{
	EXPECT({"{{ printf \"%s %d %v %q %t %x %5d|%-5s|%05d %.2f %%\" \"a\" 1 2 \"b\\n\" true 255 "
		"7 \"x\" 42 1.5 }}",
		       "a 1 2 \"b\\n\" true ff     7|x    |00042 1.50 %"},
		{"{{ 5 | printf \"%03d-%s\" 1 | len }}", "5"},
		{"{{ \"x\" | printf \"%d-%s\" 1 }} {{ printf \"%b %b %X\" 5 -5 \"az\" }}",
			"1-x 101 -101 617A"},
		{"{{ print 1 2 \"a\" 3 }}{{ println \"a\" 1 }}", "1 2a3a 1\n"},
		{"{{ printf \"%d\" \"a\" }}", "1:4 error calling printf: the format's verb 1 has "
					      "no argument, or one that it does not print"},
		{"{{ printf \"%s\" }}", "1:4 error calling printf: the format's verb 0 has no "
					"argument, or one that it does not print"},
		{"{{ printf \"a\" 1 }}",
			"1:4 error calling printf: the format has 0 verbs for 1 arguments"},
		{"{{ printf \"%9999d\" 1 }}", "1:4 error calling printf: the format has a % that "
					      "is no verb, or a width above 1000"});
}

static void numbers_are_computed(void **unused)
{
	EXPECT({"{{ 5 | subtract 2 }} {{ add 1 2 }} {{ 7 | divide 2 }} {{ 7 | modulo 4 }} {{ "
		"multiply 2 1.5 }} {{ minimum 2 1 }} {{ maximum 2 1 }}",
		       "3 3 3 3 3 1 2"},
		{"{{ parseInt \"-5\" }} {{ parseFloat \"2.5\" }} {{ parseBool \"true\" }} {{ "
		 "parseInt \"\" }} {{ add (parseInt \"2\") 3 }}",
			"-5 2.5 true 0 5"},
		{"{{ parseInt \"x\" }}", "1:4 error calling parseInt: \"x\" is not what it reads"},
		{"{{ parseUint \"-1\" }}", "1:4 error calling parseUint: it is less than 0"},
		{"{{ 1 | divide 0 }}", "1:8 error calling divide: division by 0"},
		{"{{ add 9223372036854775807 1 }}",
			"1:4 error calling add: the result has more than 64 bits"});
}

static void codes_are_written_and_read(void **unused)
{
	EXPECT({"{{ base64Encode \"a?b>\" }} {{ base64Decode \"aGk=\" }} {{ base64URLEncode "
		"\"\\xff\\xfe\" }} {{ base64URLDecode \"__4=\" | len }}",
		       "YT9iPg== hi __4= 2"},
		{"{{ sha256Hex \"abc\" }}",
			"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
		{"{{ md5sum \"abc\" }}", "900150983cd24fb0d6963f7d28e17f72"},
		{"{{ toJSON (parseJSON `{\"b\": [1, \"x\"], \"a\": null}`) }} {{ \"q\\\"\" | "
		 "toJSON }}",
			"{\"a\":null,\"b\":[1,\"x\"]} \"q\\\"\""},
		{"{{ split \",\" \"a,\xff\" | toJSON }}",
			"1:22 error calling toJSON: the value is nested too deep, or holds a text "
			"that is not UTF-8"},
		{"{{ toJSONPretty (parseJSON `[1]`) }}", "[\n  1\n]"},
		{"{{ html \"<a b='c'>&\" }} {{ urlquery \"a b&/\" }}",
			"&lt;a b=&#39;c&#39;&gt;&amp; a+b%26%2F"},
		{"{{ parseJSON \"{\" }}", "1:4 error calling parseJSON: the text is not JSON: "
					  "string or '}' expected near end of file"},
		{"{{ base64Decode \"*\" }}",
			"1:4 error calling base64Decode: the text is not base64"});
}

static void the_task_is_seen(void **unused)
{
	EXPECT({"{{ env \"GREETING\" }} {{ env \"node.unique.name\" }} {{ env \"attr.cpu.arch\" }} "
		"{{ env \"meta.rack\" }}[{{ env \"NOPE\" }}]",
		       "hello node-a amd64 r7[]"},
		{"{{ envOrDefault \"NOPE\" \"d\" }}{{ envOrDefault \"EMPTY\" \"e\" }}{{ mustEnv "
		 "\"GREETING\" }}",
			"dehello"},
		{"{{ mustEnv \"NOPE\" }}", "1:4 error calling mustEnv: \"NOPE\" is not set"},
		{"{{ file \"local/here\" }}", "of a file"},
		{"{{ file \"/etc/passwd\" }}", "1:4 error calling file: there is no /etc/passwd"},
		{"{{ timestamp }} {{ timestamp \"unix\" }}", "2023-11-14T22:13:20Z 1700000000"});
}

static void variables_of_the_cluster_are_read(void **unused)
{
	EXPECT({"{{ with nomadVar \"nomad/jobs/web\" }}{{ .user }}:{{ .pass.Value }}:{{ .user.Key "
		"}}:{{ .nope }}.{{ end }}",
		       "ann:s<e:user:."},
		{"{{ range $k, $v := nomadVar \"nomad/jobs/web\" }}{{ $k }}={{ $v }};{{ end }}",
			"empty=;pass=s<e;user=ann;"},
		{"{{ range (nomadVar \"nomad/jobs/web\").Tuples }}{{ .K }}={{ .V }};{{ end }}",
			"empty=;pass=s<e;user=ann;"},
		{"{{ $v := nomadVar \"nomad/jobs/web\" }}{{ join \",\" $v.Keys }} {{ $v.Values }} "
		 "{{ $v.Metadata.Path }} {{ $v.user.Parent.ModifyIndex }}",
			"empty,pass,user [ s<e ann] nomad/jobs/web 9"},
		{"{{ with nomadVar \"nomad/jobs/web\" }}{{ .user | toUpper }} {{ index . \"pass\" "
		 "}} {{ eq .user.Value \"ann\" }} {{ len . }} {{ toJSON . }}{{ end }}",
			"ANN s<e true 3 {\"empty\":\"\",\"pass\":\"s<e\",\"user\":\"ann\"}"},
		{"{{ range nomadVarList \"nomad\" }}{{ .Path }} {{ . }} {{ .Namespace }};{{ end }}",
			"nomad/jobs/web nomad/jobs/web default;"},
		{"{{ if nomadVarExists \"nomad/jobs/web\" }}y{{ end }}{{ if nomadVarExists "
		 "\"other\" }}y{{ else }}n{{ end }}",
			"yn"},
		{"{{ with nomadVar \"nomad/jobs/pend@default.global\" }}{{ .a }}{{ end }}",
			"Missing: nomad.var.block(nomad/jobs/pend@default.global)"},
		{"{{ (nomadVar \"other\").a }}", "Missing: nomad.var.block(other)"},
		{"{{ nomadVar \"a\" }}{{ nomadVar \"b\" }}{{ nomadVar \"a\" }}{{ nomadVar \"c\" "
		 "}}{{ nomadVar \"d\" }}",
			"Missing: nomad.var.block(a), nomad.var.block(b), nomad.var.block(c) and 1 "
			"more"},
		{"{{ nomadVarExists \"unknown\" }}{{ nomadVarList \"unknown\" }}",
			"Missing: nomad.var.get(unknown), nomad.var.list(unknown)"});
}

// An item is there, whatever its text is; results and parts stay in their bounds.
static void edges_are_kept(void **unused)
{
	EXPECT({"{{ with nomadVar \"nomad/jobs/web\" }}{{ if .empty }}y{{ end }}{{ if .empty.Value "
		"}}n{{ end }}{{ end }}",
		       "y"},
		{"{{ -9223372036854775808 | divide -1 }}",
			"1:27 error calling divide: the result has more than 64 bits"},
		{"{{ slice \"abc\" 1 4 }}",
			"1:4 error calling slice: 1 to 4 is out of range: there are 3"},
		{"{{ slice \"abc\" 2 1 }}",
			"1:4 error calling slice: 2 to 1 is out of range: there are 3"});
}

static void missing_keys_may_fail(void **unused)
{
	EXPECT({"{{ (parseJSON `{\"a\":1}`).b }}", "<no value>"});
	data.missing_key_fails = true;
	EXPECT({"{{ (parseJSON `{\"a\":1}`).b }}", "1:4 map has no entry for key \"b\""},
		{"{{ (nomadVar \"nomad/jobs/web\").nope }}",
			"1:4 map has no entry for key \"nope\""});
	data.missing_key_fails = false;
}

static void mistakes_have_their_place(void **unused)
{
	EXPECT({"a\n\303\251{{ key \"x\" }}",
		       "2:5 function \"key\": Consul is not there; use nomadVar"},
		{"{{ service \"web\" }}",
			"1:4 function \"service\": services are not registered anywhere"},
		{"{{ with secret \"x\" }}{{ end }}",
			"1:9 function \"secret\": Vault is not there; use nomadVar"},
		{"{{ nope }}", "1:4 function \"nope\" not defined"},
		{"{{ sprig_upper 1 }}", "1:4 function \"sprig_upper\" not defined"},
		{"{{ define \"x\" }}", "1:4 {{define}}: named templates are not there; write the "
				       "text where it is used"},
		{"{{ if true }}", "1:4 this block has no {{end}}"},
		{"{{ end }}", "1:4 {{end}} without a block that it belongs to"},
		{"{{ else }}", "1:4 {{else}} without a block that it belongs to"},
		{"{{ if 1 }}{{ else }}{{ else }}{{ end }}", "1:24 a block has a second {{else}}"},
		{"{{ }}", "1:3 a value or a function is missing here"},
		{"{{ 1 | }}", "1:7 a value or a function is missing here"},
		{"{{ (1 }}", "1:4 this parenthesis is not closed"},
		{"{{ 1 ) }}", "1:6 the action should end here"},
		{"{{ \"a }}", "1:4 the text has no closing \" on its line"},
		{"{{ \"\\y\" }}", "1:4 the text has an escape that there is not"},
		{"{{ 1", "1:5 the template ends within an action"},
		{"{{ 12x }}", "1:4 \"12x\" is no number"},
		{"{{ toUpper }}", "1:4 wrong number of args for toUpper: want 1 got 0"},
		{"{{ len 1 2 }}", "1:4 wrong number of args for len: want 1 got 2"},
		{"{{ 1 | 2 }}", "1:8 this is no function, and takes no arguments"},
		{"{{ 5 6 }}", "1:4 this is no function, and takes no arguments"},
		{"{{ ! }}", "1:4 a character that has no meaning here: 0x21"},
		{"{{/* a", "1:1 a comment has no */"},
		{"{{/* a */ b }}", "1:1 a comment ends before the action does"},
		{"{{ if else }}", "1:7 \"else\" cannot stand here"},
		{"{{ print toUpper }}", "1:10 wrong number of args for toUpper: want 1 got 0"});
}

// Nothing that a few bytes ask for takes much time or memory.
static void work_is_bounded(void **unused)
{
	char deep[2000] = "";
	EXPECT({"{{ range loop 100000 }}{{ range loop 100000 }}{{ end }}{{ end }}",
		       "1:33 the template takes more than 1000000 steps"},
		{"{{ $x := \"0123456789012345678901234567890123456789\" }}{{ range loop 40 }}{{ $x "
		 "= print $x $x }}{{ end }}{{ len $x }}",
			"1:82 the values take more than 64 MiB"},
		{"{{ range loop 1000 }}{{ range loop 1000 }}{{ eq 1 1 | not }}{{ end }}{{ end }}",
			"1:55 the template takes more than 1000000 steps"},
		{"{{ loop 100001 }}", "1:4 error calling loop: more than 100000 times"},
		{"{{ $x := printf \"%1000d\" 1 }}{{ range loop 5000 }}{{ $x }}{{ end }}",
			"1:54 the result is longer than 4 MiB"});
	for (int i = 0; i < 100; i++)
		memcpy(deep + 8 * i, "{{if 1}}", 8);
	EXPECT({deep, "1:515 blocks and parentheses are nested more than 64 deep"});
	memset(deep, '(', 200);
	memcpy(deep, "{{", 2);
	deep[200] = '\0';
	EXPECT({deep, "1:67 blocks and parentheses are nested more than 64 deep"});
}

static int begin(void **unused)
{
	variable = json_loads(variable_text, 0, NULL);
	variables = json_pack("[O]", variable);
	return variable && variables ? 0 : -1;
}

static int end(void **unused)
{
	json_decref(variables);
	json_decref(variable);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_and_trimming),
		cmocka_unit_test(constants_are_printed),
		cmocka_unit_test(conditions_choose),
		cmocka_unit_test(variables_keep_values),
		cmocka_unit_test(ranges_go_through),
		cmocka_unit_test(texts_are_worked_on),
		cmocka_unit_test(formats_print),
		cmocka_unit_test(numbers_are_computed),
		cmocka_unit_test(codes_are_written_and_read),
		cmocka_unit_test(the_task_is_seen),
		cmocka_unit_test(variables_of_the_cluster_are_read),
		cmocka_unit_test(edges_are_kept),
		cmocka_unit_test(missing_keys_may_fail),
		cmocka_unit_test(mistakes_have_their_place),
		cmocka_unit_test(work_is_bounded),
	};
	return cmocka_run_group_tests(tests, begin, end);
}
