//! Presentation of results: tables, JSON, CSV, Parquet, plots, timelines, and an HTML page. The crate computes no
//! physical quantities.

mod allocator_tables;
pub mod apps;
pub mod cell;
pub mod compare;
pub mod copy_engine;
pub mod csv_file;
pub mod csv_table;
pub mod decisions;
pub mod fast_copy;
pub mod first_screen;
pub mod forkbench;
pub mod injection;
pub mod ioat;
pub mod multicore;
pub mod page;
pub mod parquet_table;
pub mod plot;
pub mod plot_file;
pub mod programs;
pub mod published;
pub mod published_copies;
pub mod required;
mod result_tables;
pub mod run_cells;
pub mod run_report;
pub mod run_tables;
pub mod table;
#[cfg(test)]
mod tables_by_hand;
pub mod timeline;
pub mod warnings;
pub mod zeroing;

pub use cell::{Cell, CellColumn, CellKind};
pub use compare::CompareTable;
pub use csv_table::CsvTable;
pub use parquet_table::ParquetTable;
pub use run_report::{NO_CURRENT_SET, RunReport, SCHEMA_VERSION};
pub use timeline::Timeline;
