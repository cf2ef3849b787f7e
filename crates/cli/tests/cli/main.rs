//! The program and its input, tested from outside.

#![expect(clippy::unwrap_used, reason = "what a test cannot set up is a failure of the test")]

mod any_bytes;
mod check_command;
mod check_traces;
mod command_line;
mod common;
mod compare;
mod conversions;
mod convert_memory;
mod copiers;
mod copyengine;
mod ddr3_rules;
mod every_key;
mod explain_address;
mod explain_energy;
mod explain_timeline;
mod fastcopy;
mod figures;
mod files_of_a_run;
mod first_screens;
mod hazards;
mod injection;
mod ioat;
mod lisa;
mod made_workloads;
mod malformed_scenarios;
mod malformed_sweeps;
mod malformed_systems;
mod multicore;
mod offered_load;
mod output;
mod pages_of_keys;
mod pages_of_rules;
mod plot_command;
mod plots_of_a_file;
mod plots_of_anything;
mod programs;
mod programs_in_scenarios;
mod reasons;
#[cfg(unix)]
mod record;
mod recorded;
mod recordings;
mod reference;
mod reports;
mod requests;
mod rule_names;
mod run_trace;
mod shapes_of_sweeps;
mod shipped_files;
mod standards;
mod sweeps;
mod sweeps_journals;
mod sweeps_of_traces;
mod sweeps_placements;
#[cfg(unix)]
mod sweeps_slurm;
mod sweeps_stopped;
mod table3;
mod timelines;
mod trace_info;
mod traces_from_pipes;
mod tutorial;
mod units;
mod weighing_policies;
