//! Turns results into what people look at: tables, JSON, CSV. Reads results; computes no physics.

pub mod csv_file;
pub mod run_report;
pub mod run_tables;
pub mod table;
pub mod table3;

pub use run_report::{CheckReport, Comparison, OperationRow, RunInputs, RunReport, SCHEMA_VERSION, TraceReport};
pub use table3::{Published, Row3, Table3};
