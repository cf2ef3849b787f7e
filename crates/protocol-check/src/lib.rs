//! Reads the command stream and judges it: the second opinion.
//!
//! A controller that grades itself finds only crashes. This crate takes what everybody can see, the commands on the
//! wires and their instants, and decides from the written rules (`docs/rules.md`) and the datasheet's picoseconds
//! ([`dram_spec::datasheet`]) whether a DDR3 device could have obeyed. It depends on [`dram_spec`] alone and shares
//! neither a table nor an algorithm with the device model or the controller.
//!
//! # It pulls
//!
//! Nothing here says when a command *may* come. The [`Checker`] remembers what *has* come: for each bank, each rank and
//! each channel the last command of every sort that some rule can reach, and of the activations the last four. A
//! command is judged by looking back from it: `tRCD` asks the bank for its last ACT, subtracts, and compares. Then the
//! command joins the history. Because a rule's distance is the same for all pairs of commands that it binds, the nearest
//! earlier command is always the one to ask, and one memory per sort is enough: the work for a command and the memory for
//! a run are bounded, whatever the length of the run.
//!
//! ```text
//!   cycle     0      ...      7
//!           ACT b3          RD b3          RD:  tRCD   last ACT of b3?   0   7 - 0 = 7 < 8   broken, 1 short
//!             ▲───────────────┘                 tWTR   last WR of rank?  none
//!                                               bus    last command?     0   7 - 0 = 7 >= 1
//! ```
//!
//! # What it takes a bad command for
//!
//! A command may break several rules, each at most once; the command named beside it is the nearest one that the rule
//! reaches. (Of the maxima, PREA may break `tRAS-max` once for each bank.) After the verdict, a bad command is taken as
//! if it had been legal as far as that makes sense, so that one slip is reported as one slip:
//!
//! - what is too early or too late happens all the same, at its instant;
//! - a RD, WR or TRANSFER that finds a bank closed, a dropped activation, a TRANSFER within one bank or between ranks,
//!   and whatever names a rank or bank that does not exist only keep the command bus busy; but an ACT of a row, or a RD
//!   of a column, that does not exist is taken for one that does;
//! - in dialect `jedec`, an ACT to an open bank opens the new row, and every ACT is an ordinary one (so that a copy breaks
//!   `tRC` as well as `bank-open`); a TRANSFER is judged like anywhere else, beside `TRANSFER-jedec`;
//! - a command to a sleeping rank takes effect, but PDE and SRE leave it in the sleep it is in; PDX and SRX of a rank
//!   that is not in that sleep do nothing;
//! - after a command that is out of `order`, time goes on from its instant, and distances to what lies ahead of it are
//!   not judged.
//!
//! # Example
//!
//! ```
//! use dram_spec::{
//!     BankId, Channel, Command, CommandLog, CommandSink, CopyActivations, Cycle, Density, Dialect, Geometry,
//!     PrechargePowerDown, RawGeometry, Refresh, Row, SpeedBin, System, Width,
//! };
//! let raw = RawGeometry {
//!     channels: 1, ranks: 1, density: Density::Gb2, width: Width::X8, row_bytes: 4096, rows_per_subarray: 512,
//! };
//! let system = System {
//!     bin: SpeedBin::named("1066G").unwrap(),
//!     geometry: Geometry::try_from(raw).unwrap(),
//!     copy_activations: CopyActivations::Counted,
//!     precharge_power_down: PrechargePowerDown::FastExit,
//!     refresh: Refresh::Off,
//! };
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

mod checker;
mod history;
mod limits;
mod lookback;
pub mod planted;
mod refresh;
mod report;
mod rule;
mod verdict;
mod violation;

pub use checker::{Checker, audit};
pub use report::Report;
pub use rule::{Rule, Sort};
pub use violation::Violation;
