#include "tools/berthd/metric_label.h"

void metric_label_tame(char *text)
{
	for (; *text; text++)
		if (*text == '"' || *text == '\\' || *text == '\n')
			*text = '_';
}
