// Records of a type that has every kind of field: what is written is read back, and what was
// damaged is either refused or still a record. Run under a leak checker, the refusals show that
// they free everything.
#include "state/base/error.h"
#include "state/base/memory.h"
#include "state/base/prng.h"
#include "state/base/schema.h"
#include "state/base/schema_compact.h"
#include "state/tables/sum.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { ROUNDS = 400 };

struct part {
	char *name;
	int64_t weight;
	struct array words;
};
struct whole {
	bool flag;
	int64_t number;
	uint64_t index;
	double score;
	char *text;
	int colour;
	struct uuid id;
	struct part inner;
	struct part *maybe;
	struct array parts, words, numbers, pairs, named;
	char *json;
	struct optional_i64 limit;
	struct optional_bool choice;
	struct array ids, counts, flags;
	struct numbers grades;
};

static const char *const colours[] = {"red", "green", "blue", NULL};

#define AT(type, member) offsetof(struct type, member)
#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static const struct field part_fields[] = {
	{"Name", FIELD_STRING, AT(part, name)},
	{"Weight", FIELD_I64, AT(part, weight), NULL, NULL, 0, 50},
	{"Words", FIELD_STRINGS, AT(part, words)},
};
static const struct record_type part_type = {
	"part", sizeof(struct part), part_fields, COUNT(part_fields)};

static const char *const grade_names[] = {"even", "odd", "prime", NULL};
static const struct field whole_fields[] = {
	{"Flag", FIELD_BOOL, AT(whole, flag)},
	{"Number", FIELD_I64, AT(whole, number)},
	{"Index", FIELD_U64, AT(whole, index)},
	{"Score", FIELD_F64, AT(whole, score)},
	{"Text", FIELD_STRING, AT(whole, text)},
	{"Colour", FIELD_ENUM, AT(whole, colour), NULL, colours},
	{"ID", FIELD_UUID, AT(whole, id)},
	{"Inner", FIELD_STRUCT, AT(whole, inner), &part_type},
	{"Maybe", FIELD_OPTIONAL, AT(whole, maybe), &part_type},
	{"Parts", FIELD_ARRAY, AT(whole, parts), &part_type},
	{"Words", FIELD_STRINGS, AT(whole, words)},
	{"Numbers", FIELD_INTEGERS, AT(whole, numbers)},
	{"Pairs", FIELD_MAP, AT(whole, pairs)},
	{"Named", FIELD_STRUCT_MAP, AT(whole, named), &part_type},
	{"Json", FIELD_JSON, AT(whole, json)},
	{"Limit", FIELD_OPTIONAL_I64, AT(whole, limit)},
	{"Choice", FIELD_OPTIONAL_BOOL, AT(whole, choice)},
	{"IDs", FIELD_UUIDS, AT(whole, ids)},
	{"Counts", FIELD_COUNT_MAP, AT(whole, counts)},
	{"Flags", FIELD_FLAG_MAP, AT(whole, flags)},
	{"Grades", FIELD_NUMBERS, AT(whole, grades), NULL, grade_names},
};
static const char *const nothing[] = {"null"};
// One field that keeps nothing.
static const struct field fixed_fields[] = {
	{"Flag", FIELD_BOOL, AT(whole, flag)},
	{"Fixed", FIELD_FIXED, 0, NULL, nothing},
	{"Number", FIELD_I64, AT(whole, number)},
};
static const struct record_type fixed_type = {
	"fixed", sizeof(struct whole), fixed_fields, COUNT(fixed_fields)};
static const struct record_type whole_type = {
	"whole", sizeof(struct whole), whole_fields, COUNT(whole_fields)};
// What an earlier program knew: the first fields only.
static const struct record_type earlier_type = {"whole", sizeof(struct whole), whole_fields, 5};

static char *random_word(struct prng *prng)
{
	char word[24] = "";
	uint32_t size = (uint32_t)prng_below(prng, sizeof word);
	for (uint32_t i = 0; i < size; i++)
		word[i] = (char)(1 + prng_below(prng, 255));
	return text_copy((struct text){word, size});
}

