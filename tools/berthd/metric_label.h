// Values of labels.
#pragma once

// Replaces characters that would end a label, because names of jobs and workers may hold them.
void metric_label_tame(char *text);
