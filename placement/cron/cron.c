// Reading cron expressions.
#include "placement/cron/cron.h"
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum cron_field { SECOND, MINUTE, HOUR, DAY, MONTH, WEEK_DAY, YEAR, CRON_FIELDS };

static const char *const month_names[] = {"january", "february", "march", "april", "may", "june",
	"july", "august", "september", "october", "november", "december"};
static const char *const week_day_names[] = {
	"sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"};

static const struct {
	const char *name;
	int32_t least, most;
	const char *const *value_names; // of the values from `least` on
	uint32_t name_count;
} fields[CRON_FIELDS] = {
	[SECOND] = {"second", 0, 59},
	[MINUTE] = {"minute", 0, 59},
	[HOUR] = {"hour", 0, 23},
	[DAY] = {"day of the month", 1, 31},
	[MONTH] = {"month", 1, 12, month_names, 12},
	[WEEK_DAY] = {"day of the week", 0, 7, week_day_names, 7},
	[YEAR] = {"year", CRON_YEAR_LEAST, CRON_YEAR_MOST},
};

static const struct {
	const char *name, *meaning;
} shorthands[] = {
	{"@annually", "0 0 0 1 1 * *"},
	{"@yearly", "0 0 0 1 1 * *"},
	{"@monthly", "0 0 0 1 * * *"},
	{"@weekly", "0 0 0 * * 0 *"},
	{"@daily", "0 0 0 * * * *"},
	{"@midnight", "0 0 0 * * * *"},
	{"@hourly", "0 0 * * * * *"},
};

struct parser {
	struct cron *cron;
	enum cron_field field;
	struct text entry; // of the field's list
	char *mistake;
	size_t mistake_bytes;
};

static bool refuse_entry(struct parser *p, const char *why)
{
	snprintf(p->mistake, p->mistake_bytes, "\"%.*s\" in the field for the %s %s",
		p->entry.size < 32 ? (int)p->entry.size : 32, p->entry.data, fields[p->field].name,
		why);
	return false;
}

static bool equal_any_case(struct text a, const char *b, size_t b_size)
{
	return a.size == b_size && strncasecmp(a.data, b, b_size) == 0;
}

static bool read_digits(struct text t, int32_t *value)
{
	*value = 0;
	for (uint32_t i = 0; i < t.size; i++) {
		if (t.data[i] < '0' || t.data[i] > '9' || t.size > 4)
			return false;
		*value = *value * 10 + (t.data[i] - '0');
	}
	return t.size > 0;
}

// A number, or a name in full or by its first three letters.
static bool read_value(const struct parser *p, struct text t, int32_t *value)
{
	if (read_digits(t, value))
		return *value >= fields[p->field].least && *value <= fields[p->field].most;
	for (uint32_t i = 0; i < fields[p->field].name_count; i++) {
		const char *name = fields[p->field].value_names[i];
		if (equal_any_case(t, name, strlen(name)) || equal_any_case(t, name, 3)) {
			*value = fields[p->field].least + (int32_t)i;
			return true;
		}
	}
	return false;
}

static void add_value(struct parser *p, int32_t value)
{
	struct cron *c = p->cron;
	uint32_t year = (uint32_t)(value - CRON_YEAR_LEAST);

	switch (p->field) {
	case SECOND: c->seconds |= 1ull << value; break;
	case MINUTE: c->minutes |= 1ull << value; break;
	case HOUR: c->hours |= 1u << value; break;
	case DAY: c->days |= 1u << value; break;
	case MONTH: c->months |= 1u << value; break;
	case WEEK_DAY: c->week_days |= (uint8_t)(1u << value % 7); break;
	case YEAR: c->years[year / 64] |= 1ull << year % 64; break;
	case CRON_FIELDS: break;
	}
}

static void add_range(struct parser *p, int32_t first, int32_t last, int32_t step)
{
	for (int32_t value = first; value <= last; value += step)
		add_value(p, value);
}

// Cuts t before the first `mark`; rest is what follows the mark. False without a mark.
static bool cut_at(struct text *t, char mark, struct text *rest)
{
	const char *at = memchr(t->data, mark, t->size);

	if (!at)
		return false;
	uint32_t before = (uint32_t)(at - t->data);
	*rest = (struct text){at + 1, t->size - before - 1};
	t->size = before;
	return true;
}

static bool read_range(struct parser *p, struct text t, struct text to, int32_t step)
{
	int32_t first, last;

	if (!read_value(p, t, &first) || !read_value(p, to, &last))
		return refuse_entry(p, "is no range");
	if (p->field == WEEK_DAY && last == 0 && first > 0)
		last = 7; // "fri-sun"
	if (p->field == WEEK_DAY && first == 7 && last < 7)
		first = 0; // "7-2"
	if (first > last)
		return refuse_entry(p, "begins after its end");
	add_range(p, first, last, step);
	return true;
}

