//! Properties of the planner as a whole, and its results for single operations.

mod arbitrary;
mod boundaries;
mod memory;
mod parts;
mod properties;
mod verdicts;

use dram_spec::Row;

use crate::{Block, CopyStep, Mechanism, Program};

/// Programs of a block with a mechanism per part.
fn programs(block: &Block, choices: &[Mechanism], staging_lines: usize) -> Vec<Program> {
    let mut programs = Vec::new();
    block.programs(choices, staging_lines, |program| programs.push(program));
    programs
}

/// Bank and row of a row that a program opens; the second of 2 x PSM is the temporary row.
fn opened(program: &Program, number: usize) -> (u8, u32) {
    let open = |step: &CopyStep| {
        if let CopyStep::Open { bank, row: Row(row) } = *step { Some((bank.bank, row)) } else { None }
    };
    program.steps().filter_map(open).nth(number).expect("a program opens rows")
}
