#!/bin/bash
# What an operator and two stewards do with the units, as PID 1's machine runs them: the
# aggregator and one party as system services, the other party as a user's service.
exec >/share/said 2>&1
trap 'systemctl poweroff' EXIT
say() { echo "== $*"; }
cp /share/party /share/aggregator /usr/local/bin/
cp /share/cosketch-aggregator.service /share/cosketch-party.service /etc/systemd/system/
systemctl daemon-reload
say booted

# The lines at the head of the units, word for word.
grep -h '^#   ' /share/cosketch-aggregator.service | grep -v systemctl | sed 's/^# *//' >/tmp/aggregator.sh
grep -h '^#   ' /share/cosketch-party.service | grep -v 'systemctl\|useradd' | sed 's/^# *//' >/tmp/party.sh
bash -e /tmp/aggregator.sh || say WRONG: the lines of the aggregator
bash -e /tmp/party.sh || say WRONG: the lines of the party
operator() { sudo -u cosketch aggregator --state /var/lib/cosketch/aggregator --config /etc/cosketch/aggregator.yaml "$@"; }
north() { sudo -u cosketch party --state /var/lib/cosketch/party --config /etc/cosketch/party.yaml "$@"; }
systemd-analyze verify /etc/systemd/system/cosketch-*.service || say WRONG: verify
systemctl enable --now cosketch-aggregator || say WRONG: not started

useradd --create-home --shell /bin/bash steward
loginctl enable-linger steward
uid=$(id -u steward)
for _ in $(seq 50); do [ -S "/run/user/$uid/bus" ] && break; sleep 0.1; done
home() { sudo -u steward -H env XDG_RUNTIME_DIR="/run/user/$uid" "$@"; }
home mkdir -p /home/steward/.local/bin /home/steward/.config/systemd/user
install -o steward /share/party /home/steward/.local/bin/
install -o steward /share/cosketch-party-user.service /home/steward/.config/systemd/user/cosketch-party.service
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
operator study new --columns /tmp/north.yaml --columns /tmp/south.yaml --name trial --partition horizontal --ask mean \
  --addr /ip4/127.0.0.1/tcp/7424 -o /var/lib/cosketch/study.yaml
operator study create /var/lib/cosketch/study.yaml
study=$(sha256sum /var/lib/cosketch/study.yaml | cut -c1-8)
for name in north south; do
  for _ in $(seq 50); do "$name" study fetch "/ip4/127.0.0.1/tcp/7424/p2p/$(operator identity --format json | id)" && break; sleep 0.1; done
done
north data add patients /srv/north.csv --study "$study" --cap-record 2,1e-6
south data add patients /home/steward/south.csv --study "$study" --cap-record 2,1e-6
for name in north south; do "$name" study approve "$study" --id "$study"; done
systemctl enable --now cosketch-party || say WRONG: not started
home systemctl --user daemon-reload
home systemctl --user enable --now cosketch-party || say WRONG: not started
for name in north south; do
  for _ in $(seq 150); do "$name" result "$study" >/dev/null 2>&1 && break; sleep 0.2; done
  "$name" result "$study" && say "$name has the result"
done

say the level
sed -i 's/^#  level: info .*/  level: warn/' /etc/cosketch/aggregator.yaml
systemctl reload cosketch-aggregator || say WRONG: not reloaded
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
