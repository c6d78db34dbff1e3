package fail

import "slices"

// The errors, in the order of docs/errors.md.
const (

	// The privacy budget.
	BudgetExceeded   ID = "budget-exceeded"
	NoBudget         ID = "no-budget"
	LedgerRolledBack ID = "ledger-rolled-back"

	// Decisions that are missing or were negative.
	NotApproved       ID = "not-approved"
	NoTerminal        ID = "no-terminal"
	WrongID           ID = "wrong-id"
	Useless           ID = "useless"
	SecondPerson      ID = "second-person"
	Reconstruction    ID = "reconstruction"
	SamePeople        ID = "same-people"
	Withdrawn         ID = "withdrawn"
	TooLateToWithdraw ID = "too-late-to-withdraw"
	Released          ID = "released"
	NobodyLeft        ID = "nobody-left"
	IdentityRetired   ID = "identity-retired"
	RunsHere          ID = "runs-here"
	Purged            ID = "purged"
	NotEnded          ID = "not-ended"
	ResultStands      ID = "result-stands"
	NotLater          ID = "not-later"
	SecretMatrix      ID = "secret-matrix"
	NoQueries         ID = "no-queries"
	QueriesAsked      ID = "queries-asked"

	// Parties that disagree.
	Disagree        ID = "disagree"
	OtherMeaning    ID = "other-meaning"
	OtherBoard      ID = "other-board"
	OtherAgreement  ID = "other-agreement"
	OtherTranscript ID = "other-transcript"
	OtherRound      ID = "other-round"
	OtherInterim    ID = "other-interim"
	OtherSeed       ID = "other-seed"
	OtherRowKeys    ID = "other-row-keys"
	PeerVersion     ID = "peer-version"
	PeerConflict    ID = "peer-conflict"

	// The way to the aggregator.
	Unreachable      ID = "unreachable"
	Stranger         ID = "stranger"
	CertificateDates ID = "certificate-dates"
	Uncertified      ID = "uncertified"
	NotAdmitted      ID = "not-admitted"
	InvitationForm   ID = "invitation-form"
	Uninvited        ID = "uninvited"
	InvitationSpent  ID = "invitation-spent"
	Interrupted      ID = "interrupted"
	BadAnswer        ID = "bad-answer"
	PeerRefuses      ID = "peer-refuses"
	UnknownStudy     ID = "unknown-study"
	PeerLacks        ID = "peer-lacks"
	PeerBusy         ID = "peer-busy"
	WebhookRefuses   ID = "webhook-refuses"
	PeerFailed       ID = "peer-failed"
	PeerInvalid      ID = "peer-invalid"

	// Waits that timed out.
	Waited         ID = "waited"
	DeadlinePassed ID = "deadline-passed"
	ClocksDiffer   ID = "clocks-differ"
	Cancelled      ID = "cancelled"
	OutOfTime      ID = "out-of-time"
	Signalled      ID = "signalled"
	Unlisted       ID = "unlisted"
	Unintroduced   ID = "unintroduced"
	Unanswered     ID = "unanswered"
	NotAgreed      ID = "not-agreed"
	NoSeed         ID = "no-seed"
	NothingHeld    ID = "nothing-held"
	NothingKept    ID = "nothing-kept"
	KeptNoMore     ID = "kept-no-more"
	NoModel        ID = "no-model"
	NoMailbox      ID = "no-mailbox"
	NoResultHere   ID = "no-result-here"
	NoResult       ID = "no-result"
	NoRelease      ID = "no-release"

	// Studies that have ended on this node, or cannot go on.
	StudyFailed       ID = "study-failed"
	Stopped           ID = "stopped"
	Struck            ID = "struck"
	LeftOut           ID = "left-out"
	PeerFault         ID = "peer-fault"
	MaskedSum         ID = "masked-sum"
	VoidAttempt       ID = "void-attempt"
	BadResult         ID = "bad-result"
	RolledBack        ID = "rolled-back"
	BoardRewritten    ID = "board-rewritten"
	QueryLost         ID = "query-lost"
	ResultChanged     ID = "result-changed"
	TooManyFurther    ID = "too-many-further"
	BadFirstLook      ID = "bad-first-look"
	AuditInconclusive ID = "audit-inconclusive"
	AuditFailed       ID = "audit-failed"

	// The study file, the site file and data.
	StudyFile       ID = "study-file"
	SiteFile        ID = "site-file"
	ConfigFile      ID = "config-file"
	DataFile        ID = "data-file"
	NoColumn        ID = "no-column"
	Expired         ID = "expired"
	OtherAggregator ID = "other-aggregator"
	NotListed       ID = "not-listed"
	NoSketch        ID = "no-sketch"
	DataChanged     ID = "data-changed"
	DataElsewhere   ID = "data-elsewhere"
	BadJob          ID = "bad-job"
	PartDamaged     ID = "part-damaged"
	PartForeign     ID = "part-foreign"
	PartsIncomplete ID = "parts-incomplete"
	PartsAlone      ID = "parts-alone"
	ReleaseSize     ID = "release-size"
	HeldStale       ID = "held-stale"
	Unanswerable    ID = "unanswerable"
	NothingToAttack ID = "nothing-to-attack"
	MemoryLimit     ID = "memory-limit"
	Quota           ID = "quota"
	NoAnswer        ID = "no-answer"

	// Stored state.
	NoState       ID = "no-state"
	OtherLayout   ID = "other-layout"
	LedgerMissing ID = "ledger-missing"
	LedgerBroken  ID = "ledger-broken"
	LogBroken     ID = "log-broken"
	StateDamaged  ID = "state-damaged"
	StudyDamaged  ID = "study-damaged"
	StudyChanged  ID = "study-changed"
	HeldDamaged   ID = "held-damaged"
	OtherIdentity ID = "other-identity"
	NotInStore    ID = "not-in-store"
	Ambiguous     ID = "ambiguous"
	StoreConflict ID = "store-conflict"
	StudyServed   ID = "study-served"
	StateServed   ID = "state-served"
	Busy          ID = "busy"
	OpenToOthers  ID = "open-to-others"
	NotABackup    ID = "not-backup"

	// Bundles, carried by hand.
	NotABundle      ID = "not-bundle"
	BundleDamaged   ID = "bundle-damaged"
	BundleCutOff    ID = "bundle-cut-off"
	BundleElsewhere ID = "bundle-elsewhere"
	BundleTooLarge  ID = "bundle-too-large"
	BadMailbox      ID = "bad-mailbox"
	InboxRefused    ID = "inbox-refused"

	// The machine.
	DiskFull      ID = "disk-full"
	DiskReadOnly  ID = "disk-read-only"
	DiskFails     ID = "disk-fails"
	NotPermitted  ID = "not-permitted"
	KeepingFailed ID = "keeping-failed"
	Panic         ID = "panic"

	// The API, and pages.
	APIBadRequest         ID = "api-bad-request"
	APINoStudyID          ID = "api-no-study-id"
	APINoPath             ID = "api-no-path"
	APIMethod             ID = "api-method"
	APIWrongHost          ID = "api-wrong-host"
	APINotHere            ID = "api-not-here"
	APINoResult           ID = "api-no-result"
	APINoSuchResult       ID = "api-no-such-result"
	APINoFile             ID = "api-no-file"
	APIDamaged            ID = "api-damaged"
	APINoToken            ID = "api-no-token"
	APIBadToken           ID = "api-bad-token"
	APISessionOver        ID = "api-session-over"
	APIForbidden          ID = "api-forbidden"
	APITooManyConnections ID = "api-too-many-connections"
	APITooManyRequests    ID = "api-too-many-requests"
	APIFailed             ID = "api-failed"
)

