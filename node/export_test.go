package node

// MailboxKey is mailboxKey, for tests that seal bundles.
var MailboxKey = mailboxKey
