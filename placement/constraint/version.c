#include "placement/constraint/version.h"
#include "state/base/memory.h"
#include <stdlib.h>

#define VERSION_CONDITIONS_MAX 32u

enum { LESS = 1, EQUAL = 2, GREATER = 4 };

struct condition_sign {
	struct text text;
	uint8_t accepts; // orders of version against wanted
	bool ordered;    // loose: pre-releases need a pre-release of the same version
	bool about;      // and the same but for the last segment
};

// The first row that is a prefix wins, so longer ones come first.
static const struct condition_sign signs[] = {
	{{"!=", 2}, LESS | GREATER, false, false},
	{{">=", 2}, EQUAL | GREATER, true, false},
	{{"<=", 2}, EQUAL | LESS, true, false},
	{{"~>", 2}, EQUAL | GREATER, true, true},
	{{"=", 1}, EQUAL, false, false},
	{{">", 1}, GREATER, true, false},
	{{"<", 1}, LESS, true, false},
	{{"", 0}, EQUAL, false, false},
};

struct condition {
	const struct condition_sign *sign;
	struct version wanted;
};

struct version_conditions {
	enum version_dialect dialect;
	uint32_t count;
	char *list; // the conditions' pre-release texts are views into it
	struct condition conditions[VERSION_CONDITIONS_MAX];
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_identifier(char c)
{
	return is_digit(c) || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '-' ||
	       c == '~';
}

static bool is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static struct text trim_text(struct text t)
{
	while (t.size > 0 && is_blank(t.data[0]))
		t.data++, t.size--;
	while (t.size > 0 && is_blank(t.data[t.size - 1]))
		t.size--;
	return t;
}

// One run of digits as a number. Returns characters used, 0 when there is none or it overflows.
static uint32_t take_number(struct text t, int64_t *number)
{
	uint32_t i = 0;
	*number = 0;
	for (; i < t.size && is_digit(t.data[i]); i++)
		if (__builtin_mul_overflow(*number, 10, number) ||
			__builtin_add_overflow(*number, t.data[i] - '0', number))
			return 0;
	return i;
}

// "1.2.3". Returns characters used, 0 when malformed.
static uint32_t take_segments(struct text t, struct version *v)
{
	uint32_t at = 0;
	for (;;) {
		if (v->specified == VERSION_SEGMENTS_MAX)
			return 0;
		uint32_t used = take_number(
			(struct text){t.data + at, t.size - at}, &v->segments[v->specified]);
		if (used == 0)
			return 0;
		v->specified++;
		at += used;
		if (at == t.size || t.data[at] != '.')
			return at;
		at++;
	}
}

// "rc.1": identifiers joined by dots, none of them empty. Returns characters used, 0 when malformed.
static uint32_t take_identifiers(struct text t)
{
	uint32_t at = 0;
	for (;;) {
		uint32_t from = at;
		while (at < t.size && is_identifier(t.data[at]))
			at++;
		if (at == from)
			return 0;
		if (at == t.size || t.data[at] != '.')
			return at;
		at++;
	}
}

static struct text rest_of(struct text t, uint32_t from)
{
	return (struct text){t.data + from, t.size - from};
}

bool version_parse(struct text t, enum version_dialect dialect, struct version *v)
{
	*v = (struct version){0};
	if (t.size > 0 && t.data[0] == 'v')
		t = rest_of(t, 1);
	uint32_t used = take_segments(t, v);
	if (used == 0)
		return false;
	t = rest_of(t, used);
	v->segment_count = v->specified < 3 ? 3 : v->specified;

	if (t.size > 0 && t.data[0] != '+') {
		// The loose dialect allows leaving out the dash; a lone dash is itself an identifier there.
		bool dash = t.data[0] == '-';
		if (dash && (dialect == VERSION_SEMVER || (t.size > 1 && is_identifier(t.data[1]))))
			t = rest_of(t, 1);
		else if (dialect == VERSION_SEMVER)
			return false;
		used = take_identifiers(t);
		if (used == 0)
			return false;
		v->prerelease = (struct text){t.data, used};
		t = rest_of(t, used);
	}
	if (t.size > 0 && t.data[0] == '+') { // build metadata: no effect on order
		t = rest_of(t, 1);
		used = take_identifiers(t);
		if (used == 0)
			return false;
		t = rest_of(t, used);
	}
	return t.size == 0;
}

static bool all_digits(struct text t, int64_t *number)
{
	return t.size > 0 && take_number(t, number) == t.size;
}

static int sign_of(int64_t a, int64_t b)
{
	return a < b ? -1 : a > b;
}

// Numbers compare by value and are below words; words compare bytewise. A missing identifier is below a number but
// above a word, as in the Go library that version strings are written for.
static int compare_identifier(struct text a, struct text b)
{
	int64_t number_a = 0, number_b = 0;
	bool numeric_a = all_digits(a, &number_a), numeric_b = all_digits(b, &number_b);
	if (a.size == 0 && b.size == 0)
		return 0;
	if (a.size == 0)
		return numeric_b ? -1 : 1;
	if (b.size == 0)
		return numeric_a ? 1 : -1;
	if (numeric_a != numeric_b)
		return numeric_a ? -1 : 1;
	if (numeric_a)
		return sign_of(number_a, number_b);
	int order = memcmp(a.data, b.data, a.size < b.size ? a.size : b.size);
	return order ? (order < 0 ? -1 : 1) : sign_of(a.size, b.size);
}

// Cuts the first piece up to the separator off t.
static struct text take_piece(struct text *t, char separator)
{
	const char *end = t->size ? memchr(t->data, separator, t->size) : NULL;
	uint32_t size = end ? (uint32_t)(end - t->data) : t->size;
	struct text piece = {t->data, size};
	*t = end ? rest_of(*t, size + 1) : (struct text){t->data + size, 0};
	return piece;
}

static int compare_prerelease(struct text a, struct text b)
{
	if (a.size == 0 || b.size == 0) // a release comes after its pre-releases
		return sign_of(a.size == 0, b.size == 0);
	while (a.size > 0 || b.size > 0) {
		int order = compare_identifier(take_piece(&a, '.'), take_piece(&b, '.'));
		if (order)
			return order;
	}
	return 0;
}

int version_compare(const struct version *a, const struct version *b)
{
	uint32_t count = a->segment_count > b->segment_count ? a->segment_count : b->segment_count;
	for (uint32_t i = 0; i < count; i++) // segments past the specified ones are zeros
		if (a->segments[i] != b->segments[i])
			return sign_of(a->segments[i], b->segments[i]);
	// Order does not tell "1.2.3-rc1" from "1.2.3.0-rc1".
	return a->segment_count == b->segment_count
		       ? compare_prerelease(a->prerelease, b->prerelease)
		       : 0;
}

static bool same_segments(const struct version *a, const struct version *b)
{
	return a->segment_count == b->segment_count &&
	       memcmp(a->segments, b->segments, a->segment_count * sizeof a->segments[0]) == 0;
}

// Only a condition that names a pre-release of the same version admits a pre-release.
static bool loose_admits(const struct version *v, const struct version *wanted)
{
	if (v->prerelease.size == 0)
		return true;
	return wanted->prerelease.size > 0 && same_segments(v, wanted);
}

// "~> 1.2.3": at least that, and equal in all but the last written segment.
static bool is_about(const struct version *v, const struct version *wanted)
{
	if (v->segment_count < wanted->segment_count ||
		(wanted->prerelease.size > 0 && v->prerelease.size == 0))
		return false;
	return memcmp(v->segments, wanted->segments,
		       (wanted->specified - 1) * sizeof v->segments[0]) == 0;
}

static bool condition_holds(
	const struct condition *c, enum version_dialect dialect, const struct version *v)
{
	if (c->sign->ordered && dialect == VERSION_LOOSE && !loose_admits(v, &c->wanted))
		return false;
	int order = version_compare(v, &c->wanted);
	if (!(c->sign->accepts & (order < 0 ? LESS : order > 0 ? GREATER : EQUAL)))
		return false;
	return !c->sign->about || is_about(v, &c->wanted);
}

static bool condition_parse(struct text t, enum version_dialect dialect, struct condition *c)
{
	t = trim_text(t);
	c->sign = signs;
	while (t.size < c->sign->text.size ||
		(c->sign->text.size > 0 && memcmp(t.data, c->sign->text.data, c->sign->text.size)))
		c->sign++; // the last row has an empty sign
	if (c->sign->about && dialect == VERSION_SEMVER)
		return false;
	return version_parse(trim_text(rest_of(t, c->sign->text.size)), dialect, &c->wanted);
}

struct version_conditions *version_conditions_parse(
	const char *list, enum version_dialect dialect, struct constraint_error *error)
{
	struct version_conditions *all = memory_take(sizeof *all);
	all->dialect = dialect;
	all->list = text_copy(text_of(list));
	struct text left = text_of(all->list);
	bool more = true;
	while (more) {
		more = left.size > 0 && memchr(left.data, ',', left.size);
		struct text piece = take_piece(&left, ',');
		if (all->count == VERSION_CONDITIONS_MAX) {
			constraint_refuse(error, "more than %u version conditions in one list",
				VERSION_CONDITIONS_MAX);
			goto fail;
		}
		if (!condition_parse(piece, dialect, &all->conditions[all->count])) {
			constraint_refuse(error,
				"malformed %s condition \"%.*s\"; expected for example \"%s\"",
				dialect == VERSION_SEMVER ? "semver" : "version",
				piece.size < 80 ? (int)piece.size : 80, piece.data,
				dialect == VERSION_SEMVER ? ">= 1.2.3, < 2.0.0" : ">= 1.2, < 2");
			goto fail;
		}
		all->count++;
	}
	return all;
fail:
	version_conditions_free(all);
	return NULL;
}

void version_conditions_free(struct version_conditions *all)
{
	if (!all)
		return;
	free(all->list);
	free(all);
}

bool version_satisfies(const struct version_conditions *all, const char *text)
{
	struct version v;
	if (!version_parse(text_of(text), all->dialect, &v))
		return false;
	for (uint32_t i = 0; i < all->count; i++)
		if (!condition_holds(&all->conditions[i], all->dialect, &v))
			return false;
	return true;
}
