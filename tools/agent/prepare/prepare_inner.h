// What is kept for one task, and the parts of its preparation.
#pragma once
#include "tools/agent/prepare/artifacts.h"
#include "tools/agent/prepare/env_file.h"
#include "tools/agent/prepare/helper.h"
#include "tools/agent/prepare/rendering.h"
#include "tools/agent/prepare/variables.h"
#include "tools/agent/script/script.h"
#include "tools/agent/task/preparation.h"

// Scripts of templates at a time, on one node; others wait for their turn.
#define CHANGE_SCRIPTS_MAX 16u

struct preparations {
	struct preparation seam;
	struct artifact_limits limits;
	struct variables *variables;
	struct prng prng;
	int program; // open file
	int wake_fd, epoll_fd;
	uint32_t script_count;                      // that are not freed yet
	struct script *leaving[CHANGE_SCRIPTS_MAX]; // nobody wants to know how they end; NULL: none
};

struct prepared_task {
	struct prepared prepared; // first
	struct preparations *all;
	struct uuid allocation;
	char *task;
	char *namespace_name;
	// Artifacts.
	bool has_told; // that it fetches
	uint32_t fetched;
	struct helper helper;
	char source[100]; // of the one that is fetched
	// Templates.
	bool has_read;
	struct rendering *renderings;
	uint32_t rendering_count;
	struct variable_watch **watches;
	uint32_t watch_count;
	int64_t watch_ns; // when one that could not be watched is tried again; 0: all are
	uint64_t changes_seen;
	char missing[160];                         // what was told last
	int64_t missing_since_ns;                  // 0: nothing is missing
	int64_t changed_first_ns, changed_last_ns; // 0: nothing has changed since it was rendered
	struct env_list environment;
	// What is to be done about texts that changed.
	int64_t act_ns; // 0: nothing
	bool restarts;
	uint64_t signals;      // bit by number
	struct script *script; // under way; NULL: none
	uint32_t script_of;    // which rendering's
};

// A step of a preparation: all that is at hand.
struct prepare_stage {
	struct prepared_task *p;
	struct task *task;
	const struct task_start *start;
	struct preparation_news *news;
};
void stage_note(const struct prepare_stage *, const char *type, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
// The task's turn comes then, at the latest.
void stage_wake(const struct prepare_stage *, int64_t due_ns);

enum preparedness fetch_artifacts(const struct prepare_stage *);
enum preparedness render_templates(const struct prepare_stage *);
// Whether a variable has changed and all is to be rendered now; renders, writes, and decides what is to be done.
void follow_templates(const struct prepare_stage *);
void forget_templates(struct prepared_task *);

// change_scripts.c: those that are due are run when their turn comes, or not at all.
void wish_scripts(struct prepared_task *, bool are_wanted);
// Takes what has ended, and begins the next.
void follow_scripts(const struct prepare_stage *);
// Ends what is under way.
void leave_scripts(struct prepared_task *);
void reap_scripts(struct preparations *, bool waits);
