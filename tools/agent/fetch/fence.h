// What a process that reads anybody's bytes gives up, whoever it runs as.
#pragma once

// From now on the process writes, makes and removes nothing but below the open folder, where the kernel can tell
// (Landlock), and has no capabilities. 0, or -errno: it could not give them up.
int fence_below(int folder);