static void random_words(struct prng *prng, struct array *words)
{
	for (uint64_t n = prng_below(prng, 4); n > 0; n--)
		*(char **)array_append(words, sizeof(char *)) = random_word(prng);
}

static void random_part(struct prng *prng, struct part *p)
{
	p->name = random_word(prng);
	p->weight = (int64_t)prng_u64(prng);
	random_words(prng, &p->words);
}

static char *distinct_name(struct prng *prng, uint64_t n)
{
	char name[32];
	snprintf(name, sizeof name, "%lu-%lu", prng_below(prng, 1000), n);
	return text_copy(text_of(name));
}

// Put one by one where they belong, some of them twice.
static void random_counts(struct prng *prng, struct array *counts)
{
	for (uint64_t n = prng_below(prng, 8); n > 0; n--) {
		char name[8];
		snprintf(name, sizeof name, "%lu", prng_below(prng, 6));
		struct named_count *item = map_item(counts, sizeof *item, name);
		item->count += (int64_t)prng_below(prng, UINT32_MAX) - INT32_MAX;
	}
}

static void random_arrays(struct prng *prng, struct whole *w)
{
	for (uint64_t n = prng_below(prng, 4); n > 0; n--)
		random_part(prng, array_append(&w->parts, sizeof(struct part)));
	random_words(prng, &w->words);
	for (uint64_t n = prng_below(prng, 4); n > 0; n--)
		*(int64_t *)array_append(&w->numbers, sizeof(int64_t)) = (int64_t)prng_u64(prng);
	for (uint64_t n = prng_below(prng, 6); n > 0; n--) {
		struct string_pair *pair = array_append(&w->pairs, sizeof *pair);
		*pair = (struct string_pair){distinct_name(prng, n), random_word(prng)};
	}
	assert_true(map_sort(&w->pairs, sizeof(struct string_pair)));
	for (uint64_t n = prng_below(prng, 4); n > 0; n--) {
		struct part *p = array_append(&w->named, sizeof *p);
		random_part(prng, p);
		free(p->name);
		p->name = distinct_name(prng, n);
	}
	assert_true(map_sort(&w->named, sizeof(struct part)));
	for (uint64_t n = prng_below(prng, 4); n > 0; n--)
		*(struct uuid *)array_append(&w->ids, sizeof(struct uuid)) = prng_uuid(prng);
	random_counts(prng, &w->counts);
	random_counts(prng, &w->flags);
	w->grades.there = prng_below(prng, 8);
	for (uint64_t left = w->grades.there; left; left &= left - 1)
		w->grades.at[__builtin_ctzll(left)] = prng_unit(prng);
}

static void random_whole(struct prng *prng, struct whole *w)
{
	*w = (struct whole){
		.flag = prng_below(prng, 2),
		.number = (int64_t)prng_u64(prng),
		.index = prng_u64(prng),
		.score = prng_unit(prng),
		.text = random_word(prng),
		.colour = (int)prng_below(prng, 3),
		.id = prng_uuid(prng),
		.json = random_word(prng),
		.limit = {prng_below(prng, 2), (int64_t)prng_u64(prng)},
		.choice = {prng_below(prng, 2), prng_below(prng, 2)},
	};
	random_part(prng, &w->inner);
	if (prng_below(prng, 2)) {
		w->maybe = memory_take(sizeof *w->maybe);
		random_part(prng, w->maybe);
	}
	random_arrays(prng, w);
}

static struct bytes_writer encoded(const struct record_type *type, const void *record)
{
	struct bytes_writer writer = bytes_writer_growing(64);
	record_encode(type, record, &writer);
	assert_false(writer.failed);
	return writer;
}

static void round_trip_and_copy_are_equal(void **unused)
{
	struct prng prng;
	prng_seed(&prng, 1);
	for (int i = 0; i < ROUNDS; i++) {
		struct whole original, copy, read;
		random_whole(&prng, &original);
		record_copy(&whole_type, &copy, &original);
		assert_true(record_equal(&whole_type, &original, &copy));
		struct bytes_writer writer = encoded(&whole_type, &copy);
		struct bytes_reader reader = bytes_reader_over(writer.data, writer.size);
		assert_int_equal(record_decode(&whole_type, &read, &reader), 0);
		assert_int_equal(bytes_left(&reader), 0);
		assert_true(record_equal(&whole_type, &original, &read));
		record_release(&whole_type, &read);
		record_release(&whole_type, &copy);
		record_release(&whole_type, &original);
		bytes_writer_free(&writer);
	}
}

