// Package store is the durable state of one node: a directory of mode 0700 with
// files of mode 0600.
//
//	identity.key   Ed25519 private key, PKCS #8 in PEM: who the node is
//	hpke.key       aggregator: MLKEM768-X25519 private key, in PEM
//	ledger.id      which ledger belongs to this identity
//	state.db       SQLite: studies, decisions, own envelopes, boards, the ledger
//	secrets/       party: secrets of seed agreements, one file per attempt
//	held/          party: exact sketches that wait for their steward, one directory per study
//	releases/      party: noised sketches, drawn once, one directory per study
//	uploads/       aggregator: chunks of the parties' sketches
//	results/       results, one directory per study
//	tokens/        aggregator: what is kept of tokens of the HTTP API, hashed
//	invitations/   aggregator: one-time invitations, hashed, with what came under them
//	locks/         one lock per study, held by the process that serves it
//
// Durability is one contract: when a method that writes returns nil, what it
// wrote survives SIGKILL and loss of power; when it returns an error, or never
// returns, the old state or the new one is there, never a mixture. The database
// runs in WAL mode with synchronous=FULL; files are written beside their place,
// synced, renamed into place, and the directory is synced.
//
// What a thief or a careless hand gains: identity.key lets its reader act as the
// node, secrets/ reveals the seeds of open studies, held/ is as secret as the data
// themselves, releases/ holds what the
// aggregator receives anyway, state.db holds what was signed and what was spent.
// Deleting state.db or putting a fresh one in its place is noticed by ledger.id
// and refused; putting back an older copy is not noticed here, which is why
// aggregators countersign ledgers and keep their heads (KeepLedgerHead).
//
// Damage to files that nothing signed is found by their own hashes: releases have them in a
// file of sums, secrets before their bytes. Node's Fsck looks at all of it.
//
// Several processes may have one directory open: each write is a transaction or
// an atomic rename. Writers of one study exclude each other by LockStudy.
package store
