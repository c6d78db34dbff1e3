// Package store is the durable state of one node: a directory of mode 0700 with files of mode 0600.
//
//	identity.key   Ed25519 private key, PKCS #8 in PEM: the node's identity
//	hpke.key       aggregator: MLKEM768-X25519 private key, in PEM
//	ledger.id      names the ledger that belongs to this identity
//	ledger.head    party: number and hash of the ledger's last entry
//	state.db       SQLite: studies, decisions, own envelopes, boards, the ledger
//	secrets/       party: secrets of seed agreements, one file per attempt
//	held/          party: exact sketches that wait for their steward, one directory per study
//	releases/      party: noised sketches, drawn once, one directory per study
//	uploads/       aggregator: chunks of the parties' sketches
//	sealed/        aggregator: sealed texts that came with the parties' shares
//	results/       results, one directory per study
//	tokens/        aggregator: records of HTTP API tokens, hashed
//	invitations/   aggregator: one-time invitations, hashed, with the introductions received
//	inbox/         aggregator: files for the process that serves, see package inbox
//	webhooks/      aggregator: outboxes of webhooks
//	locks/         one lock per study, held by the process that serves it
//
// Every method that writes is durable: if it returns nil, what it wrote survives SIGKILL and loss
// of power. If it returns an error, or never returns, the state is the old one or the new one,
// never a mixture. The database runs in WAL mode with synchronous=FULL. Files are written under a
// temporary name, synced and renamed, and their directory is synced.
//
// What somebody who reads or changes the files gains: identity.key lets them act as the node.
// secrets/ reveals the seeds of open studies. held/ is as secret as the data. releases/ holds what
// the aggregator receives anyway. state.db holds what was signed and what was spent. If state.db is
// deleted or replaced by a fresh one, ledger.id shows it and Open fails. Replacement by an older
// copy is not noticed here, which is why aggregators countersign ledgers and keep their heads
// (KeepLedgerHead).
//
// Files without a signature carry hashes against damage: releases in a file of sums, secrets in
// front of their bytes. The node's fsck command checks all of them.
//
// Several processes may open one directory: each write is a transaction or an atomic rename.
// LockStudy excludes concurrent writers of one study.
package store