// The leak checker sees that an expanded record owns nothing; the original is nothing to it.
static void a_compacted_record_is_equal(void **unused)
{
	static const char *const known[] = {"", "a"};
	const struct compact_texts none = {0}, texts = {known, COUNT(known)};

	struct prng prng;
	prng_seed(&prng, 23);
	for (int i = 0; i < ROUNDS; i++) {
		struct whole original, copy, expanded;
		const struct compact_texts *known_texts = i % 2 ? &texts : &none;
		struct bytes_writer w = bytes_writer_growing(64);
		random_whole(&prng, &original);
		record_copy(&whole_type, &copy, &original);
		void *items = memory_take(record_compact(&whole_type, &original, known_texts, &w));
		record_release(&whole_type, &original);
		assert_false(w.failed);
		record_expand(&whole_type, &expanded, known_texts, w.data, items);
		assert_true(record_equal(&whole_type, &expanded, &copy));
		free(items);
		bytes_writer_free(&w);
		record_release(&whole_type, &copy);
	}
}

static void swap_field(uint32_t i, struct whole *a, struct whole *b)
{
	char kept[sizeof(struct whole)];
	size_t from = whole_fields[i].offset;
	size_t to = i + 1 < COUNT(whole_fields) ? whole_fields[i + 1].offset : sizeof *a;
	memcpy(kept, (char *)a + from, to - from);
	memcpy((char *)a + from, (char *)b + from, to - from);
	memcpy((char *)b + from, kept, to - from);
}

// Changing one field of a copy makes it unequal, whichever field it is, and its sum too.
static void every_field_counts_in_equality(void **unused)
{
	struct prng prng;
	prng_seed(&prng, 2);
	for (uint32_t i = 0; i < COUNT(whole_fields); i++) {
		struct whole original, changed, other;
		random_whole(&prng, &original);
		record_copy(&whole_type, &changed, &original);
		for (int tries = 0; record_equal(&whole_type, &changed, &original); tries++) {
			assert_true(tries < 100); // a flag may come out the same a few times
			assert_int_equal(record_sum(&whole_type, &changed, 0),
				record_sum(&whole_type, &original, 0));
			random_whole(&prng, &other);
			swap_field(i, &changed, &other);
			record_release(&whole_type, &other);
		}
		assert_int_not_equal(record_sum(&whole_type, &changed, 0),
			record_sum(&whole_type, &original, 0));
		record_release(&whole_type, &changed);
		record_release(&whole_type, &original);
	}
}

static void every_truncation_is_refused(void **unused)
{
	struct prng prng;
	prng_seed(&prng, 3);
	for (int i = 0; i < 20; i++) {
		struct whole original, read;
		random_whole(&prng, &original);
		struct bytes_writer writer = encoded(&whole_type, &original);
		for (size_t size = 0; size < writer.size; size++) {
			uint8_t *exact = memory_take(size + 1); // so that reading past it is seen
			memcpy(exact, writer.data, size);
			struct bytes_reader reader = bytes_reader_over(exact, size);
			assert_int_equal(
				record_decode(&whole_type, &read, &reader), -ERROR_CORRUPT);
			assert_true(reader.failed);
			assert_null(read.parts.items);
			free(exact);
		}
		record_release(&whole_type, &original);
		bytes_writer_free(&writer);
	}
}

