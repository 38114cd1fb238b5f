# Completion of commands, options and files for cgx and its tools. Installed where bash-completion looks; otherwise
#   bash: source cgx.bash        zsh: autoload -U bashcompinit; bashcompinit; source cgx.bash
# What a tool accepts is asked of its own --help, so that nothing here can be out of date.

_cgx_words() {
  "$@" --help 2>/dev/null | grep -oE -- '(^|[ ,])--[a-zA-Z][a-zA-Z0-9-]*' | tr -d ' ,' | sort -u
}

# Commands stand in a list below "Commands:" or "Subcommands:", indented by two.
_cgx_commands() {
  "$@" --help 2>/dev/null | sed -nE '/^(Sub)?[Cc]ommands:/,/^$/s/^  ([a-z][a-z-]*) .*/\1/p'
}

_cgx() {
  local current="${COMP_WORDS[COMP_CWORD]}" asked=("${COMP_WORDS[0]}") word commands
  COMPREPLY=()
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    commands=$(_cgx_commands "${asked[@]}")
    [[ -n "$commands" && " ${commands//$'\n'/ } " == *" $word "* ]] && asked+=("$word")
  done
  if [[ "$current" == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$(_cgx_words "${asked[@]}")" -- "$current")
    return
  fi
  mapfile -t COMPREPLY < <(compgen -W "$(_cgx_commands "${asked[@]}")" -- "$current"; compgen -f -- "$current")
}

complete -o filenames -F _cgx cgx cgx-opt cgx-compile cgx-run cgx-plan cgx-bench cgx-curves
