#include "state/base/limits.h"
#include "state/base/prng.h"
#include "state/base/text.h"
#include <ctype.h>
#include <fnmatch.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void copies_end_and_compare(void **unused)
{
	struct text part = {"abcdef", 3};
	char *copy = text_copy(part);
	assert_string_equal(copy, "abc");
	assert_true(text_equal(text_of(copy), part));
	assert_false(text_equal(part, TEXT("abd")));
	assert_false(text_equal(part, TEXT("abcd")));
	free(copy);
	copy = text_copy(text_of(NULL));
	assert_string_equal(copy, "");
	assert_true(text_equal(text_of(NULL), TEXT("")));
	free(copy);
}

static const struct {
	const char *bytes;
	bool printable;
} samples[] = {
	{"", true},
	{"node 1.example", true},
	{"Zürich — 東京 🚀", true},
	{"\xc2\xa0", true},
	{"\xed\x9f\xbf", true},
	{"\xf4\x8f\xbf\xbf", true},
	{"line\nbreak", false},
	{"\t", false},
	{"\x7f", false},
	{"\x1b[31m", false},
	{"\xc2\x85", false},         // C1: next line
	{"\x80", false},             // a tail alone
	{"\xc3", false},             // a head alone
	{"\xc0\xaf", false},         // overlong
	{"\xe0\x9f\xbf", false},     // overlong
	{"\xf0\x8f\xbf\xbf", false}, // overlong
	{"\xed\xa0\x80", false},     // a surrogate
	{"\xf4\x90\x80\x80", false}, // past U+10FFFF
	{"\xf5\x80\x80\x80", false},
	{"\xe2\x82", false},
	{"\xe2\x28\xa1", false},
	{"\xf0\x9f\x9a\xff", false},
};

static void only_clean_utf8_is_printable(void **unused)
{
	for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++)
		if (text_is_printable(text_of(samples[i].bytes)) != samples[i].printable)
			fail_msg("sample %zu", i);
	assert_false(text_is_printable((struct text){"a\0b", 3}));
	assert_true(
		text_is_printable((struct text){"abc\n", 2})); // what is behind it does not count
	for (int byte = 0; byte < 0x80; byte++) {
		char text[] = {'a', (char)byte, 'b'};
		assert_int_equal(text_is_printable((struct text){text, sizeof text}),
			byte >= 0x20 && byte != 0x7f);
	}
}

// A long text is looked at word by word.
static void what_is_not_plain_shows_wherever_it_stands(void **unused)
{
	for (uint32_t size = 1; size < 40; size++)
		for (uint32_t at = 0; at < size; at++)
			for (int byte = 0; byte < 0x100; byte++) {
				char text[40];
				memset(text, byte % 2 ? ' ' : '~', sizeof text);
				text[at] = (char)byte;
				assert_int_equal(text_is_printable((struct text){text, size}),
					byte >= 0x20 && byte < 0x7f);
			}
}

static void anything_can_be_made_printable(void **unused)
{
	char lines[] = "qemu:\tno\r\n \x1b[31mKVM\xc2\x85\xe2\x82 \xe6\x9d\xb1\xc3";
	text_make_printable(lines);
	assert_string_equal(lines, "qemu:?no?? ?[31mKVM???? \xe6\x9d\xb1?");
	for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++) {
		char *copy = text_copy(text_of(samples[i].bytes));
		text_make_printable(copy);
		assert_true(text_is_printable(text_of(copy)));
		assert_int_equal(strcmp(copy, samples[i].bytes) == 0, samples[i].printable);
		assert_int_equal(strlen(copy), strlen(samples[i].bytes));
		free(copy);
	}
}

