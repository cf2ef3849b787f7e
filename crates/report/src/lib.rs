//! Turns results into what people look at: tables, JSON, CSV, plots. Reads results; computes no physics.

pub mod allocator_report;
pub mod csv_file;
pub mod figures;
pub mod plot;
mod result_tables;
pub mod run_report;
pub mod run_tables;
pub mod table;
pub mod table3;

pub use allocator_report::AllocatorReport;
pub use figures::{FiguresReport, Stretch};
pub use run_report::{
    CheckReport, Comparison, EpochReport, OperationRow, RunInputs, RunReport, SCHEMA_VERSION, ServedRow, TracePages,
    TraceReport,
};
pub use table3::{Published, Row3, Table3};
