#!/usr/bin/env bash
# Runs a program in several processes on this machine: tools/mpirun.sh N PROGRAM ARGUMENTS... Where one of them ends with an
# error, is killed, or does not come to an end within the seconds of MPIRUN_SECONDS (600 if not given), all are ended and the
# exit status is not 0. More processes than cores are allowed. MPIRUN_OPTIONS adds options of mpirun.
set -euo pipefail

fail() {
  echo "mpirun.sh: $*" >&2
  exit 2
}

(($# >= 2)) || fail "expected a number of processes and a program: tools/mpirun.sh 4 ./program"
[[ $1 =~ ^[1-9][0-9]{0,4}$ ]] || fail "expected a number of processes from 1 to 99999, found $1"
seconds=${MPIRUN_SECONDS:-600}
[[ $seconds =~ ^[1-9][0-9]{0,8}$ ]] || fail "expected a number of seconds in MPIRUN_SECONDS, found $seconds"
command -v mpirun >/dev/null || fail "there is no mpirun on the PATH: as root, apt-get install openmpi-bin"

processes=$1
shift
if ((EUID == 0)); then
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
fi
# All processes are on this machine: none is started through ssh, which need not be there, and messages go through memory.
# They are not bound to cores, of which there may be fewer, and leave a core that they only wait on to others.
read -ra more <<<"${MPIRUN_OPTIONS:-}"
# mpirun itself may not come to its end, as on a full disk: it gets ten seconds more than its programs.
exec timeout --kill-after=5 "$((seconds + 10))" mpirun -n "$processes" --timeout "$seconds" --oversubscribe --bind-to none --mca plm isolated --mca btl self,vader \
  --mca mpi_yield_when_idle 1 "${more[@]}" "$@"
