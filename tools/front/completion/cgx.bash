# Completes commands, options, files, codecs and layers for cgx and its tools; _cgx does it for zsh. It is
# installed where bash-completion looks; otherwise source it. The values come from each tool's own --help, so
# that nothing here can be out of date.

# Prints the options. They begin a line; lines that are indented more are options of examples and of passes.
_cgx_words() {
  "$@" --help 2>/dev/null | sed -nE 's/^ {2,6}(-[a-zA-Z], ?)?(--[a-zA-Z][a-zA-Z0-9-]*).*/\2/p' | sort -u
}

# Prints the commands, which are listed below "Commands:" or "Subcommands:", indented by two.
_cgx_commands() {
  "$@" --help 2>/dev/null | sed -nE '/^(Sub)?[Cc]ommands:/,/^$/s/^  ([a-z][a-z-]*) .*/\1/p'
}

# Prints the values of an option with a fixed set of them: its line of help ends in NAME:{one,other}, and in
# =usual.
_cgx_values() {
  local option=$1
  shift
  "$@" --help 2>/dev/null | sed -nE "s/^ +(-[a-zA-Z],)?$option [^ ]*:?\\{([^}]*)\\}.*/\\2/p" | tr ',' '\n'
}

# Prints the families of codecs, as the error about an unknown one lists them.
_cgx_families() {
  local folder=""
  [[ "${COMP_WORDS[0]}" != */* ]] || folder="${COMP_WORDS[0]%/*}/"
  "${folder}cgx-bench" all-reduce --codec '?' 2>&1 | sed -nE "s/.*expected one of (.*) as 'family'.*/\\1/p" | tr -d ','
}

# Succeeds if a word may be an option whose value is a list of codec options.
_cgx_takes_codecs() { [[ "$1" == --cgx-compress || "$1" == --cgx-instrument || "$1" == --compress ]]; }

# Prints the compiler that lies beside the completed tool.
_cgx_compiler() {
  local folder=""
  [[ "${COMP_WORDS[0]}" != */* ]] || folder="${COMP_WORDS[0]%/*}/"
  echo "${folder}cgx-opt"
}

# Prints the names of the layers of the step on the command line, from its report.
_cgx_layers() {
  local word
  for word in "${COMP_WORDS[@]}"; do
    [[ "$word" == *.mlir && -r "$word" ]] || continue
    timeout 5 "$(_cgx_compiler)" "$word" --cgx-import --cgx-report=format=json -o /dev/null 2>&1 |
      sed -nE 's/^ *"layer": "([^"]+)",?$/\1/p' | sort -u
    return
  done
}

# Prints the names of options of the codec pipeline.
_cgx_codec_words() {
  "$(_cgx_compiler)" --help 2>/dev/null | sed -nE '/^ +--cgx-compress /,/^ +--cgx-[a-z-]+ /s/^ +--([a-z][a-z0-9-]*)(=<?)?.*/\1\2/p' |
    sed -nE '/^cgx-/!s/<//p; /^cgx-/!{/=/!p}' | sort -u
}

# Completes the last word of a value such as "bits=4 exclude=par: to the shell, text in quotes is one word.
_cgx_complete_codecs() {
  local value="${1#[\"\']}" before last list
  last="${value##* }"
  before="${value%"$last"}"
  compopt +o filenames -o nospace 2>/dev/null
  if [[ "$last" == exclude=* || "$last" == split-layers=* ]]; then
    list="${last%"${last##*[=,]}"}"
    mapfile -t COMPREPLY < <(compgen -P "$before$list" -W "$(_cgx_layers)" -- "${last#"$list"}")
  elif [[ "$last" != *=* ]]; then
    mapfile -t COMPREPLY < <(compgen -P "$before" -W "$(_cgx_codec_words)" -- "$last")
  fi
}

_cgx() {
  local current="${COMP_WORDS[COMP_CWORD]}" asked=("${COMP_WORDS[0]}") word commands at
  COMPREPLY=()
  # The shell may count the = between an option and its value as a word.
  at=$((COMP_CWORD - 1))
  [[ "${COMP_WORDS[at]}" != "=" ]] || at=$((at - 1))
  if _cgx_takes_codecs "${COMP_WORDS[at]}" && [[ "$current" != "=" ]]; then
    _cgx_complete_codecs "$current"
    return
  fi
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    commands=$(_cgx_commands "${asked[@]}")
    [[ -n "$commands" && " ${commands//$'\n'/ } " == *" $word "* ]] && asked+=("$word")
  done
  case "${COMP_WORDS[at]}" in
  --codec | --reference | --candidate)
    mapfile -t COMPREPLY < <(compgen -W "$(_cgx_families)" -- "${current#[\"\']}")
    return
    ;;
  --*)
    mapfile -t COMPREPLY < <(compgen -W "$(_cgx_values "${COMP_WORDS[at]}" "${asked[@]}")" -- "${current#=}")
    ((${#COMPREPLY[@]} == 0)) || return
    ;;
  esac
  if [[ "$current" == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$(_cgx_words "${asked[@]}")" -- "$current")
    return
  fi
  mapfile -t COMPREPLY < <(compgen -W "$(_cgx_commands "${asked[@]}")" -- "$current"; compgen -f -- "$current")
}

complete -o filenames -F _cgx cgx cgx-opt cgx-compile cgx-run cgx-plan cgx-bench cgx-curves