static void corruption_is_refused_or_still_a_record(void **unused)
{
	struct prng prng;
	prng_seed(&prng, 4);
	uint32_t refused = 0;
	for (int i = 0; i < ROUNDS; i++) {
		struct whole original, read, again;
		random_whole(&prng, &original);
		struct bytes_writer writer = encoded(&whole_type, &original);
		for (int flips = 0; flips < 3; flips++)
			writer.data[prng_below(&prng, writer.size)] ^= 1u << prng_below(&prng, 8);
		struct bytes_reader reader = bytes_reader_over(writer.data, writer.size);
		int error = record_decode(&whole_type, &read, &reader);
		refused += error < 0;
		if (error == 0) {
			struct bytes_writer rewritten = encoded(&whole_type, &read);
			struct bytes_reader r = bytes_reader_over(rewritten.data, rewritten.size);
			assert_int_equal(record_decode(&whole_type, &again, &r), 0);
			assert_true(record_equal(&whole_type, &read, &again));
			record_release(&whole_type, &again);
			record_release(&whole_type, &read);
			bytes_writer_free(&rewritten);
		}
		record_release(&whole_type, &original);
		bytes_writer_free(&writer);
	}
	assert_true(refused > 0 && refused < ROUNDS);
}

static void scalars_are_equal(const struct whole *a, const struct whole *b)
{
	assert_int_equal(a->flag, b->flag);
	assert_int_equal(a->number, b->number);
	assert_int_equal(a->index, b->index);
	assert_memory_equal(&a->score, &b->score, sizeof a->score);
	assert_int_equal(a->colour, b->colour);
	assert_true(uuid_equal(&a->id, &b->id));
	assert_int_equal(a->limit.set, b->limit.set);
	assert_int_equal(a->limit.value, b->limit.value);
	assert_int_equal(a->choice.set, b->choice.set);
	assert_int_equal(a->choice.value, b->choice.value);
}

// The leak checker sees that there is nothing to release.
static void scalars_alone_are_refused_when_the_record_is(void **unused)
{
	struct prng prng;
	prng_seed(&prng, 24);
	uint32_t refused = 0, newer = 0;
	for (int i = 0; i < 20 * ROUNDS; i++) {
		struct whole original, read, scalars;
		random_whole(&prng, &original);
		struct bytes_writer writer = encoded(&whole_type, &original);
		for (uint64_t flips = prng_below(&prng, 3); flips > 0; flips--)
			writer.data[prng_below(&prng, writer.size)] ^= 1u << prng_below(&prng, 8);
		size_t size = prng_below(&prng, 8) ? writer.size : prng_below(&prng, writer.size);
		struct bytes_reader one = bytes_reader_over(writer.data, size), other = one;
		int error = record_decode(&whole_type, &read, &one);
		assert_int_equal(record_decode_scalars(&whole_type, &scalars, &other), error);
		assert_int_equal(one.failed, other.failed);
		refused += error < 0;
		newer += error == -ERROR_VERSION;
		if (error == 0) {
			assert_int_equal(one.at, other.at);
			scalars_are_equal(&scalars, &read);
			assert_null(scalars.text);
			assert_null(scalars.named.items);
		}
		record_release(&whole_type, &read);
		record_release(&whole_type, &original);
		bytes_writer_free(&writer);
	}
	assert_true(refused > ROUNDS && refused < 19 * ROUNDS && newer > 0);
}

struct graded {
	struct numbers grades;
};
struct free_graded {
	struct array grades; // named_count, of the numbers' bits
};
static const struct field free_fields[] = {{"Grades", FIELD_COUNT_MAP, AT(free_graded, grades)}};
static const struct field known_fields[] = {
	{"Grades", FIELD_NUMBERS, AT(graded, grades), NULL, grade_names}};
static const struct record_type free_type = {"free", sizeof(struct free_graded), free_fields, 1},
				known_type = {"known", sizeof(struct graded), known_fields, 1};

struct twice_graded {
	struct numbers grades, marks;
};
static const char *const mark_names[] = {"a", "longer than the other", NULL};
static const struct field twice_fields[] = {
	{"Grades", FIELD_NUMBERS, AT(twice_graded, grades), NULL, grade_names},
	{"Marks", FIELD_NUMBERS, AT(twice_graded, marks), NULL, mark_names}};
static const struct record_type twice_type = {
	"twice", sizeof(struct twice_graded), twice_fields, 2};

