// One template of a task: what its block says, and what was rendered last.
#pragma once
#include "tools/agent/prepare/inner_path.h"
#include "tools/template/template.h"

enum change_mode { CHANGE_NOOP, CHANGE_RESTART, CHANGE_SIGNAL, CHANGE_SCRIPT };

enum script_wish { SCRIPT_IDLE, SCRIPT_DUE, SCRIPT_WANTED };

struct rendering {
	struct template *template; // NULL: its source is a file, which is read each time
	char *source;              // below the allocation's folder; NULL: none
	char *left, *right;        // delimiters
	char destination[INNER_PATH_BYTES];
	struct inner_file file;
	bool is_environment; // its lines are variables of the task, too
	bool missing_key_fails;
	enum change_mode change;
	int signal;
	char **arguments; // of the script, NULL-ended; NULL: there is none
	int64_t script_timeout_ns;
	bool script_fails_task;  // when it fails
	enum script_wish script; // due: after the splay
	int64_t splay_ns, wait_least_ns, wait_most_ns;
	struct bytes_writer text; // that was rendered last
	bool has_text;
};

// Of one object of Templates. folders: on the node; within: the environment that its script has. False and what is
// wrong. Free it in both cases.
bool rendering_read(struct rendering *, const json_t *, const char *task,
	const struct environment *, const struct node_facts *, const struct task_folders *,
	const struct environment *within, char *message, uint32_t message_size);
void rendering_free(struct rendering *);
// Renders it. *is_new: another text than the last one, which it takes the place of. top: the allocation's folder.
// begins: before a start; meanwhile only a template that reads variables has another text than it had.
enum template_end rendering_render(struct rendering *, const struct template_data *, int top,
	bool begins, bool *is_new, char *message, uint32_t message_size);
// Takes what the file has for what was rendered last.
void rendering_take_file(struct rendering *, int top);
