// Values of labels.
#pragma once

// Names of jobs and workers may hold what would end a label.
void metric_label_tame(char *text);
