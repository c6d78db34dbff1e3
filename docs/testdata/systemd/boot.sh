#!/bin/bash
# Boots systemd in a container whose files are this machine's, all changes in memory, and runs
# study.sh in it. usage: unshare --mount boot.sh DIR, where DIR holds the programs, the units and
# study.sh; what it writes is in DIR/said. Needs root and systemd-nspawn.
set -eu
share=$1
mount --make-rprivate /
work=$share/work
mkdir -p "$work"
mount -t tmpfs tmpfs "$work"
mkdir "$work/upper" "$work/work" "$work/root"
root=$work/root
mount -t overlay overlay -o "lowerdir=/,upperdir=$work/upper,workdir=$work/work" "$root"

# Nothing of this machine's services, and none that looks for hardware or a network.
rm -f "$root"/etc/systemd/system/*.target.wants/*
for unit in systemd-udevd systemd-udev-trigger systemd-networkd systemd-resolved systemd-timesyncd getty@tty1 console-getty \
  cron postgresql prometheus prometheus-node-exporter; do
  ln -sf /dev/null "$root/etc/systemd/system/$unit.service"
done
printf '%032x\n' 1 >"$root/etc/machine-id"
cat >"$root/etc/systemd/system/trial.service" <<'UNIT'
[Service]
Type=oneshot
ExecStart=/share/study.sh
TimeoutStartSec=120
UNIT
mkdir -p "$root/etc/systemd/system/multi-user.target.wants"
ln -s ../trial.service "$root/etc/systemd/system/multi-user.target.wants/trial.service"
SYSTEMD_NSPAWN_UNIFIED_HIERARCHY=1 UNIFIED_CGROUP_HIERARCHY=1 exec systemd-nspawn --directory="$root" --register=no --keep-unit \
  --machine=cosketch-trial --private-network --bind="$share:/share" --boot systemd.unit=multi-user.target