static bool read_steps(struct parser *p, struct text t, int32_t step)
{
	int32_t most = p->field == WEEK_DAY ? 6 : fields[p->field].most, first;
	struct text to;

	if (equal_any_case(t, "*", 1)) {
		add_range(p, fields[p->field].least, most, step);
		return true;
	}
	if (cut_at(&t, '-', &to))
		return read_range(p, t, to, step);
	if (!read_value(p, t, &first))
		return refuse_entry(p, "is no value");
	add_range(p, first, most, step);
	return true;
}

static bool read_ordinary(struct parser *p)
{
	struct text t = p->entry, rest;
	int32_t value;

	if (equal_any_case(t, "*", 1) || equal_any_case(t, "?", 1)) {
		add_range(p, fields[p->field].least, fields[p->field].most, 1);
		p->cron->any_day |= p->field == DAY;
		p->cron->any_week_day |= p->field == WEEK_DAY;
		return true;
	}
	if (cut_at(&t, '/', &rest)) {
		if (!read_digits(rest, &value) || value < 1 || value > fields[p->field].most)
			return refuse_entry(p, "has no step between 1 and the greatest value");
		return read_steps(p, t, value);
	}
	if (cut_at(&t, '-', &rest))
		return read_range(p, t, rest, 1);
	if (!read_value(p, t, &value))
		return refuse_entry(p, "is no value");
	add_value(p, value);
	return true;
}

// "L", "LW", "L-3", "15W". Returns false when it is none of these.
static bool read_special_day(struct parser *p)
{
	struct text t = p->entry, rest;
	int32_t value;

	if (equal_any_case(t, "l", 1)) {
		p->cron->days_from_last |= 1;
		return true;
	}
	if (equal_any_case(t, "lw", 2)) {
		p->cron->last_workday = true;
		return true;
	}
	if (cut_at(&t, '-', &rest) && equal_any_case(t, "l", 1) && read_digits(rest, &value) &&
		value < 31) {
		p->cron->days_from_last |= 1u << value;
		return true;
	}
	t = p->entry;
	if ((t.data[t.size - 1] | 0x20) != 'w')
		return false;
	t.size--;
	if (!read_value(p, t, &value))
		return false;
	p->cron->workdays |= 1u << value;
	return true;
}

// "5L", "5#2". Returns false when it is none of these.
static bool read_special_week_day(struct parser *p)
{
	struct text t = p->entry, rest;
	int32_t value, nth;

	if (cut_at(&t, '#', &rest)) {
		if (!read_value(p, t, &value) || !read_digits(rest, &nth) || nth < 1 || nth > 5)
			return false;
		p->cron->nth_week_days[nth - 1] |= (uint8_t)(1u << value % 7);
		return true;
	}
	if ((t.data[t.size - 1] | 0x20) != 'l')
		return false;
	t.size--;
	if (!read_value(p, t, &value))
		return false;
	p->cron->last_week_days |= (uint8_t)(1u << value % 7);
	return true;
}

static bool read_entry(struct parser *p)
{
	if (p->entry.size == 0)
		return refuse_entry(p, "is empty");
	if (p->field == DAY && read_special_day(p))
		return true;
	if (p->field == WEEK_DAY && read_special_week_day(p))
		return true;
	return read_ordinary(p);
}

static bool read_field(struct parser *p, struct text list)
{
	for (bool more = true; more;) {
		struct text rest;
		more = cut_at(&list, ',', &rest);
		p->entry = list;
		if (!read_entry(p))
			return false;
		if (more)
			list = rest;
	}
	return true;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

// Returns how many there are; those beyond the room are only counted.
static uint32_t split_fields(struct text t, struct text out[static CRON_FIELDS])
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < t.size;) {
		uint32_t end = i;
		while (end < t.size && !is_blank(t.data[end]))
			end++;
		if (end > i && count++ < CRON_FIELDS)
			out[count - 1] = (struct text){t.data + i, end - i};
		i = end + 1;
	}
	return count;
}

static struct text meaning_of(struct text t)
{
	for (uint32_t i = 0; i < sizeof shorthands / sizeof shorthands[0]; i++)
		if (equal_any_case(t, shorthands[i].name, strlen(shorthands[i].name)))
			return text_of(shorthands[i].meaning);
	return t;
}

bool cron_parse(struct cron *c, struct text t, char *mistake, size_t mistake_bytes)
{
	struct text part[CRON_FIELDS];
	uint32_t count = split_fields(t, part);
	struct parser p = {c, SECOND, TEXT("*"), mistake, mistake_bytes};

	if (count == 1)
		count = split_fields(meaning_of(part[0]), part);
	if (count < 5 || count > CRON_FIELDS) {
		snprintf(mistake, mistake_bytes,
			"it has %u fields, but five to seven are expected (minute, hour, day of "
			"the month, "
			"month, day of the week)",
			count);
		return false;
	}
	*c = (struct cron){.seconds = count < CRON_FIELDS};
	uint32_t at = 0;
	for (uint32_t field = count == CRON_FIELDS ? SECOND : MINUTE; at < count; field++) {
		p.field = (enum cron_field)field;
		if (!read_field(&p, part[at++]))
			return false;
	}
	p.field = YEAR;
	return count > 5 || read_field(&p, TEXT("*"));
}
