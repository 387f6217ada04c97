#include "tools/agent/check/check_script.h"
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#define EXIT_WARNING 1
#define OUTPUT_FILE_BYTES (64u * 1024)

static const struct output_rule one_file = {.files_max = 1, .file_bytes_max = OUTPUT_FILE_BYTES};

bool check_script_begin(struct check_script *s, const struct check_rule *rule,
	const struct alloc_run *a, const struct alloc_place *place, struct check_answer *answer)
{
	const struct task *task = &a->tasks[rule->script_task];
	char exit_path[520], output[700], id[UUID_TEXT_BYTES];
	struct task_folders folders;
	struct environment environment;
	*answer = (struct check_answer){.status = CHECK_CRITICAL};
	snprintf(s->path, sizeof s->path, "%.300s/allocs/%s.%s", place->state_folder,
		uuid_format(&a->id, id), rule->id);
	snprintf(exit_path, sizeof exit_path, "%s.exit", s->path);
	snprintf(output, sizeof output, "%s.output", s->path);
	alloc_run_task_folders(a, task, place->data_folder, &folders);
	bool is_running = environment_build(&environment, place->node, a->spec, task->spec,
		&folders, answer->output, sizeof answer->output);
	struct process_start start = {.arguments = rule->arguments,
		.environment = environment.entries,
		.folder = folders.task,
		.output_path = output,
		.error_path = output,
		.output_rule = one_file,
		.exit_path = exit_path,
		.user = task->spec->user};
	if (is_running)
		is_running = process_start(&start, &s->process, answer->output,
				     sizeof answer->output) == 0;
	environment_free(&environment);
	return is_running;
}

static uint32_t read_output(const struct check_script *s, char *bytes, uint32_t size)
{
	char path[700], newest[720];
	struct output output;
	snprintf(path, sizeof path, "%s.output", s->path);
	output_find(&output, path, &one_file);
	output_newest_path(&output, newest, sizeof newest);
	int file = open(newest, O_RDONLY | O_CLOEXEC);
	ssize_t n = file < 0 ? 0 : read(file, bytes, size);
	if (file >= 0)
		close(file);
	unlink(newest);
	return n > 0 ? (uint32_t)n : 0;
}

void check_script_end(struct check_script *s, struct check_answer *answer)
{
	char exit_path[520];
	snprintf(exit_path, sizeof exit_path, "%s.exit", s->path);
	struct process_end how = process_end_of(&s->process, exit_path);
	unlink(exit_path);
	bool is_known = how.is_known && how.signal == 0;
	answer->size = read_output(s, answer->output, CHECK_OUTPUT_BYTES);
	answer->output[answer->size] = '\0';
	if (is_known && how.exit_code == 0)
		answer->status = CHECK_PASSING;
	else
		answer->status =
			is_known && how.exit_code == EXIT_WARNING ? CHECK_WARNING : CHECK_CRITICAL;
}

bool check_script_is_over(const struct check_script *s)
{
	struct pollfd polled = {.fd = s->process.fd, .events = POLLIN};
	return poll(&polled, 1, 0) > 0;
}
