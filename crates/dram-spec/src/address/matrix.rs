//! Linear maps over GF(2): each output bit is the parity of some input bits.

/// The inverse of the square map whose output bit `i` is the parity of `input & rows[i]`.
///
/// Entry `i` of the result is the input word for which only output bit `i` is 1, so an input is the
/// XOR of the entries of all output bits that are 1.
///
/// # Errors
///
/// The first of `order` whose row depends on preceding rows: the map has no inverse.
pub(super) fn inverse(rows: &[u64], order: impl IntoIterator<Item = usize>) -> Result<Vec<u64>, usize> {
    // Gauss-Jordan elimination: each stored row has a pivot bit that no other stored row has.
    // `combination` records which of the given rows were added to it.
    struct Kept {
        row: u64,
        combination: u64,
        pivot: u32,
    }
    let mut kept: Vec<Kept> = Vec::with_capacity(rows.len());
    for index in order {
        let (mut row, mut combination) = (rows[index], 1 << index);
        for other in &kept {
            if row >> other.pivot & 1 == 1 {
                row ^= other.row;
                combination ^= other.combination;
            }
        }
        if row == 0 {
            return Err(index);
        }
        let pivot = row.trailing_zeros();
        for other in &mut kept {
            if other.row >> pivot & 1 == 1 {
                other.row ^= row;
                other.combination ^= combination;
            }
        }
        kept.push(Kept { row, combination, pivot });
    }
    // A square map: each stored row is reduced to its pivot, so input bit `pivot` is the parity of
    // the output bits in `combination`. The transpose gives the contribution of each output bit to
    // the input.
    let mut answer = vec![0; rows.len()];
    for Kept { combination, pivot, .. } in kept {
        for (output, entry) in answer.iter_mut().enumerate() {
            *entry |= (combination >> output & 1) << pivot;
        }
    }
    Ok(answer)
}

/// A basis of the span of the given words: independent words, each with a highest bit that no other
/// word has.
pub(super) fn basis(words: impl IntoIterator<Item = u64>) -> Vec<u64> {
    let mut basis: Vec<u64> = Vec::new();
    for mut word in words {
        for &other in &basis {
            word = word.min(word ^ other);
        }
        if word != 0 {
            for other in &mut basis {
                *other = (*other).min(*other ^ word);
            }
            basis.push(word);
        }
    }
    basis
}

/// All sums of subsets of a basis, including 0.
pub(super) fn span(basis: &[u64]) -> Vec<u64> {
    let mut sums = vec![0];
    for &word in basis {
        for index in 0..sums.len() {
            sums.push(sums[index] ^ word);
        }
    }
    sums
}
