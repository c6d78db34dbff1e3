#!/bin/bash
# What an operator and two stewards do with the units, as PID 1's machine runs them: the
# aggregator and one party as system services, the other party as a user's service.
exec >/share/said 2>&1
trap 'systemctl poweroff' EXIT
say() { echo "== $*"; }
cp /share/party /share/aggregator /usr/local/bin/
cd /share/source
units=docs/operations/systemd
cp $units/cosketch-party.service /etc/systemd/system/
say booted

# The blocks of the documents and the lines at the head of the units, word for word.
typed() { # every line of a file, in a shell of its own; what follows for good, for a moment
  while read -r line; do
    say "typed: $line"
    case $line in
      *' -f') timeout --preserve-status --signal=KILL 3 "$@" bash -c "$line"; [ $? = 137 ] ;;
      *) "$@" bash -c "$line" ;;
    esac || say "WRONG: $line"
  done
}
typed env </share/operator-0.sh
grep -h '^#   ' $units/cosketch-aggregator.service | sed 's/^# *//' | grep -vxFf /share/operator-0.sh | sed 's/^/WRONG, at the head of the unit only: /'
grep -h '^#   ' $units/cosketch-party.service | grep -v 'systemctl\|useradd' | sed 's/^# *//' | typed env
operator() { sudo -u cosketch aggregator --state /var/lib/cosketch/aggregator --config /etc/cosketch/aggregator.yaml "$@"; }
north() { sudo -u cosketch party --state /var/lib/cosketch/party --config /etc/cosketch/party.yaml "$@"; }
systemd-analyze verify /etc/systemd/system/cosketch-*.service || say WRONG: verify

useradd --create-home --shell /bin/bash steward
uid=$(id -u steward)
systemctl start "user@$uid" # as a login does
home() { sudo -u steward -H env XDG_RUNTIME_DIR="/run/user/$uid" "$@"; }
home mkdir -p /home/steward/.local/bin
install -o steward /share/party /home/steward/.local/bin/
south() { home /home/steward/.local/bin/party "$@"; }
south init

id() { sed -n 's/^ *"id": "\(.*\)",*$/\1/p'; }
cd /tmp
for name in north south; do
  awk -v name="$name" 'BEGIN { srand(1); print "patient,age,smoker"
    for (i = 1; i <= 500; i++) print name "-" i "," 20 + int(70 * rand()) "," (rand() < 0.3) }' >"$name.csv"
  cat >"$name.yaml" <<LIST
cosketch: columns/1
party: {name: $name, id: $("$name" identity --format json | id)}
records: {id: [patient]}
columns: [{name: age, kind: numeric, centre: 50, spread: 20, source: census}, {name: smoker, kind: binary}]
LIST
done
chmod a+r ./*.yaml
install -o cosketch -m 0600 north.csv /srv/north.csv
install -o steward -m 0600 south.csv /home/steward/south.csv
operator study draft --columns /tmp/north.yaml --columns /tmp/south.yaml --name trial --partition horizontal --ask mean \
  --addr /ip4/127.0.0.1/tcp/7424 -o /var/lib/cosketch/study.yaml
operator study host /var/lib/cosketch/study.yaml
study=$(sha256sum /var/lib/cosketch/study.yaml | cut -c1-8)
for name in north south; do
  for _ in $(seq 50); do "$name" study fetch "/ip4/127.0.0.1/tcp/7424/p2p/$(operator identity --format json | id)" && break; sleep 0.1; done
done
north data add patients /srv/north.csv --study "$study" --cap-record 2,1e-6
south data add patients /home/steward/south.csv --study "$study" --cap-record 2,1e-6
for name in north south; do "$name" study approve "$study" --id "$study"; done
systemctl enable --now cosketch-party || say WRONG: not started
install -o steward "/share/source/$units/cosketch-party-user.service" /home/steward/
cd /home/steward
login() { su --login steward -c "${*: -1}"; } # a session of its own, which lingering is asked from
if ! ls /lib/*/security/pam_systemd.so /usr/lib*/polkit-1/polkitd >/dev/null 2>&1; then
  say without sessions or polkit lingering is the administrator\'s to allow
  sed -i '/enable-linger/d' /share/steward-0.sh
  loginctl enable-linger steward
  login() { home "$@"; }
fi
typed login </share/steward-0.sh
[ -e /var/lib/systemd/linger/steward ] || say WRONG: not lingering
cd /tmp
for name in north south; do
  for _ in $(seq 150); do "$name" result "$study" >/dev/null 2>&1 && break; sleep 0.2; done
  "$name" result "$study" && say "$name has the result"
done

say the level
sed -i 's/^#  level: info .*/  level: warn/' /etc/cosketch/aggregator.yaml
typed env </share/operator-1.sh
for _ in $(seq 50); do journalctl -u cosketch-aggregator | grep -q '"msg":"log level","level":"WARN"' && break; sleep 0.1; done
journalctl -u cosketch-aggregator | grep '"msg":"log level"'
say what comes back after a crash
systemctl kill --signal=KILL cosketch-aggregator
for _ in $(seq 100); do [ "$(systemctl show -p NRestarts --value cosketch-aggregator)/$(systemctl is-active cosketch-aggregator)" = 1/active ] && break; sleep 0.1; done
systemctl show -p NRestarts,ActiveState cosketch-aggregator
say what ends when it is told to
systemctl stop cosketch-aggregator cosketch-party
home systemctl --user stop cosketch-party
systemctl show -p Result,ExecMainStatus cosketch-aggregator
systemctl show -p Result,ExecMainStatus cosketch-party
home systemctl --user show -p Result,ExecMainStatus cosketch-party
say what does not mend itself
echo 'nonsense: 1' >>/etc/cosketch/aggregator.yaml
systemctl start cosketch-aggregator && say WRONG: started
sleep 6 # longer than RestartSec
systemctl show -p ExecMainStatus,ActiveState,NRestarts cosketch-aggregator
for unit in cosketch-aggregator cosketch-party; do systemd-analyze security --no-pager "$unit" | tail -1; done
journalctl _TRANSPORT=stdout -u cosketch-aggregator -u cosketch-party -o cat | grep -v '^{' | sed 's/^/not JSON: /'
journalctl -u cosketch-aggregator -u cosketch-party -o cat | grep "mode is different"
say done
