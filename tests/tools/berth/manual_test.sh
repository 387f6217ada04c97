#!/bin/bash
# The manual page has every command and every flag that the program has, and no other command.
# Arguments: the program's folder, berth.1.
set -eu
PATH="$1:$PATH"
page="$2"
failed=0

complain()
{
	echo "$*"
	failed=1
}

mapfile -t commands < <(berth help | sed -n 's/^  \([a-z][a-z -]*[a-z]\)  *.*/\1/p' | sed 's/ *$//')
[ ${#commands[@]} -gt 100 ] || complain "berth help lists ${#commands[@]} commands"
# Each item begins with the words of a command; several may share one, with commas between them.
items=$(sed -n 's/^\.It Cm //p' "$page" | sed 's/ , Cm /\n/g' | sed 's/ \(Ar\|Op\|Oo\|Fl\|,\|Brq\).*//; s/ , *$//')
for command in "${commands[@]}"; do
	grep -qx -- "$command" <<<"$items" || complain "berth.1 has no item for \"$command\""
done
while read -r item; do
	[[ " ${commands[*]} " == *" $item "* ]] || complain "berth.1 has \"$item\", which is no command"
done <<<"$items"
for flag in $(for command in "${commands[@]}"; do
	# shellcheck disable=SC2086
	berth $command --help | sed -n 's/^  --\([a-z0-9-]*\).*/\1/p'
done | sort -u); do
	grep -qE -- "Fl (-)?$flag( |$)" "$page" || complain "berth.1 does not have --$flag"
done
exit $failed
