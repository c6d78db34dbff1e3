#!/bin/sh
# Debian says remove, RPM 0, when the package goes; when another version comes, both say something else.
set -e
case "$1" in
  remove | 0)
    if [ -d /run/systemd/system ]; then systemctl disable --now cosketch-PROGRAM.service; fi
    ;;
esac
