// A debug line about an evaluation: which one, of which job in which namespace, and what else the format names. Each
// place in the code has a budget of lines of its own (state/base/log.h).
#pragma once
#include "state/base/log.h"
#include "state/records/evaluation.h"

#define log_evaluation(logged, event, format, ...)                                            \
	do {                                                                                  \
		const struct evaluation *logged_ = (logged);                                  \
		char logged_id_[UUID_TEXT_BYTES];                                             \
		log_debug((event), "eval=%s job=%s namespace=%s " format,                     \
			uuid_format(&logged_->id, logged_id_),                                \
			logged_->job_id ? logged_->job_id : "",                               \
			logged_->namespace_name ? logged_->namespace_name : "", __VA_ARGS__); \
	} while (0)
