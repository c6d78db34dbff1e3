#!/bin/sh
# Nothing is enabled or started: a node is made first, by hand. A service that runs goes on as it is
# until it is restarted.
set -e
if [ -d /run/systemd/system ]; then systemctl daemon-reload; fi
