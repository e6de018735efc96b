#!/bin/sh
# first_serve.sh PORT: `cargo xtask serve` until the site is there. On a bare machine (machine.sh), which leaves no process behind.
set -eu

said=$(mktemp)
cargo xtask serve --port "$1" >"$said" 2>&1 &
server=$!
tail --follow --lines=+1 --pid="$server" --sleep-interval=1 "$said" &
until grep -q '^Serving ' "$said"; do
  if ! kill -0 "$server" 2>/dev/null; then
    wait
    exit 1
  fi
  sleep 1
done
# It says so a moment before it listens.
curl --noproxy '*' --retry 30 --retry-delay 1 --retry-connrefused --fail --silent --show-error --output /dev/null "http://127.0.0.1:$1/"
# The last lines have been said by then.
sleep 2
kill "$server"
wait "$server" || true
