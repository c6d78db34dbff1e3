package wire

// Count is count, for tests of every message.
var Count = count
