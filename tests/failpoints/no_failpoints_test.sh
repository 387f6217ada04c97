#!/bin/bash
# A build without failpoints has none: neither their names nor their code, in any source file that has calls of them.
#   no_failpoints_test.sh SOURCES COMPILER...
set -euo pipefail
cd "$1"
compiler=("${@:2}")
made=$(mktemp -d)
trap 'rm -r "$made"' EXIT
mapfile -t names < <(sed -n 's/.*ROW([A-Z0-9_]*, "\([^"]*\)").*/\1/p' state/base/failpoint/failpoint.h)
[ ${#names[@]} -gt 30 ] || { echo "state/base/failpoint/failpoint.h has few names: ${#names[@]}"; exit 1; }
mapfile -t users < <(grep -rlE '(FAILPOINT|CAN_FAIL|CAN_REFUSE|CAN_BREAK)\(' --include='*.c' \
	state dataplane placement tools |
	grep -vx state/base/failpoint/failpoint.c)

# has_failpoints SOURCE [OPTION]...
has_failpoints() {
	"${compiler[@]}" "${@:2}" -w -O1 -I. -D_GNU_SOURCE -std=gnu17 -DBERTH_VERSION='"0"' \
		-DSHARED_PROGRAM_SYMBOL='"none"' -c "$1" -o "$made/one.o"
	nm "$made/one.o" | grep -q failpoint || strings "$made/one.o" | grep -qxF "$(printf '%s\n' "${names[@]}")"
}

failed=0
for source in "${users[@]}"; do
	if has_failpoints "$source"; then
		echo "$source: a release has failpoints"
		failed=1
	fi
done
# What a build with them has would be found.
has_failpoints state/store/segment.c -DBERTH_WITH_FAILPOINTS || failed=1
has_failpoints state/base/failpoint/failpoint.c || failed=1
exit $failed
