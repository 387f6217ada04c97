// Parses the YAML file into libyaml's tree, and flattens it into dotted names.
#include "state/base/memory.h"
#include "tools/berthd/config.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#define NAME_BYTES 128

struct loading {
	struct config *config;
	const char *path;
	yaml_document_t document;
	char *message;
};

static bool refuse_mark(struct loading *l, yaml_mark_t mark, const char *what)
{
	char text[CONFIG_MESSAGE_BYTES];
	snprintf(text, sizeof text, "%.300s", what);
	snprintf(l->message, CONFIG_MESSAGE_BYTES, "%.150s:%zu:%zu: %.300s", l->path, mark.line + 1,
		mark.column + 1, text);
	return false;
}

static bool load_node(struct loading *, const char *name, yaml_node_t *);

static bool has_earlier_key(
	struct loading *l, yaml_node_t *map, yaml_node_pair_t *until, const char *key)
{
	for (yaml_node_pair_t *p = map->data.mapping.pairs.start; p < until; p++) {
		yaml_node_t *k = yaml_document_get_node(&l->document, p->key);
		if (k->type == YAML_SCALAR_NODE && strcmp((char *)k->data.scalar.value, key) == 0)
			return true;
	}
	return false;
}

static bool load_mapping(struct loading *l, const char *name, yaml_node_t *node)
{
	for (yaml_node_pair_t *p = node->data.mapping.pairs.start; p < node->data.mapping.pairs.top;
		p++) {
		yaml_node_t *key = yaml_document_get_node(&l->document, p->key);
		yaml_node_t *value = yaml_document_get_node(&l->document, p->value);
		if (key->type != YAML_SCALAR_NODE)
			return refuse_mark(l, key->start_mark, "a key must be a plain name");
		const char *word = (const char *)key->data.scalar.value;
		if (has_earlier_key(l, node, p, word))
			return refuse_mark(l, key->start_mark, "this key was given before");
		char full[NAME_BYTES];
		int size = snprintf(full, sizeof full, "%s%s%s", name, *name ? "." : "", word);
		if (size < 0 || (size_t)size >= sizeof full)
			return refuse_mark(
				l, key->start_mark, "the key is too long or nested too deep");
		if (value->type == YAML_SCALAR_NODE) {
			char what[CONFIG_MESSAGE_BYTES];
			if (!config_set(
				    l->config, full, (const char *)value->data.scalar.value, what))
				return refuse_mark(l, key->start_mark, what);
		} else if (!load_node(l, full, value))
			return false;
	}
	return true;
}

static bool joins_scalars(struct loading *l, yaml_node_t *list, char *joined, size_t size)
{
	size_t used = 0;
	joined[0] = 0;
	for (yaml_node_item_t *i = list->data.sequence.items.start;
		i < list->data.sequence.items.top; i++) {
		yaml_node_t *item = yaml_document_get_node(&l->document, *i);
		if (item->type != YAML_SCALAR_NODE)
			return false;
		int more = snprintf(joined + used, size - used, "%s%s", used ? "," : "",
			(const char *)item->data.scalar.value);
		if (more < 0 || (size_t)more >= size - used)
			return false;
		used += (size_t)more;
	}
	return true;
}

// The list `ports` holds mappings; every other list holds words.
static bool load_sequence(struct loading *l, const char *name, yaml_node_t *node)
{
	if (strcmp(name, "ports") != 0) {
		char joined[1024], what[CONFIG_MESSAGE_BYTES];
		if (!joins_scalars(l, node, joined, sizeof joined))
			return refuse_mark(l, node->start_mark, "this must be a list of words");
		if (!config_takes_list(name))
			return refuse_mark(l, node->start_mark,
				config_takes_map(name)
					? "names with values are expected here, no list"
					: "one value is expected here, no list");
		return config_set(l->config, name, joined, what) ||
		       refuse_mark(l, node->start_mark, what);
	}
	uint32_t number = 0;
	for (yaml_node_item_t *i = node->data.sequence.items.start;
		i < node->data.sequence.items.top; i++) {
		yaml_node_t *item = yaml_document_get_node(&l->document, *i);
		char full[NAME_BYTES];
		snprintf(full, sizeof full, "ports.%u", number++);
		if (item->type != YAML_MAPPING_NODE)
			return refuse_mark(l, item->start_mark, "each port must be a set of keys");
		if (!load_mapping(l, full, item))
			return false;
	}
	return true;
}

// Words with names, which are one setting: lines "NAME: VALUE".
static bool load_lines(struct loading *l, const char *name, yaml_node_t *node)
{
	char lines[1024] = "", what[CONFIG_MESSAGE_BYTES];
	size_t used = 0;
	for (yaml_node_pair_t *pair = node->data.mapping.pairs.start;
		pair < node->data.mapping.pairs.top; pair++) {
		yaml_node_t *key = yaml_document_get_node(&l->document, pair->key);
		yaml_node_t *value = yaml_document_get_node(&l->document, pair->value);
		if (key->type != YAML_SCALAR_NODE || value->type != YAML_SCALAR_NODE)
			return refuse_mark(l, key->start_mark, "a word is expected for each name");
		int more = snprintf(lines + used, sizeof lines - used, "%s: %s\n",
			(const char *)key->data.scalar.value,
			(const char *)value->data.scalar.value);
		if (more < 0 || (size_t)more >= sizeof lines - used)
			return refuse_mark(l, key->start_mark, "all of this is too long");
		used += (size_t)more;
	}
	return config_set(l->config, name, lines, what) || refuse_mark(l, node->start_mark, what);
}

static bool load_node(struct loading *l, const char *name, yaml_node_t *node)
{
	switch (node->type) {
	case YAML_MAPPING_NODE:
		return config_takes_map(name) ? load_lines(l, name, node)
					      : load_mapping(l, name, node);
	case YAML_SEQUENCE_NODE: return load_sequence(l, name, node);
	default: return refuse_mark(l, node->start_mark, "a set of keys is expected here");
	}
}

static bool load_document(struct loading *l, FILE *file)
{
	yaml_parser_t parser;
	if (!yaml_parser_initialize(&parser)) {
		snprintf(l->message, CONFIG_MESSAGE_BYTES, "%.300s: out of memory", l->path);
		return false;
	}
	yaml_parser_set_input_file(&parser, file);
	bool good = yaml_parser_load(&parser, &l->document);
	if (!good) {
		yaml_mark_t mark = parser.problem_mark;
		refuse_mark(l, mark, parser.problem ? parser.problem : "this is not YAML");
	} else {
		yaml_node_t *top = yaml_document_get_root_node(&l->document);
		// An empty file is an empty configuration.
		good = !top || load_node(l, "", top);
		yaml_document_delete(&l->document);
	}
	yaml_parser_delete(&parser);
	return good;
}

bool config_read(struct config *config, FILE *file, const char *path, char *message)
{
	struct loading l = {.config = config, .path = path, .message = message};
	return load_document(&l, file);
}

bool config_load(struct config *config, const char *path, char *message)
{
	FILE *file = fopen(path, "re");
	if (!file) {
		snprintf(message, CONFIG_MESSAGE_BYTES,
			"%.300s: %s; name another file with --config", path, strerror(errno));
		return false;
	}
	bool good = config_read(config, file, path, message);
	fclose(file);
	return good;
}
