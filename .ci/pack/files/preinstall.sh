#!/bin/sh
# The directories of the package belong to this user.
set -e
getent group cosketch >/dev/null || groupadd --system cosketch
getent passwd cosketch >/dev/null ||
  useradd --system --gid cosketch --home-dir /var/lib/cosketch --no-create-home --shell /usr/sbin/nologin cosketch
