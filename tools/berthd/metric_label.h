// Values of labels.
#pragma once

// Replaces what would end a label: names of jobs and workers may hold it.
void metric_label_tame(char *text);
