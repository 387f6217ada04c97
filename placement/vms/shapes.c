#include "placement/vms/shapes.h"
#include "state/base/memory.h"
#include <stdlib.h>
#include <string.h>

struct keyed {
	uint64_t hash;
	const struct vm *vm;
	uint32_t number;
};

static const char *or_empty(const char *string)
{
	return string ? string : "";
}

// FNV-1a, the end of each text included.
static uint64_t mix_text(uint64_t hash, const char *string)
{
	const unsigned char *at = (const unsigned char *)or_empty(string);

	do
		hash = (hash ^ *at) * 0x100000001b3u;
	while (*at++);
	return hash;
}

static uint64_t shape_hash(const struct vm *vm)
{
	uint64_t hash = mix_text(mix_text(0xcbf29ce484222325u, vm->arch), vm->runtime);

	for (uint32_t i = 0; i < vm->resources.count; i++) {
		const struct named_count *r = ARRAY_AT(&vm->resources, struct named_count, i);
		hash = (mix_text(hash, r->name) ^ (uint64_t)r->count) * 0x9e3779b97f4a7c15u;
	}
	for (uint32_t i = 0; i < vm->labels.count; i++) {
		const struct string_pair *l = ARRAY_AT(&vm->labels, struct string_pair, i);
		hash = mix_text(mix_text(hash, l->name), l->value);
	}
	hash = (hash ^ vm->cpu) * 0x9e3779b97f4a7c15u;
	hash = (hash ^ vm->memory_mib) * 0x9e3779b97f4a7c15u;
	return hash ^ hash >> 32;
}

static int compare_resources(const struct array *a, const struct array *b)
{
	if (a->count != b->count)
		return a->count < b->count ? -1 : 1;
	for (uint32_t i = 0; i < a->count; i++) {
		const struct named_count *x = ARRAY_AT(a, struct named_count, i);
		const struct named_count *y = ARRAY_AT(b, struct named_count, i);
		int order = strcmp(or_empty(x->name), or_empty(y->name));
		if (order != 0 || x->count != y->count)
			return order != 0 ? order : x->count < y->count ? -1 : 1;
	}
	return 0;
}

static int compare_labels(const struct array *a, const struct array *b)
{
	if (a->count != b->count)
		return a->count < b->count ? -1 : 1;
	for (uint32_t i = 0; i < a->count; i++) {
		const struct string_pair *x = ARRAY_AT(a, struct string_pair, i);
		const struct string_pair *y = ARRAY_AT(b, struct string_pair, i);
		int order = strcmp(or_empty(x->name), or_empty(y->name));
		if (order == 0)
			order = strcmp(or_empty(x->value), or_empty(y->value));
		if (order != 0)
			return order;
	}
	return 0;
}

static int compare_shapes(const struct vm *a, const struct vm *b)
{
	int order = strcmp(or_empty(a->arch), or_empty(b->arch));

	if (order == 0)
		order = strcmp(or_empty(a->runtime), or_empty(b->runtime));
	if (order == 0 && a->cpu != b->cpu)
		order = a->cpu < b->cpu ? -1 : 1;
	if (order == 0 && a->memory_mib != b->memory_mib)
		order = a->memory_mib < b->memory_mib ? -1 : 1;
	if (order == 0)
		order = compare_resources(&a->resources, &b->resources);
	return order ? order : compare_labels(&a->labels, &b->labels);
}

static int by_shape(const void *a, const void *b)
{
	const struct keyed *x = a, *y = b;

	if (x->hash != y->hash)
		return x->hash < y->hash ? -1 : 1;
	return compare_shapes(x->vm, y->vm);
}

void vm_shapes_find(struct vm_shapes *s, const struct vm *const *vms, uint32_t count,
	uint32_t worker_count, uint32_t *numbers)
{
	struct keyed *keyed = memory_take_array(count + 1u, sizeof *keyed);

	for (uint32_t i = 0; i < count; i++)
		keyed[i] = (struct keyed){shape_hash(vms[i]), vms[i], i};
	qsort(keyed, count, sizeof *keyed, by_shape);
	*s = (struct vm_shapes){.shapes = memory_take_array(count + 1u, sizeof *s->shapes),
		.words = (worker_count + 63) / 64};
	for (uint32_t i = 0; i < count; i++) {
		if (i == 0 || by_shape(&keyed[i - 1], &keyed[i]) != 0)
			s->count++;
		s->shapes[s->count - 1].machines++;
		numbers[keyed[i].number] = s->count - 1;
	}
	free(keyed);
}

void vm_shapes_free(struct vm_shapes *s)
{
	for (uint32_t i = 0; i < s->count; i++) {
		free(s->shapes[i].lacks);
		free(s->shapes[i].refusals);
	}
	free(s->shapes);
	*s = (struct vm_shapes){0};
}

static bool has_bit(const uint64_t *bits, uint32_t worker)
{
	return bits && (bits[worker / 64] >> worker % 64 & 1);
}

static void set_bit(const struct vm_shapes *s, uint64_t **bits, uint32_t worker)
{
	if (!*bits)
		*bits = memory_take_array(s->words, sizeof **bits);
	(*bits)[worker / 64] |= 1ull << worker % 64;
}

bool vm_shape_is_out(const struct vm_shape *shape, uint32_t worker)
{
	return has_bit(shape->lacks, worker) || has_bit(shape->refusals, worker);
}

// A machine alone in its shape asks once: no other machine would use the note.
void vm_shape_lacks(struct vm_shapes *s, struct vm_shape *shape, uint32_t worker)
{
	if (shape->machines > 1)
		set_bit(s, &shape->lacks, worker);
}

void vm_shape_refused(struct vm_shapes *s, struct vm_shape *shape, uint32_t worker)
{
	set_bit(s, &shape->refusals, worker);
}

void vm_shapes_room(struct vm_shapes *s, uint32_t worker)
{
	for (uint32_t i = 0; i < s->count; i++) {
		s->shapes[i].is_exhausted = false;
		if (s->shapes[i].lacks)
			s->shapes[i].lacks[worker / 64] &= ~(1ull << worker % 64);
	}
}
