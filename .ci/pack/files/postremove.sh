#!/bin/sh
# The user, /etc/cosketch and /var/lib/cosketch stay, also when the package is purged: the key and the
# privacy ledger cannot be made anew.
set -e
if [ -d /run/systemd/system ]; then systemctl daemon-reload; fi
