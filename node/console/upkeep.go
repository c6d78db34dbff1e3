package console

import "github.com/cosketch/cosketch/node/store"

// Upkeep has the rarely needed commands about a node itself that both programs share.
type Upkeep struct {
	Log        LogCommands       `cmd:"" group:"Keep the node:" help:"Show or verify the log of decisions and of what left."`
	Fsck       FsckCommand       `cmd:"" group:"Keep the node:" help:"Recompute every hash and chain of the state directory."`
	Restore    RestoreCommand    `cmd:"" group:"Keep the node:" help:"Make a state directory of a backup."`
	Settings   ConfigCommands    `cmd:"" group:"Keep the node:" name:"config" help:"Make or show this node's own configuration."`
	Completion CompletionCommand `cmd:"" group:"Keep the node:" help:"Print the completion script of a shell."`
	Manual     ManualCommand     `cmd:"" group:"Keep the node:" help:"Print the manual page: ${name} advanced manual | man -l -"`
}

// UpkeepOf returns them for a node's role.
func UpkeepOf(role store.Role) Upkeep {
	return Upkeep{
		Log: LogCommands{Role: role}, Fsck: FsckCommand{Role: role},
		Restore:  RestoreCommand{Role: role},
		Settings: ConfigCommands{Role: role}, Completion: CompletionCommand{Role: role},
	}
}
