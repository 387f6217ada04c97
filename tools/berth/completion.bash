# Completion of berth for bash: source it, or install it as /usr/share/bash-completion/completions/berth.
# Commands and flags come from berth's own help, so that they never differ.

_berth_words()
{
	# The words after the ones typed so far, of all commands that begin with them.
	berth help 2>/dev/null | sed -n 's/^  \([a-z][a-z -]*[a-z]\)  *.*/\1/p' | awk -v typed="$1" '
		BEGIN { count = split(typed, words, " ") }
		{
			for (i = 1; i <= count; i++)
				if ($i != words[i])
					next
			if ($(count + 1) ~ /^[a-z-]+$/)
				print $(count + 1)
		}' | sort -u
}

_berth_flags()
{
	# shellcheck disable=SC2086
	berth $1 --help 2>/dev/null | sed -n 's/^  \(--[a-z-]*\).*/\1/p'
}

_berth_ids()
{
	case "$1" in
	"drain" | "node status" | "node eligibility" | "node drain" | "node what-if" | "node offline" | \
		"node online" | "node revoke" | "node rekey" | "node quarantine clear" | "node meta read" | "node meta apply" | "explain node")
		berth node list 2>/dev/null | awk 'NR > 1 { print $1 }'
		;;
	"alloc status" | "alloc stop" | "explain alloc") berth alloc list 2>/dev/null | awk 'NR > 1 { print $1 }' ;;
	"eval status") berth eval list 2>/dev/null | awk 'NR > 1 { print $1 }' ;;
	"deployment status" | "deployment pause" | "deployment resume" | "deployment promote" | "deployment fail" | \
		"deployment unblock") berth deployment list 2>/dev/null | awk 'NR > 1 { print $1 }' ;;
	"job revert" | "job scale" | "job scaling-events" | "job dispatch" | "job periodic force" | "job deployments" | \
		"job promote") berth job list 2>/dev/null | awk 'NR > 1 { print $1 }' ;;
	"vm get" | "vm stop" | "vm suspend" | "vm delete" | "vm events")
		berth vm list 2>/dev/null | awk 'NR > 1 { print $1 }'
		;;
	"node pool info" | "node pool delete")
		berth node pool list 2>/dev/null | awk 'NR > 1 { print $1 }'
		;;
	"namespace status" | "namespace inspect" | "namespace apply" | "namespace delete")
		berth namespace list 2>/dev/null | awk 'NR > 1 { print $1 }'
		;;
	"quota status" | "quota inspect" | "quota delete")
		berth quota list 2>/dev/null | awk 'NR > 1 { print $1 }'
		;;
	"node restore") berth node revoked 2>/dev/null | sed -n 's/^node\/\([^ ]*\).*/\1/p' ;;
	"client restore") berth node revoked 2>/dev/null | sed -n 's/^client\/\([^ ]*\).*/\1/p' ;;
	"node admit delete")
		berth node admit list 2>/dev/null | awk 'NR > 1 { print $1 }'
		;;
	"acl policy info" | "acl policy apply" | "acl policy delete")
		berth acl policy list 2>/dev/null | awk 'NR > 1 { print $1 }'
		;;
	"acl token info" | "acl token update" | "acl token delete")
		berth acl token list 2>/dev/null | awk 'NR > 1 { print $1 }'
		;;
	"acl role info" | "acl role update" | "acl role delete")
		berth acl role list 2>/dev/null | awk 'NR > 1 { print $2 }'
		;;
	"var get" | "var put" | "var purge") berth var list --out terse 2>/dev/null ;;
	"operator root keyring remove")
		berth operator root keyring list 2>/dev/null | awk 'NR > 1 { print $1 }'
		;;
	"worker get" | "worker pause" | "worker resume" | "worker delete")
		berth worker list 2>/dev/null | awk 'NR > 1 { print $1 }'
		;;
	"job status" | "job stop" | "job inspect" | "job history" | "job eval" | "explain job" | "status")
		berth job list 2>/dev/null | awk 'NR > 1 { print $1 }'
		;;
	esac
}

_berth()
{
	local current=${COMP_WORDS[COMP_CWORD]} typed="" i word
	for ((i = 1; i < COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		[[ $word == -* ]] || typed+="${typed:+ }$word"
	done
	case "${COMP_WORDS[COMP_CWORD - 1]}" in
	--key-file | --master-key)
		mapfile -t COMPREPLY < <(compgen -f -- "$current")
		return
		;;
	esac
	case "$typed" in
	"job parse" | "job run" | "job plan" | "job validate" | "simulate" | "key generate" | "key rotate" | "node pool apply" | \
		"node admit apply" | "acl bootstrap")
		[[ $current == -* ]] || {
			mapfile -t COMPREPLY < <(compgen -f -- "$current")
			return
		}
		;;
	esac
	if [[ $current == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$(_berth_flags "$typed")" -- "$current")
	else
		mapfile -t COMPREPLY < <(compgen -W "$(_berth_words "$typed") $(_berth_ids "$typed")" -- "$current")
	fi
}

complete -F _berth berth
