// How much less a test repeats in a build that is slower.
#pragma once

// A sanitizer makes what it watches four to twenty times slower, and sees in the first rounds what it would see in all
// of them. What a test repeats with other numbers it divides by this; a build without sanitizers does the whole.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define BUILD_SLOWNESS 8u
#else
#define BUILD_SLOWNESS 1u
#endif