// Names of one field are not taken for those of the one before it, nor when it comes again.
static void each_field_of_numbers_has_its_names(void **state)
{
	const struct twice_graded all = {
		{.there = 3, .at = {0.5, 1.5}}, {.there = 2, .at = {0, 2.5}}};
	for (int round = 0; round < 2; round++) {
		struct twice_graded read;
		struct bytes_writer writer = bytes_writer_growing(64);
		record_encode(&twice_type, &all, &writer);
		struct bytes_reader reader = bytes_reader_over(writer.data, writer.size);
		assert_int_equal(record_decode(&twice_type, &read, &reader), 0);
		assert_true(record_equal(&twice_type, &all, &read));
		bytes_writer_free(&writer);
	}
}

static struct bytes_writer encoded_grades(const char *const *names, uint32_t count)
{
	struct free_graded all = {0};
	for (uint32_t i = 0; i < count; i++) {
		struct named_count *number = array_append(&all.grades, sizeof *number);
		double value = 0.5 + i;
		number->name = text_copy(text_of(names[i]));
		memcpy(&number->count, &value, sizeof value);
	}
	struct bytes_writer writer = encoded(&free_type, &all);
	record_release(&free_type, &all);
	return writer;
}

// What reads the whole record refuses others and those out of order, and so does what only checks it.
static void numbers_have_only_their_names_in_order(void **unused)
{
	static const struct {
		const char *names[4];
		uint32_t count;
		uint64_t there; // 0: refused
	} cases[] = {{{"even"}, 1, 1}, {{"prime"}, 1, 4}, {{"even", "prime"}, 2, 5},
		{{"even", "odd", "prime"}, 3, 7}, {{"od"}, 1, 0}, {{"odds"}, 1, 0}, {{""}, 1, 0},
		{{"odd", "even"}, 2, 0}, {{"odd", "odd"}, 2, 0},
		{{"even", "odd", "prime", "prime"}, 4, 0}};
	for (uint32_t i = 0; i < COUNT(cases); i++) {
		struct graded read;
		struct bytes_writer writer = encoded_grades(cases[i].names, cases[i].count);
		struct bytes_reader one = bytes_reader_over(writer.data, writer.size), other = one;
		int error = cases[i].there ? 0 : -ERROR_CORRUPT;
		assert_int_equal(record_decode(&known_type, &read, &one), error);
		assert_int_equal(read.grades.there, cases[i].there);
		for (uint32_t at = 0, n = 0; at < 3; at++) {
			bool is_there = cases[i].there >> at & 1;
			assert_float_equal(read.grades.at[at], is_there ? 0.5 + n++ : 0, 0);
		}
		assert_int_equal(record_decode_scalars(&known_type, &read, &other), error);
		bytes_writer_free(&writer);
	}
}

// They are stored as a map is, and equal ones are equal.
static void numbers_come_back(void **unused)
{
	static const char *const names[] = {"even", "prime"};
	struct graded all = {{.there = 5, .at = {0.5, 0, 1.5}}}, read;
	struct bytes_writer map = encoded_grades(names, 2), writer = encoded(&known_type, &all);
	struct bytes_reader reader = bytes_reader_over(writer.data, writer.size);
	assert_int_equal(writer.size, map.size);
	assert_memory_equal(writer.data, map.data, map.size);
	assert_int_equal(record_decode(&known_type, &read, &reader), 0);
	assert_true(record_equal(&known_type, &all, &read));
	read.grades.at[2] = 2;
	assert_false(record_equal(&known_type, &all, &read));
	bytes_writer_free(&writer);
	bytes_writer_free(&map);
}

static void count_larger_than_what_is_left_is_refused(void **unused)
{
	struct record_type numbers = {"n", sizeof(struct whole), &whole_fields[11], 1};
	uint8_t stored[2 + 4 + 8] = {1, 0, 0xff, 0xff, 0xff, 0xff};
	struct whole read;
	struct bytes_reader reader = bytes_reader_over(stored, sizeof stored);
	assert_int_equal(record_decode(&numbers, &read, &reader), -ERROR_CORRUPT);
}

