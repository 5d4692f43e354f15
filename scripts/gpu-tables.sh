#!/usr/bin/env bash
# Fills the tables that want a GPU, in the order asked for and each for so many seconds: for machines rented by the minute.
#
#   scripts/gpu-tables.sh ROWS transfers=400 accuracy=400 speed=300 scaling=90 others=400 backbones=300
#   scripts/gpu-tables.sh ROWS distances=200 depthwise=60 semilearn=300
#   CHANGES="larger zoom,not aligned" scripts/gpu-tables.sh ROWS defaults=400
#
# A table begins no further run when its seconds are over; of several beside each other it drops those under way. The
# two without rows, distances and depthwise, are one run each: it is stopped then, and leaves nothing.
#
# Runs from the clone with the machine's own Python and torch; `make carry` gathers what else it needs in .carry. ROWS
# has every row of these tables as soon as it is measured, those of earlier calls among them, so that what was measured
# is not lost with the machine. SEEDBED_BENCH_DATA names the real data, SEEDBED_BENCH_COMMIT the commit where the clone
# has no git, CHANGES which changes of benchmarks.ssl_defaults are tried: all of them would take hours.
set -euo pipefail
cd "$(dirname "$0")/.."
[ $# -ge 2 ] || { sed -n '2,6p' "$0"; exit 2; }
rows=$1
shift
if [[ " $*" == *" defaults"* && -z ${CHANGES:-} ]]; then
  echo "Name in CHANGES what 'defaults' is to try, such as CHANGES='larger zoom,not aligned'; all would take hours." >&2
  exit 2
fi
mkdir -p "$rows" .carry/rows

rows_of() { # TABLE: the file of its rows, if it keeps any
  case $1 in
    accuracy | others | semilearn) echo ssl_accuracy.jsonl ;;
    defaults | backbones | speed) echo "ssl_$1.jsonl" ;;
    transfers) echo transfers.jsonl ;;
    scaling) echo scaling_gpu.jsonl ;;
  esac
}

for asked in "$@"; do
  kept=$(rows_of "${asked%%=*}")
  for from in benchmarks/rows .carry/rows; do # the second: what earlier calls on this machine added
    [ -n "$kept" ] && [ -f "$from/$kept" ] || continue
    touch "$rows/$kept"
    grep -vxFf "$rows/$kept" "$from/$kept" >> "$rows/$kept" || true
  done
done
export SEEDBED_BENCH_ROWS=$rows PYTHONUNBUFFERED=1 PYTHONPATH=$PWD:$PWD/src:$PWD/.carry
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 # with threads for every core in every process, they mostly wait
export TORCHINDUCTOR_CACHE_DIR=$PWD/.carry/compiled/inductor TRITON_CACHE_DIR=$PWD/.carry/compiled/triton

share_gpu() { # trainings of small networks fill a GPU only beside each other
  export CUDA_MPS_PIPE_DIRECTORY=$PWD/.carry/mps CUDA_MPS_LOG_DIRECTORY=$PWD/.carry/mps-log
  mkdir -p "$CUDA_MPS_PIPE_DIRECTORY" "$CUDA_MPS_LOG_DIRECTORY"
  nvidia-cuda-mps-control -d 2>/dev/null || true
}

keep_gpu() { # what is timed runs alone
  [ -n "${CUDA_MPS_PIPE_DIRECTORY:-}" ] || return 0
  echo quit | timeout 10 nvidia-cuda-mps-control 2>/dev/null || true
  unset CUDA_MPS_PIPE_DIRECTORY CUDA_MPS_LOG_DIRECTORY
}

within() { # MINUTES COMMAND
  [ "$1" != 0.0 ] || return 124 # which timeout would take for no limit
  timeout --kill-after=10 "$1m" "${@:2}"
}

fill() { # TABLE MINUTES
  case $1 in
    transfers) share_gpu; python3 -m benchmarks.transfers --workers 6 --minutes "$2" ;;
    accuracy) share_gpu; python3 -m benchmarks.ssl_accuracy --workers 4 --compiled --minutes "$2" \
      --methods "steady,supervised,probe,all labels" ;;
    others) share_gpu; python3 -m benchmarks.ssl_accuracy --workers 4 --compiled --minutes "$2" \
      --methods freematch,fixmatch,adamatch,flexmatch,softmatch,mixmatch ;;
    defaults) share_gpu; python3 -m benchmarks.ssl_defaults --workers 4 --compiled --minutes "$2" \
      --changes "as it is,$CHANGES" ;;
    distances) keep_gpu; within "$2" env -u OMP_NUM_THREADS -u OPENBLAS_NUM_THREADS \
      python3 -m benchmarks.otdd_gpu --json "$rows/otdd_gpu.json" ;;
    depthwise) keep_gpu; within "$2" python3 -m benchmarks.depthwise --json "$rows/depthwise.json" ;;
    semilearn) keep_gpu; python3 -m benchmarks.ssl_accuracy --minutes "$2" --methods "semilearn freematch" ;;
    backbones) share_gpu; python3 -m benchmarks.ssl_backbones --workers 3 --minutes "$2" ;;
    speed) keep_gpu; python3 -m benchmarks.ssl_speed --minutes "$2" ;;
    scaling) keep_gpu; python3 -m benchmarks.scaling --gpu --minutes "$2" ;;
    *) echo "There is no table '$1'."; return 2 ;;
  esac
}

for asked in "$@"; do
  table=${asked%%=*} seconds=${asked##*=} began=$SECONDS
  minutes=$(python3 -c "print($seconds / 60)")
  fill "$table" "$minutes" > "$rows/$table.log" 2>&1 || case $? in
    124) echo "$table was stopped: its $seconds s are over." ;;
    *) echo "$table failed: $(tail -n 1 "$rows/$table.log")" ;;
  esac
  kept=$(rows_of "$table")
  [ -z "$kept" ] || [ ! -f "$rows/$kept" ] || cp "$rows/$kept" .carry/rows/
  cp benchmarks/RESULTS.md "$rows"/
  echo "$table took $((SECONDS - began)) s; $(grep -c ' of \|, fold ' "$rows/$table.log" || true) lines of progress"
done
keep_gpu
