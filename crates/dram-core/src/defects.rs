//! Deliberate defects of the data path, to test that a memory check finds them.

use dram_spec::{BankId, Channel, Column, Row};

use crate::cells::{Background, Cells, LineBytes, Movement};

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Defect {
    /// A copy activation does not copy the row's last line.
    FpmLosesALine,
    /// A copy activation to another subarray is not dropped, and copies the row.
    FpmCrossesSubarrays,
    /// TRANSFER exchanges its source and destination columns.
    TransferSwapsColumns,
    /// All banks of a rank share the cells of one temporary row.
    SharedTemporaryRow,
}

/// Contents of a memory whose commands have a defect, if one is given.
#[derive(Clone, Debug)]
pub struct Defective<B>(pub B, pub Option<Defect>);

impl<B: Background> Background for Defective<B> {
    fn line(&self, channel: Channel, bank: BankId, row: Row, column: Column) -> LineBytes {
        self.0.line(channel, bank, row, column)
    }

    fn moved(&self, cells: &mut Cells, movement: Movement) {
        match (self.1, movement) {
            (Some(Defect::FpmLosesALine), Movement::Row { bank, dst, .. }) => {
                let last = Column(cells.geometry().columns() - 1);
                let kept = cells.line(bank, dst, last);
                cells.apply(movement);
                cells.write(bank, dst, last, &kept);
            }
            (Some(Defect::FpmCrossesSubarrays), Movement::Dropped { bank, open, row }) => {
                cells.apply(Movement::Row { bank, src: open, dst: row });
            }
            (Some(Defect::TransferSwapsColumns), Movement::Line { src, dst }) => {
                cells.apply(Movement::Line { src: (src.0, src.1, dst.2), dst: (dst.0, dst.1, src.2) });
            }
            (Some(Defect::SharedTemporaryRow), Movement::Row { bank, dst, .. }) => {
                cells.apply(movement);
                (0..cells.geometry().columns()).for_each(|column| share(cells, bank, dst, Column(column)));
            }
            (Some(Defect::SharedTemporaryRow), Movement::Line { dst: (bank, row, column), .. }) => {
                cells.apply(movement);
                share(cells, bank, row, column);
            }
            _ => cells.apply(movement),
        }
    }
}

/// Moves a line of a temporary row to those of the other banks.
fn share(cells: &mut Cells, bank: BankId, row: Row, column: Column) {
    if row == cells.geometry().temporary_row() {
        for other in (0..cells.geometry().banks()).filter(|&other| other != bank.bank) {
            let dst = (BankId { bank: other, ..bank }, row, column);
            cells.apply(Movement::Line { src: (bank, row, column), dst });
        }
    }
}