static void maps_out_of_order_are_refused(void **unused)
{
	struct record_type pairs = {"p", sizeof(struct whole), &whole_fields[12], 1};
	struct whole w = {0}, read;
	const char *const names[] = {"b", "a"};
	for (int i = 0; i < 2; i++) {
		struct string_pair *pair = array_append(&w.pairs, sizeof *pair);
		*pair = (struct string_pair){text_copy(text_of(names[i])), text_copy(TEXT(""))};
	}
	struct bytes_writer writer = encoded(&pairs, &w);
	struct bytes_reader reader = bytes_reader_over(writer.data, writer.size);
	assert_int_equal(record_decode(&pairs, &read, &reader), -ERROR_CORRUPT);
	assert_true(map_sort(&w.pairs, sizeof(struct string_pair)));
	assert_string_equal(ARRAY_AT(&w.pairs, struct string_pair, 0)->name, "a");
	assert_string_equal(map_get(&w.pairs, "b"), "");
	assert_null(map_get(&w.pairs, "c"));
	struct string_pair *twice = array_append(&w.pairs, sizeof *twice);
	*twice = (struct string_pair){text_copy(TEXT("a")), text_copy(TEXT(""))};
	assert_false(map_sort(&w.pairs, sizeof(struct string_pair)));
	record_release(&pairs, &w);
	bytes_writer_free(&writer);
}

static void items_of_maps_are_put_in_order(void **unused)
{
	struct record_type counts = {"c", sizeof(struct whole), &whole_fields[18], 1};
	const char *const names[] = {"m", "b", "z", "b", "", "n"};
	struct whole w = {0}, read;
	uint32_t at;
	for (uint32_t i = 0; i < COUNT(names); i++) {
		struct named_count *item = map_item(&w.counts, sizeof *item, names[i]);
		item->count += 1 << i;
	}
	assert_int_equal(w.counts.count, 5);
	for (uint32_t i = 0; i < COUNT(names); i++) {
		assert_true(map_find(&w.counts, sizeof(struct named_count), names[i], &at));
		assert_string_equal(ARRAY_AT(&w.counts, struct named_count, at)->name, names[i]);
	}
	assert_true(map_find(&w.counts, sizeof(struct named_count), "b", &at));
	assert_int_equal(at, 1);
	assert_int_equal(ARRAY_AT(&w.counts, struct named_count, 1)->count, 2 + 8);
	assert_false(map_find(&w.counts, sizeof(struct named_count), "c", &at));
	assert_int_equal(at, 2);

	struct bytes_writer writer = encoded(&counts, &w);
	struct bytes_reader reader = bytes_reader_over(writer.data, writer.size);
	assert_int_equal(record_decode(&counts, &read, &reader), 0);
	assert_true(record_equal(&counts, &w, &read));
	record_release(&counts, &read);
	ARRAY_AT(&w.counts, struct named_count, 2)->name[0] = 'a'; // before "b"
	bytes_writer_free(&writer);
	writer = encoded(&counts, &w);
	reader = bytes_reader_over(writer.data, writer.size);
	assert_int_equal(record_decode(&counts, &read, &reader), -ERROR_CORRUPT);
	record_release(&counts, &w);
	bytes_writer_free(&writer);
}

// What is sound is read back; what is not would be refused when it is read.
static void only_what_is_read_back_is_sound(void **unused)
{
	struct prng prng;
	struct whole w, read;
	prng_seed(&prng, 6);
	for (int i = 0; i < ROUNDS; i++) {
		random_whole(&prng, &w);
		assert_true(record_is_sound(&whole_type, &w));
		uint32_t harm = (uint32_t)prng_below(&prng, 4);
		bool is_harmed = true;
		if (harm == 0)
			w.colour = 3;
		else if (harm == 1 && w.pairs.count > 1)
			*ARRAY_AT(&w.pairs, struct string_pair, 0)->name = '~';
		else if (harm == 2 && w.counts.count > 1)
			*ARRAY_AT(&w.counts, struct named_count, 0)->name = '~';
		else if (harm == 3 && w.named.count > 1)
			*ARRAY_AT(&w.named, struct part, 0)->name = '~';
		else
			is_harmed = false;
		assert_int_equal(record_is_sound(&whole_type, &w), !is_harmed);
		struct bytes_writer writer = encoded(&whole_type, &w);
		struct bytes_reader reader = bytes_reader_over(writer.data, writer.size);
		int error = record_decode(&whole_type, &read, &reader);
		assert_int_equal(error, is_harmed ? -ERROR_CORRUPT : 0);
		if (!error)
			record_release(&whole_type, &read);
		record_release(&whole_type, &w);
		bytes_writer_free(&writer);
	}
	struct whole negative = {.colour = -1};
	assert_false(record_is_sound(&whole_type, &negative));
}

