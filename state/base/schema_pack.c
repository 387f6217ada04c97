// A block begins with the record; behind it come the structs and arrays that belong to it, then the characters.
#include "state/base/schema_pack.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include "state/base/schema_fields.h"

struct packing {
	text_known *known;
	size_t items, characters; // bytes
	char *next_item, *next_character;
};

static size_t aligned(size_t bytes)
{
	return (bytes + sizeof(uint64_t) - 1) / sizeof(uint64_t) * sizeof(uint64_t);
}

static void count_text(struct packing *p, const char *text)
{
	if (text && !(p->known && p->known(text)))
		p->characters += strlen(text) + 1;
}

static void count_record(struct packing *, const struct record_type *, const void *record);

static void count_item(struct packing *p, const struct field *f, const void *item)
{
	const struct string_pair *pair = item;

	switch (f->kind) {
	case FIELD_INTEGERS:
	case FIELD_UUIDS: break;
	case FIELD_STRINGS:
	case FIELD_COUNT_MAP:
	case FIELD_FLAG_MAP:
	case FIELD_NUMBER_MAP: count_text(p, *(char *const *)item); break;
	case FIELD_MAP:
		count_text(p, pair->name);
		count_text(p, pair->value);
		break;
	default: count_record(p, f->type, item);
	}
}

static void count_field(struct packing *p, const struct field *f, const void *at)
{
	const struct array *a = at;
	const void *pointed;

	if (field_is_array(f->kind)) {
		p->items += aligned(a->count * field_item_bytes(f));
		for (uint32_t i = 0; i < a->count; i++)
			count_item(p, f, field_item_at(f, a, i));
	} else if (f->kind == FIELD_STRUCT) {
		count_record(p, f->type, at);
	} else if (f->kind == FIELD_OPTIONAL) {
		pointed = *(void *const *)at;
		if (!pointed)
			return;
		p->items += aligned(f->type->size);
		count_record(p, f->type, pointed);
	} else if (f->kind == FIELD_STRING || f->kind == FIELD_JSON) {
		count_text(p, *(char *const *)at);
	}
}

static void count_record(struct packing *p, const struct record_type *type, const void *record)
{
	for (uint32_t i = 0; i < type->field_count; i++)
		count_field(p, &type->fields[i], field_member_const(&type->fields[i], record));
}

// Copies the text that `at` points to, and lets it point to the copy.
static void place_text(struct packing *p, char **at)
{
	const char *known = *at && p->known ? p->known(*at) : NULL;
	size_t bytes = *at && !known ? strlen(*at) + 1 : 0;

	if (known)
		*at = (char *)known;
	if (bytes == 0)
		return;
	memcpy(p->next_character, *at, bytes);
	*at = p->next_character;
	p->next_character += bytes;
}

static void *place_items(struct packing *p, const void *from, size_t bytes)
{
	void *to = p->next_item;

	if (bytes)
		memcpy(to, from, bytes);
	p->next_item += aligned(bytes);
	return to;
}

static void place_record(struct packing *, const struct record_type *, void *record);

static void place_item(struct packing *p, const struct field *f, void *item)
{
	struct string_pair *pair = item;

	switch (f->kind) {
	case FIELD_INTEGERS:
	case FIELD_UUIDS: break;
	case FIELD_STRINGS:
	case FIELD_COUNT_MAP:
	case FIELD_FLAG_MAP:
	case FIELD_NUMBER_MAP: place_text(p, item); break;
	case FIELD_MAP:
		place_text(p, &pair->name);
		place_text(p, &pair->value);
		break;
	default: place_record(p, f->type, item);
	}
}

static void place_field(struct packing *p, const struct field *f, void *at)
{
	struct array *a = at;
	void **pointed = at;

	if (field_is_array(f->kind)) {
		a->items =
			a->count ? place_items(p, a->items, a->count * field_item_bytes(f)) : NULL;
		for (uint32_t i = 0; i < a->count; i++)
			place_item(p, f, field_item_at(f, a, i));
	} else if (f->kind == FIELD_STRUCT) {
		place_record(p, f->type, at);
	} else if (f->kind == FIELD_OPTIONAL) {
		if (!*pointed)
			return;
		*pointed = place_items(p, *pointed, f->type->size);
		place_record(p, f->type, *pointed);
	} else if (f->kind == FIELD_STRING || f->kind == FIELD_JSON) {
		place_text(p, at);
	}
}

// The record is a plain copy: what it points to is replaced by copies.
static void place_record(struct packing *p, const struct record_type *type, void *record)
{
	for (uint32_t i = 0; i < type->field_count; i++)
		place_field(p, &type->fields[i], field_member(&type->fields[i], record));
}

void *record_pack(const struct record_type *type, const void *record, text_known *known)
{
	struct packing p = {.known = known};

	count_record(&p, type, record);
	char *block = memory_take(aligned(type->size) + p.items + p.characters);
	memcpy(block, record, type->size);
	p.next_item = block + aligned(type->size);
	p.next_character = p.next_item + p.items;
	char *characters = p.next_character;
	place_record(&p, type, block);
	CHECK(p.next_item == characters && p.next_character == characters + p.characters);
	return block;
}
