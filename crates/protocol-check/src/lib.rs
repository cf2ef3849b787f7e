//! An independent checker of DDR2, DDR3, DDR4, DDR5 and RowClone command streams.
//!
//! The crate reads the commands on the command bus and their cycles. It decides from the written rules
//! (`docs/rules.md`) and the datasheet's picoseconds ([`dram_spec::SpeedBin`]) whether a device would accept the
//! stream. Each standard has a table of its rules and their limits. The crate depends on [`dram_spec`] alone and shares
//! neither a table nor an algorithm with the device model or the controller, so that an error in them does not hide
//! itself.
//!
//! # Algorithm
//!
//! The device model computes the earliest legal cycle of a future command. The [`Checker`] does the opposite: it checks
//! each command by its distance from earlier commands. For each bank, bank group, rank and channel it stores the last
//! command of each kind that a rule refers to, and per rank the last four activations and the last REFs. For example,
//! `tRCD` at a RD subtracts the cycle of the bank's last ACT. Then the command is added to the history. All pairs of
//! commands of a rule have the same minimum, so the latest earlier command decides, and one stored command per kind is
//! enough. The work per command and the memory per run are bounded.
//!
//! ```text
//!   cycle     0      ...      7
//!           ACT b3          RD b3          RD:  tRCD   last ACT of b3    0      7 - 0 = 7 < 8    broken, 1 short
//!             ▲───────────────┘                 tWTR   last WR of rank   none   legal
//!                                               bus    last command      0      7 - 0 = 7 >= 1   legal
//! ```
//!
//! # Violating commands
//!
//! A command can break several rules, each of them once, and the violation names the latest earlier command that the
//! rule refers to. (A PREA can break `tRAS-max` once per bank.) After the check, a violating command is applied as
//! far as possible, so that one error in the stream gives few violations:
//!
//! - a command that is too early or too late has its usual effect, at its cycle;
//! - these commands occupy the command bus and have no other effect: a RD, WR or TRANSFER to a closed bank, a dropped
//!   activation, a TRANSFER within one bank or between ranks, and a command to a rank or bank that does not exist. An
//!   ACT of a row, or an access to a column, that does not exist has its usual effect;
//! - in dialect `jedec`, an ACT to an open bank opens the new row, and every ACT is an ordinary one (so that a copy
//!   breaks `tRC` as well as `bank-open`); a TRANSFER breaks `TRANSFER-jedec` and is otherwise checked as in
//!   `rowclone`;
//! - a command to a rank in power-down or self-refresh breaks `asleep`, or `awake` where it is the exit of the other
//!   state, and no other state rule of its rank and banks, because the rank does not decode it. It has its usual
//!   effect, but PDE and SRE do not change the power state, and PDX and SRX do not end a state that is not theirs;
//! - after a command that is out of `order`, time continues from its cycle. Distances to commands at later cycles are
//!   not checked.
//!
//! # Example
//!
//! ```
//! use dram_spec::{
//!     BankId, Channel, Command, CommandLog, Cycle, Density, Dialect, EventSink, Refresh, Row, System, Width,
//! };
//! let system = System { refresh: Refresh::Off, ..System::paper(1, Density::Gb2, Width::X8) };
//! let bank = BankId { rank: 0, bank: 3 };
//! let mut log = CommandLog::default();
//! log.push(Cycle(10), Channel(0), &Command::Activate { bank, row: Row(9) });
//! log.push(Cycle(29), Channel(0), &Command::Precharge { bank });
//! let found = protocol_check::audit(&system, Dialect::RowClone, &log);
//! assert_eq!(
//!     found[0].to_string(),
//!     "cycle 29, channel 0: PRE r0 b3 breaks tRAS: 19 clocks after ACT r0 b3 row 9 at cycle 10, needs 20 (1 short) \
//!      [JESD79-3: ACT to PRE]"
//! );
//! ```

mod check;
mod checker;
mod conformance;
mod history;
mod limits;
mod parameters;
mod refresh;
mod report;
mod rule;
mod same_bank;
mod standard;
mod violation;

pub use checker::{Checker, audit};
pub use report::ViolationReport;
pub use rule::{Rule, Sort};
pub use violation::Violation;