static void a_fixed_field_keeps_nothing(void **unused)
{
	struct whole w = {.flag = true, .number = 7}, copy, read;
	struct bytes_writer writer = encoded(&fixed_type, &w);
	struct bytes_reader reader = bytes_reader_over(writer.data, writer.size);
	assert_int_equal(writer.size, 2 + 1 + 8);
	assert_int_equal(record_decode(&fixed_type, &read, &reader), 0);
	record_copy(&fixed_type, &copy, &read);
	assert_true(record_equal(&fixed_type, &copy, &w));
	assert_int_equal(copy.number, 7);
	bytes_writer_free(&writer);
}

static void a_row_says_what_its_field_is_at_first(void **unused)
{
	static const struct field rows[] = {
		{"Flag", FIELD_BOOL, AT(whole, flag), NULL, NULL, 0, true},
		{"Number", FIELD_I64, AT(whole, number), NULL, NULL, 0, -7},
		{"Inner", FIELD_STRUCT, AT(whole, inner), &part_type},
		{"Index", FIELD_U64, AT(whole, index)},
	};
	static const struct record_type type = {"rows", sizeof(struct whole), rows, COUNT(rows)};
	struct whole record;
	record_init(&type, &record);
	assert_true(record.flag);
	assert_int_equal(record.number, -7);
	assert_int_equal(record.inner.weight, 50);
	assert_int_equal(record.index, 0);
	record_release(&type, &record);
}

static void fewer_fields_leave_defaults_and_more_are_refused(void **unused)
{
	struct prng prng;
	prng_seed(&prng, 5);
	struct whole original, read;
	random_whole(&prng, &original);
	struct bytes_writer writer = encoded(&earlier_type, &original);
	struct bytes_reader reader = bytes_reader_over(writer.data, writer.size);
	assert_int_equal(record_decode(&whole_type, &read, &reader), 0);
	assert_true(record_equal(&earlier_type, &original, &read));
	assert_int_equal(read.inner.weight, 50);
	assert_null(read.inner.name);
	record_release(&whole_type, &read);
	bytes_writer_free(&writer);

	writer = encoded(&whole_type, &original);
	reader = bytes_reader_over(writer.data, writer.size);
	assert_int_equal(record_decode(&earlier_type, &read, &reader), -ERROR_VERSION);
	record_release(&whole_type, &original);
	bytes_writer_free(&writer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(round_trip_and_copy_are_equal),
		cmocka_unit_test(a_compacted_record_is_equal),
		cmocka_unit_test(every_field_counts_in_equality),
		cmocka_unit_test(every_truncation_is_refused),
		cmocka_unit_test(corruption_is_refused_or_still_a_record),
		cmocka_unit_test(scalars_alone_are_refused_when_the_record_is),
		cmocka_unit_test(numbers_have_only_their_names_in_order),
		cmocka_unit_test(numbers_come_back),
		cmocka_unit_test(count_larger_than_what_is_left_is_refused),
		cmocka_unit_test(maps_out_of_order_are_refused),
		cmocka_unit_test(items_of_maps_are_put_in_order),
		cmocka_unit_test(only_what_is_read_back_is_sound),
		cmocka_unit_test(each_field_of_numbers_has_its_names),
		cmocka_unit_test(a_fixed_field_keeps_nothing),
		cmocka_unit_test(a_row_says_what_its_field_is_at_first),
		cmocka_unit_test(fewer_fields_leave_defaults_and_more_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
