# Parses the options of the studies, and trains and evaluates an example. Studies source this file.
#
#   bin       folder of the tools
#   lm_steps  steps of the language model's runs
#   out       folder of intermediate files; set by the study
#   runs      LABEL=TRAIN.json,EVAL.json of each run, for cgx-curves

bin=build/release/bin
lm_steps=300
while [ $# -gt 0 ]; do
  case "$1" in
    --tools) bin=${2:?"study: --tools takes a folder"}; shift 2 ;;
    --lm-steps) lm_steps=${2:?"study: --lm-steps takes a number"}; shift 2 ;;
    -h|--help) sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0"; exit 0 ;;
    *) echo "study: unknown argument '$1' (see --help)" >&2; exit 2 ;;
  esac
done

# train EXAMPLE STEPS NAME PROGRAM OPTION...: trains and evaluates; the run is added to `runs`.
train() {
  local folder=examples/$1 steps=$2 name=$3 program=$4 file=$out/$1.${3//[^a-zA-Z0-9]/_}
  shift 4
  case " ${runs[*]} " in *"=$file.json,"*)
    echo "study: two runs of $folder are called '$name', and the second would take the place of the first" >&2
    return 1 ;;
  esac
  "$bin/cgx-run" "$program" --ranks 4 --quiet --state "$folder/state.safetensors" --data "$folder/train.safetensors" \
    --steps "$steps" --repeat --save "$file.safetensors" --report "$file.json" "$@"
  "$bin/cgx-run" "$folder/eval.mlir" --ranks 4 --quiet --state "$file.safetensors" \
    --data "$folder/validation.safetensors" --report "$file.eval.json"
  runs+=("$name=$file.json,$file.eval.json")
}
