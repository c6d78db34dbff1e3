package console

import "github.com/cosketch/cosketch/node/store"

// Upkeep are the commands about a node itself, which both programs have.
type Upkeep struct {
	Log        LogCommands       `cmd:"" group:"Keep the node:" help:"Show or verify the log of decisions and of what left."`
	Fsck       FsckCommand       `cmd:"" group:"Keep the node:" help:"Recompute every hash and chain of the state directory."`
	Backup     BackupCommand     `cmd:"" group:"Keep the node:" help:"Write the state to a file, also beside a running node."`
	Restore    RestoreCommand    `cmd:"" group:"Keep the node:" help:"Make a state directory of a backup."`
	Settings   ConfigCommands    `cmd:"" group:"Keep the node:" name:"config" help:"Write or show this node's own configuration."`
	Completion CompletionCommand `cmd:"" group:"Keep the node:" help:"Print the completion script of a shell."`
	Manual     ManualCommand     `cmd:"" group:"Keep the node:" help:"Print the manual page: ${name} manual | man -l -"`
}

// UpkeepOf returns them for a node's role.
func UpkeepOf(role store.Role) Upkeep {
	return Upkeep{
		Log: LogCommands{Role: role}, Fsck: FsckCommand{Role: role},
		Backup: BackupCommand{Role: role}, Restore: RestoreCommand{Role: role},
		Settings: ConfigCommands{Role: role}, Completion: CompletionCommand{Role: role},
	}
}