// The decoder that a textbook would write: value first, then what is not allowed.
static uint32_t naive_utf8_bytes(const uint8_t *at, uint32_t size)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	uint32_t bytes = at[0] < 0x80             ? 1
			 : (at[0] & 0xe0) == 0xc0 ? 2
			 : (at[0] & 0xf0) == 0xe0 ? 3
			 : (at[0] & 0xf8) == 0xf0 ? 4
						  : 0;
	if (!bytes || bytes > size)
		return 0;
	uint32_t value = bytes == 1 ? at[0] : at[0] & (0x7fu >> bytes);
	for (uint32_t i = 1; i < bytes; i++) {
		if ((at[i] & 0xc0) != 0x80)
			return 0;
		value = value << 6 | (at[i] & 0x3f);
	}
	bool surrogate = value >= 0xd800 && value <= 0xdfff;
	return value < least[bytes] || value > 0x10ffff || surrogate ? 0 : bytes;
}

static void a_name_is_printable_and_bounded(void **unused)
{
	char longest[STORED_NAME_BYTES_MAX + 2];
	memset(longest, 'n', sizeof longest);
	longest[STORED_NAME_BYTES_MAX + 1] = 0;
	assert_false(text_is_name(longest));
	assert_true(text_is_name(longest + 1));
	assert_true(text_is_name("web"));
	assert_false(text_is_name(""));
	assert_false(text_is_name(NULL));
	assert_false(text_is_name("a\nb"));
}

static void a_word_has_letters_digits_and_what_is_said(void **unused)
{
	char text[3] = "a";
	for (int c = 0; c < 256; c++) {
		text[1] = (char)c;
		bool is_plain = c < 128 && isalnum(c);
		assert_int_equal(text_is_word((struct text){text, 2}, ""), is_plain);
		assert_int_equal(text_is_word((struct text){text, 2}, "-*"),
			is_plain || c == '-' || c == '*');
	}
	assert_true(text_is_word(TEXT(""), ""));
	assert_false(text_is_word(TEXT("-a"), "_"));
}

static void utf8_agrees_with_the_textbook(void **unused)
{
	struct prng prng;
	prng_seed(&prng, 6);
	static const uint8_t edges[] = {0x00, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc1,
		0xc2, 0xdf, 0xe0, 0xe1, 0xec, 0xed, 0xee, 0xef, 0xf0, 0xf1, 0xf3, 0xf4, 0xf5, 0xff};
	for (int round = 0; round < 200000; round++) {
		uint8_t bytes[4];
		for (int i = 0; i < 4; i++)
			bytes[i] = edges[prng_below(&prng, sizeof edges)];
		uint32_t size = 1 + (uint32_t)prng_below(&prng, 4);
		assert_int_equal(text_utf8_bytes((struct text){(char *)bytes, size}),
			naive_utf8_bytes(bytes, size));
	}
	assert_int_equal(text_utf8_bytes(TEXT("")), 0);
}

static void globs_match_as_fnmatch_says(void **unused)
{
	struct prng p;
	prng_seed(&p, 1);
	for (uint32_t i = 0; i < 200000; i++) {
		char pattern[8] = "", text[12] = "";
		for (uint32_t j = (uint32_t)prng_below(&p, 8); j > 0; j--)
			pattern[j - 1] = "ab*"[prng_below(&p, 3)];
		pattern[7] = 0;
		for (uint32_t j = (uint32_t)prng_below(&p, 11); j > 0; j--)
			text[j - 1] = "ab"[prng_below(&p, 2)];
		if (glob_matches(pattern, text) != (fnmatch(pattern, text, 0) == 0))
			fail_msg("pattern \"%s\" text \"%s\"", pattern, text);
	}
	assert_true(glob_matches("dc*-east", "dc-prod-east"));
	assert_false(glob_matches("dc?", "dc1")); // only the star is special
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(globs_match_as_fnmatch_says),
		cmocka_unit_test(copies_end_and_compare),
		cmocka_unit_test(only_clean_utf8_is_printable),
		cmocka_unit_test(what_is_not_plain_shows_wherever_it_stands),
		cmocka_unit_test(anything_can_be_made_printable),
		cmocka_unit_test(a_name_is_printable_and_bounded),
		cmocka_unit_test(a_word_has_letters_digits_and_what_is_said),
		cmocka_unit_test(utf8_agrees_with_the_textbook),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
