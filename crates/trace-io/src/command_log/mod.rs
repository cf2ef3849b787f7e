//! Command logs: the command stream of a run as CSV, after a header with all parameters needed to
//! check it.
//!
//! ```text
//! # rowclone-sim command log, version 1
//! # bin = 1066G                          a speed bin of dram_spec::standard, which names the standard
//! # density_gb = 2                       of a chip: one of the densities of the standard
//! # width = 8                            data pins of a chip: 4, 8 or 16
//! # channels = 1
//! # ranks = 1                            of a channel
//! # row_bytes = 8192                     of a rank
//! # rows_per_subarray = 512
//! # t_refi_ps = 7800000                  or `# refresh = off`
//! # refresh_mode = 2x                    only if it is not the first of the standard
//! # reference_cycle = second             only in a standard with commands of two cycles
//! # copy_activations = counted           or `free`: whether tRRD and tFAW see them
//! # precharge_power_down = fast-exit     or `slow-exit`
//! # dialect = rowclone                   or `jedec`
//! # start = idle                         all banks closed, all ranks awake, no refresh owed
//! # end_cycle = 48                       or `unknown`: the run was cut short
//! cycle,command,channel,rank,bank,row,column,dst_bank,dst_column
//! 0,ACT,0,0,3,45,,,
//! 8,RD,0,0,3,,17,,
//! 40,REF,0,0,,,,,
//! ```
//!
//! (Without the remarks on the right.) Keys may occur in any order. All numbers are decimal. A
//! column is a burst of 64 bytes. Cells that a command does not use are empty. A TRANSFER copies
//! from `bank` and `column` to `dst_bank` and `dst_column` of its rank. After the header, blank
//! lines and lines that begin with `#` are ignored.

mod cell;
mod header;
mod reader;
mod writer;

pub use header::LogHeader;
pub use reader::LogReader;
pub use writer::LogWriter;

/// First line.
const VERSION_LINE: &str = "# rowclone-sim command log, version 1";

/// Cells of a command, in order.
const COLUMNS: [&str; 9] = ["cycle", "command", "channel", "rank", "bank", "row", "column", "dst_bank", "dst_column"];
