//! Instructions of copy loops.

use host::machine::{CopyLoop, LoopSettings};

use crate::Failure;
use crate::document::Section;

/// The keys of copy loops in the table `kernel`, whose times are core cycles.
pub(crate) fn check_loops(kernel: &Section<'_>, line_bytes: u64) -> Result<LoopSettings, Failure> {
    let in_line = |bytes: u8| u64::from(bytes).min(line_bytes) as u8;
    let LoopSettings { fast_string_bytes, simd_bytes, .. } = LoopSettings::default();
    let (fast_string_bytes, simd_bytes) = (in_line(fast_string_bytes), in_line(simd_bytes));
    let loops = kernel.over(LoopSettings { fast_string_bytes, simd_bytes, ..LoopSettings::default() });
    for (key, found) in [("fast_string_bytes", loops.fast_string_bytes), ("simd_bytes", loops.simd_bytes)] {
        if u64::from(found) > line_bytes {
            let message = format!("`kernel.{key}` is {found}, more than a line of {line_bytes} bytes");
            return Err(kernel.fault(key, message).with_help(format!("try `{key} = {line_bytes}`")));
        }
    }
    check_unroll(kernel, &loops, line_bytes)?;
    Ok(loops)
}

/// Checks that an iteration has whole words and, where that matters, whole lines, and a block whole iterations.
fn check_unroll(kernel: &Section<'_>, loops: &LoopSettings, line_bytes: u64) -> Result<(), Failure> {
    let copy_loop = kernel.of("copy_loop");
    let least = match copy_loop {
        CopyLoop::Integer => kernel.of("word_bytes"),
        CopyLoop::SimdBlock => loops.simd_bytes.into(),
        CopyLoop::NonTemporalBlock => line_bytes,
        CopyLoop::Avx2 => line_bytes.min(32),
        _ => 8,
    };
    let unroll = loops.unroll_bytes.map_or(64, u64::from);
    if loops.unroll_bytes.is_some() && unroll < least {
        let message = format!(
            "`kernel.unroll_bytes` is {unroll}, but an iteration of `{}` has at least {least}",
            copy_loop.name()
        );
        return Err(kernel.fault("unroll_bytes", message).with_help(format!("try `unroll_bytes = {least}`")));
    }
    let has_blocks = [CopyLoop::FloatBlock, CopyLoop::SimdBlock, CopyLoop::NonTemporalBlock].contains(&copy_loop);
    let unroll = if copy_loop == CopyLoop::NonTemporalBlock { unroll.max(line_bytes) } else { unroll };
    let (key, found) = ("block_bytes", u64::from(loops.block_bytes));
    if has_blocks && !found.is_multiple_of(unroll) {
        let message =
            format!("`kernel.{key}` is {found}, but must be a multiple of {unroll}, the bytes of an iteration");
        let fault = kernel.fault(if kernel.has(key) { key } else { "unroll_bytes" }, message);
        return Err(fault.with_help(format!("try `{key} = {}`", found.next_multiple_of(unroll))));
    }
    Ok(())
}
