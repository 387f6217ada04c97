// The release of Nomad whose API, attributes and behaviour this program follows; clients and constraints compare it.
#pragma once
#define NOMAD_VERSION "1.6.5"
// Behind the "+" of a version, where comparisons do not look.
#define NOMAD_VERSION_METADATA "berth." BERTH_VERSION
#define NOMAD_VERSION_FULL NOMAD_VERSION "+" NOMAD_VERSION_METADATA
