// The nearest word, against the distance as its definition has it.
#include "state/base/prng.h"
#include "tools/berth/cli/suggest.h"
#include "tools/berth/cli/terminal.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define WORDS 20000u
#define LETTERS_MAX 6u

static uint32_t smaller(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

// Of the first a and b letters: the cheapest of all last steps.
static uint32_t naive(const char *x, uint32_t a, const char *y, uint32_t b)
{
	if (a == 0 || b == 0)
		return a + b;
	uint32_t least = smaller(naive(x, a - 1, y, b), naive(x, a, y, b - 1)) + 1;
	least = smaller(least, naive(x, a - 1, y, b - 1) + (x[a - 1] != y[b - 1]));
	if (a > 1 && b > 1 && x[a - 1] == y[b - 2] && x[a - 2] == y[b - 1])
		least = smaller(least, naive(x, a - 2, y, b - 2) + 1);
	return least;
}

static void draw(struct prng *prng, char word[static LETTERS_MAX + 1])
{
	uint32_t size = 3 + (uint32_t)prng_below(prng, LETTERS_MAX - 2);
	for (uint32_t i = 0; i < size; i++)
		word[i] = (char)('a' + prng_below(prng, 3));
	word[size] = '\0';
}

static void a_word_is_suggested_when_it_is_near(void **unused)
{
	struct prng prng;
	uint32_t near = 0;
	prng_seed(&prng, 16);
	for (uint32_t i = 0; i < WORDS; i++) {
		char typed[LETTERS_MAX + 1], word[LETTERS_MAX + 1];
		draw(&prng, typed);
		draw(&prng, word);
		uint32_t size = (uint32_t)strlen(typed);
		uint32_t distance = naive(typed, size, word, (uint32_t)strlen(word));
		bool is_near = distance <= (size < 6 ? 1 : size / 3);
		struct suggestion s = {.typed = typed};
		suggestion_consider(&s, word);
		assert_int_equal(s.best != NULL, is_near);
		if (is_near)
			assert_int_equal(s.distance, distance);
		near += is_near;
	}
	assert_in_range(near, WORDS / 50, WORDS / 2);
}

static void the_nearest_is_kept(void **unused)
{
	char text[SUGGESTION_BYTES];
	struct suggestion s = {.typed = "deploymnt"};
	assert_string_equal(suggestion_text(&s, text), "");
	suggestion_consider(&s, "employment");
	suggestion_consider(&s, "deployment");
	suggestion_consider(&s, "deployments");
	assert_string_equal(suggestion_text(&s, text), "; did you mean \"deployment\"?");
	s = (struct suggestion){.typed = "ab"};
	suggestion_consider(&s, "ac"); // two letters may be anything
	assert_null(s.best);
	char longer[200];
	memset(longer, 'a', sizeof longer - 1);
	longer[sizeof longer - 1] = '\0';
	s = (struct suggestion){.typed = longer};
	suggestion_consider(&s, longer);
	assert_null(s.best);
}

static void states_have_colours(void **unused)
{
	assert_string_equal(terminal_colour_of("ready"), "\033[32m");
	assert_string_equal(terminal_colour_of("down"), "\033[31m");
	assert_string_equal(terminal_colour_of("pending"), "\033[33m");
	assert_string_equal(terminal_colour_of("rack1"), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_word_is_suggested_when_it_is_near),
		cmocka_unit_test(the_nearest_is_kept),
		cmocka_unit_test(states_have_colours),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