// Rows returns all rows, in the order of the page made from them.
func Rows() []Row { return slices.Clone(rows) }

var rows = []Row{

	// The privacy budget.
	{ID: BudgetExceeded, Exit: Budget, Message: "the release would exceed the cap of the dataset, or the cap is void", Remedy: "ask for less, or raise the cap: party advanced budget cap DATASET UNIT EPSILON DELTA"},
	{ID: NoBudget, Exit: Budget, Message: "dataset %[1]q has no cap, so nothing of it may be released with noise", Remedy: "party advanced budget cap %[1]s %[2]s EPSILON DELTA"},
	{ID: LedgerRolledBack, Exit: Budget, Message: "the privacy ledger here is not the newest: releases signed for aggregator %[1]s: %[2]d, in this ledger: %[3]d at most. Nothing was sent", Remedy: "restore the newest backup of the state directory; if there is none, make a new identity with `party init --state NEWDIR`, and lower the caps in its site file by what those releases spent"},

	// Decisions that are missing or were negative.
	{ID: NotApproved, Exit: Refused, Message: "the study is not approved here", Remedy: "party study explain %[1]s, then party study approve %[1]s; an edited file is another study, which needs its own approval"},
	{ID: NoTerminal, Exit: Refused, Message: "not approved: there is no terminal to ask at", Remedy: "answer with --id and the first eight characters of the study's id"},
	{ID: WrongID, Exit: Refused, Message: "not approved: %[1]q is not the beginning of the id of study %[2]s (at least eight characters)", Remedy: "compare the id with the other organisations, then party study approve again"},
	{ID: Useless, Exit: Refused, Message: "not approved: nothing that study %[1]s (%[2]s) asks is usable as it stands, and privacy would be spent for nothing", Remedy: "party study plan %[2]s says what would help, --although-useless approves it as it is"},
	{ID: SecondPerson, Exit: Refused, Message: "study %[1]s has one person's approval, and %[2]s asks for a second (one of approval.second)", Remedy: "party advanced study cosign %[1]s --key THEIR-KEY, and party study approve %[1]s --cosigned FILE"},
	{ID: Reconstruction, Exit: Refused, Message: "refused to release without noise: %[1]s (%[2]s)", Remedy: "only the steward can overrule this, by accept_reconstruction: true under this study (%[3]s) in the site file"},
	{ID: SamePeople, Exit: Refused, Message: "dataset %[1]q is about people of dataset %[2]q, of which releases were made: %[3]s. Their budget is kept under that name", Remedy: "use it: party data use %[2]s STUDY. If they are other people, say why under %[1]s in the site file: apart_from: {%[2]s: REASON}"},
	{ID: Withdrawn, Exit: Refused, Message: "this party has withdrawn from the study", Remedy: "a withdrawal is final: ask the operator to host the file again with another nonce, which makes it a new study"},
	{ID: TooLateToWithdraw, Exit: Refused, Message: "too late to withdraw from study %[1]s (%[2]s): this party has committed to the seed agreement", Remedy: "if the site file says release: ask, do not release; otherwise the study goes on"},
	{ID: Released, Exit: Refused, Message: "the release is stored, and a stored release cannot be changed: other records need a new study"},
	{ID: NobodyLeft, Exit: Refused, Message: "no record is left in the held sketch: there is nothing to release", Remedy: "party study withdraw"},
	{ID: IdentityRetired, Exit: Refused, Message: "this identity was retired", Remedy: "use the state directory of its successor, with --state"},
	{ID: RunsHere, Exit: Refused, Message: "study %[1]s (%[2]s) runs under this identity", Remedy: "let it end first, or withdraw"},
	{ID: Purged, Exit: Refused, Message: "the study's sketches were purged", Remedy: "its results stay; further questions need a new study"},
	{ID: NotEnded, Exit: Refused, Message: "study %[1]s takes releases or queries until %[2]s: its sketches are needed until then", Remedy: "purge it after that"},
	{ID: ResultStands, Exit: Refused, Message: "the study has a signed result, which stands: only a study without one can be cancelled"},
	{ID: NotLater, Exit: Refused, Message: "the study's parties did not agree to this analysis: their file lists under later what may be asked beside its own", Remedy: "ask for a kind that is listed there, or make a new study"},
	{ID: SecretMatrix, Exit: Refused, Message: "study %[1]q keeps its matrix R secret, so vectors cannot be placed among its records: its parties have not approved matrix: public", Remedy: "a new study with matrix: public"},
	{ID: NoQueries, Exit: Refused, Message: "the study's parties have approved no queries", Remedy: "a new study whose file has queries"},
	{ID: QueriesAsked, Exit: Refused, Message: "all queries that the study's parties approved have been asked", Remedy: "further queries need a new study"},

	// Parties that disagree.
	{ID: Disagree, Exit: Disagreement, Message: "two nodes differ on the protocol's version, the study or the seed: the message names both and what each has", DefersTo: anything},
	{ID: OtherMeaning, Exit: Disagreement, Message: "a node reads the study file differently (another version of the software?)", Remedy: "install the same version everywhere"},
	{ID: OtherBoard, Exit: Disagreement, Message: "a message's sender saw another board than this node", Remedy: "tell the other parties, and compare the boards; until this is explained, trust neither the aggregator nor the connection to it"},
	{ID: OtherAgreement, Exit: Disagreement, Message: "release was made under another agreement (T2 differs)", Remedy: "run again; if it stays, tell the operator"},
	{ID: OtherRound, Exit: Disagreement, Message: "a release contains another first round than the one its sender posted", Remedy: "the party that sent it must release what it posted"},
	{ID: OtherInterim, Exit: Disagreement, Message: "what the aggregator says of the first round does not follow from it", Remedy: "compare versions with the operator; a new study can begin"},
	{ID: OtherTranscript, Exit: Disagreement, Message: "message belongs to another transcript: its sender saw other messages than this node", Remedy: "tell the other parties"},
	{ID: OtherSeed, Exit: Disagreement, Message: "confirmation is under another seed", Remedy: "wait: that member is left out, and the others agree anew"},
	{ID: OtherRowKeys, Exit: Disagreement, Message: "confirmation is of other public row keys", Remedy: "install the same version everywhere"},
	{ID: PeerVersion, Exit: Disagreement, Message: "version: the other side does not know this call", Remedy: "update the older of the two programs", DefersTo: anything},
	{ID: PeerConflict, Exit: Disagreement, Message: "conflict: what was sent contradicts what the other side stored before", Remedy: "party doctor compares the two"},

	// The way to the aggregator.
	{ID: Unreachable, Exit: Connection, Message: "peer unreachable", Remedy: "party doctor STUDY tries every address and says which step fails", DefersTo: toIDs(Stranger, CertificateDates, Uncertified)},
	{ID: Stranger, Exit: Connection, Message: "somebody else listens there", Remedy: "are port and peer id right? ask the operator at which addresses it serves"},
	{ID: CertificateDates, Exit: Connection, Message: "the certificates' dates do not fit", Remedy: "does this clock, or theirs, differ by an hour or more? let a time service set it, such as timedatectl set-ntp true"},
	{ID: Uncertified, Exit: Connection, Message: "the outer TLS is not certified for this machine", Remedy: "give this machine the certificate of its proxy's authority"},
	{ID: NotAdmitted, Exit: Connection, Message: "peer does not admit this node", Remedy: "does a study there list this node's id? party identity prints it; ask the operator whether this very file is hosted there"},
	{ID: InvitationForm, Exit: Usage, Message: "the invitation in the address is incomplete", Remedy: "copy all of the operator's line: it ends with /invitation/, 8 characters, _ and 22 more"},
	{ID: Uninvited, Exit: Connection, Message: "the aggregator does not take this invitation", Remedy: "is the address complete? ask the operator for another invitation, or send the introduction as a file"},
	{ID: InvitationSpent, Exit: Connection, Message: "the invitation is spent: it has brought another introduction", Remedy: "ask the operator for another one; if nobody here has used it, say so"},
	{ID: Interrupted, Exit: Connection, Message: "connection lost during the call", Remedy: "run the same command again"},
	{ID: BadAnswer, Exit: Connection, Message: "aggregator %[1]s did not give a valid answer to %[2]s", Remedy: "is its program of another version?"},
	{ID: PeerRefuses, Exit: Connection, Message: "refused: the other side does not permit it, or not now"},
	{ID: UnknownStudy, Exit: Connection, Message: "unknown study: the aggregator does not host it", Remedy: "its operator hosts it by aggregator study host with this very file"},
	{ID: PeerLacks, Exit: Connection, Message: "not found: the aggregator knows the study, but lacks what was asked for"},
	{ID: PeerBusy, Exit: Connection, Message: "busy: the other side has no room or no time for it now", Remedy: "try again later"},
	{ID: WebhookRefuses, Exit: Connection, Message: "webhook %[1]s does not take a message", Remedy: "does the receiver run at the url under webhooks, has it the same secret, and does it answer 2xx within ten seconds?"},
	{ID: PeerFailed, Exit: Failed, Message: "internal error of the other side", Remedy: "its operator finds the cause in its log"},
	{ID: PeerInvalid, Exit: Failed, Message: "invalid request: the other side cannot read it, or it is too large", Remedy: "compare versions with the operator"},

	// Waits that timed out.
	{ID: Waited, Exit: Absent, Message: "timed out waiting for %[1]s", DefersTo: gravely},
	{ID: DeadlinePassed, Exit: Absent, Message: "%[1]s did not come before %[2]s", Remedy: "a new study, with later dates"},
	{ID: ClocksDiffer, Exit: Absent, Message: "this clock differs from the aggregator's, and a date ended or refused something", Remedy: "let a time service set the one that is wrong, such as timedatectl set-ntp true", DefersTo: anything},
	{ID: Cancelled, Exit: Absent, Message: "context canceled", DefersTo: anything},
	{ID: OutOfTime, Exit: Absent, Message: "context deadline exceeded", Remedy: "try again, or wait longer", DefersTo: anything},
	{ID: Signalled, Exit: Signal, Message: "interrupted", Remedy: "what was done is kept, and the same command goes on"},
	{ID: Unanswered, Exit: Usage, Message: "%[1]s has no answer to: %[2]s", Remedy: "a line each; party join --help and aggregator invite --help show them"},
	{ID: Unlisted, Exit: Absent, Message: "no study at this aggregator lists this party yet", Remedy: "hand the introduction to the operator; party join goes on once a study lists this party"},
	{ID: Unintroduced, Exit: Absent, Message: "no introduction has come yet", Remedy: "the parties' stewards make them by party join; hand those that come as files to aggregator invite"},
	{ID: NotAgreed, Exit: Absent, Message: "the parties have not agreed on the seed yet", Remedy: "party status says what is waited for"},
	{ID: NoSeed, Exit: Absent, Message: "this party holds no seed of the study: the parties have not agreed on it yet, or the study has ended here", Remedy: "party status says what is waited for"},
	{ID: NothingHeld, Exit: Absent, Message: "nothing is held yet", Remedy: "party run makes the sketch"},
	{ID: NothingKept, Exit: Absent, Message: "this party keeps nothing of the study's seed: the study does not say new_records_until, or the parties have not agreed on the seed yet"},
	{ID: KeptNoMore, Exit: Absent, Message: "new records could be placed until the study's new_records_until; the key for them is destroyed", Remedy: "a new study"},
	{ID: NoModel, Exit: Absent, Message: "the study's result has no model for new records", Remedy: "ask for another analysis, if the study's later lists it"},
	{ID: NoMailbox, Exit: Absent, Message: "the party has sent no bundle yet", Remedy: "party advanced export writes one"},
	{ID: NoResultHere, Exit: Absent, Message: "study %[1]s (%[2]s) has no result here yet", Remedy: "party run %[2]s fetches it"},
	{ID: NoResult, Exit: Absent, Message: "study %[1]s (%[2]s) has no result yet, so nothing can be asked of it", Remedy: "aggregator status %[2]s says what it waits for"},
	{ID: NoRelease, Exit: Absent, Message: "study %[1]s (%[2]s) has no release here yet", Remedy: "party run %[2]s makes it"},

	// Studies that have ended on this node, or cannot go on.
	{ID: StudyFailed, Exit: Failed, Message: "the study has failed for good on this node", DefersTo: anything},
	{ID: Stopped, Exit: Failed, Message: "the aggregator stopped the study at %[1]s", Remedy: "a new study, with later dates or a smaller quorum", DefersTo: to(Disagreement)},
	{ID: Struck, Exit: Failed, Message: "this party was struck from the roster", Remedy: "compare versions and clocks, and talk to the operator; a new study", DefersTo: to(Disagreement)},
	{ID: LeftOut, Exit: Failed, Message: "the aggregator closed the study before this party's release arrived", Remedy: "with late_until it still counts; else a new study"},
	{ID: PeerFault, Exit: Failed, Message: "another node sent a wrong message: the error names it, and the study records it", DefersTo: to(Disagreement)},
	{ID: MaskedSum, Exit: Failed, Message: "the masked sum is out of range: a party released something other than its masked sketch, and nobody can tell which party", Remedy: "talk to all parties; a new study"},
	{ID: VoidAttempt, Exit: Failed, Message: "a member's masked release did not arrive, so the sum of the others is useless", Remedy: "wait: the others agree anew, while attempts are left"},
	{ID: BadResult, Exit: Failed, Message: "aggregator %[1]s signed document %[2]s as a result, and it is not one of this study", Remedy: "it is not fetched again; compare versions with the aggregator's operator"},
	{ID: RolledBack, Exit: Failed, Message: "the board holds a message of ours that our store lacks: the store was rolled back; only a withdrawal can follow", Remedy: "restore the newest backup; without one, party study withdraw"},
	{ID: BoardRewritten, Exit: Failed, Message: "the board does not extend the one that was seen before: the aggregator was restored from an old backup, or shows two boards (ask its operator)"},
	{ID: QueryLost, Exit: Failed, Message: "the aggregator holds a query of ours that our store lacks: the store was rolled back, and asking again could release twice", Remedy: "restore the newest backup"},
	{ID: ResultChanged, Exit: Failed, Message: "the stored result is not what the aggregator signed: it was changed or damaged here", Remedy: "party advanced fsck says what else is damaged; restore a backup, or party result STUDY --fetch"},
	{ID: TooManyFurther, Exit: Failed, Message: "more further results of the study than a party keeps", Remedy: "ask the aggregator's operator what they are for; those that are here stay"},
	{ID: BadFirstLook, Exit: Failed, Message: "the stored first look at the data cannot be used", Remedy: "party advanced fsck looks for other damage; if you remove the named file, the next run takes another look at no further cost"},
	{ID: AuditInconclusive, Exit: Failed, Message: "the audit is inconclusive: so few trials would have let half of the noise pass", Remedy: "run more trials: --trials N"},
	{ID: AuditFailed, Exit: Failed, Message: "the audit failed: a release would give away more than the study claims", Remedy: "do not release, and report this with the output above"},

	// The study file, the site file and data.
	{ID: StudyFile, Exit: Usage, Message: "a study file with mistakes: every one with its line, key and what to do"},
	{ID: ConfigFile, Exit: Usage, Message: "a site file or an aggregator's configuration with a mistake: its file, line and key, and what is wrong there"},
	{ID: SiteFile, Exit: Usage, Message: "the site file does not answer the study", DefersTo: anything},
	{ID: DataFile, Exit: Usage, Message: `reading FILE:LINE: column "NAME": what is wrong there, and in brackets what to do; never a value or a record id`, DefersTo: anything},
	{ID: NoColumn, Exit: Usage, Message: "no column %[1]s", Remedy: "if it has another name in the data: party data use NAME STUDY --column STUDYS=DATAS"},
	{ID: Expired, Exit: Usage, Message: "study %[1]s (%[2]s) has expired: approval closed at %[3]s, and it is %[4]s by this machine's clock", Remedy: "write a study file with later dates: it is another study; if this clock is wrong, set it: party doctor compares it with the aggregator's"},
	{ID: OtherAggregator, Exit: Usage, Message: "study %[1]s names the aggregator %[2]s; this node is %[3]s", Remedy: "aggregator identity prints the lines for the study file"},
	{ID: NotListed, Exit: Usage, Message: "study %[1]s (%[2]s) does not list this party; its peer id is %[3]s", Remedy: "tell the operator; a study with another id is another study"},
	{ID: NoSketch, Exit: Usage, Message: "no choice of sketches answers these analyses in a study of this partition", Remedy: "ask for fewer analyses, or take the other partition"},
	{ID: DataChanged, Exit: Usage, Message: "the file changed while it was being read", Remedy: "run it again when nothing writes to the file"},
	{ID: DataElsewhere, Exit: Usage, Message: "the data are stored elsewhere (%[1]s), and this node does not read them", Remedy: "party advanced sketch STUDY --job FILE writes a job file; run party advanced part with it where the data are"},
	{ID: BadJob, Exit: Usage, Message: "it cannot be used as a job: %[1]s", Remedy: "party advanced sketch STUDY --job FILE writes one at the node"},
	{ID: PartDamaged, Exit: Usage, Message: "the part is damaged: %[1]s", Remedy: "nothing was changed; make it again: party advanced part"},
	{ID: PartForeign, Exit: Usage, Message: "the part belongs to another job: %[1]s", Remedy: "nothing was changed; leave the part out, or make it again with the job file that party advanced sketch STUDY --job FILE writes"},
	{ID: PartsIncomplete, Exit: Usage, Message: "shards are missing, given twice or numbered differently: %[1]s", Remedy: "nothing was changed; make each shard once: party advanced part --shard 1/N to N/N"},
	{ID: PartsAlone, Exit: Usage, Message: "in a vertical study a party has only its part of each record, and one part alone has no answer"},
	{ID: ReleaseSize, Exit: Usage, Message: "other nodes would refuse a release of %[1]d records", Remedy: "give fewer records, or ask for a study of fewer or smaller sketches"},
	{ID: HeldStale, Exit: Usage, Message: "data or site file have changed since the held sketch was made", Remedy: "party advanced sketch --rebuild reads all data afresh; records that were withdrawn stay out"},
	{ID: Unanswerable, Exit: Usage, Message: "the releases do not give this answer: the message says why; other answers stand", DefersTo: anything},
	{ID: NothingToAttack, Exit: Usage, Message: "the attack cannot be tried: %[1]s"},
	{ID: MemoryLimit, Exit: Usage, Message: "the study's releases take about %[1]d MiB of memory, and the limit is %[2]d MiB", Remedy: "analysis: memory_mib in the configuration file"},
	{ID: Quota, Exit: Usage, Message: "%[1]s take about %[2]d MiB of %[3]s at the aggregator, and it allows %[4]d MiB", Remedy: "%[5]s in its configuration file"},
	{ID: NoAnswer, Exit: Usage, Message: "no answer"},

	// Stored state.
	{ID: NoState, Exit: Usage, Message: "no state directory", Remedy: "party init or aggregator init makes one; --state names another place"},
	{ID: OtherLayout, Exit: Usage, Message: "the state directory is of another version", Remedy: "use the program of that version, or restore the backup from before the upgrade into a new directory"},
	{ID: LedgerMissing, Exit: Usage, Message: "the privacy ledger of this identity is missing", Remedy: "restore the directory from its newest backup; if there is none, make a new identity with `party init --state NEWDIR` and lower the caps in its site file by what was spent"},
	{ID: LedgerBroken, Exit: Usage, Message: "ledger broken at entry %[1]d", Remedy: "restore the newest backup that verifies"},
	{ID: LogBroken, Exit: Usage, Message: "the audit log is broken at entry %[1]d", Remedy: "the hash chain proves the entries before it, not those after it"},
	{ID: StateDamaged, Exit: Usage, Message: "state.db is damaged", Remedy: "restore the newest backup into a new directory, and compare by fsck"},
	{ID: StudyDamaged, Exit: Usage, Message: "the stored %[1]s of study %[2]s is damaged", Remedy: "restore the newest backup into a new directory; fsck says what else is wrong; an operator can also give the study up: aggregator study cancel %[2]s"},
	{ID: StudyChanged, Exit: Usage, Message: "the stored study file was changed after it was added", Remedy: "restore the newest backup; fsck says what else is wrong"},
	{ID: HeldDamaged, Exit: Usage, Message: "the held sketch is damaged: %[1]s", Remedy: "restore the state directory from a backup; while manifest and withdrawn ids are sound, party advanced sketch --rebuild reads the data afresh"},
	{ID: OtherIdentity, Exit: Usage, Message: "identity.key is not this directory's: what is stored here was signed by %[1]s, and the key is that of %[2]s", Remedy: "were two nodes' key files swapped? put its own back"},
	{ID: NotInStore, Exit: Usage, Message: "not in this store", Remedy: "status lists the studies that are here"},
	{ID: Ambiguous, Exit: Usage, Message: "ambiguous", Remedy: "give more characters"},
	{ID: StoreConflict, Exit: Usage, Message: "contradicts what is stored"},
	{ID: StudyServed, Exit: Usage, Message: "another process serves this study", Remedy: "a serve or run on the same state directory: leave the study to it, or stop it first"},
	{ID: StateServed, Exit: Usage, Message: "another serve works on this state directory", Remedy: "stop it first, or name another directory with --state"},
	{ID: Busy, Exit: Usage, Message: "another process works on it", Remedy: "try again when it is done"},
	{ID: OpenToOthers, Exit: Usage, Message: "open to other users", Remedy: "chmod as the message says"},
	{ID: NotABackup, Exit: Usage, Message: "not a whole backup", Remedy: "take another backup"},

	// Bundles, carried by hand.
	{ID: NotABundle, Exit: Usage, Message: "not a bundle", Remedy: "give a file that export wrote at the other node"},
	{ID: BundleDamaged, Exit: Usage, Message: "the bundle is damaged, or sealed to another key", Remedy: "export it again"},
	{ID: BundleCutOff, Exit: Usage, Message: "the bundle is cut off", Remedy: "copy it again"},
	{ID: BundleElsewhere, Exit: Usage, Message: "the bundle is not for this node", Remedy: "were two nodes' bundles swapped?"},
	{ID: BundleTooLarge, Exit: Usage, Message: "the bundle is larger than a bundle may be", Remedy: "the operator looks into what wrote it; larger results travel over the network"},
	{ID: BadMailbox, Exit: Usage, Message: "the mailbox of %[1]s in study %[2]s cannot be used", Remedy: "party advanced export writes another"},
	{ID: InboxRefused, Exit: Usage, Message: "the serving aggregator did not take it: %[1]s"},

	// The machine.
	{ID: DiskFull, Exit: Usage, Message: "no space left on device", Remedy: "make room and run the same command again: what is stored is whole, and it goes on from there; a node that serves goes on by itself"},
	{ID: DiskReadOnly, Exit: Usage, Message: "read-only file system", Remedy: "make the disk writable, or name a place on another one, and run the same command again; a node that serves goes on by itself"},
	{ID: DiskFails, Exit: Internal, Message: "input/output error", Remedy: "the disk fails, or is full: look into the system's log; fsck says whether what is stored is whole"},
	{ID: NotPermitted, Exit: Usage, Message: "permission denied", Remedy: "run it as the user whose files these are, or give them to this one"},
	{ID: KeepingFailed, Exit: Internal, Message: "storing a part of the result: the aggregator's disk", Remedy: "the part will be computed again, without a command", DefersTo: anything},
	{ID: Panic, Exit: Internal, Message: "internal error: %[1]s", Remedy: "this is a bug: report it with the stack from the log"},

	// The API, and pages.
	{ID: APIBadRequest, Exit: Usage, Message: "the request cannot be read: %[1]s"},
	{ID: APINoStudyID, Exit: Usage, Message: "%.80[1]q is not the id of a study", Remedy: "give its 64 hexadecimal digits"},
	{ID: APINoPath, Exit: Usage, Message: "this API has no path %[1]s", Remedy: "/api/v1/openapi.json lists its paths"},
	{ID: APIMethod, Exit: Usage, Message: "this path does not accept the method %.20[1]q", Remedy: "/api/v1/openapi.json lists the methods"},
	{ID: APIWrongHost, Exit: Usage, Message: "this server does not answer to the name %.80[1]q", Remedy: "http: hosts in its configuration lists the names"},
	{ID: APINotHere, Exit: Absent, Message: "%[1]s is not here", Remedy: "/api/v1/studies lists the studies, and each names its results"},
	{ID: APINoResult, Exit: Absent, Message: "the study has no result yet: it %[1]s", Remedy: "ask again later"},
	{ID: APINoSuchResult, Exit: Absent, Message: "the study has no result %.80[1]q", Remedy: "/api/v1/studies/%[2]s/results lists those that it has"},
	{ID: APINoFile, Exit: Absent, Message: "the result has no file %.80[1]q", Remedy: "the list of files names those that it has"},
	{ID: APIDamaged, Exit: Failed, Message: "this study is damaged here, and cannot be shown", Remedy: "its operator restores a backup, or gives it up"},
	{ID: APINoToken, Exit: Refused, Message: "this needs a token", Remedy: "aggregator token create makes one; send Authorization: Bearer TOKEN"},
	{ID: APIBadToken, Exit: Refused, Message: "the token is not valid: it may be misspelt, revoked or expired", Remedy: "aggregator token list shows those that are"},
	{ID: APISessionOver, Exit: Refused, Message: "the session has ended, or its token was revoked", Remedy: "sign in again"},
	{ID: APIForbidden, Exit: Refused, Message: "this token has %[1]s; this needs %[2]s", Remedy: "aggregator token create --scope %[2]s"},
	{ID: APITooManyConnections, Exit: Connection, Message: "this server has %[1]d connections open, or %[2]d from your address, and takes no more", Remedy: "try again in two seconds"},
	{ID: APITooManyRequests, Exit: Connection, Message: "this server answers %[1]d requests of this kind at once, %[2]d from one address, and is at that limit", Remedy: "try again in two seconds"},
	{ID: APIFailed, Exit: Internal, Message: "this aggregator could not answer", Remedy: "its log says why"},
}

// anything is the Yields of a row that only says where something was wrong.
func anything(Row) bool { return true }

// to returns a Yields for the rows of some exit codes.
func to(exits ...Exit) func(Row) bool {
	return func(r Row) bool { return slices.Contains(exits, r.Exit) }
}

// toIDs returns a Yields for some rows.
func toIDs(ids ...ID) func(Row) bool {
	return func(r Row) bool { return slices.Contains(ids, r.ID) }
}

// gravely yields to errors that waiting cannot mend. With any other last error, a wait that timed
// out means that something was not there in time.
func gravely(r Row) bool {
	return r.ID == NotAdmitted || to(Refused, Budget, Disagreement)(r)
}
