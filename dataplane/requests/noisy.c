#include "dataplane/requests/noisy.h"
#include <string.h>

// Tries of a reader that meets the writer each time: it leaves the entry out, which has just changed hands.
#define READ_TRIES 100u

static uint64_t load_count(const _Atomic uint64_t *count)
{
	return atomic_load_explicit(count, memory_order_relaxed);
}

static void count_again(struct noisy_entry *e, uint64_t refused, uint64_t now_ns)
{
	atomic_store_explicit(&e->refused, refused + 1, memory_order_relaxed);
	atomic_store_explicit(&e->newest_ns, now_ns, memory_order_relaxed);
}

bool noisy_again(struct noisy_list *list, uint64_t key, uint64_t now_ns)
{
	for (uint32_t i = 0; i < NOISY_SENDERS; i++) {
		struct noisy_entry *e = &list->entries[i];
		if (e->key != key)
			continue;
		count_again(e, load_count(&e->refused), now_ns);
		return true;
	}
	return false;
}

static struct noisy_entry *find_quietest(struct noisy_list *list)
{
	struct noisy_entry *quietest = &list->entries[0];
	for (uint32_t i = 1; i < NOISY_SENDERS; i++)
		if (load_count(&list->entries[i].refused) < load_count(&quietest->refused))
			quietest = &list->entries[i];
	return quietest;
}

void noisy_add(struct noisy_list *list, uint64_t key, enum noisy_kind kind, struct text name,
	uint64_t now_ns)
{
	struct noisy_entry *e = find_quietest(list);
	uint64_t words[NOISY_NAME_WORDS] = {0};
	uint32_t version = atomic_load_explicit(&e->version, memory_order_relaxed);
	memcpy(words, name.data,
		name.size < CLIENT_NAME_BYTES_MAX ? name.size : CLIENT_NAME_BYTES_MAX);
	atomic_store_explicit(&e->version, version + 1, memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
	e->key = key;
	atomic_store_explicit(&e->kind, (uint32_t)kind, memory_order_relaxed);
	for (uint32_t i = 0; i < NOISY_NAME_WORDS; i++)
		atomic_store_explicit(&e->name[i], words[i], memory_order_relaxed);
	count_again(e, load_count(&e->refused), now_ns);
	atomic_store_explicit(&e->version, version + 2, memory_order_release);
}

static bool try_read(const struct noisy_entry *e, struct noisy_sender *s)
{
	uint64_t words[NOISY_NAME_WORDS];
	uint32_t version = atomic_load_explicit(&e->version, memory_order_acquire);
	s->kind = (enum noisy_kind)atomic_load_explicit(&e->kind, memory_order_relaxed);
	s->refused = load_count(&e->refused);
	s->newest_ns = load_count(&e->newest_ns);
	for (uint32_t i = 0; i < NOISY_NAME_WORDS; i++)
		words[i] = load_count(&e->name[i]);
	memcpy(s->name, words, sizeof s->name);
	s->name[sizeof s->name - 1] = '\0';
	atomic_thread_fence(memory_order_acquire);
	return version % 2 == 0 &&
	       atomic_load_explicit(&e->version, memory_order_relaxed) == version;
}

static bool read_entry(const struct noisy_entry *e, struct noisy_sender *s)
{
	for (uint32_t i = 0; i < READ_TRIES; i++)
		if (try_read(e, s))
			return s->refused > 0;
	return false;
}

static bool is_same_sender(const struct noisy_sender *a, const struct noisy_sender *b)
{
	return a->kind == b->kind && strcmp(a->name, b->name) == 0;
}

// Puts the sender where it belongs, and drops the last one when there is no room.
static uint32_t insert_sorted(struct noisy_sender *senders, uint32_t count, uint32_t max,
	const struct noisy_sender *sender)
{
	if (count == max && (max == 0 || senders[count - 1].refused >= sender->refused))
		return count;
	uint32_t at = count == max ? count - 1 : count;
	uint32_t end = at + 1;
	for (; at > 0 && senders[at - 1].refused < sender->refused; at--)
		senders[at] = senders[at - 1];
	senders[at] = *sender;
	return end;
}

// Takes out what is there of the same sender, and adds it to what was read.
static uint32_t take_same(struct noisy_sender *senders, uint32_t count, struct noisy_sender *sender)
{
	for (uint32_t i = 0; i < count; i++) {
		if (!is_same_sender(&senders[i], sender))
			continue;
		sender->refused += senders[i].refused;
		if (senders[i].newest_ns > sender->newest_ns)
			sender->newest_ns = senders[i].newest_ns;
		memmove(&senders[i], &senders[i + 1], (count - i - 1) * sizeof senders[0]);
		return count - 1;
	}
	return count;
}

uint32_t noisy_gather(
	const struct noisy_list *list, struct noisy_sender *senders, uint32_t count, uint32_t max)
{
	for (uint32_t i = 0; i < NOISY_SENDERS; i++) {
		struct noisy_sender sender;
		if (!read_entry(&list->entries[i], &sender))
			continue;
		count = take_same(senders, count, &sender);
		count = insert_sorted(senders, count, max, &sender);
	}
	return count;
}
